"""What is said of a training: every measure has its name and its rule, and a moment is told with what was measured."""

from __future__ import annotations

from dataclasses import replace

from attnviz.analysis.learning import CLASSES
from attnviz.languages import set_language
from attnviz.training.log import CURVES
from attnviz.wording.learning import (
    QUALITY,
    SHAPES,
    SHARES,
    counted,
    grouped,
    learnt_when,
    measure_names,
    measure_rules,
    measured_at,
    said_at,
)
from tests.figures.test_learning import run


def test_every_measure_has_a_name_and_a_rule() -> None:
    every = {*SHARES, *SHAPES, *QUALITY, *CURVES}
    assert set(SHARES) == set(CLASSES)
    for code in ("en", "fr"):
        set_language(code)
        assert set(measure_names()) == set(measure_rules()) == every
        assert len(set(measure_names().values())) == len(every)
    set_language("en")


def test_a_moment_is_told_with_what_was_measured_by_then() -> None:
    found = replace(run(), curves={"loss": ((10, 7.251),), "bleu": ((100, 3.14),), "training": ((50, 6.5),)})
    assert measured_at(found, 0) == ""
    assert measured_at(found, 99) == "validation loss 7.25"
    assert measured_at(found, 100) == "validation loss 7.25, BLEU 3.1"
    assert measured_at(replace(found, curves={"training": ((50, 6.5),)}), 60) == "loss in training 6.50"


def test_what_it_says_is_cut_short() -> None:
    found = replace(run(), translations=(("",), (" Oui.",), ("ab " * 90,), ("z",)))
    assert said_at(found, 0, 0) == "By itself it writes nothing."
    assert said_at(found, 0, 1) == "By itself it writes: Oui."
    assert len(said_at(found, 0, 2)) < 125
    assert said_at(found, 0, 2).endswith("…")


def test_what_is_learnt_first_is_told_first() -> None:
    curves = {"content": ((0, 0.0), (100, 0.5)), "articles": ((0, 0.0), (60, 0.3), (100, 0.4)), "marks": ((0, 0.1),)}
    told = learnt_when(replace(run(), curves=curves))
    assert told.index("articles 40") < told.index("content words 50")
    assert "punctuation" not in told
    assert learnt_when(replace(run(), curves={})) == ""


def test_numbers_of_five_digits_are_grouped() -> None:
    assert [grouped(2000), grouped(12_000)] == ["2000", "12,000"]


def test_what_the_measures_are_of() -> None:
    assert counted([replace(run(), counts={})]) == ""
    assert counted([replace(run(), counts={"aer": 9, "marks": 4})]).startswith("Measured on 9 sentence pairs")
