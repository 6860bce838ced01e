"""A step told without a formula: every stage a sentence, of the numbers of the step and of no sign of an equation."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz.analysis.heads import open_head, strongest_words, word_weights_of_heads
from attnviz.analysis.measures import weight_order
from attnviz.architectures import step_texts
from attnviz.languages import set_language
from attnviz.network import TransformerConfig
from attnviz.text import Tokenizer
from attnviz.trace import Record, Search, TransformerTrace
from attnviz.translator import Translator
from attnviz.wording.idea import idea_sentence, idea_stages
from attnviz.wording.labels import quoted_name
from attnviz.wording.numbers import percent
from tests.conftest import SENTENCES
from tests.figures import synthetic
from tests.snapshots import without_numbers
from tests.transformers import random_transformer

SIGNS = re.compile(r"[αβτΣ₀₁₂₃=]|\b[cesz]_|softmax|logit|tanh|energy|énergie|query|requête", re.IGNORECASE)
"""What somebody who knows no formula cannot read."""

EACH_LANGUAGE = pytest.mark.usefixtures("each_language")


@pytest.fixture(scope="module")
def heads(tokenizer: Tokenizer) -> TransformerTrace:
    network = random_transformer(TransformerConfig(len(tokenizer), 16, 4, 2, 12), 2)
    return Translator(network, tokenizer, "small").translate(SENTENCES[0], target=SENTENCES[1])


def numbers(text: str) -> list[str]:
    """Return the whole numbers in `text`."""
    return re.findall(r"\d+", text)


def is_told_without_signs(trace: Record, code: str) -> None:
    set_language(code)
    words = step_texts(trace)
    for step in range(len(trace.target_pieces)):
        stages = words.narrate_idea(trace, step)
        assert {stage.number: stage.title for stage in stages} == words.idea_titles(trace)
        texts = [text for stage in stages for text in (stage.title, stage.sentence, stage.outcome)]
        for text in [idea_sentence(trace, step, "-"), *texts]:
            assert text
            assert not SIGNS.search(text), text
        assert all(stage.sentence.endswith((".", "…")) for stage in stages)


@pytest.mark.parametrize("code", ["en", "fr"])
@pytest.mark.parametrize("kind", ["additive", "general", "none"])
def test_each_stage_has_a_sentence_without_a_sign_of_an_equation(kind: str, code: str) -> None:
    is_told_without_signs(synthetic.trace(attention=kind), code)


@pytest.mark.parametrize("code", ["en", "fr"])
@pytest.mark.parametrize("seen", [(None, None), (1, 2)])
def test_so_has_each_of_a_transformer(heads: TransformerTrace, seen: tuple[int | None, int | None], code: str) -> None:
    is_told_without_signs(heads.seen_by(*seen), code)


@EACH_LANGUAGE
def test_a_transformer_tells_of_one_look_and_of_all(heads: TransformerTrace, snapshot: SnapshotAssertion) -> None:
    step, opened, words = 1, open_head(heads), heads.words()
    stages = step_texts(heads).narrate_idea(heads, step)
    assert [(without_numbers(stage.sentence), without_numbers(stage.outcome)) for stage in stages] == snapshot
    fits, look, looks, kept, word = stages
    assert "8" in numbers(fits.sentence)
    best = int(opened.weights[step].argmax())
    assert quoted_name(heads.source_pieces[best]).lower() in fits.outcome.lower()
    own, mean = float(opened.weights[step, best]), float(heads.alignment[step, best])
    for number in (percent(own), percent(mean), "8"):
        assert number in look.outcome
    alone = step_texts(heads.seen_by(1, 2)).narrate_idea(heads.seen_by(1, 2), step)[1]
    assert without_numbers(alone.outcome) == snapshot(name="of one head")
    shares, most = word_weights_of_heads(heads, step), strongest_words(heads, step)
    np.testing.assert_allclose(shares.sum(axis=-1), 1, atol=1e-5)
    np.testing.assert_allclose(shares.mean(axis=(0, 1)) @ np.ones(len(words.source)), 1, atol=1e-5)
    here = most[opened.layer, opened.head]
    assert numbers(looks.outcome)[:2] == [str((most == here).sum()), "8"]
    assert words.source[here] in looks.outcome
    block = int(np.linalg.norm(opened.added[:, step], axis=1).argmax())
    assert str(block // 3 + 1) in numbers(kept.outcome)
    assert word.outcome.endswith(percent(float(heads.probabilities[step])))


@EACH_LANGUAGE
def test_the_words_tell_the_shares_of_the_step(snapshot: SnapshotAssertion) -> None:
    trace, step = synthetic.trace(), 2
    stages = idea_stages(trace, step)
    assert [(stage.sentence, stage.outcome) for stage in stages] == snapshot
    fits, look, taken, kept, word = stages
    first, second = weight_order(trace, step)[:2]
    share, less = (percent(float(trace.alignment[step, j])) for j in (first, second))
    name = quoted_name(trace.source_pieces[first])
    assert name in fits.outcome
    for text in (name, share, less):
        assert text in look.sentence
    assert str(trace.contexts.shape[1]) in numbers(taken.sentence)
    assert f"{share} {name}" in taken.sentence
    gate = float(trace.update_gates[step].mean())
    assert percent(gate) in kept.outcome
    assert percent(1 - gate) in kept.outcome
    assert word.outcome.endswith(percent(float(trace.probabilities[step])))


@EACH_LANGUAGE
def test_what_was_given_or_ends_the_sentence_is_told_as_that(snapshot: SnapshotAssertion) -> None:
    trace = synthetic.trace()
    given = dataclasses.replace(trace, search=Search("forced"))
    assert idea_sentence(trace, 0, "-") == snapshot(name="written")
    assert idea_sentence(trace, len(trace.target_pieces) - 1, "-") == snapshot(name="the end")
    assert idea_sentence(given, 0, "-") == snapshot(name="given")
    other = dataclasses.replace(trace, target_ids=(trace.top_ids[0][3],) * len(trace.target_ids))
    assert idea_stages(other, 0)[-1].sentence == snapshot(name="unlikely, written")
    forced = dataclasses.replace(other, search=Search("forced"))
    assert idea_stages(forced, 0)[-1].sentence == snapshot(name="unlikely, given")


@EACH_LANGUAGE
def test_one_piece_gets_all_of_the_look(snapshot: SnapshotAssertion) -> None:
    base = synthetic.trace()
    alone = dataclasses.replace(
        base,
        source_pieces=base.source_pieces[:1],
        energies=base.energies[:, :1],
        alignment=np.ones_like(base.alignment[:, :1]),
        annotations=base.annotations[:1],
    )
    _, look, taken, *_ = idea_stages(alone, 0)
    assert look.sentence == snapshot(name="look")
    assert percent(1.0) in taken.outcome
    assert taken.outcome == snapshot(name="mixture")
