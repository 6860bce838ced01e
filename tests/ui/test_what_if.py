"""What-ifs: their list, their encoding in the address, undo, and how the page makes, shows and opens them."""

from __future__ import annotations

import base64
import dataclasses
import json
import math
import re
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from attnviz import AttnvizError, Trace, Translator
from attnviz.installed_models import installed_models
from attnviz.text import EOS, Tokenizer
from attnviz.trace import WhatIfs
from attnviz.trace.interventions import (
    KINDS,
    ExcludePosition,
    ForceWords,
    Intervention,
    ReplaceEnergies,
    ReplaceWeights,
    Temperature,
)
from attnviz.trace.what_ifs import (
    MOST_WHAT_IFS,
    StoredWhatIfs,
    WhatIf,
    decode_what_ifs,
    encode_what_ifs,
    translator_arguments,
)
from attnviz.ui.embedding import Embedding, embedded_in, in_session
from attnviz.ui.page_state.linked import SENTENCE_PAGES, clear_entries, follow_link
from attnviz.ui.page_state.selection import WHAT_IFS, open_what_ifs, stored_what_ifs
from attnviz.ui.resources import translate
from attnviz.ui.step.what_if_panel import handle_what_if
from attnviz.ui.toolbar.opened_file import open_file
from attnviz.ui.view import MAIN, View
from tests.analysis.given import SIZES
from tests.conftest import SENTENCES, ModelFactory
from tests.figures import synthetic
from tests.strategies import FEW
from tests.trace.test_interventions import changes
from tests.trace.test_what_ifs import made
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
    with in_session(app.session_state):
        handle_what_if(current, browser_request(current, asked))
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
    return {"identity": view.identity, "what_if": asked}


def view(app: AppTest) -> View:
    """Return the current view, recomputed from the session state."""
    with in_session(app.session_state):
        stored = stored_what_ifs(MAIN)
    first = translate(str(installed_models()["en-fr"]), "auto", SENTENCE, 1, None)
    traces = [first]
    for what_if in stored.what_ifs:
        how = translator_arguments(traces[what_if.parent], what_if.intervention, held=what_if.held)
        traces.append(translate(str(installed_models()["en-fr"]), "auto", SENTENCE, 1, how.target, how.interventions))
    what_ifs = WhatIfs(first, stored.what_ifs, tuple(traces[1:]))
    return View(MAIN, what_ifs.trace(stored.current), what_ifs, stored.current)


def open_saved_file(app: AppTest, path: Path) -> None:
    """Have the page open a file, and run."""
    host = Embedding("test", "light", {})  # the session state of AppTest has no `pop`
    with embedded_in(host):
        open_file(path.name, path.read_bytes())
    for key, value in host.session.items():
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


IMPOSSIBLE: list[dict[str, Any]] = [
    *({"kind": "typed", "step": 0, "text": text} for text in ("北京", "  ", "a" * 99)),
    *({"kind": "exclusion", "step": step, "position": position} for step, position in ((99, 0), (0, 99))),
    *({"kind": "weights", "step": 0, "weights": weights} for weights in ([1.0], "x")),
    {"kind": "weights", "step": 0},
    *({"kind": "temperature", "step": 0, "temperature": temperature} for temperature in (0, "hot")),
    {"kind": "words", "step": 0, "pieces": [0]},
    {"kind": "words", "step": 0, "pieces": [9], "replaced": 0},
    {"kind": "typed", "step": 99, "text": "chiens"},
    *({"kind": "borrowed", "step": step, "lender": "step", "of": of} for step, of in ((0, "99"), (99, "0"))),
    {"kind": "magic"},
    {},
]


def test_impossible_change_shows_a_message_and_changes_nothing(page: Run, snapshot: SnapshotAssertion) -> None:
    app, messages = page(), []
    before = shown(app)
    for asked in IMPOSSIBLE:
        ask(app, intervention=asked, held=False)
        messages += panel_texts(app, "what_if_problem")
        assert shown(app) == before, asked
        assert cards(app) == [], asked
    assert messages == snapshot
    change(app, kind="weights", step=0, weights=row(app))
    assert panel_texts(app, "what_if_problem") == []  # gone with the next what-if


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
        with in_session(app.session_state):
            handle_what_if(file_view, browser_request(file_view, {"kind": "what_if", "index": number}))
        app.run()
        assert shown(app) == (saved.trace(number).fingerprint, number)
    assert "what_ifs" not in address(app), "the what-ifs of a file are not in the address"
    file_view = View(MAIN, saved.trace(1), saved, 1)
    with in_session(app.session_state):
        handle_what_if(file_view, browser_request(file_view, {"intervention": HOT, "held": False}))
    app.run()
    assert "is not available" in texts(app)
    assert cards(app) == descriptions


FIRST = synthetic.trace()


trees = st.lists(st.tuples(st.integers(0, 11), changes, st.booleans()), max_size=MOST_WHAT_IFS).map(
    lambda parts: tuple(WhatIf(min(parent, k), change, held) for k, (parent, change, held) in enumerate(parts))
)


@given(trees)
def test_what_ifs_round_trip_through_the_address(what_ifs: tuple[WhatIf, ...]) -> None:
    text = encode_what_ifs(what_ifs)
    assert decode_what_ifs(text) == (what_ifs, ())
    assert re.fullmatch(r"[A-Za-z0-9_-]*", text)  # nothing that a URL escapes


