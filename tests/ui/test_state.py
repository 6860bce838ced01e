"""What the page remembers, as plain functions on a dictionary; and what it hands to the browser."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from attnviz.ui.components.chart.chart import EVERY_STEP
from attnviz.ui.components.player.player import player_payload
from attnviz.ui.page_state.address import forget_view, own_parameters, page_payload, set_page_address
from attnviz.ui.page_state.heatmap_choices import HeatmapChoices, heatmap_choices
from attnviz.ui.page_state.inputs import SENTENCE, TARGET, beam_of, open_request, set_request
from attnviz.ui.page_state.parameters import browser_parameters
from attnviz.ui.page_state.selection import Selection, linked_selection, selection_of, source_of, with_selection
from attnviz.ui.page_state.view import MAIN, View
from attnviz.wording.stages import step_sentence
from tests.conftest import REPOSITORY
from tests.figures import synthetic

PAGE = REPOSITORY / "attnviz" / "ui"


MAIN_VIEW = View(MAIN, synthetic.trace())


def main_view(**changes: Any) -> View:
    return View(MAIN, synthetic.trace(**changes))


@pytest.mark.parametrize(
    ("linked", "step"), [(None, 0), ("4", 3), ("400", -1), ("0", 0), ("-3", 0), ("x", 0), ("²", 0), ("9" * 5000, 0)]
)
def test_an_address_says_a_step_there_is(linked: str | None, step: int) -> None:
    view = main_view()
    assert linked_selection(view, {} if linked is None else {"step": linked}).step == step % view.steps


@given(
    st.dictionaries(
        st.sampled_from(["step", "source", "word", "foil", "typed_word", "typed_foil"]),
        st.text(max_size=200) | st.integers(-9, 10**7).map(str),
    )
)
def test_no_link_chooses_what_there_is_not(linked: dict[str, str]) -> None:
    view = MAIN_VIEW
    chosen = linked_selection(view, linked)
    assert 0 <= chosen.step < view.steps
    assert chosen.source is None or 0 <= chosen.source < len(view.trace.source_pieces)
    for word in (chosen.word, chosen.foil):
        assert word is None or 0 <= word < view.trace.config["vocabulary_size"]
    assert len(chosen.typed_word) <= 80


def test_what_the_browser_is_told_of_its_parameters_is_what_the_server_reads() -> None:
    for view in (MAIN_VIEW, View("b", MAIN_VIEW.trace)):
        told = {one["name"]: one for one in browser_parameters(view)}
        assert all(one["key"].endswith("-b") == (view.id == "b") for one in told.values())
        assert {"step", "source", "word", "foil", "stage", "order", "tour"} <= set(told)
        for name, field in (("step", "step"), ("source", "source"), ("word", "word"), ("foil", "foil")):
            first, last = told[name]["first"], told[name]["last"]
            for value in (first, last):
                chosen = linked_selection(view, {told[name]["key"]: str(value)})
                assert getattr(chosen, field) == value - first
            assert getattr(linked_selection(view, {told[name]["key"]: str(first - 1)}), field) in (None, 0)


def test_what_is_drawn_of_a_selection_has_it_beside_what_was_chosen() -> None:
    left, right = View("a", synthetic.trace(seed=0)), View("b", synthetic.trace(seed=1))
    kept = with_selection({"by-b": "pieces"}, left, Selection(3, source=1))
    assert selection_of(kept, left) == Selection(3, source=1)
    assert selection_of(kept, right) == Selection()
    assert kept["by-b"] == "pieces"


def test_where_nobody_chose_the_source_piece_is_that_of_the_largest_weight() -> None:
    trace = synthetic.trace()
    for step in range(len(trace.target_pieces)):
        assert source_of(Selection(step), trace) == int(trace.alignment[step].argmax())
        assert source_of(Selection(step, source=0), trace) == 0


CHOSEN = {
    "by": "pieces",
    "colours": "cividis",
    "root": "1",
    "end": "0",
    "margins": "1",
    "face": "difference",
}


def test_everything_that_changes_the_picture_is_in_the_link() -> None:
    view, kept = main_view(), {}
    assert heatmap_choices(kept, view, CHOSEN) == HeatmapChoices("pieces", "cividis", True, False, True, "difference")
    set_page_address(kept, "entry", {"sentence": "A dog."})
    written = {key: value for key, value in own_parameters(kept, view).items() if value is not None}
    assert written == CHOSEN
    assert page_payload(kept) == {"entry": "first entry", "parameters": {"sentence": "A dog.", "page": None}}
    forget_view(kept, MAIN)
    assert heatmap_choices(kept, view, {}) == HeatmapChoices()


def test_a_bad_choice_is_the_default() -> None:
    view, kept = main_view(), {}
    assert heatmap_choices(kept, view, {"by": "letters", "root": "yes", "end": ""}) == HeatmapChoices()
    kept["root"] = True
    kept["colours"] = "Grau"  # the label of another language
    assert heatmap_choices(kept, view) == HeatmapChoices(root=True)
    assert (kept["root"], kept["colours"]) == (True, "paper")


def test_the_identity_of_a_translation_is_more_than_its_pieces() -> None:
    """Two models that write the same pieces look at different ones: a click must not choose the other's."""
    one, other = synthetic.trace(seed=0), synthetic.trace(seed=1)
    assert (one.source_pieces, one.target_pieces) == (other.source_pieces, other.target_pieces)
    assert player_payload(one)["identity"] != player_payload(other)["identity"]
    renamed = dataclasses.replace(one, weights_digest="another")
    assert player_payload(one)["identity"] != player_payload(renamed)["identity"]


