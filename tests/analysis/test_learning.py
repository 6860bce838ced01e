"""Texts about training: names and definitions of the measures, and sentences about measured values."""

from dataclasses import replace
from typing import Any

import pytest

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


@pytest.mark.usefixtures("each_language")
def test_sentences_about_measured_values_and_guidance(snapshot) -> None:
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
        compared_guidance_sentence(CONFIGS["guided"], CONFIGS[other], sides) for other in ("old", "fixed", "guided")
    ]
    nothing += [guidance_definition([run(guidance=0.0)], CONFIGS), measured_values_text(found, 0)]
    assert {*nothing, halfway_sentence(replace(run(), curves={}))} == {""}
