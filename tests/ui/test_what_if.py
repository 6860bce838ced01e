"""What-ifs on the page as Streamlit runs it, without a browser: made, shown, linked, and read from a file."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from attnviz import Trace, Translator
from attnviz.installed_models import installed_models
from attnviz.trace import WhatIf, WhatIfs
from attnviz.trace.interventions import ExcludePosition, ReplaceWeights, Temperature
from attnviz.trace.what_ifs import MOST_WHAT_IFS, encode_what_ifs, translator_arguments
from attnviz.ui.page_state.what_if_state import stored_what_ifs
from attnviz.ui.resources import translate
from attnviz.ui.step.what_if_panel import handle_what_if
from attnviz.ui.toolbar.opened_file import open_file
from attnviz.ui.view import MAIN, View
from tests.conftest import SENTENCES, ModelFactory
from tests.ui.fields import set_field
from tests.ui.opening import Run, open_page
from tests.ui.shown_payloads import address, badge, mounted, panel_texts, texts
from tests.what_if_links import link, only

SENTENCE = SENTENCES[0]
HOT = {"kind": "temperature", "temperature": 2.0, "step": 1}


@pytest.fixture
def page(page: Run) -> Run:
    """Return a function that opens the page with a sentence and greedy search."""
    return partial(page, sentence=SENTENCE, search="greedy")


def ask(app: AppTest, **asked: Any) -> AppTest:
    """Send a request about what-ifs for the current view to the page, and run it."""
    current = view(app)
    handle_what_if(app.session_state, current, browser_request(current, asked))
    app.run()
    assert not app.exception
    return app


def change(app: AppTest, *, held: bool = False, **intervention: Any) -> AppTest:
    """Request a what-if with this intervention."""
    return ask(app, intervention=intervention, held=held)


def row(app: AppTest, source: int | None = None) -> list[float]:
    """Return weights that are all on one source piece, or for None the same for all."""
    return [float(source in (None, j)) for j in range(len(view(app).trace.source_ids))]


def browser_request(view: View, asked: dict[str, Any]) -> dict[str, Any]:
    """Return the request of a browser that shows `view`."""
    return {"view": view.id, "identity": view.identity, "what_if": asked}


def view(app: AppTest) -> View:
    """Return the current view, recomputed from the session state."""
    stored = stored_what_ifs(app.session_state, MAIN)
    first = translate(str(installed_models()["en-fr"]), "auto", SENTENCE, 1, None)
    traces = [first]
    for what_if in stored.what_ifs:
        how = translator_arguments(traces[what_if.parent], what_if.intervention, held=what_if.held)
        traces.append(translate(str(installed_models()["en-fr"]), "auto", SENTENCE, 1, how.target, how.interventions))
    what_ifs = WhatIfs(first, stored.what_ifs, tuple(traces[1:]))
    return View(MAIN, what_ifs.trace(stored.current), what_ifs, stored.current)


def open_saved_file(app: AppTest, path: Path) -> None:
    """Have the page open a file, and run."""
    session: dict[Any, Any] = {}  # the session state of AppTest has no `pop`
    open_file(session, path.name, path.read_bytes())
    for key, value in session.items():
        app.session_state[key] = value
    app.run()
    assert not app.exception


def shown(app: AppTest) -> tuple[str, int]:
    """Return the identity of the shown translation, and the number of its card."""
    (server,), (cards,) = mounted(app, "view_state"), mounted(app, "what_ifs")
    return server["identity"], cards["current"]


def cards(app: AppTest) -> list[str]:
    (record,) = mounted(app, "what_ifs")
    return [card["description"] for card in record["cards"]]


def test_without_a_what_if_there_are_no_cards(page: Run) -> None:
    app = page()
    assert cards(app) == []
    assert "what_ifs" not in address(app)


def test_change_is_shown_and_added_to_the_address(page: Run) -> None:
    app = page()
    before = shown(app)
    change(app, kind="weights", step=2, weights=row(app, 1), held=False)
    assert shown(app)[0] != before[0]
    assert shown(app)[1] == 1
    assert cards(app)[0] == "First translation"
    assert cards(app)[1].startswith("Step 3 looks only at ")
    expected = link(only(len(view(app).trace.source_ids), 2, 1))
    assert (address(app)["what_ifs"], address(app)["what_if"]) == (expected, "1")
    assert "what-if 1 · " in texts(app)
    assert badge(app)["holds"], "the changed numbers are verified"
    ask(app, kind="what_if", index=0)
    assert shown(app) == (before[0], 0)
    ask(app, kind="what_if", index=1)
    ask(app, kind="undo")
    assert shown(app) == (before[0], 0)
    assert cards(app) == []


def test_what_ifs_are_added_to_any_parent_and_removed_with_descendants(page: Run, snapshot: SnapshotAssertion) -> None:
    app = page()
    first = shown(app)[0]
    change(app, kind="weights", step=1, weights=row(app), held=False)
    one = shown(app)[0]
    ask(app, kind="what_if", index=0)
    change(app, kind="temperature", step=None, temperature=4.0, held=True)
    assert shown(app)[1] == 2
    assert cards(app)[2] == snapshot
    change(app, kind="exclusion", step=0, position=0, held=False)
    assert shown(app)[1] == 3
    ask(app, kind="remove", index=2)
    assert (shown(app)[0], shown(app)[1]) == (first, 0), "its descendants are removed with it"
    assert len(cards(app)) == 2
    ask(app, kind="what_if", index=1)
    assert shown(app)[0] == one
    set_field(app, "sentence", SENTENCES[2])
    assert cards(app) == []
    assert "what_ifs" not in address(app)


def test_change_without_effect_makes_no_card(page: Run) -> None:
    app = page()
    weights = view(app).trace.alignment[1].tolist()
    change(app, kind="weights", step=1, weights=weights, held=True)
    change(app, kind="temperature", step=None, temperature=1.0, held=False)
    change(app, kind="temperature", step=2, temperature=1.0, held=True)
    assert cards(app) == []


def test_infinite_temperature_round_trips_through_card_and_address(page: Run, snapshot: SnapshotAssertion) -> None:
    app = page()
    change(app, kind="temperature", step=None, temperature="Infinity", held=True)
    assert cards(app)[1] == snapshot
    endless = link(Temperature(math.inf), held=True)
    assert address(app)["what_ifs"] == endless
    trace = view(app).trace
    np.testing.assert_allclose(trace.alignment, 1 / len(trace.source_ids), rtol=1e-6)
    linked = page(what_ifs=endless, what_if="1")
    assert view(linked).trace.fingerprint == trace.fingerprint


def test_dragged_bar_sets_the_released_weights(page: Run) -> None:
    app = page()
    weights = np.linspace(1, 2, len(view(app).trace.source_ids))
    change(app, kind="weights", step=1, weights=(weights / weights.sum()).tolist(), held=False)
    np.testing.assert_allclose(view(app).trace.alignment[1], weights / weights.sum(), atol=1 / 4000)
    change(app, kind="weights", step=1, weights=(weights[::-1] / weights.sum()).tolist(), held=False)
    assert len(cards(app)) == 2, "dragging further changes the same what-if"
    np.testing.assert_allclose(view(app).trace.alignment[1], weights[::-1] / weights.sum(), atol=1 / 4000)


def test_other_words_and_hypotheses_can_be_forced(page: Run) -> None:
    app = page()
    foil = next(int(piece) for piece in view(app).trace.top_ids[1] if piece > 3 and piece != 130)
    change(app, kind="words", step=1, pieces=[foil], held=True)
    assert view(app).trace.target_ids[1] == foil
    ask(app, kind="what_if", index=0)
    change(app, kind="typed", step=0, text="chiens", held=False)
    assert view(app).trace.translation.startswith("chiens")
    assert "“chiens” instead of" in cards(app)[2]
    ask(app, kind="what_if", index=0)
    change(app, kind="words", pieces=[9, 8, 3], replaced=20, held=True)
    assert view(app).trace.target_ids == (9, 8, 3)


@pytest.mark.parametrize(
    "asked",
    [
        {"kind": "typed", "step": 0, "text": "北京"},
        {"kind": "typed", "step": 0, "text": "  "},
        {"kind": "typed", "step": 0, "text": "a" * 99},
        {"kind": "exclusion", "step": 99, "position": 0},
        {"kind": "exclusion", "step": 0, "position": 99},
        {"kind": "weights", "step": 0, "weights": [1.0]},
        {"kind": "weights", "step": 0, "weights": "x"},
        {"kind": "weights", "step": 0},
        {"kind": "temperature", "step": 0, "temperature": 0},
        {"kind": "temperature", "step": 0, "temperature": "hot"},
        {"kind": "words", "step": 0, "pieces": [0]},
        {"kind": "words", "step": 0, "pieces": [9], "replaced": 0},
        {"kind": "typed", "step": 99, "text": "chiens"},
        {"kind": "borrowed", "step": 0, "lender": "step", "of": "99"},
        {"kind": "borrowed", "step": 99, "lender": "step", "of": "0"},
        {"kind": "magic"},
        {},
    ],
    ids=lambda asked: " ".join(str(value)[:9] for value in asked.values()) or "nothing",
)
def test_impossible_change_shows_a_message_and_changes_nothing(
    page: Run, asked: Any, snapshot: SnapshotAssertion
) -> None:
    app = page()
    before = shown(app)
    ask(app, intervention=asked, held=False)
    assert panel_texts(app, "what_if_problem") == snapshot
    assert shown(app) == before
    assert cards(app) == []
    change(app, kind="weights", step=0, weights=row(app))
    assert panel_texts(app, "what_if_problem") == []  # gone with the next what-if


@pytest.mark.nightly
def test_number_of_cards_is_limited(page: Run, snapshot: SnapshotAssertion) -> None:
    app = page()
    for source in range(MOST_WHAT_IFS + 1):
        ask(app, kind="what_if", index=0)
        change(app, kind="exclusion", step=source // 6, position=source % 6, held=True)
    assert len(cards(app)) == MOST_WHAT_IFS + 1
    assert panel_texts(app, "what_if_problem") == snapshot


def test_copied_link_reproduces_the_what_if_bit_for_bit(page: Run) -> None:
    app = page()
    weights = np.arange(len(view(app).trace.source_ids)) + 0.5
    change(app, kind="weights", step=1, weights=(weights / weights.sum()).tolist(), held=False)
    change(app, kind="exclusion", step=0, position=2, held=True)
    again = page(**address(app))
    assert shown(again) == shown(app)
    assert cards(again) == cards(app)
    assert address(again) == address(app)


def test_bad_link_values_show_a_message(page: Run, snapshot: SnapshotAssertion) -> None:
    possible, impossible = WhatIf(0, ExcludePosition(0, 0)), WhatIf(0, ExcludePosition(0, 98))
    bad = [
        possible,
        impossible,
        WhatIf(2, Temperature(2.0, 0)),
        WhatIf(7, Temperature(2.0)),
        WhatIf(0, ReplaceWeights((1,))),
    ]
    app = page(what_ifs=encode_what_ifs(bad), what_if="3")
    assert len(cards(app)) == 2
    assert panel_texts(app, "what_if_problem") == snapshot
    assert shown(app)[1] == 0, "the linked what-if was made from one that does not exist"
    assert address(app)["what_ifs"] == encode_what_ifs([possible])
    damaged = page(what_ifs="0.o.1.1")
    assert cards(damaged) == []
    assert panel_texts(damaged, "what_if_problem") == snapshot(name="damaged")


def test_model_without_attention_allows_only_word_changes(
    en_fr: Path, page: Run, make_network: ModelFactory, tokenizer: Any, snapshot: SnapshotAssertion
) -> None:
    from attnviz.checkpoint import save_model

    save_model(en_fr, make_network("none"), tokenizer)
    app = page()
    change(app, kind="weights", step=0, weights=row(app))
    assert panel_texts(app, "what_if_problem") == snapshot
    change(app, kind="words", step=0, pieces=[9])
    assert view(app).trace.target_ids[0] == 9
    assert len(cards(app)) == 2


def test_file_restores_all_cards_without_a_model(page: Run, models_folder: Path, tmp_path: Path) -> None:
    app = page()
    change(app, kind="weights", step=1, weights=row(app, 0), held=False)
    change(app, kind="weights", step=0, weights=row(app), held=True)
    saved = view(app).what_ifs
    saved.save(tmp_path / "all.json")
    descriptions = cards(app)
    for path in models_folder.glob("*/*"):
        path.unlink()
    app = open_page()
    open_saved_file(app, tmp_path / "all.json")
    assert not app.exception
    assert cards(app) == descriptions
    assert shown(app) == (saved.first.fingerprint, 0)
    file_view = View(MAIN, saved.first, saved)
    for number in (2, 1):
        handle_what_if(app.session_state, file_view, browser_request(file_view, {"kind": "what_if", "index": number}))
        app.run()
        assert shown(app) == (saved.trace(number).fingerprint, number)
    assert "what_ifs" not in address(app), "the what-ifs of a file are not in the address"
    file_view = View(MAIN, saved.trace(1), saved, 1)
    handle_what_if(app.session_state, file_view, browser_request(file_view, {"intervention": HOT, "held": False}))
    app.run()
    assert "is not available" in texts(app)
    assert cards(app) == descriptions


def test_opened_file_can_be_changed_when_its_model_is_installed(page: Run, tmp_path: Path, en_fr: Path) -> None:
    translator = Translator.load(en_fr, device="cpu")
    first: Trace = translator.translate(SENTENCES[2], beam=1)
    first.save(tmp_path / "one.json")
    app = page()
    open_saved_file(app, tmp_path / "one.json")
    assert shown(app)[0] == first.fingerprint
    file_view = View(MAIN, first, WhatIfs(first))
    handle_what_if(app.session_state, file_view, browser_request(file_view, {"intervention": HOT, "held": True}))
    app.run()
    assert not app.exception
    assert len(cards(app)) == 2
    assert shown(app)[1] == 1


def test_same_interventions_in_python_give_the_same_numbers(page: Run, en_fr: Path) -> None:
    app = page()
    weights = [j + 1 for j in range(len(view(app).trace.source_ids))]
    change(app, kind="weights", step=1, weights=weights, held=False)
    on_page = view(app).trace
    in_python = Translator.load(en_fr, device="cpu").translate(SENTENCE, interventions=on_page.interventions, beam=1)
    assert in_python.fingerprint == on_page.fingerprint == shown(app)[0]


@pytest.mark.parametrize("lang", ["fr"])
def test_cards_follow_the_language_of_the_page(lang: str, page: Run, snapshot: SnapshotAssertion) -> None:
    app = page()
    change(app, kind="weights", step=1, weights=row(app))
    before, english = shown(app), cards(app)
    set_field(app, "lang", lang)
    assert cards(app)[1] == snapshot
    set_field(app, "lang", "en")
    assert (shown(app), cards(app)) == (before, english)