def test_an_example_takes_the_given_translation_away() -> None:
    kept: dict[Any, Any] = {SENTENCE: "x", TARGET: "y"}
    set_request(kept, "A dog.")
    assert (kept[SENTENCE], kept[TARGET]) == ("A dog.", "")


@pytest.mark.parametrize(("search", "width"), [("greedy", 1), ("beam 2", 2), ("beam 20", 20)])
def test_a_search_has_its_beam(search: str, width: int) -> None:
    assert beam_of(search) == width


def test_the_player_gets_every_piece_once_and_weights_that_add_up() -> None:
    trace = synthetic.trace("The agreement was signed .", "L' environnement marin .")
    record = player_payload(trace)
    assert [step for word in record["target"] for step in word["steps"]] == list(range(len(trace.target_pieces)))
    weights = np.array(record["weights"])
    assert weights.shape == (len(trace.target_pieces), len(record["source"]))
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-3)
    assert "".join(" " * word["space"] + word["text"] for word in record["source"]) == (
        "The agreement was signed . </s>"
    )
    assert [word["end"] for word in record["target"]].count(True) == 1
    assert [j for word in record["source"] for j in word["pieces"]] == list(range(len(trace.source_pieces)))
    assert [order[0] for order in record["orders"]] == trace.alignment.argmax(axis=1).tolist()
    json.dumps(record)


def test_the_player_gets_a_word_cut_into_its_pieces() -> None:
    base = synthetic.trace("The x likes a .", "La y aime un .")
    trace = dataclasses.replace(
        base,
        source_pieces=("▁bi", "cycle", *base.source_pieces[2:]),
        source_surfaces=("▁bi", "cycle", *base.source_surfaces[2:]),
    )
    word = player_payload(trace)["source"][0]
    assert (word["text"], word["parts"], word["pieces"]) == ("bicycle", ["bi", "cycle"], [0, 1])


def test_a_request_opens_with_its_link_and_then_keeps_what_is_typed() -> None:
    kept: dict[Any, Any] = {}
    open_request(kept, {TARGET: "Un chien."}, "A dog.")
    assert (kept[SENTENCE], kept[TARGET]) == ("A dog.", "Un chien.")
    kept[SENTENCE] = "A cat."
    open_request(kept, {SENTENCE: "A dog."}, "A dog.")
    assert kept[SENTENCE] == "A cat."


def test_the_player_shows_unknown_text_and_no_black_bar(snapshot: SnapshotAssertion) -> None:
    base = synthetic.trace("The x likes a .", "La y aime un .")
    trace = dataclasses.replace(
        base,
        source_pieces=("▁The", "▁", "<unk>", *base.source_pieces[3:]),
        source_surfaces=("▁The", "▁", "🦄", *base.source_surfaces[3:]),
        target_pieces=("▁La", "▁", *base.target_pieces[2:]),
    )
    record = player_payload(trace)
    assert "".join(" " * word["space"] + word["text"] for word in record["source"]) == "The 🦄 a . </s>"
    target = "".join(" " * word["space"] + "".join(word["parts"]) for word in record["target"])
    assert target == "La\u00a0aime un . </s>"
    assert "▁" not in json.dumps(record["target"], ensure_ascii=False)
    assert step_sentence(trace, 1, "a blank") == snapshot


def test_the_sentence_of_a_step_says_what_came_before(snapshot: SnapshotAssertion) -> None:
    trace = synthetic.trace()
    for step in (0, 1):
        told = step_sentence(trace, step, "a blank")
        assert f"{float(trace.probabilities[step]):.3f}" in told
        assert told == snapshot
    unlikely = dataclasses.replace(trace, log_probabilities=np.full_like(trace.log_probabilities, -12))
    assert step_sentence(unlikely, 0, "a blank") == snapshot(name="unlikely")


def test_the_key_of_the_common_figure_is_the_one_the_browser_asks_for() -> None:
    program = (PAGE / "components" / "chart" / "chart.js").read_text(encoding="utf-8")
    assert f'values["{EVERY_STEP}"]' in program


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
