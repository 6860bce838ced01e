"""Numbers and sentences of the pages *To the transformer*, *How it learns* and *Why attention?*."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import Translator
from attnviz.analysis.attention_forms import AttentionForm, count_multiplications, instructive_step
from attnviz.analysis.labels import decimal, significant
from attnviz.analysis.learning import (
    LINK_MEASURES,
    QUALITY_MEASURES,
    ROW_MEASURES,
    compared_guidance_sentence,
    guidance_definition,
    guidance_sentence,
    halfway_sentence,
    learning_measure_names,
    measure_definitions,
    measured_values_text,
)
from attnviz.analysis.models_side_by_side import bleu_gap_sentence
from attnviz.analysis.numpy_scorers import scorer_of
from attnviz.analysis.why_attention import (
    FIRST,
    MOST_PREFIXES,
    ForcedWords,
    JudgedTranslation,
    distances,
    forced_word_probabilities,
    forgetting_sentences,
    gradient_quartiles,
    gradient_share,
    largest_shares,
    prefixes,
    shares_by_length_sentence,
)
from attnviz.analysis.word_classes import content_words
from attnviz.languages import set_language
from attnviz.trace.parts import GradientNorms
from attnviz.training.log import CURVES
from tests.conftest import SENTENCES
from tests.figures.test_experiments import run


def form(*rows: tuple[float, float]) -> AttentionForm:
    return AttentionForm(np.array(rows, np.float32))


@pytest.mark.parametrize(
    ("additive", "general", "step"),
    [([(0.6, 0.4)] * 3, [(0.0, 1.0), (0.7, 0.3), (0.9, 0.1)], 2), ([(0.6, 0.4)] * 2, [(0.3, 0.7), (0.0, 1.0)], 1)],
    ids=["of those where all prefer the same piece", "where the forms never agree"],
)
def test_step_with_the_largest_change_is_shown(additive: list, general: list, step: int) -> None:
    forms = {"additive": form(*additive), "general": form(*general)}
    assert instructive_step(forms) == step  # type: ignore[arg-type]


@given(n=st.integers(1, 9), units=st.integers(1, 9), source=st.integers(1, 9), target=st.integers(1, 9))
def test_multiplications_are_those_of_the_products(n: int, units: int, source: int, target: int) -> None:
    """Of a matrix product (a, b) (b, c) there are a b c; the queries are multiplied at every step."""
    for kind in ("additive", "general"):
        inner = units if kind == "additive" else n
        sizes = {"n": n, "n'": inner, "2m": 2 * n}
        shapes = [shape for _, shape in scorer_of({"attention": kind}).shapes]
        matrices = [math.prod(sizes[str(axis)] for axis in shape) for shape in shapes if len(shape) == 2]
        found = count_multiplications({"attention": kind, "hidden_size": n, "alignment_size": units}, source, target)
        pairs = target * source * inner
        of_queries = target * n * units if kind == "additive" else 0
        assert sorted(matrices) == sorted([2 * n * inner, n * units][: len(matrices)])
        assert (found.keys, found.queries, found.pairs) == (source * 2 * n * inner, of_queries, pairs)
        assert found.tanh == (pairs if kind == "additive" else 0)
        assert found.total == found.keys + found.queries + found.pairs


def test_sentences_follow_from_the_scores_and_describe_forgetting(each_language, snapshot) -> None:
    sizes = 4_854_848, 4_819_520
    additive = {"1-10": 30.0, "11-20": 22.0, "21-30": 15.0}
    sentence = bleu_gap_sentence(additive, {"1-10": 31.0, "11-20": 20.5, "21-30": 12.0}, sizes)
    assert decimal(3.0, 1) in sentence
    assert [sentence, bleu_gap_sentence(additive, dict(additive), sizes)] == snapshot
    assert bleu_gap_sentence(additive, {"31-40": 9.0}, sizes) == ""
    faded = forgetting_sentences(forced_words_from([0.5, 0.5, 0.05, 0.004], [0.5, 0.5, 0.4, 0.4]), 1)
    assert significant(np.sqrt(8 * 100)) in faded[0]
    assert decimal(0.004, 3) in faded[2]
    many = forgetting_sentences(forced_words_from([0.01] * 4, [0.5] * 4), 1)[-1]
    assert "w3" not in many  # only three are named
    buckets = "1-10", ">50"
    without = shares_by_length_sentence(buckets, (20.0, 1.3), (20.0, 22.0))
    assert decimal(22.0, 1) not in without
    assert {
        "fading": faded,
        "low from the beginning": forgetting_sentences(forced_words_from([0.1, 0.1, 0.2, 0.2], [0.5] * 4), 1),
        "no loss": forgetting_sentences(forced_words_from([0.5] * 4, [0.4] * 4), 1),
        "many words": many,
        "attention falls less": shares_by_length_sentence(buckets, (20.0, 1.3), (29.9, 12.2)),
        "attention does not fall": without,
    } == snapshot


def test_every_measure_has_a_name_and_a_definition() -> None:
    every = {*LINK_MEASURES, *ROW_MEASURES, *QUALITY_MEASURES, *CURVES}
    for code in ("en", "fr"):
        set_language(code)
        assert set(learning_measure_names()) == set(measure_definitions()) == every
        assert len(set(learning_measure_names().values())) == len(every)


CONFIGS: dict[str, dict[str, Any]] = {
    "free-general": {"attention": "general", "guidance": 0.0},
    "free": {"attention": "additive", "guidance": 0.0},
    "guided": {"attention": "additive", "guidance": 0.5},
    "fixed": {"attention": "none", "guidance": 0.0},
    "heads": {"architecture": "transformer"},
    "old": {"attention": "additive"},
}


def test_sentences_about_measured_values_and_guidance(each_language, snapshot) -> None:
    found = replace(run(), curves={"loss": ((10, 7.251),), "bleu": ((100, 3.14),), "training": ((50, 6.5),)})
    curves = {"content": ((0, 0.0), (100, 0.5)), "articles": ((0, 0.0), (60, 0.3), (100, 0.4)), "marks": ((0, 0.1),)}
    halfway, names = halfway_sentence(replace(run(), curves=curves)), learning_measure_names()
    assert halfway.index(f"{names['articles']} 40") < halfway.index(f"{names['content']} 50"), "by when it is learned"
    assert names["marks"] not in halfway
    alone, sides = guidance_definition([run(guidance=0.5)], {}), ("one", "other")
    assert {
        "latest values": [measured_values_text(found, update) for update in (99, 100)],
        "values without a moment": measured_values_text(replace(found, curves={"training": ((50, 6.5),)}), 60),
        "halfway": halfway,
        "guided": guidance_sentence(CONFIGS["guided"]),
        "guided models": guidance_definition([run(guidance=0.5)], CONFIGS).removeprefix(alone),
        "compared": compared_guidance_sentence(CONFIGS["free"], CONFIGS["guided"], sides),
    } == snapshot
    nothing = [
        compared_guidance_sentence(CONFIGS["guided"], CONFIGS[name], sides) for name in ("old", "fixed", "guided")
    ]
    nothing += [guidance_definition([run(guidance=0.0)], CONFIGS), measured_values_text(found, 0)]
    assert {*nothing, halfway_sentence(replace(run(), curves={}))} == {""}


KINDS = ("none", "general", "additive")


def test_word_log_probability_is_the_sum_over_its_pieces(make_network, tokenizer) -> None:
    translators = [Translator(make_network(kind), tokenizer, name=f"small-{kind}") for kind in KINDS]
    traces = [one.translate(SENTENCES[2], target=SENTENCES[3]) for one in translators]
    found, words = forced_word_probabilities(traces), traces[0].words()
    assert (found.words, found.attentions) == (words.target, KINDS)
    assert found.models == ("small-none", "small-general", "small-additive")
    assert any(len(group) > 1 for group in words.target_groups)
    for trace, logs in zip(traces, found.log_probabilities, strict=True):
        pieces = trace.log_probabilities.astype(np.float64)
        np.testing.assert_allclose(logs, [pieces[list(group)].sum() for group in words.target_groups], rtol=1e-5)
    np.testing.assert_allclose(found.lag(0, 2), found.log_probabilities[2] - found.log_probabilities[0])


def forced_words_from(fixed: list[float], other: list[float]) -> ForcedWords:
    words = tuple(f"w{place}" for place in range(len(fixed)))
    return ForcedWords(words, ("a", "b"), ("none", "additive"), np.log([fixed, other]))


@given(st.integers(1, 400))
def test_prefixes_grow_evenly_and_are_few(count: int) -> None:
    counts = [len(prefix.split()) for prefix in prefixes("word " * count)]
    assert len(counts) <= MOST_PREFIXES
    assert counts[0] >= min(FIRST, count)
    assert len(set(np.diff(counts))) <= 1
    if count <= MOST_PREFIXES:
        assert counts == list(range(min(FIRST, count), count + 1))


def test_improbable_words_render_no_source_word_and_such_content_words_are_left_out() -> None:
    shares = np.array([[0.25, 0.75, 0.0], [0.0, 0.4, 0.6], [1.0, 0.0, 0.0]])
    logs = np.log([0.5, 0.02, 0.009])
    np.testing.assert_allclose(largest_shares(shares, logs), [0.25, 0.75, 0.6])
    np.testing.assert_allclose(largest_shares(shares[:0], logs[:0]), [0, 0, 0])
    source = ("the", " green", " house", " fell", ".")
    judged = JudgedTranslation(
        "a b c", ("a", " b", " c"), np.log([0.5, 0.09, 0.11]), source, np.array([0, 0.4, 1, 0.5, 0])
    )
    assert content_words([word.strip() for word in source]) == judged.content == (1, 2, 3)
    assert judged.omitted == (1,)
    assert judged.improbable == 1


def decaying_signals(steps: int, pieces: int, tenth: float) -> GradientNorms:
    """Return signals by s_0 that fall to a tenth within `tenth` steps, and constant signals by the contexts."""
    start = 10.0 ** -(distances(steps, pieces) / tenth)
    contexts = np.full((steps, pieces), 0.3)
    return GradientNorms(start + contexts, start, contexts)


@given(st.integers(1, 30), st.integers(1, 30), st.floats(2, 40))
def test_quartiles_are_those_of_the_signals(steps: int, pieces: int, tenth: float) -> None:
    found = gradient_quartiles(decaying_signals(steps, pieces, tenth))
    assert np.all(np.diff(found.distances) > 0)
    assert np.all(np.diff(found.start, axis=0) >= -1e-12)  # quartiles in their order
    np.testing.assert_allclose(found.contexts, 0.3)
    assert found.near[0] >= found.far[0]
    assert found.near[1] == found.far[1] == pytest.approx(0.3)


def test_medians_are_over_equal_distances_and_shares_are_of_the_attended_piece() -> None:
    rng = np.random.default_rng(2)
    start = rng.random((3, 4))
    found = gradient_quartiles(GradientNorms(start, start, start))
    apart = distances(3, 4)
    assert found.distances.tolist() == [0, 1, 2, 3, 4, 5]
    np.testing.assert_allclose(found.start[1], [np.median(start[apart == far]) for far in range(6)])
    whole = np.array([[3.0, 1.0], [1.0, 1.0]])
    share, alike = gradient_share(GradientNorms(whole, whole, whole), np.array([0, 1]))
    assert (share, alike) == (pytest.approx((0.75 + 0.5) / 2), 0.5)
