"""What-ifs on the page as Streamlit runs it, without a browser: taken up, shown, in the address, read from a file."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from attnviz import Trace, Translator
from attnviz.trace import WhatIfs
from attnviz.trace.changes import resolved, shares_of
from attnviz.trace.what_ifs import MOST
from attnviz.ui.page_state.view import MAIN, View
from attnviz.ui.page_state.what_ifs import stored_what_ifs
from attnviz.ui.resources import models, translate
from attnviz.ui.step.what_if import handle_what_if
from attnviz.ui.toolbar.opened_file import open_file
from tests.conftest import SENTENCES, ModelFactory
from tests.ui.fields import set_field
from tests.ui.opening import Run, open_page
from tests.ui.shown_payloads import address, badge, mounted, panel_texts, texts

SENTENCE = SENTENCES[0]


@pytest.fixture
def page(page: Run) -> Run:
    """Return a function that opens the page with a sentence to try things on."""
    return partial(page, sentence=SENTENCE, search="greedy")


def ask(app: AppTest, **asked: Any) -> AppTest:
    """Have the page take up what a browser asks of what is on show, and run."""
    current = view(app)
    handle_what_if(app.session_state, current, asked_of(current, asked))
    app.run()
    assert not app.exception
    return app


def asked_of(view: View, asked: dict[str, Any]) -> dict[str, Any]:
    """Return the request of a browser that shows `view`."""
    return {"view": view.id, "identity": view.identity, "what_if": asked}


def view(app: AppTest) -> View:
    """Return what is on show, made anew from what the session keeps."""
    tried = stored_what_ifs(app.session_state, MAIN)
    first = translate(str(models()["en-fr"]), "auto", SENTENCE, 1, None)
    traces = [first]
    for what_if in tried.what_ifs:
        how = resolved(traces[what_if.parent], what_if.change, held=what_if.held)
        traces.append(translate(str(models()["en-fr"]), "auto", SENTENCE, 1, how.target, how.interventions))
    what_ifs = WhatIfs(first, tried.what_ifs, tuple(traces[1:]))
    return View(MAIN, what_ifs.trace(tried.current), what_ifs, tried.current)


def opened(app: AppTest, path: Path) -> None:
    """Have the page open a file, and run."""
    kept: dict[Any, Any] = {}  # AppTest's own session takes nothing out
    open_file(kept, path.name, path.read_bytes())
    for key, value in kept.items():
        app.session_state[key] = value
    app.run()
    assert not app.exception


def shown(app: AppTest) -> tuple[str, int]:
    """Return the identity of what the browser is told to show, with the card on show."""
    (server,), (cards,) = mounted(app, "view_state"), mounted(app, "what_ifs")
    return server["identity"], cards["current"]


def cards(app: AppTest) -> list[str]:
    (record,) = mounted(app, "what_ifs")
    return [card["description"] for card in record["cards"]]


def test_without_a_what_if_there_are_no_cards(page: Run) -> None:
    app = page()
    assert cards(app) == []
    assert "what_ifs" not in address(app)


def test_a_change_comes_on_show_and_in_the_address(page: Run) -> None:
    app = page(step="3")
    before = shown(app)
    ask(app, kind="only", step=2, source=1, held=False)
    assert shown(app)[0] != before[0]
    assert shown(app)[1] == 1
    assert cards(app)[0] == "First translation"
    assert cards(app)[1].startswith("Step 3 looks only at ")
    assert (address(app)["what_ifs"], address(app)["what_if"]) == ("0.o.3.2", "1")
    assert "what-if 1 · " in texts(app)
    assert badge(app)["holds"], "the changed numbers are proved"
    ask(app, kind="what_if", index=0)
    assert shown(app) == (before[0], 0)
    ask(app, kind="what_if", index=1)
    ask(app, kind="undo")
    assert shown(app) == (before[0], 0)
    assert cards(app) == []


def test_change_return_change_again_remove(page: Run, snapshot: SnapshotAssertion) -> None:
    app = page()
    first = shown(app)[0]
    ask(app, kind="alike", step=1, held=False)
    one = shown(app)[0]
    ask(app, kind="what_if", index=0)
    ask(app, kind="temperature", step=None, temperature=4.0, held=True)
    assert shown(app)[1] == 2
    assert cards(app)[2] == snapshot
    ask(app, kind="without", step=0, source=0, held=False)
    assert shown(app)[1] == 3
    ask(app, kind="remove", index=2)
    assert (shown(app)[0], shown(app)[1]) == (first, 0), "what was made from it goes with it"
    assert len(cards(app)) == 2
    ask(app, kind="what_if", index=1)
    assert shown(app)[0] == one
    set_field(app, "sentence", SENTENCES[2])
    assert cards(app) == []
    assert "what_ifs" not in address(app)


def test_what_is_as_it_was_makes_no_card(page: Run) -> None:
    app = page()
    weights = view(app).trace.alignment[1].tolist()
    ask(app, kind="weights", step=1, weights=weights, held=True)
    ask(app, kind="temperature", step=None, temperature=1.0, held=False)
    ask(app, kind="temperature", step=2, temperature=1.0, held=True)
    assert cards(app) == []


def test_an_infinite_temperature_goes_through_card_and_address(page: Run, snapshot: SnapshotAssertion) -> None:
    app = page()
    ask(app, kind="temperature", step=None, temperature="Infinity", held=True)
    assert cards(app)[1] == snapshot
    assert address(app)["what_ifs"] == "0.th.all.inf"
    trace = view(app).trace
    np.testing.assert_allclose(trace.alignment, 1 / len(trace.source_ids), rtol=1e-6)
    linked = page(what_ifs="0.th.all.inf", what_if="1")
    assert view(linked).trace.fingerprint == trace.fingerprint


def test_a_dragged_bar_is_what_was_let_go_of(page: Run) -> None:
    app = page()
    row = np.linspace(1, 2, len(view(app).trace.source_ids))
    ask(app, kind="weights", step=1, weights=(row / row.sum()).tolist(), held=False)
    np.testing.assert_allclose(view(app).trace.alignment[1], row / row.sum(), atol=1 / 4095)
    ask(app, kind="weights", step=1, weights=(row[::-1] / row.sum()).tolist(), held=False)
    assert len(cards(app)) == 2, "dragged on, it is one what-if"
    np.testing.assert_allclose(view(app).trace.alignment[1], row[::-1] / row.sum(), atol=1 / 4095)


def test_other_words(page: Run) -> None:
    app = page()
    foil = next(int(piece) for piece in view(app).trace.top_ids[1] if piece > 3 and piece != 130)
    ask(app, kind="words", step=1, pieces=[foil], held=True)
    assert view(app).trace.target_ids[1] == foil
    ask(app, kind="what_if", index=0)
    ask(app, kind="typed", step=0, text="chiens", held=False)
    assert view(app).trace.translation.startswith("chiens")
    assert "“chiens” instead of" in cards(app)[2]
    ask(app, kind="what_if", index=0)
    ask(app, kind="hypothesis", pieces=[9, 8, 3])
    assert view(app).trace.target_ids == (9, 8, 3)


@pytest.mark.parametrize(
    "asked",
    [
        {"kind": "typed", "step": 0, "text": "北京"},
        {"kind": "typed", "step": 0, "text": "  "},
        {"kind": "typed", "step": 0, "text": "a" * 99},
        {"kind": "only", "step": 99, "source": 0},
        {"kind": "only", "step": 0, "source": 99},
        {"kind": "weights", "step": 0, "weights": [1.0]},
        {"kind": "weights", "step": 0, "weights": "x"},
        {"kind": "weights", "step": 0},
        {"kind": "temperature", "step": 0, "temperature": 0},
        {"kind": "temperature", "step": 0, "temperature": "hot"},
        {"kind": "words", "step": 0, "pieces": [0]},
        {"kind": "hypothesis", "pieces": [9]},
        {"kind": "borrowed", "step": 0, "from": "step", "of": 99},
        {"kind": "magic"},
        {},
    ],
    ids=lambda asked: " ".join(str(value)[:9] for value in asked.values()) or "nothing",
)
def test_what_cannot_be_done_gets_a_sentence_and_changes_nothing(
    page: Run, asked: Any, snapshot: SnapshotAssertion
) -> None:
    app = page()
    before = shown(app)
    ask(app, **asked)
    assert panel_texts(app, "what_if_problem") == snapshot
    assert shown(app) == before
    assert cards(app) == []
    ask(app, kind="alike", step=0)
    assert panel_texts(app, "what_if_problem") == []  # gone with the next what-if


@pytest.mark.nightly
def test_there_is_an_end_to_the_cards(page: Run, snapshot: SnapshotAssertion) -> None:
    app = page()
    for source in range(MOST + 1):
        ask(app, kind="what_if", index=0)
        ask(app, kind="only", step=source // 6, source=source % 6, held=True)
    assert len(cards(app)) == MOST + 1
    assert panel_texts(app, "what_if_problem") == snapshot


def test_a_link_opens_the_what_if_it_was_copied_from_bit_for_bit(page: Run) -> None:
    app = page(step="2")
    row = np.arange(len(view(app).trace.source_ids)) + 0.5
    ask(app, kind="weights", step=1, weights=(row / row.sum()).tolist(), held=False)
    ask(app, kind="without", step=0, source=2, held=True)
    again = page(**address(app))
    assert shown(again) == shown(app)
    assert cards(again) == cards(app)
    assert address(again) == address(app)


def test_bad_values_in_a_link_get_a_sentence(page: Run, snapshot: SnapshotAssertion) -> None:
    app = page(what_ifs="0.o.1.1*0.o.99.1*2.a.1*?*0.w.1.AA", what_if="3")
    assert len(cards(app)) == 2
    assert panel_texts(app, "what_if_problem") == snapshot
    assert shown(app)[1] == 0, "that which was to be shown was made from one that is not there"
    assert address(app)["what_ifs"] == "0.o.1.1"


def test_a_what_if_of_a_model_without_attention_writes_words_and_no_more(
    en_fr: Path, page: Run, make_network: ModelFactory, tokenizer: Any, snapshot: SnapshotAssertion
) -> None:
    from attnviz.checkpoint import save_model

    save_model(en_fr, make_network("none"), tokenizer)
    app = page()
    ask(app, kind="alike", step=0)
    assert panel_texts(app, "what_if_problem") == snapshot
    ask(app, kind="words", step=0, pieces=[9])
    assert view(app).trace.target_ids[0] == 9
    assert len(cards(app)) == 2


def test_a_file_brings_all_cards_back_without_a_model(page: Run, models_folder: Path, tmp_path: Path) -> None:
    app = page()
    ask(app, kind="only", step=1, source=0, held=False)
    ask(app, kind="alike", step=0, held=True)
    saved = view(app).what_ifs
    saved.save(tmp_path / "all.json")
    told = cards(app)
    for path in models_folder.glob("*/*"):
        path.unlink()
    app = open_page()
    opened(app, tmp_path / "all.json")
    assert not app.exception
    assert cards(app) == told
    assert shown(app) == (saved.first.fingerprint, 0)
    of = View(MAIN, saved.first, saved)
    for number in (2, 1):
        handle_what_if(app.session_state, of, asked_of(of, {"kind": "what_if", "index": number}))
        app.run()
        assert shown(app) == (saved.trace(number).fingerprint, number)
    assert "what_ifs" not in address(app), "no link has what is in a file"
    of = View(MAIN, saved.trace(1), saved, 1)
    handle_what_if(app.session_state, of, asked_of(of, {"kind": "alike", "step": 2}))
    app.run()
    assert "It is not available" in texts(app)
    assert cards(app) == told


def test_more_can_be_tried_on_a_file_where_the_model_is(page: Run, tmp_path: Path, en_fr: Path) -> None:
    translator = Translator.load(en_fr, device="cpu")
    first: Trace = translator.translate(SENTENCES[2])
    first.save(tmp_path / "one.json")
    app = page()
    opened(app, tmp_path / "one.json")
    assert shown(app)[0] == first.fingerprint
    of = View(MAIN, first, WhatIfs(first))
    handle_what_if(app.session_state, of, asked_of(of, {"kind": "alike", "step": 1, "held": True}))
    app.run()
    assert not app.exception
    assert len(cards(app)) == 2
    assert shown(app)[1] == 1


def test_in_python_the_same_interventions_give_the_same_numbers(page: Run, en_fr: Path) -> None:
    app = page()
    row = shares_of(np.arange(len(view(app).trace.source_ids)) + 1)
    ask(app, kind="weights", step=1, weights=[share / 4095 for share in row], held=False)
    on_page = view(app).trace
    in_python = Translator.load(en_fr, device="cpu").translate(SENTENCE, interventions=on_page.interventions)
    assert in_python.fingerprint == on_page.fingerprint == shown(app)[0]


@pytest.mark.parametrize("lang", ["fr"])
def test_the_language_goes_to_and_fro(lang: str, page: Run, snapshot: SnapshotAssertion) -> None:
    app = page()
    ask(app, kind="alike", step=1)
    before, english = shown(app), cards(app)
    set_field(app, "lang", lang)
    assert cards(app)[1] == snapshot
    set_field(app, "lang", "en")
    assert (shown(app), cards(app)) == (before, english)
