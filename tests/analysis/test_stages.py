"""Stages of a step in words: without notation at the level *Idea*, with the numbers of the step, after changes."""

import dataclasses
import math
import re

import numpy as np
import pytest

from attnviz import ExcludePosition, ForceWords, ReplaceEnergies, ReplaceWeights, Temperature, Trace, Translator
from attnviz.analysis.labels import fine_percent, merged_cell_text, number, percent, quoted_name, summed_pieces_text
from attnviz.analysis.measures import is_uniform, strongest_words, weight_order, word_weights_of_heads
from attnviz.analysis.recomputation import softmax
from attnviz.analysis.stages import step_sentence, was_forced
from attnviz.architectures import architecture_of, narrate
from attnviz.network import TransformerConfig
from attnviz.text import EOS
from attnviz.trace import Record, Search, TransformerTrace
from attnviz.trace.interventions import AttentionIntervention
from tests.analysis.given import equations
from tests.conftest import SENTENCES
from tests.figures import synthetic
from tests.snapshots import without_numbers
from tests.transformers import random_transformer

NOTATION = re.compile(r"[αβτΣ=]|\b[cesz]_|softmax|logit|tanh|query|requête", re.IGNORECASE)
"""Symbols and terms that a reader without mathematics does not know."""


@pytest.fixture(scope="module")
def heads(tokenizer) -> TransformerTrace:
    network = random_transformer(TransformerConfig(len(tokenizer), 16, 4, 2, 12), 2)
    return Translator(network, tokenizer, "small").translate(SENTENCES[0], target=SENTENCES[1])


def nearest() -> Trace:
    """Return a trace in which "proche", written in two steps (pro·che), attends to near·est (two pieces)."""
    trace = synthetic.trace("the nearest house", "maison proche.......")
    assert [len(group) for group in trace.words().source_groups] == [1, 2, 1, 1]
    alpha = np.full((len(trace.target_pieces), len(trace.source_pieces)), 0.01, dtype=np.float32)
    alpha[:, 1], alpha[:, 2] = 0.9, 0.07
    return dataclasses.replace(trace, alignment=alpha)


@pytest.fixture
def described(heads) -> dict[str, Record]:
    """Return translations whose stages have different sentences, by name."""
    base = synthetic.trace()
    alone = {name: getattr(base, name)[:, :1] for name in ("energies", "alignment")}
    unlikely = dataclasses.replace(base, target_ids=(base.top_ids[0][3],) * len(base.target_ids))
    given = {"search": Search("forced")}
    return {
        **{kind: synthetic.trace(attention=kind) for kind in ("additive", "general", "none")},
        "equal weights": dataclasses.replace(base, alignment=np.full_like(base.alignment, 1 / base.alignment.shape[1])),
        "given": dataclasses.replace(base, **given),
        "unlikely": unlikely,
        "unlikely, given": dataclasses.replace(unlikely, **given),
        "one source piece": dataclasses.replace(
            base,
            **{name: getattr(base, name)[:1] for name in ("source_pieces", "source_surfaces", "annotations", "keys")},
            **alone | {"alignment": np.ones_like(alone["alignment"])},
        ),
        "words of two pieces": nearest(),
        "all heads": heads,
        "one head": heads.select_heads(1, 2),
    }


