"""What is said of a training: every measure has its name and its rule, and a moment is told with what was measured."""

from __future__ import annotations

from dataclasses import replace

import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz.analysis.learning import CLASSES
from attnviz.languages import set_language
from attnviz.training.log import CURVES
from attnviz.wording.learning import (
    QUALITY,
    SHAPES,
    SHARES,
    counted,
    grouped,
    halfway_sentence,
    measure_names,
    measure_rules,
    measured_at,
    own_translation_sentence,
)
from tests.figures.test_learning import run

EACH_LANGUAGE = pytest.mark.usefixtures("each_language")


def test_every_measure_has_a_name_and_a_rule() -> None:
    every = {*SHARES, *SHAPES, *QUALITY, *CURVES}
    assert set(SHARES) == set(CLASSES)
    for code in ("en", "fr"):
        set_language(code)
        assert set(measure_names()) == set(measure_rules()) == every
        assert len(set(measure_names().values())) == len(every)


@EACH_LANGUAGE
def test_a_moment_is_told_with_what_was_measured_by_then(snapshot: SnapshotAssertion) -> None:
    found = replace(run(), curves={"loss": ((10, 7.251),), "bleu": ((100, 3.14),), "training": ((50, 6.5),)})
    assert measured_at(found, 0) == ""
    assert measured_at(found, 99) == snapshot(name="loss")
    assert measured_at(found, 100) == snapshot(name="loss and BLEU")
    assert measured_at(replace(found, curves={"training": ((50, 6.5),)}), 60) == snapshot(name="loss in training")


@EACH_LANGUAGE
def test_what_it_says_is_cut_short(snapshot: SnapshotAssertion) -> None:
    found = replace(run(), translations=(("",), (" Oui.",), ("ab " * 90,), ("z",)))
    assert own_translation_sentence(found, 0, 0) == snapshot(name="nothing")
    assert own_translation_sentence(found, 0, 1) == snapshot(name="a word")
    assert len(own_translation_sentence(found, 0, 2)) < 130
    assert own_translation_sentence(found, 0, 2).endswith("…")


@EACH_LANGUAGE
def test_what_is_learnt_first_is_told_first(snapshot: SnapshotAssertion) -> None:
    curves = {"content": ((0, 0.0), (100, 0.5)), "articles": ((0, 0.0), (60, 0.3), (100, 0.4)), "marks": ((0, 0.1),)}
    told = halfway_sentence(replace(run(), curves=curves))
    names = measure_names()
    assert told.index(f"{names['articles']} 40") < told.index(f"{names['content']} 50")
    assert names["marks"] not in told
    assert told == snapshot
    assert halfway_sentence(replace(run(), curves={})) == ""


def test_numbers_of_five_digits_are_grouped() -> None:
    assert [grouped(2000), grouped(12_000)] == ["2000", "12,000"]


@EACH_LANGUAGE
def test_what_the_measures_are_of(snapshot: SnapshotAssertion) -> None:
    assert counted([replace(run(), counts={})]) == ""
    assert counted([replace(run(), counts={"aer": 9, "marks": 4})]) == snapshot
