"""Texts about training: names and definitions of the measures, and sentences about measured values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz.analysis.learning import (
    LINK_MEASURES,
    QUALITY_MEASURES,
    ROW_MEASURES,
    compared_guidance_sentence,
    grouped_digits,
    guidance_definition,
    guidance_sentence,
    halfway_sentence,
    learning_measure_names,
    link_counts_text,
    measure_definitions,
    measured_values_text,
    own_translation_sentence,
    unguided_model,
)
from attnviz.languages import set_language
from attnviz.training.log import CURVES
from tests.figures.test_learning import run

EACH_LANGUAGE = pytest.mark.usefixtures("each_language")


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


def test_unguided_model_has_the_same_form_of_attention() -> None:
    assert unguided_model(CONFIGS["guided"], CONFIGS) == "free"
    assert unguided_model(CONFIGS["guided"], {"old": CONFIGS["old"], "fixed": CONFIGS["fixed"]}) is None
    assert unguided_model({"attention": "dot", "guidance": 1}, {"heads": CONFIGS["heads"]}) == "heads"
    assert [name for name, config in CONFIGS.items() if guidance_sentence(config)] == ["guided"]
    assert not any(unguided_model(config, CONFIGS) for name, config in CONFIGS.items() if name != "guided")


@EACH_LANGUAGE
def test_guided_models_are_named(snapshot: SnapshotAssertion) -> None:
    assert guidance_sentence(CONFIGS["guided"]) == snapshot
    assert guidance_definition([run(guidance=0.0)], CONFIGS) == ""
    alone = guidance_definition([run(guidance=0.5)], {})
    assert guidance_definition([run(guidance=0.5)], CONFIGS).removeprefix(alone) == snapshot(name="models")
    names = ("one", "other")
    assert compared_guidance_sentence(CONFIGS["free"], CONFIGS["guided"], names) == snapshot(name="compared")
    for other in ("old", "fixed", "guided"):
        assert compared_guidance_sentence(CONFIGS["guided"], CONFIGS[other], names) == ""


@EACH_LANGUAGE
def test_measured_values_text_has_the_latest_values_of_an_update(snapshot: SnapshotAssertion) -> None:
    found = replace(run(), curves={"loss": ((10, 7.251),), "bleu": ((100, 3.14),), "training": ((50, 6.5),)})
    assert measured_values_text(found, 0) == ""
    assert [
        measured_values_text(found, 99),
        measured_values_text(found, 100),
        measured_values_text(replace(found, curves={"training": ((50, 6.5),)}), 60),
    ] == snapshot


@EACH_LANGUAGE
def test_long_translation_is_shortened(snapshot: SnapshotAssertion) -> None:
    found = replace(run(), translations=(("",), (" Oui.",), ("ab " * 90,), ("z",)))
    assert [
        own_translation_sentence(found, 0, 0),
        own_translation_sentence(found, 0, 1),
    ] == snapshot
    assert len(own_translation_sentence(found, 0, 2)) < 140
    assert own_translation_sentence(found, 0, 2).endswith("…")


@EACH_LANGUAGE
def test_halfway_sentence_lists_measures_in_the_order_of_learning(snapshot: SnapshotAssertion) -> None:
    curves = {"content": ((0, 0.0), (100, 0.5)), "articles": ((0, 0.0), (60, 0.3), (100, 0.4)), "marks": ((0, 0.1),)}
    sentence = halfway_sentence(replace(run(), curves=curves))
    names = learning_measure_names()
    assert sentence.index(f"{names['articles']} 40") < sentence.index(f"{names['content']} 50")
    assert names["marks"] not in sentence
    assert sentence == snapshot
    assert halfway_sentence(replace(run(), curves={})) == ""


def test_numbers_of_five_digits_are_grouped() -> None:
    assert [grouped_digits(2000), grouped_digits(12_000)] == ["2000", "12,000"]


@EACH_LANGUAGE
def test_caption_counts_the_measured_links_and_sentences(snapshot: SnapshotAssertion) -> None:
    assert link_counts_text([replace(run(), counts={})]) == ""
    assert link_counts_text([replace(run(), counts={"aer": 9, "marks": 4})]) == snapshot
