"""Session state of the page, as plain functions on a dictionary, and the payloads for the browser."""

import base64
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.analysis.diagram import drawn_units
from attnviz.architectures import narrate
from attnviz.trace.drawing import HeatmapChoices
from attnviz.ui import selection
from attnviz.ui.embedding import in_session
from attnviz.ui.inputs import begin_link, clear_entries, follow_link, is_given, link_problems, linked_entry
from attnviz.ui.selection import browser_parameters, linked_selection
from attnviz.ui.step.diagram_panel import diagram_payload, diagram_table
from attnviz.ui.step.step_controls import player_payload
from attnviz.ui.view import MAIN, View
from tests.figures import synthetic

MAIN_VIEW = View(MAIN, synthetic.trace())


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


CHOSEN = {"by": "words", "face": "difference", "colours": "cividis", "root": "1", "end": "0", "margins": "1"}
CHOSEN["values"] = "1"


def test_every_heatmap_choice_is_read_from_the_address(monkeypatch) -> None:
    monkeypatch.setattr(selection, "has_posterior", lambda _: True)
    chosen = linked_selection(MAIN_VIEW, CHOSEN).choices
    switches = {"root": True, "end": False, "margins": True, "values": True}
    assert chosen == HeatmapChoices(by="words", face="difference", colours="cividis", **switches)
    options = [one for one in selection.browser_parameters(MAIN_VIEW) if one["kind"] == "option"]
    assert {*CHOSEN, "after_word"} == {one["name"] for one in options}
    monkeypatch.setattr(selection, "has_posterior", lambda _: False)
    assert linked_selection(MAIN_VIEW, CHOSEN).choices.face == "before"


def test_player_payload_has_every_piece_once_and_all_weights() -> None:
    trace = synthetic.trace("The agreement was signed .", "L' environnement marin .")
    record = player_payload(trace)
    weights = np.frombuffer(base64.b64decode(record["alignment"]), "<f4").reshape(len(trace.target_pieces), -1)
    np.testing.assert_allclose(weights, trace.alignment, atol=1e-6)
    assert [step for word in record["target"] for step in word["steps"]] == list(range(len(trace.target_pieces)))
    assert [j for word in record["source"] for j in word["pieces"]] == list(range(len(trace.source_pieces)))


@pytest.mark.parametrize("attention", ["additive", "general", "none"])
def test_diagram_and_its_table_have_the_numbers_of_their_steps(attention: str) -> None:
    trace = synthetic.trace(attention=attention)
    steps, units, columns = [1, 3], drawn_units(trace), len(trace.source_pieces)
    record = diagram_payload(trace, steps, {step: narrate(trace, step) for step in steps})
    squares = record["squares"]
    for name, width, expected in (
        ("weights", columns, trace.alignment[steps]),
        ("energies", columns, trace.energies[steps]),
        ("annotations", squares["annotation"], trace.annotations[:, units.annotation]),
        ("before", squares["state"], trace.previous_states[steps][:, units.state]),
        ("after", squares["state"], trace.states[steps][:, units.state]),
        ("readouts", squares["readout"], trace.readouts[steps][:, units.readout]),
        ("contexts", squares["context"], trace.contexts[steps][:, units.context]),
    ):
        found = np.frombuffer(base64.b64decode(record[name]), dtype="<f4").reshape(-1, width)
        np.testing.assert_allclose(found, expected, atol=1e-5, err_msg=name)
    table = diagram_table(trace, 2)
    assert list(table.index[-4:]) == ["c₃", "s₂", "s₃", "t₃"]
    cells = table.filter(like="square").to_numpy()
    vectors = [*trace.annotations[:, units.annotation], trace.contexts[2][units.context]]
    vectors += [trace.states[1][units.state], trace.states[2][units.state], trace.readouts[2][units.readout]]
    for row, vector in zip(cells, vectors, strict=True):
        np.testing.assert_array_equal(row[: len(vector)], vector)
        assert np.isnan(row[len(vector) :]).all()
    assert ("α" in table) == trace.attends
    if trace.attends:
        np.testing.assert_array_equal(table["α"][:columns], trace.alignment[2])
        np.testing.assert_array_equal(table["e"][:columns], trace.energies[2])


def test_entry_begins_with_its_link_once_until_another_link_is_followed() -> None:
    session: dict[Any, Any] = {}

    def size(value: str, **arguments: Any) -> Any:
        follow_link({"size": value})
        return linked_entry("size", 1, offered=("1", "2"), parse=int, **arguments)

    with in_session(session):
        assert size("2") == 2
        assert is_given("size")
        session["size"] = 3
        assert size("2") == 3, "what was chosen stays"
        del session["size"]
        assert size("2") == 1, "a removed entry begins with its default, not with the link again"
        begin_link("another page")
        assert size("2") == 1
        begin_link("")
        assert size("2") == 2
        begin_link("")
        assert (size("9"), is_given("size"), link_problems()) == (1, False, {})
        begin_link("")
        assert size("9", noted=True) == 1
        assert list(link_problems()) == ["size"]
        clear_entries("")
        session["size"] = 5
        assert size("2") == 5, "a value of the server is not overwritten"