def packed(records: object) -> str:
    """Return JSON as a link has it."""
    packer = zlib.compressobj(9, wbits=-15)
    return base64.urlsafe_b64encode(packer.compress(json.dumps(records).encode()) + packer.flush()).decode().rstrip("=")


def session_with(*changed: Any, linked: bool = True) -> dict[Any, Any]:
    session: dict[Any, Any] = {}
    open_linked(session, {}, None if linked else ())
    for change in changed:
        store(session, StoredWhatIfs.adding, WhatIf(stored_in(session).current, change))
    return session


def open_linked(
    session: dict[Any, Any], linked: dict[str, str], saved: tuple[WhatIf, ...] | None = None, first: Trace = FIRST
) -> bool:
    """Open the what-ifs of a translation by a link; return whether it is the same translation."""
    with in_session(session):
        follow_link(linked)
        return open_what_ifs(first, saved)


def forget_link(session: dict[Any, Any]) -> None:
    with in_session(session):
        clear_entries(SENTENCE_PAGES)


def stored_in(session: dict[Any, Any]) -> StoredWhatIfs:
    with in_session(session):
        return stored_what_ifs(MAIN)


def store(session: dict[Any, Any], method: Callable[..., StoredWhatIfs], *arguments: Any) -> None:
    """Change the stored what-ifs by a method."""
    session[WHAT_IFS] = method(stored_in(session), *arguments)


def test_new_translation_starts_empty_and_a_link_with_its_what_ifs() -> None:
    session, hot = session_with(Temperature(0.01, 0)), Temperature(100.0, 0)
    linked = {"what_ifs": link(hot)}
    assert open_linked(session, linked)
    assert len(stored_in(session).what_ifs) == 1
    assert not open_linked(session, linked, first=dataclasses.replace(FIRST, source_text="Another."))
    assert stored_in(session).what_ifs == ()
    forget_link(session)
    partly_read = {"what_ifs": packed([WhatIf(0, hot).to_json_dict(), "x"]), "what_if": "1"}
    assert not open_linked(session, partly_read)
    assert (stored_in(session).what_ifs, stored_in(session).current) == ((WhatIf(0, hot),), 1)
    assert len(stored_in(session).problems) == 1
    for bad in ("2", "-1", "x", "²", "9" * 5000):
        forget_link(session)
        open_linked(session, linked | {"what_if": bad})
        assert stored_in(session).current == 0


def possible_changes(kind: str, parent: Trace) -> st.SearchStrategy[Intervention]:
    """Return a strategy for changes of a kind that fit a translation."""
    pieces, width = st.integers(EOS + 1, parent.vocabulary_size - 1), len(parent.source_ids)
    steps, sources = st.integers(0, len(parent.target_ids) - 1), st.integers(0, width - 1)
    rows = st.lists(st.floats(0, 1), min_size=width, max_size=width).filter(lambda row: max(row) > 1e-30)
    words = st.lists(pieces, min_size=1, max_size=3).map(tuple)
    return {
        "weights": st.builds(ReplaceWeights, rows, st.none() | steps, st.sampled_from(["", "posterior"])),
        "energies": st.builds(ReplaceEnergies, rows, st.none() | steps),
        "exclusion": st.builds(ExcludePosition, sources, st.none() | steps),
        "temperature": st.builds(Temperature, st.floats(0.01, 100) | st.just(math.inf), st.none() | steps),
        "words": st.builds(ForceWords, words, steps, st.integers(1, 3))
        | st.builds(ForceWords, words.map(lambda ids: (*ids, EOS))),
    }[kind]


@settings(max_examples=FEW)
@given(
    data=st.data(),
    kinds=st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=3),
    beam=st.sampled_from([1, 3]),
    **SIZES,
)
def test_file_and_address_reproduce_what_ifs_bit_for_bit(
    make_network: ModelFactory,
    tokenizer: Tokenizer,
    data: st.DataObject,
    kinds: list[str],
    beam: int,
    kind: tuple[str, str],
    **sizes: int,
) -> None:
    translator = Translator(make_network(*kind, **sizes), tokenizer)
    first = translator.translate(SENTENCES[0], beam=beam)
    what_ifs, traces = list[WhatIf](), [first]
    for changed in kinds:
        place = data.draw(st.integers(0, len(what_ifs)))
        what_if = WhatIf(place, data.draw(possible_changes(changed, traces[place])), data.draw(st.booleans()))
        try:
            traces.append(made(translator, traces[place], what_if.intervention, held=what_if.held, beam=beam))
        except AttnvizError:  # impossible: it excludes every source piece, or the search ends before its step
            continue
        what_ifs.append(what_if)
    opened = WhatIfs.from_json(WhatIfs(first, tuple(what_ifs), tuple(traces[1:])).to_json())
    linked, problems = decode_what_ifs(encode_what_ifs(what_ifs))
    assert (problems, linked) == ((), tuple(what_ifs)) == ((), opened.what_ifs)
    from_address = [translator.translate(SENTENCES[0], beam=beam)]
    for number, what_if in enumerate(linked, 1):
        saved, parent = opened.what_ifs[number - 1], opened.parent(number)
        from_file = made(translator, parent, saved.intervention, held=saved.held, beam=beam)
        from_address.append(
            made(translator, from_address[what_if.parent], what_if.intervention, held=what_if.held, beam=beam)
        )
        expected = {traces[number].fingerprint}
        assert {opened.trace(number).fingerprint, from_file.fingerprint, from_address[number].fingerprint} == expected
