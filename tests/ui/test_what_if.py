"""What-ifs of the page: how requests make, show and remove them, and how the address and files restore them."""

import dataclasses
import re
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from attnviz import ExcludePosition, ReplaceWeights, Temperature, Trace
from attnviz.trace import WhatIfs
from attnviz.trace.interventions import ENDLESS
from attnviz.trace.what_ifs import MOST_WHAT_IFS, StoredWhatIfs, WhatIf, decode_what_ifs, encode_what_ifs
from attnviz.ui.embedding import in_session
from attnviz.ui.inputs import SENTENCE_PAGES, clear_entries, follow_link
from attnviz.ui.selection import WHAT_IFS, open_what_ifs, stored_what_ifs
from attnviz.ui.view import MAIN
from tests.conftest import SENTENCES
from tests.figures import synthetic
from tests.trace.test_interventions import changes
from tests.trace.test_what_ifs import made
from tests.ui import opening
from tests.ui.opening import open_page, upload
from tests.ui.shown_payloads import address, mounted, panel_texts, texts
from tests.what_if_links import link

SENTENCE = SENTENCES[0]


@pytest.fixture
def page(page):
    return partial(page, sentence=SENTENCE, search="greedy")


def ask(app: AppTest, **asked: Any) -> AppTest:
    """Send a request about what-ifs for the current view to the page, and run it."""
    opening.ask(app, "what_if", {"identity": shown(app)[0], "what_if": asked})
    assert not app.run().exception
    return app


def shown(app: AppTest) -> tuple[str, int]:
    """Return the identity of the shown translation, and the number of its card."""
    (server,), (cards,) = mounted(app, "view_state"), mounted(app, "what_ifs")
    return server["identity"], cards["current"]


def cards(app: AppTest) -> list[str]:
    (record,) = mounted(app, "what_ifs")
    return [card["description"] for card in record["cards"]]


IMPOSSIBLE: list[dict[str, Any]] = [
    {"kind": "typed", "step": 0, "text": "北京"},
    {"kind": "exclusion", "step": 99, "position": 0},
    {"kind": "weights", "step": 0, "weights": "x"},
    {"kind": "words", "step": 0, "pieces": [9], "replaced": 0},
    {"kind": "borrowed", "step": 0, "lender": "step", "of": "99"},
    {},
]
"""One change of each way to be refused; `tests/trace` has the others."""


def test_impossible_change_shows_a_message_and_changes_nothing(page, snapshot) -> None:
    app, messages = page(), []
    before = shown(app)
    for asked in IMPOSSIBLE:
        ask(app, intervention=asked, held=False)
        messages += panel_texts(app, "what_if_problem")
        assert (shown(app), cards(app)) == (before, []), asked
    assert messages == snapshot
    ask(app, intervention={"kind": "temperature", "step": 0, "temperature": 2.0}, held=False)
    assert panel_texts(app, "what_if_problem") == []  # gone with the next what-if


OUT, EVEN = {"kind": "exclusion", "position": 0}, {"kind": "temperature", "temperature": ENDLESS}


@pytest.mark.parametrize(
    ("change", "step", "held"), [(OUT, None, False), (OUT, 1, True), (EVEN, None, True), (EVEN, 1, False)]
)
def test_change_asked_for_again_adds_nothing(page, change: dict[str, Any], step: int | None, held: bool) -> None:
    app = page()
    for _ in range(2):
        ask(app, intervention=change | {"step": step}, held=held)
        assert (len(cards(app)), shown(app)[1], panel_texts(app, "what_if_problem")) == (2, 1, [])


def test_bad_link_values_show_a_message(page, snapshot) -> None:
    possible, impossible = WhatIf(0, ExcludePosition(0, 0)), WhatIf(0, ExcludePosition(0, 98))
    bad = [possible, impossible, WhatIf(2, Temperature(2.0, 0)), WhatIf(7, Temperature(2.0))]
    app = page(what_ifs=encode_what_ifs([*bad, WhatIf(0, ReplaceWeights((1,)))]), what_if="3")
    assert len(cards(app)) == 2
    assert panel_texts(app, "what_if_problem") == snapshot
    assert shown(app)[1] == 0, "the linked what-if was made from one that does not exist"
    assert address(app)["what_ifs"] == encode_what_ifs([possible])
    damaged = page(what_ifs="0.o.1.1")
    assert cards(damaged) == []
    assert panel_texts(damaged, "what_if_problem") == snapshot(name="damaged")


def test_file_restores_all_cards_without_a_model(translator, tmp_path, monkeypatch) -> None:
    first = translator.translate(SENTENCE, beam=1)
    both = (ExcludePosition(0, 1), Temperature(2.0, 0))
    traces = tuple(made(translator, first, one, held=True) for one in both)
    saved = WhatIfs(first, tuple(WhatIf(0, one, held=True) for one in both), traces)
    monkeypatch.setenv("ATTNVIZ_MODELS", str(tmp_path))
    app = upload(open_page(), "all.json", saved.to_json().encode())
    descriptions = cards(app)
    assert len(descriptions) == 3
    assert shown(app) == (first.fingerprint, 0)
    for number in (2, 1):
        assert shown(ask(app, kind="what_if", index=number)) == (saved.trace(number).fingerprint, number)
    assert "what_ifs" not in address(app), "the what-ifs of a file are not in the address"
    ask(app, intervention={"kind": "temperature", "step": 1, "temperature": 2.0}, held=False)
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


def test_new_translation_starts_empty_and_a_link_with_its_what_ifs() -> None:
    session: dict[Any, Any] = {}
    hot = Temperature(100.0, 0)

    def opened(first: Trace, **linked: str) -> StoredWhatIfs:
        with in_session(session):
            follow_link({"what_ifs": link(hot)} | linked)
            open_what_ifs(first, None)
            return stored_what_ifs(MAIN)

    assert opened(FIRST).what_ifs == (WhatIf(0, hot),)
    session[WHAT_IFS] = session[WHAT_IFS].adding(WhatIf(0, Temperature(0.01, 1)))
    assert len(opened(FIRST).what_ifs) == 2, "the link is followed once"
    assert opened(dataclasses.replace(FIRST, source_text="Another.")).what_ifs == ()
    for number, current in (("1", 1), ("2", 0), ("-1", 0), ("²", 0), ("9" * 5000, 0)):
        with in_session(session):
            clear_entries(SENTENCE_PAGES)
        assert opened(FIRST, what_if=number).current == current