def test_sentences_of_stages_have_no_notation(each_language, described, snapshot) -> None:
    found, known = {name: list[str]() for name in described}, set[str]()
    for name, trace in described.items():
        titles = {stage.number: stage.title() for stage in architecture_of(trace).stages(trace)}
        for step in range(len(trace.target_pieces)):
            stages = narrate(trace, step, simple=True)
            assert {stage.number: stage.title for stage in stages} == titles
            assert {stage.number: stage.title for stage in narrate(trace, step)} == titles
            texts = [step_sentence(trace, step, simple=True)]
            texts += [text for stage in stages for text in (stage.sentence, stage.outcome)]
            assert all(texts)
            assert not [text for text in texts if NOTATION.search(text)]
            assert all(stage.sentence.endswith((".", "…", "?")) for stage in stages)
            if step in (0, len(trace.target_pieces) - 1):  # what is said nowhere before
                new = dict.fromkeys(text for text in map(without_numbers, texts) if text not in known)
                found[name] += new
                known |= {*new}
    assert found == snapshot
    merged = [merged_cell_text(*counts) for counts in ((2, 1), (1, 3), (2, 3))]
    assert [*merged, summed_pieces_text(2), summed_pieces_text(3)] == snapshot(name="merged weights")
    assert merged_cell_text(1, 1) == summed_pieces_text(1) == ""


def numbers(text: str) -> list[str]:
    return re.findall(r"\d+", text)


