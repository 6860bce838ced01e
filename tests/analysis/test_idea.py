"""Texts at the *Idea* level: one sentence for each stage, with the numbers of the step and no notation.

Only the titles have the term beside the everyday word.
"""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz.analysis.labels import quoted_name
from attnviz.analysis.measures import strongest_words, weight_order, word_weights_of_heads
from attnviz.analysis.numbers import fine_percent, percent
from attnviz.analysis.stages import step_sentence
from attnviz.architectures import architecture_of, narrate
from attnviz.languages import set_language
from attnviz.network import TransformerConfig
from attnviz.text import Tokenizer
from attnviz.trace import Record, Search, TransformerTrace
from attnviz.translator import Translator
from tests.conftest import SENTENCES
from tests.figures import synthetic
from tests.snapshots import without_numbers
from tests.transformers import random_transformer

NOTATION = re.compile(r"[αβτΣ=]|\b[cesz]_|softmax|logit|tanh|query|requête", re.IGNORECASE)
"""Symbols and terms that a reader without mathematics does not know."""

EACH_LANGUAGE = pytest.mark.usefixtures("each_language")


@pytest.fixture(scope="module")
def heads(tokenizer: Tokenizer) -> TransformerTrace:
    network = random_transformer(TransformerConfig(len(tokenizer), 16, 4, 2, 12), 2)
    return Translator(network, tokenizer, "small").translate(SENTENCES[0], target=SENTENCES[1])


def numbers(text: str) -> list[str]:
    """Return the whole numbers in `text`."""
    return re.findall(r"\d+", text)


def check_no_notation(trace: Record, code: str) -> None:
    set_language(code)
    for step in range(len(trace.target_pieces)):
        stages = narrate(trace, step, simple=True)
        titles = {stage.number: stage.title() for stage in architecture_of(trace).stages(trace)}
        assert {stage.number: stage.title for stage in stages} == titles
        assert {stage.number: stage.title for stage in narrate(trace, step)} == titles
        texts = [text for stage in stages for text in (stage.sentence, stage.outcome)]
        for text in [step_sentence(trace, step, simple=True), *texts]:
            assert text
            assert not NOTATION.search(text), text
        assert all(stage.sentence.endswith((".", "…", "?")) for stage in stages)


@pytest.mark.parametrize("code", ["en", "fr"])
@pytest.mark.parametrize("kind", ["additive", "general", "none"])
def test_recurrent_stages_have_sentences_without_notation(kind: str, code: str) -> None:
    check_no_notation(synthetic.trace(attention=kind), code)


@pytest.mark.parametrize("code", ["en", "fr"])
@pytest.mark.parametrize("seen", [(None, None), (1, 2)])
def test_transformer_stages_have_sentences_without_notation(
    heads: TransformerTrace, seen: tuple[int | None, int | None], code: str
) -> None:
    check_no_notation(heads.select_heads(*seen), code)


@EACH_LANGUAGE
def test_transformer_sentences_describe_one_head_and_all_heads(
    heads: TransformerTrace, snapshot: SnapshotAssertion
) -> None:
    step, opened, words = 1, heads.displayed, heads.words()
    stages = narrate(heads, step, simple=True)
    assert [(without_numbers(stage.sentence), without_numbers(stage.outcome)) for stage in stages] == snapshot
    energy_stage, attention_stage, heads_stage, stream_stage, word_stage = stages
    assert "8" in numbers(energy_stage.sentence)
    best = int(opened.alignment[step].argmax())
    assert quoted_name(heads.source_pieces[best]).lower() in energy_stage.outcome.lower()
    own, mean = float(opened.alignment[step, best]), float(heads.alignment[step, best])
    for number in (percent(own), percent(mean), "8"):
        assert number in attention_stage.outcome
    alone = narrate(heads.select_heads(1, 2), step, simple=True)[1]
    assert without_numbers(alone.outcome) == snapshot(name="of one head")
    shares, most = word_weights_of_heads(heads, step), strongest_words(heads, step)
    np.testing.assert_allclose(shares.sum(axis=-1), 1, atol=1e-5)
    np.testing.assert_allclose(shares.mean(axis=(0, 1)) @ np.ones(len(words.source)), 1, atol=1e-5)
    here = most[opened.layer, opened.head]
    assert numbers(heads_stage.outcome)[:2] == [str((most == here).sum()), "8"]
    assert words.source[here] in heads_stage.outcome
    block = int(np.linalg.norm(opened.added[:, step], axis=1).argmax())
    assert str(block // 3 + 1) in numbers(stream_stage.outcome)
    assert word_stage.outcome.endswith(percent(float(heads.probabilities[step])))


@EACH_LANGUAGE
def test_sentences_have_the_weights_of_the_step(snapshot: SnapshotAssertion) -> None:
    trace, step = synthetic.trace(), 2
    stages = narrate(trace, step, simple=True)
    assert [(stage.sentence, stage.outcome) for stage in stages] == snapshot
    energy_stage, attention_stage, context_stage, state_stage, word_stage = stages
    first, second = weight_order(trace, step)[:2]
    share, less = (fine_percent(float(trace.alignment[step, j])) for j in (first, second))
    name = quoted_name(trace.source_pieces[first])
    assert name in energy_stage.outcome
    for text in (name, share, less):
        assert text in attention_stage.sentence
    assert str(trace.contexts.shape[1]) in numbers(context_stage.sentence)
    gate = float(trace.update_gates[step].mean())
    assert percent(gate) in state_stage.outcome
    assert percent(1 - gate) in state_stage.outcome
    assert word_stage.outcome.endswith(percent(float(trace.probabilities[step])))


@EACH_LANGUAGE
def test_equal_weights_are_said_to_be_equal(snapshot: SnapshotAssertion) -> None:
    base = synthetic.trace()
    count = len(base.source_pieces)
    equal = dataclasses.replace(base, alignment=np.full_like(base.alignment, 1 / count))
    _, attention_stage, context_stage, *_ = narrate(equal, 1, simple=True)
    assert percent(1 / count) in attention_stage.outcome
    assert numbers(context_stage.outcome) == [str(count)]
    assert context_stage.outcome == snapshot


@EACH_LANGUAGE
def test_given_words_and_the_end_mark_are_described_as_such(snapshot: SnapshotAssertion) -> None:
    trace = synthetic.trace()
    given = dataclasses.replace(trace, search=Search("forced"))
    assert step_sentence(trace, 0, simple=True) == snapshot(name="written")
    assert step_sentence(trace, len(trace.target_pieces) - 1, simple=True) == snapshot(name="the end")
    assert step_sentence(given, 0, simple=True) == snapshot(name="given")
    other = dataclasses.replace(trace, target_ids=(trace.top_ids[0][3],) * len(trace.target_ids))
    assert narrate(other, 0, simple=True)[-1].sentence == snapshot(name="unlikely, written")
    forced = dataclasses.replace(other, search=Search("forced"))
    assert narrate(forced, 0, simple=True)[-1].sentence == snapshot(name="unlikely, given")


@EACH_LANGUAGE
def test_single_source_piece_gets_all_attention(snapshot: SnapshotAssertion) -> None:
    base = synthetic.trace()
    alone = dataclasses.replace(
        base,
        source_pieces=base.source_pieces[:1],
        energies=base.energies[:, :1],
        alignment=np.ones_like(base.alignment[:, :1]),
        annotations=base.annotations[:1],
    )
    _, attention_stage, context_stage, *_ = narrate(alone, 0, simple=True)
    assert attention_stage.sentence == snapshot(name="look")
    assert percent(1.0) in context_stage.outcome
    assert context_stage.outcome == snapshot(name="mixture")
