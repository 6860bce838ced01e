"""A step told without a formula: every stage a sentence, of the numbers of the step and of no sign of an equation."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

from attnviz.analysis.heads import open_head, strongest_words, words_of_looks
from attnviz.analysis.measures import weight_order
from attnviz.languages import set_language
from attnviz.network import TransformerConfig
from attnviz.text import Tokenizer
from attnviz.trace import Record, Search, TransformerTrace
from attnviz.translator import Translator
from attnviz.wording.idea import idea_sentence, idea_stages
from attnviz.wording.kinds import told
from attnviz.wording.labels import quoted_name
from attnviz.wording.numbers import percent
from tests.conftest import SENTENCES
from tests.figures import synthetic
from tests.transformers import random_transformer

SIGNS = re.compile(r"[αβτΣ₀₁₂₃=]|\b[cesz]_|softmax|logit|tanh|energy|énergie|query|requête", re.IGNORECASE)
"""What somebody who knows no formula cannot read."""


@pytest.fixture(scope="module")
def heads(tokenizer: Tokenizer) -> TransformerTrace:
    network = random_transformer(TransformerConfig(len(tokenizer), 16, 4, 2, 12), 2)
    return Translator(network, tokenizer, "small").translate(SENTENCES[0], target=SENTENCES[1])


def is_told_without_signs(trace: Record, code: str) -> None:
    set_language(code)
    words = told(trace)
    try:
        for step in range(len(trace.target_pieces)):
            stages = words.narrate_idea(trace, step)
            assert {stage.number: stage.title for stage in stages} == words.idea_titles(trace)
            texts = [text for stage in stages for text in (stage.title, stage.sentence, stage.outcome)]
            for text in [idea_sentence(trace, step, "-"), *texts]:
                assert text
                assert not SIGNS.search(text), text
            assert all(stage.sentence.endswith((".", "…")) for stage in stages)
    finally:
        set_language("en")


@pytest.mark.parametrize("code", ["en", "fr"])
@pytest.mark.parametrize("kind", ["additive", "dot", "none"])
def test_each_stage_has_a_sentence_without_a_sign_of_an_equation(kind: str, code: str) -> None:
    is_told_without_signs(synthetic.trace(attention=kind), code)


@pytest.mark.parametrize("code", ["en", "fr"])
@pytest.mark.parametrize("seen", [(None, None), (1, 2)])
def test_so_has_each_of_a_transformer(heads: TransformerTrace, seen: tuple[int | None, int | None], code: str) -> None:
    is_told_without_signs(heads.seen_by(*seen), code)


def test_a_transformer_tells_of_one_look_and_of_all(heads: TransformerTrace) -> None:
    step, opened, words = 1, open_head(heads), heads.words()
    fits, look, looks, kept, word = told(heads).narrate_idea(heads, step)
    assert "looks 8 times" in fits.sentence
    best = int(opened.weights[step].argmax())
    assert fits.outcome.lower() == f"{quoted_name(heads.source_pieces[best])} would help most".lower(), (
        "scores, then shares"
    )
    own, mean = float(opened.weights[step, best]), float(heads.alignment[step, best])
    assert look.outcome.endswith(f"{percent(own)} of the look, {percent(mean)} of all 8 together")
    alone = told(heads.seen_by(1, 2)).narrate_idea(heads.seen_by(1, 2), step)[1]
    assert alone.outcome.endswith("% of the look")
    shares, most = words_of_looks(heads, step), strongest_words(heads, step)
    np.testing.assert_allclose(shares.sum(axis=-1), 1, atol=1e-5)
    np.testing.assert_allclose(shares.mean(axis=(0, 1)) @ np.ones(len(words.source)), 1, atol=1e-5)
    here = most[opened.layer, opened.head]
    assert looks.outcome.startswith(f"{int((most == here).sum())} of 8 looks")
    assert words.source[here] in looks.outcome
    block = int(np.linalg.norm(opened.added[:, step], axis=1).argmax())
    assert f"round {block // 3 + 1}" in kept.outcome
    assert word.outcome.endswith(percent(float(heads.probabilities[step])))


def test_the_words_tell_the_shares_of_the_step() -> None:
    trace, step = synthetic.trace(), 2
    fits, look, taken, kept, word = idea_stages(trace, step)
    first, second = weight_order(trace, step)[:2]
    share, less = (percent(float(trace.alignment[step, j])) for j in (first, second))
    name = quoted_name(trace.source_pieces[first])
    assert fits.outcome == f"{name} would help most"
    assert f"{name} gets {share}" in look.sentence
    assert less in look.sentence
    assert f"a list of {trace.contexts.shape[1]} numbers" in taken.sentence
    assert f"{share} {name}" in taken.sentence
    gate = float(trace.update_gates[step].mean())
    assert kept.outcome == f"{percent(gate)} kept, {percent(1 - gate)} new"
    assert word.outcome.endswith(percent(float(trace.probabilities[step])))


def test_what_was_given_or_ends_the_sentence_is_told_as_that() -> None:
    trace = synthetic.trace()
    assert idea_sentence(trace, 0, "-").startswith("The translator writes ")
    assert idea_sentence(trace, len(trace.target_pieces) - 1, "-").startswith("The translator ends the sentence")
    given = dataclasses.replace(trace, search=Search("forced"))
    assert idea_sentence(given, 0, "-").startswith("The translator was given ")
    other = dataclasses.replace(trace, target_ids=(trace.top_ids[0][3],) * len(trace.target_ids))
    assert "was likelier" in idea_stages(other, 0)[-1].sentence
    assert "Given was" in idea_stages(dataclasses.replace(other, search=Search("forced")), 0)[-1].sentence


def test_one_piece_gets_all_of_the_look() -> None:
    base = synthetic.trace()
    alone = dataclasses.replace(
        base,
        source_pieces=base.source_pieces[:1],
        energies=base.energies[:, :1],
        alignment=np.ones_like(base.alignment[:, :1]),
        annotations=base.annotations[:1],
    )
    assert "only one piece" in idea_stages(alone, 0)[1].sentence
    assert idea_stages(alone, 0)[2].outcome == "One piece makes 100\u00a0% of the mixture"
