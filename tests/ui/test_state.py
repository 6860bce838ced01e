"""What the page remembers, as plain functions on a dictionary; and what it hands to the browser."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.ui.components.chart.chart import EVERY_STEP
from attnviz.ui.components.player.player import player_record
from attnviz.ui.components.step_summary.step_summary import step_sentence
from attnviz.ui.page_state.inputs import SENTENCE, TARGET, beam_of, open_box, take_example
from attnviz.ui.page_state.selection import (
    SOURCE,
    STAGE,
    STAGES,
    STEP,
    WORD,
    choose,
    go_to,
    open_selection,
    open_translation,
    source_of,
)
from tests.conftest import REPOSITORY
from tests.figures import synthetic

PAGE = REPOSITORY / "attnviz" / "ui"


@given(st.integers(-50, 50), st.integers(1, 30))
def test_a_step_is_always_one_there_is(step: int, count: int) -> None:
    kept: dict[Any, Any] = {}
    go_to(kept, step, count)
    assert 1 <= kept[STEP] <= count
    assert kept[STEP] == step or not 1 <= step <= count


@pytest.mark.parametrize(
    ("linked", "step"), [(None, 1), ("4", 4), ("40", 9), ("0", 1), ("-3", 1), ("x", 1), ("²", 1), ("9" * 5000, 1)]
)
def test_a_visit_opens_at_the_step_of_its_link(linked: str | None, step: int) -> None:
    kept: dict[Any, Any] = {}
    open_translation(kept, ("a",), 9, linked)
    assert kept[STEP] == step


def test_another_translation_begins_at_its_first_step() -> None:
    kept: dict[Any, Any] = {}
    open_translation(kept, ("a",), 9, "4")
    open_translation(kept, ("a",), 9, "7")
    assert kept[STEP] == 4
    open_translation(kept, ("b",), 9, "4")
    assert kept[STEP] == 1


SELECTION = {SOURCE: "2", WORD: "7", STAGE: "3"}


def kept_of(selection: dict[Any, Any]) -> list[Any]:
    return [selection.get(key) for key in (SOURCE, WORD, STAGE)]


def test_a_visit_opens_with_the_selection_of_its_link_and_another_translation_without() -> None:
    trace = synthetic.trace()
    kept: dict[Any, Any] = {}
    open_selection(kept, ("a",), trace, SELECTION)
    assert kept_of(kept) == [2, 7, 3]
    choose(kept, {"source": 4}, trace)
    open_selection(kept, ("a",), trace, SELECTION)
    assert kept_of(kept) == [4, 7, 3]
    open_selection(kept, ("b",), trace, SELECTION)
    assert kept_of(kept) == [None, None, None]


@given(st.dictionaries(st.sampled_from(list(SELECTION)), st.text(max_size=8) | st.integers(-9, 10**7).map(str)))
def test_no_link_chooses_what_there_is_not(linked: dict[str, str]) -> None:
    trace = synthetic.trace()
    kept: dict[Any, Any] = {}
    open_selection(kept, ("a",), trace, linked)
    source, word, stage = kept_of(kept)
    assert source is None or 1 <= source <= len(trace.source_pieces)
    assert word is None or 0 <= word < trace.config["vocabulary_size"]
    assert stage is None or 1 <= stage <= STAGES


def test_a_choice_changes_what_it_names_and_a_step_lets_go_of_the_word() -> None:
    trace = synthetic.trace()
    kept: dict[Any, Any] = {}
    open_translation(kept, ("a",), len(trace.target_pieces))
    open_selection(kept, ("a",), trace, {})
    choose(kept, {"step": 1, "word": 9}, trace)
    assert kept[WORD] == 9
    choose(kept, {"source": 3, "stage": 5}, trace)
    assert kept_of(kept) == [3, 9, 5]
    choose(kept, {"step": 2}, trace)
    assert kept_of(kept) == [3, None, 5]

    choose(kept, {"step": 2, "source": None}, trace)
    assert kept_of(kept) == [None, None, 5]


def test_where_nobody_chose_the_source_piece_is_that_of_the_largest_weight() -> None:
    trace = synthetic.trace()
    for step in range(1, len(trace.target_pieces) + 1):
        assert source_of({}, trace, step) == int(trace.alignment[step - 1].argmax()) + 1
        assert source_of({SOURCE: 1}, trace, step) == 1


def test_an_example_takes_the_given_translation_away() -> None:
    kept: dict[Any, Any] = {SENTENCE: "x", TARGET: "y"}
    take_example(kept, "A dog.")
    assert kept == {SENTENCE: "A dog.", TARGET: ""}


@pytest.mark.parametrize(("search", "width"), [("greedy", 1), ("beam 2", 2), ("beam 20", 20)])
def test_a_search_has_its_beam(search: str, width: int) -> None:
    assert beam_of(search) == width


def test_the_player_gets_every_piece_once_and_weights_that_add_up() -> None:
    trace = synthetic.trace("The agreement was signed .", "L' environnement marin .")
    record = player_record(trace, 3)
    shown = [piece["step"] for word in record["target"] for piece in word["pieces"]]
    assert shown == list(range(1, len(trace.target_pieces) + 1))
    weights = np.array(record["weights"])
    assert weights.shape == (len(trace.target_pieces), len(record["source"]))
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-3)
    assert "".join(" " * word["space"] + word["text"] for word in record["source"]) == (
        "The agreement was signed . </s>"
    )
    assert [word["end"] for word in record["target"]].count(True) == 1
    assert [j for word in record["source"] for j in word["pieces"]] == list(range(1, len(trace.source_pieces) + 1))
    assert [order[0] for order in record["orders"]] == trace.alignment.argmax(axis=1).tolist()
    json.dumps(record)


def test_the_player_gets_a_word_cut_into_its_pieces() -> None:
    base = synthetic.trace("The x likes a .", "La y aime un .")
    trace = dataclasses.replace(
        base,
        source_pieces=("▁bi", "cycle", *base.source_pieces[2:]),
        source_surfaces=("▁bi", "cycle", *base.source_surfaces[2:]),
    )
    word = player_record(trace, 1)["source"][0]
    assert (word["text"], word["parts"], word["pieces"]) == ("bicycle", ["bi", "cycle"], [1, 2])


def test_a_box_opens_with_its_link_and_then_keeps_what_is_typed() -> None:
    kept: dict[Any, Any] = {}
    open_box(kept, SENTENCE, {}, "A dog.")
    open_box(kept, TARGET, {TARGET: "Un chien."})
    assert kept == {SENTENCE: "A dog.", TARGET: "Un chien."}
    kept[SENTENCE] = "A cat."
    open_box(kept, SENTENCE, {SENTENCE: "A dog."})
    assert kept[SENTENCE] == "A cat."


def test_the_player_shows_unknown_text_and_no_black_bar() -> None:
    base = synthetic.trace("The x likes a .", "La y aime un .")
    trace = dataclasses.replace(
        base,
        source_pieces=("▁The", "▁", "<unk>", *base.source_pieces[3:]),
        source_surfaces=("▁The", "▁", "🦄", *base.source_surfaces[3:]),
        target_pieces=("▁La", "▁", *base.target_pieces[2:]),
    )
    record = player_record(trace, 2)
    assert "".join(" " * word["space"] + word["text"] for word in record["source"]) == "The 🦄 a . </s>"
    target = "".join(
        " " * word["space"] + "".join(piece["text"] for piece in word["pieces"]) for word in record["target"]
    )
    assert target == "La\u00a0aime un . </s>"
    assert "▁" not in json.dumps(record["target"], ensure_ascii=False)
    assert "After “La”, the decoder wrote a blank" in step_sentence(trace, 2)


def test_the_sentence_of_a_step_says_what_came_before() -> None:
    trace = synthetic.trace()
    probability = f"{float(trace.probabilities[0]):.3f}"
    assert step_sentence(trace, 1) == f"After “<s>”, the decoder wrote “L'” with probability {probability}."
    assert "After “L'”, the decoder wrote “accord”" in step_sentence(trace, 2)
    unlikely = dataclasses.replace(trace, log_probabilities=np.full_like(trace.log_probabilities, -12))
    assert step_sentence(unlikely, 1).endswith("with probability less than 0.001.")


def test_the_key_of_the_common_figure_is_the_one_the_browser_asks_for() -> None:
    program = (PAGE / "components" / "chart" / "chart.js").read_text(encoding="utf-8")
    assert f'figures["{EVERY_STEP}"]' in program


def test_no_asset_asks_another_server_for_anything() -> None:
    for path in (path for path in PAGE.rglob("*.*") if path.suffix in (".js", ".css", ".html", ".svg")):
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "http" not in text, path.name
        assert "//fonts" not in text, path.name


def test_no_program_of_ours_reads_text_as_markup() -> None:
    for path in PAGE.rglob("*.js"):
        text = path.read_text(encoding="utf-8")
        for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert way not in text, f"{path.name} uses {way}"
