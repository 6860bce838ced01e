"""Stages of a step in words: without notation at the level *Idea*, with the numbers of the step, after changes."""

from __future__ import annotations

import dataclasses
import math
import re

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz import Translator
from attnviz.analysis.labels import merged_cell_text, quoted_name, summed_pieces_text
from attnviz.analysis.measures import strongest_words, weight_order, word_weights_of_heads
from attnviz.analysis.numbers import fine_percent, number, percent
from attnviz.analysis.recomputation import softmax
from attnviz.analysis.stages import step_sentence, was_forced
from attnviz.architectures import architecture_of, narrate
from attnviz.languages import set_language
from attnviz.network import TransformerConfig
from attnviz.text import EOS, Tokenizer
from attnviz.trace import Record, Search, Trace, TransformerTrace
from attnviz.trace.interventions import (
    AttentionIntervention,
    ExcludePosition,
    ForceWords,
    Intervention,
    ReplaceEnergies,
    ReplaceWeights,
    Temperature,
    forced_words,
)
from attnviz.trace.what_ifs import translator_arguments
from tests.analysis.filled_equations import equations
from tests.conftest import SENTENCES
from tests.figures import synthetic
from tests.figures.synthetic import trace as make_trace
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
    for written in (percent(own), percent(mean), "8"):
        assert written in attention_stage.outcome
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


STEP = 1


def _changed(translator: Translator, one: AttentionIntervention) -> Trace:
    return translator.translate(SENTENCES[0], interventions=[one], beam=1)


def _alternating(count: int) -> tuple[float, ...]:
    return tuple(float(j % 2) for j in range(count))


@pytest.fixture(params=["temperature", "endless", "weights", "energies", "exclusion"])
def changed(request: pytest.FixtureRequest, translator: Translator) -> Trace:
    """Return a translation with the attention of STEP changed."""
    count = len(translator.translate(SENTENCES[0], beam=1).source_pieces)
    odd = np.array(_alternating(count))
    one: AttentionIntervention
    one = {
        "temperature": Temperature(0.05, STEP),
        "endless": Temperature(math.inf, STEP),
        "weights": ReplaceWeights(tuple(odd / odd.sum()), STEP),
        "energies": ReplaceEnergies(tuple(9 * odd), STEP),
        "exclusion": ExcludePosition(0, STEP),
    }[request.param]
    return _changed(translator, one)


def test_softmax_sentence_states_the_intervention_and_its_effect(
    changed: Trace, each_language: str, snapshot: SnapshotAssertion
) -> None:
    alpha, energies = changed.alignment[STEP], changed.energies[STEP].astype(np.float64)
    best = int(alpha.argmax())
    sentence = narrate(changed, STEP)[1].sentence
    shares = [percent(float(alpha[best])), percent(float(softmax(energies)[best]))]
    assert quoted_name(changed.source_pieces[best]) in sentence
    for share in sorted(shares, key=len, reverse=True):
        assert share in sentence
    done, _, rest = sentence.partition(". ")
    assert [done, without_numbers(rest)] == snapshot
    assert each_language == "en" or not re.search(r"\d\.\d", sentence)
    untouched = dataclasses.replace(changed, interventions=())
    assert narrate(changed, STEP)[1] != narrate(untouched, STEP)[1]
    assert narrate(changed, STEP + 1)[1] == narrate(untouched, STEP + 1)[1]


def test_softmax_equation_holds_after_an_intervention(changed: Trace) -> None:
    trace = changed
    equation = equations(trace, STEP)[1]
    assert r"\tilde{e}" in equation.latex
    assert equation.note != equations(dataclasses.replace(trace, interventions=()), STEP)[1].note
    terms = re.findall(r"\\exp\((-?\d+(?:\.\d+)?|-\\infty)\)", equation.latex)
    powers = np.exp([-np.inf if term == r"-\infty" else float(term) for term in terms])
    # Above the line is the piece of the largest weight; the terms below it compare as the largest weights do.
    assert powers[0] == powers[1]
    largest = np.sort(trace.alignment[STEP])[::-1][: len(powers) - 1]
    np.testing.assert_allclose(powers[1:] / powers[1], largest / largest[0], rtol=0.02, atol=1e-6)
    assert number(float(trace.alignment[STEP].max())) in equation.latex
    assert r"\tilde" not in equations(trace, STEP + 1)[1].latex