def test_sentences_of_both_architectures_have_their_numbers(each_language, described, heads) -> None:
    trace, step = synthetic.trace(), 2
    energy_stage, attention_stage, context_stage, state_stage, word_stage = narrate(trace, step, simple=True)
    first, second = weight_order(trace, step)[:2]
    name = quoted_name(trace.source_pieces[first])
    assert name in energy_stage.outcome
    for text in (name, *(fine_percent(float(trace.alignment[step, j])) for j in (first, second))):
        assert text in attention_stage.sentence
    assert str(trace.contexts.shape[1]) in numbers(context_stage.sentence)
    gate = float(trace.update_gates[step].mean())
    assert percent(gate) in state_stage.outcome
    assert percent(1 - gate) in state_stage.outcome
    assert word_stage.outcome.endswith(percent(float(trace.probabilities[step])))
    _, attention_stage, context_stage, *_ = narrate(described["equal weights"], 1, simple=True)
    count = len(trace.source_pieces)
    assert percent(1 / count) in attention_stage.outcome
    assert numbers(context_stage.outcome) == [str(count)]
    assert percent(1.0) in narrate(described["one source piece"], 0, simple=True)[2].outcome
    uniform = np.full_like(heads.cross_alignment, 1 / len(heads.source_pieces))
    outcome = narrate(dataclasses.replace(heads, cross_alignment=uniform), 1, simple=True)[1].outcome
    assert numbers(outcome) == numbers(percent(1 / len(heads.source_pieces))), "no piece has a mean to compare with"
    outcome = narrate(nearest(), 1)[1].outcome
    assert percent(0.9) in outcome
    assert percent(0.97) in outcome
    step, opened, words = 1, heads.displayed, heads.words()
    energy_stage, attention_stage, heads_stage, stream_stage, word_stage = narrate(heads, step, simple=True)
    assert "8" in numbers(energy_stage.sentence)
    best = int(opened.alignment[step].argmax())
    assert quoted_name(heads.source_pieces[best]).lower() in energy_stage.outcome.lower()
    for written in (percent(float(opened.alignment[step, best])), percent(float(heads.alignment[step, best])), "8"):
        assert written in attention_stage.outcome
    shares, most = word_weights_of_heads(heads, step), strongest_words(heads, step)
    np.testing.assert_allclose(shares.sum(axis=-1), 1, atol=1e-5)
    here = most[opened.layer, opened.head]
    assert numbers(heads_stage.outcome)[:2] == [str((most == here).sum()), "8"]
    assert words.source[here] in heads_stage.outcome
    block = int(np.linalg.norm(opened.added[:, step], axis=1).argmax())
    assert str(block // 3 + 1) in numbers(stream_stage.outcome)
    assert word_stage.outcome.endswith(percent(float(heads.probabilities[step])))


STEP = 1


def changes(count: int) -> dict[str, AttentionIntervention]:
    odd = np.arange(count) % 2.0
    return {
        "temperature": Temperature(0.05, STEP),
        "endless": Temperature(math.inf, STEP),
        "weights": ReplaceWeights(tuple(odd / odd.sum()), STEP),
        "energies": ReplaceEnergies(tuple(9 * odd), STEP),
        "exclusion": ExcludePosition(0, STEP),
    }


def test_softmax_sentence_states_interventions(each_language, translator, snapshot) -> None:
    count, said = len(translator.translate(SENTENCES[0], beam=1).source_pieces), {}
    for name, one in changes(count).items():
        trace = translator.translate(SENTENCES[0], interventions=[one], beam=1)
        untouched = dataclasses.replace(trace, interventions=())
        alpha, energies = trace.alignment[STEP], trace.energies[STEP].astype(np.float64)
        best = int(alpha.argmax())
        sentence = narrate(trace, STEP)[1].sentence
        assert narrate(trace, STEP, simple=True)[1].sentence == sentence
        if is_uniform(trace, STEP):  # then no piece has the largest weight
            assert name == "endless"
            assert percent(1 / count) in sentence
            assert not [piece for piece in trace.source_pieces if quoted_name(piece) in sentence]
        else:
            assert quoted_name(trace.source_pieces[best]) in sentence
            for share in (percent(float(alpha[best])), percent(float(softmax(energies)[best]))):
                assert share in sentence
        said[name] = without_numbers(sentence)
        assert narrate(trace, STEP)[1] != narrate(untouched, STEP)[1]
        assert narrate(trace, STEP + 1)[1] == narrate(untouched, STEP + 1)[1]
    several = translator.translate(SENTENCES[0], interventions=[Temperature(2), ExcludePosition(0)], beam=1)
    said["several"] = narrate(several, 0)[1].sentence.partition(". ")[0]
    assert said == snapshot
    assert equations(several, 0)[1].note == snapshot(name="note")


def test_softmax_equation_holds_after_interventions(translator) -> None:
    count = len(translator.translate(SENTENCES[0], beam=1).source_pieces)
    for one in changes(count).values():
        trace = translator.translate(SENTENCES[0], interventions=[one], beam=1)
        equation = equations(trace, STEP)[1]
        assert r"\tilde{e}" in equation.latex
        assert r"\tilde" not in equations(trace, STEP + 1)[1].latex
        assert equation.note != equations(dataclasses.replace(trace, interventions=()), STEP)[1].note
        terms = re.findall(r"\\exp\((-?\d+(?:\.\d+)?|-\\infty)\)", equation.latex)
        powers = np.exp([-np.inf if term == r"-\infty" else float(term) for term in terms])
        # Above the line is the piece of the largest weight; the terms below it compare as the largest weights do.
        assert powers[0] == powers[1]
        largest = np.sort(trace.alignment[STEP])[::-1][: len(powers) - 1]
        np.testing.assert_allclose(powers[1:] / powers[1], largest / largest[0], rtol=0.02, atol=1e-6)
        assert number(float(trace.alignment[STEP].max())) in equation.latex


def test_forced_word_is_described_as_given(each_language, translator, snapshot) -> None:
    free = translator.translate(SENTENCES[0], beam=1)
    other = next(int(piece) for piece in free.top_ids[0][1:] if piece > EOS)
    trace = translator.translate(SENTENCES[0], interventions=[ForceWords((other,), 0)], beam=1)
    sentences = (step_sentence(trace, 0), narrate(trace, 0)[-1].sentence, step_sentence(trace, 1))
    assert [*map(without_numbers, sentences)] == snapshot


@pytest.mark.parametrize("beam", [1, 5])
def test_only_the_words_that_were_forced_are_described_as_forced(translator, beam: int) -> None:
    """Words before a changed step are kept; `tests/trace/test_what_ifs.py` tests how a change says so."""
    words = (ForceWords((9,), STEP), ForceWords((9,), 0, kept=True))
    trace = translator.translate(SENTENCES[0], beam=beam, interventions=words)
    assert [was_forced(trace, step) for step in range(3)] == [False, True, False]
