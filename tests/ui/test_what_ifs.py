"""What-ifs in the session state: their list, their encoding in the address, and undo."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.errors import AttnvizError
from attnviz.trace import WhatIf
from attnviz.trace.changes import AttendOnly, ExcludeSource, SetTemperature, SetWeights, UniformAttention, shares_of
from attnviz.trace.what_ifs import MOST, StoredWhatIfs, decode_what_ifs, encode_what_ifs, with_descendants
from attnviz.ui.page_state.linked import SENTENCE_PAGES, clear_entries
from attnviz.ui.page_state.selection import own_parameters
from attnviz.ui.page_state.what_if_state import (
    WHAT_IFS,
    open_what_ifs,
    stored_what_ifs,
)
from attnviz.ui.view import MAIN, View
from tests.figures import synthetic
from tests.trace.test_changes import changes

FIRST = synthetic.trace()

trees = st.lists(st.tuples(st.integers(0, 11), changes, st.booleans()), max_size=MOST).map(
    lambda parts: tuple(WhatIf(min(parent, k), change, held) for k, (parent, change, held) in enumerate(parts))
)


@given(trees)
def test_what_ifs_round_trip_through_the_address(what_ifs: tuple[WhatIf, ...]) -> None:
    text = encode_what_ifs(what_ifs)
    assert decode_what_ifs(text) == (what_ifs, ())
    assert re.fullmatch(r"[A-Za-z0-9._*-]*", text)  # nothing that a URL escapes


@given(st.text(max_size=60) | st.text("0123456789.*-_owxatvyhAB_", max_size=60))
def test_any_address_is_decoded_or_reported(text: str) -> None:
    what_ifs, problems = decode_what_ifs(text)
    assert len(what_ifs) <= MOST
    assert len(what_ifs) + len(problems) >= (1 if text else 0)
    assert all(problem.endswith(".") for problem in problems)
    assert all(what_if.parent <= k for k, what_if in enumerate(what_ifs))


@given(trees, st.data())
def test_damaged_what_if_is_left_out_with_its_descendants(what_ifs: tuple[WhatIf, ...], data: st.DataObject) -> None:
    if not what_ifs:
        return
    number = data.draw(st.integers(1, len(what_ifs)))
    parts = encode_what_ifs(what_ifs).split("*")
    parts[number - 1] = "?"
    found, problems = decode_what_ifs("*".join(parts))
    gone = with_descendants(what_ifs, number)
    assert len(problems) == len(gone)
    assert [one.change for one in found] == [one.change for k, one in enumerate(what_ifs, 1) if k not in gone]


def session_with(*changed: Any, linked: bool = True) -> dict[Any, Any]:
    session: dict[Any, Any] = {}
    open_what_ifs(session, MAIN, FIRST, {}, None if linked else ())
    for change in changed:
        store(session, StoredWhatIfs.adding, WhatIf(stored_what_ifs(session, MAIN).current, change))
    return session


def store(session: dict[Any, Any], method: Callable[..., StoredWhatIfs], *arguments: Any) -> None:
    """Change the stored what-ifs by a method."""
    session[WHAT_IFS] = method(stored_what_ifs(session, MAIN), *arguments)


def test_added_what_if_is_shown_and_can_be_undone() -> None:
    session = session_with(AttendOnly(0, 1), ExcludeSource(1, 0))
    assert stored_what_ifs(session, MAIN).what_ifs == (WhatIf(0, AttendOnly(0, 1)), WhatIf(1, ExcludeSource(1, 0)))
    assert stored_what_ifs(session, MAIN).current == 2
    store(session, StoredWhatIfs.showing, 1)
    store(session, StoredWhatIfs.undoing)
    assert stored_what_ifs(session, MAIN).current == 0  # kept, as another was made from it
    assert len(stored_what_ifs(session, MAIN).what_ifs) == 2
    store(session, StoredWhatIfs.undoing)
    assert stored_what_ifs(session, MAIN).current == 0
    store(session, StoredWhatIfs.showing, 2)
    store(session, StoredWhatIfs.undoing)
    assert stored_what_ifs(session, MAIN) == StoredWhatIfs(
        stored_what_ifs(session, MAIN).identity, (WhatIf(0, AttendOnly(0, 1)),), 1
    )
    for nowhere in (-1, 2, 99):
        store(session, StoredWhatIfs.showing, nowhere)
        store(session, StoredWhatIfs.removing, nowhere)
        assert stored_what_ifs(session, MAIN).current == 1


def test_removing_a_what_if_removes_its_descendants() -> None:
    session = session_with(AttendOnly(0, 1), ExcludeSource(1, 0))
    store(session, StoredWhatIfs.showing, 0)
    store(session, StoredWhatIfs.adding, WhatIf(0, UniformAttention(2)))
    store(session, StoredWhatIfs.showing, 2)
    store(session, StoredWhatIfs.removing, 1)
    assert stored_what_ifs(session, MAIN).what_ifs == (WhatIf(0, UniformAttention(2)),)
    assert stored_what_ifs(session, MAIN).current == 0


def test_repeated_dragging_makes_one_what_if_and_duplicates_are_reused() -> None:
    rows = [SetWeights(1, shares_of(row)) for row in ([1, 2, 3, 4], [4, 3, 2, 1], [1, 1, 1, 1])]
    session = session_with(rows[0], rows[1], SetTemperature(2.0), SetTemperature(3.0))
    assert [one.change for one in stored_what_ifs(session, MAIN).what_ifs] == [rows[1], SetTemperature(3.0)]
    store(session, StoredWhatIfs.showing, 1)
    store(session, StoredWhatIfs.adding, WhatIf(1, rows[2]))
    assert len(stored_what_ifs(session, MAIN).what_ifs) == 3  # kept, as another was made from it
    store(session, StoredWhatIfs.showing, 0)
    store(session, StoredWhatIfs.adding, WhatIf(0, rows[1]))
    assert (stored_what_ifs(session, MAIN).current, len(stored_what_ifs(session, MAIN).what_ifs)) == (1, 3)


def test_number_of_what_ifs_is_limited() -> None:
    session = session_with(*(AttendOnly(0, source) for source in range(MOST)))
    with pytest.raises(AttnvizError, match="remove one"):
        store(session, StoredWhatIfs.adding, WhatIf(0, AttendOnly(1, 0)))
    assert len(stored_what_ifs(session, MAIN).what_ifs) == MOST


def test_new_translation_starts_empty_and_a_link_with_its_what_ifs() -> None:
    session = session_with(AttendOnly(0, 1))
    assert open_what_ifs(session, MAIN, FIRST, {"what_ifs": "0.a.1"})
    assert len(stored_what_ifs(session, MAIN).what_ifs) == 1
    assert not open_what_ifs(session, MAIN, dataclasses.replace(FIRST, source_text="Another."), {"what_ifs": "0.a.1"})
    assert stored_what_ifs(session, MAIN).what_ifs == ()
    clear_entries(session, SENTENCE_PAGES)
    assert not open_what_ifs(session, MAIN, FIRST, {"what_ifs": "0.a.1*x", "what_if": "1"})
    assert (stored_what_ifs(session, MAIN).what_ifs, stored_what_ifs(session, MAIN).current) == (
        (WhatIf(0, UniformAttention(0)),),
        1,
    )
    assert len(stored_what_ifs(session, MAIN).problems) == 1
    for bad in ("2", "-1", "x", "²", "9" * 5000):
        clear_entries(session, SENTENCE_PAGES)
        open_what_ifs(session, MAIN, FIRST, {"what_ifs": "0.a.1", "what_if": bad})
        assert stored_what_ifs(session, MAIN).current == 0


def test_what_ifs_return_when_a_file_is_closed() -> None:
    session = session_with(AttendOnly(0, 1))
    before, other = stored_what_ifs(session, MAIN), dataclasses.replace(synthetic.trace(seed=1), source_text="Another.")
    open_what_ifs(session, MAIN, other, {}, (WhatIf(0, UniformAttention(1)),))
    assert (stored_what_ifs(session, MAIN).what_ifs, stored_what_ifs(session, MAIN).linked) == (
        (WhatIf(0, UniformAttention(1)),),
        False,
    )
    open_what_ifs(session, MAIN, synthetic.trace(seed=2), {}, ())
    open_what_ifs(session, MAIN, FIRST, {})
    assert stored_what_ifs(session, MAIN) == before
    open_what_ifs(session, MAIN, other, {}, ())
    open_what_ifs(session, MAIN, other, {})
    assert stored_what_ifs(session, MAIN).what_ifs == ()


def in_address(session: dict[Any, Any], view: View) -> tuple[str | None, str | None]:
    """Return the what-ifs in the address, and the number of the current one."""
    own = own_parameters(session, view)
    return own["what_ifs"], own["what_if"]


def test_address_has_what_ifs_except_those_of_a_file() -> None:
    view = View(MAIN, FIRST)
    assert in_address(session_with(), view) == (None, None)
    session = session_with(AttendOnly(0, 1), ExcludeSource(1, 0))
    assert in_address(session, view) == ("0.o.1.2*1.x.2.1", "2")
    store(session, StoredWhatIfs.showing, 0)
    assert in_address(session, view) == ("0.o.1.2*1.x.2.1", None)
    assert in_address(session_with(AttendOnly(0, 1), linked=False), view) == (None, None)