@EACH_LANGUAGE
def test_several_interventions_are_described_in_order(translator: Translator, snapshot: SnapshotAssertion) -> None:
    trace = translator.translate(SENTENCES[0], interventions=[Temperature(2), ExcludePosition(0)], beam=1)
    assert [
        narrate(trace, 0)[1].sentence.partition(". ")[0],
        equations(trace, 0)[1].note,
    ] == snapshot


@EACH_LANGUAGE
def test_forced_word_is_described_as_given(translator: Translator, snapshot: SnapshotAssertion) -> None:
    free = translator.translate(SENTENCES[0], beam=1)
    other = next(int(piece) for piece in free.top_ids[0][1:] if piece > EOS)
    trace = translator.translate(SENTENCES[0], interventions=[ForceWords((other,), 0)], beam=1)
    assert [
        without_numbers(step_sentence(trace, 0)),
        without_numbers(narrate(trace, 0)[-1].sentence),
        without_numbers(step_sentence(trace, 1)),
    ] == snapshot


@pytest.mark.parametrize("beam", [1, 5])
def test_only_the_words_that_were_forced_are_described_as_forced(translator: Translator, beam: int) -> None:
    free = translator.translate(SENTENCES[0], beam=beam)
    assert len(free.target_ids) > STEP + 1

    def after(change: Intervention) -> Trace:
        interventions, _ = translator_arguments(free, change, held=False)
        return translator.translate(SENTENCES[0], beam=beam, interventions=interventions)

    weights_changed = after(Temperature(2.0, STEP))
    assert forced_words(weights_changed.interventions), "the words before the changed step are kept"
    assert not any(was_forced(weights_changed, step) for step in range(len(weights_changed.target_ids)))
    other = next(int(piece) for piece in free.top_ids[STEP][1:] if piece > EOS)
    word_changed = after(ForceWords((other,), STEP))
    forced = [step for step in range(len(word_changed.target_ids)) if was_forced(word_changed, step)]
    assert forced == [STEP]
    assert len(word_changed.target_ids) > STEP + 1
    interventions, _ = translator_arguments(word_changed, Temperature(2.0, STEP + 1), held=False)
    twice_changed = translator.translate(SENTENCES[0], beam=beam, interventions=interventions)
    assert twice_changed.target_ids[STEP] == other
    forced = [step for step in range(len(twice_changed.target_ids)) if was_forced(twice_changed, step)]
    assert forced == [STEP], "a later change does not make a forced word one that the search chose"
    assert was_forced(Trace.from_json(twice_changed.to_json()), STEP)


def nearest() -> Trace:
    """Return a trace in which "proche", written in two steps (pro·che), attends to near·est (two pieces)."""
    trace = make_trace("the nearest house", "maison proche.......")
    assert [len(group) for group in trace.words().source_groups] == [1, 2, 1, 1]
    alpha = np.full((len(trace.target_pieces), len(trace.source_pieces)), 0.01, dtype=np.float32)
    alpha[:, 1], alpha[:, 2] = 0.9, 0.07
    return dataclasses.replace(trace, alignment=alpha)


@EACH_LANGUAGE
def test_merged_weight_texts_name_the_steps_and_pieces(snapshot: SnapshotAssertion) -> None:
    assert merged_cell_text(1, 1) == ""
    assert [merged_cell_text(2, 1), merged_cell_text(1, 3), merged_cell_text(2, 3)] == snapshot(name="steps and pieces")
    assert summed_pieces_text(1) == ""
    assert [summed_pieces_text(2), summed_pieces_text(3)] == snapshot(name="pieces")


@EACH_LANGUAGE
def test_softmax_sentence_distinguishes_a_piece_from_its_word(snapshot: SnapshotAssertion) -> None:
    outcome = narrate(nearest(), 1)[1].outcome
    assert percent(0.9) in outcome
    assert percent(0.97) in outcome
    assert outcome == snapshot
