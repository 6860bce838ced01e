"""Session state of the page, as plain functions on a dictionary, and the payloads for the browser."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from attnviz.analysis.stages import step_sentence
from attnviz.trace.drawing import HeatmapChoices
from attnviz.ui.components.chart import EVERY_STEP
from attnviz.ui.components.player import player_payload
from attnviz.ui.page_state import selection
from attnviz.ui.page_state.inputs import SENTENCE, TARGET, beam_of, open_request, set_request
from attnviz.ui.page_state.linked import (
    begin_link,
    clear_entries,
    is_given,
    keep_for,
    link_problems,
    linked_entry,
    page_payload,
    set_page_address,
)
from attnviz.ui.page_state.selection import (
    PAGE_CHOICES,
    Selection,
    browser_parameters,
    linked_selection,
    selection_of,
    source_of,
    with_selection,
)
from attnviz.ui.view import MAIN, View
from tests.conftest import REPOSITORY
from tests.figures import synthetic

PAGE = REPOSITORY / "attnviz" / "ui"


MAIN_VIEW = View(MAIN, synthetic.trace())


def main_view(**changes: Any) -> View:
    return View(MAIN, synthetic.trace(**changes))


@pytest.mark.parametrize(
    ("linked", "step"), [(None, 0), ("4", 3), ("400", -1), ("0", 0), ("-3", 0), ("x", 0), ("²", 0), ("9" * 5000, 0)]
)
def test_linked_step_is_limited_to_existing_steps(linked: str | None, step: int) -> None:
    view = main_view()
    assert linked_selection(view, {} if linked is None else {"step": linked}).step == step % view.steps


@given(
    st.dictionaries(
        st.sampled_from(["step", "source", "word", "foil", "typed_word", "typed_foil"]),
        st.text(max_size=200) | st.integers(-9, 10**7).map(str),
    )
)
def test_linked_selection_is_always_valid(linked: dict[str, str]) -> None:
    view = MAIN_VIEW
    chosen = linked_selection(view, linked)
    assert 0 <= chosen.step < view.steps
    assert chosen.source is None or 0 <= chosen.source < len(view.trace.source_pieces)
    for word in (chosen.word, chosen.foil):
        assert word is None or 0 <= word < view.trace.config["vocabulary_size"]
    assert len(chosen.typed_word) <= 80


def test_browser_parameter_bounds_match_what_the_server_reads() -> None:
    for view in (MAIN_VIEW, View("b", MAIN_VIEW.trace)):
        selection = {one["name"]: one for one in browser_parameters(view)}
        assert all(one["key"].endswith("-b") == (view.id == "b") for one in selection.values())
        assert {"step", "source", "word", "foil", "stage", "order", "tour"} <= set(selection)
        for name, field in (("step", "step"), ("source", "source"), ("word", "word"), ("foil", "foil")):
            first, last = selection[name]["first"], selection[name]["last"]
            for value in (first, last):
                chosen = linked_selection(view, {selection[name]["key"]: str(value)})
                assert getattr(chosen, field) == value - first
            assert getattr(linked_selection(view, {selection[name]["key"]: str(first - 1)}), field) in (None, 0)


def test_with_selection_adds_the_selection_to_the_other_choices() -> None:
    left, right = View("a", synthetic.trace(seed=0)), View("b", synthetic.trace(seed=1))
    session = with_selection({"by-b": "words"}, left, Selection(3, source=1))
    assert selection_of(session, left) == Selection(3, source=1)
    assert selection_of(session, right) == Selection()
    assert session["by-b"] == "words"


def test_default_source_piece_has_the_largest_weight() -> None:
    trace = synthetic.trace()
    for step in range(len(trace.target_pieces)):
        assert source_of(Selection(step), trace) == int(trace.alignment[step].argmax())
        assert source_of(Selection(step, source=0), trace) == 0


CHOSEN = {
    "by": "words",
    "colours": "cividis",
    "root": "1",
    "end": "0",
    "margins": "1",
    "face": "difference",
    "values": "1",
}


def test_every_heatmap_choice_is_read_from_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "has_posterior", lambda _: True)
    chosen = linked_selection(main_view(), CHOSEN).choices
    assert chosen == HeatmapChoices(
        by="words", face="difference", colours="cividis", root=True, end=False, margins=True, values=True
    )
    options = [one for one in selection.browser_parameters(main_view()) if one["kind"] == "option"]
    assert {*CHOSEN, "after_word"} == {one["name"] for one in options}
    monkeypatch.setattr(selection, "has_posterior", lambda _: False)
    assert linked_selection(main_view(), CHOSEN).choices.face == "before"


def test_page_address_has_the_page_and_its_entry() -> None:
    session: dict[str, Any] = {}
    set_page_address(session, "entry", {"sentence": "A dog."})
    assert page_payload(session) == {"entry": "first entry", "parameters": {"sentence": "A dog.", "page": None}}


def test_invalid_choice_falls_back_to_the_default() -> None:
    invalid = {"by": "letters", "root": "yes", "end": "", "colours": "Grau"}
    assert linked_selection(main_view(), invalid).choices == PAGE_CHOICES


def test_identity_of_a_translation_depends_on_more_than_its_pieces() -> None:
    """Two models can write the same pieces with different attention: a click in one must not select in the other."""
    one, other = synthetic.trace(seed=0), synthetic.trace(seed=1)
    assert (one.source_pieces, one.target_pieces) == (other.source_pieces, other.target_pieces)
    assert player_payload(one)["identity"] != player_payload(other)["identity"]
    renamed = dataclasses.replace(one, weights_digest="another")
    assert player_payload(one)["identity"] != player_payload(renamed)["identity"]


def test_example_clears_the_given_translation() -> None:
    session: dict[Any, Any] = {SENTENCE: "x", TARGET: "y"}
    set_request(session, "A dog.")
    assert (session[SENTENCE], session[TARGET]) == ("A dog.", "")


@pytest.mark.parametrize(("search", "width"), [("greedy", 1), ("beam 2", 2), ("beam 20", 20)])
def test_beam_width_is_read_from_the_search_name(search: str, width: int) -> None:
    assert beam_of(search) == width


def test_player_payload_has_every_piece_once_and_rows_that_sum_to_one() -> None:
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


def test_player_payload_splits_a_word_into_its_pieces() -> None:
    base = synthetic.trace("The x likes a .", "La y aime un .")
    trace = dataclasses.replace(
        base,
        source_pieces=("▁bi", "cycle", *base.source_pieces[2:]),
        source_surfaces=("▁bi", "cycle", *base.source_surfaces[2:]),
    )
    word = player_payload(trace)["source"][0]
    assert (word["text"], word["parts"], word["pieces"]) == ("bicycle", ["bi", "cycle"], [0, 1])


def test_request_opens_from_its_link_and_keeps_later_input() -> None:
    session: dict[Any, Any] = {}
    open_request(session, {TARGET: "Un chien."}, "A dog.", ("en-fr",))
    assert (session[SENTENCE], session[TARGET]) == ("A dog.", "Un chien.")
    session[SENTENCE] = "A cat."
    open_request(session, {SENTENCE: "A dog."}, "A dog.", ("en-fr",))
    assert session[SENTENCE] == "A cat."


def test_entry_begins_with_its_link_once_until_another_link_is_followed() -> None:
    session: dict[Any, Any] = {}

    def size(linked: dict[str, str], **arguments: Any) -> Any:
        return linked_entry(session, linked, "size", 1, offered=("1", "2"), parse=int, **arguments)

    assert size({"size": "2"}) == 2
    assert is_given(session, "size")
    session["size"] = 3
    assert size({"size": "2"}) == 3, "what was chosen stays"
    del session["size"]
    assert size({"size": "2"}) == 1, "a removed entry begins with its default, not with the link again"
    begin_link(session, "another page")
    assert size({"size": "2"}) == 1
    begin_link(session, "")
    assert size({"size": "2"}) == 2
    begin_link(session, "")
    assert (size({"size": "9"}), is_given(session, "size"), link_problems(session)) == (1, False, {})
    begin_link(session, "")
    assert size({"size": "9"}, noted=True) == 1
    assert list(link_problems(session)) == ["size"]
    clear_entries(session, "")
    session["size"] = 5
    assert size({"size": "2"}) == 5, "a value of the server is not overwritten"


def test_entry_is_kept_for_its_subject_only() -> None:
    session: dict[Any, Any] = {"text": "typed"}
    keep_for(session, "text", "one")
    keep_for(session, "text", "one")
    assert session["text"] == "typed"
    keep_for(session, "text", "other")
    assert "text" not in session


def test_player_payload_shows_unknown_text_without_space_marks(snapshot: SnapshotAssertion) -> None:
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
    assert step_sentence(trace, 1) == snapshot


def test_the_sentence_of_a_step_says_what_came_before(snapshot: SnapshotAssertion) -> None:
    trace = synthetic.trace()
    for step in (0, 1):
        sentence = step_sentence(trace, step)
        assert f"{float(trace.probabilities[step]):.3f}" in sentence
        assert sentence == snapshot
    unlikely = dataclasses.replace(trace, log_probabilities=np.full_like(trace.log_probabilities, -12))
    assert step_sentence(unlikely, 0) == snapshot(name="unlikely")


def test_browser_uses_the_same_key_for_the_common_figure() -> None:
    program = (PAGE / "components" / "chart" / "chart.js").read_text(encoding="utf-8")
    assert f'values["{EVERY_STEP}"]' in program


def test_no_asset_loads_from_another_server() -> None:
    for path in (path for path in PAGE.rglob("*.*") if path.suffix in (".js", ".css", ".html", ".svg")):
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")
        assert "http" not in text, path.name
        assert "//fonts" not in text, path.name


def test_javascript_never_parses_text_as_markup() -> None:
    for path in PAGE.rglob("*.js"):
        text = path.read_text(encoding="utf-8")
        for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert way not in text, f"{path.name} uses {way}"
