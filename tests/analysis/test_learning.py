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
    guidance_definition,
    guidance_sentence,
    halfway_sentence,
    learning_measure_names,
    measure_definitions,
    measured_values_text,
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
def test_halfway_sentence_lists_measures_in_the_order_of_learning(snapshot: SnapshotAssertion) -> None:
    curves = {"content": ((0, 0.0), (100, 0.5)), "articles": ((0, 0.0), (60, 0.3), (100, 0.4)), "marks": ((0, 0.1),)}
    sentence = halfway_sentence(replace(run(), curves=curves))
    names = learning_measure_names()
    assert sentence.index(f"{names['articles']} 40") < sentence.index(f"{names['content']} 50")
    assert names["marks"] not in sentence
    assert sentence == snapshot
    assert halfway_sentence(replace(run(), curves={})) == ""
