"""What-ifs in the session state: their list, their encoding in the address, and undo."""

from __future__ import annotations

import base64
import dataclasses
import json
import re
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from attnviz.errors import AttnvizError
from attnviz.trace.interventions import ExcludePosition, ReplaceWeights, Temperature
from attnviz.trace.what_ifs import (
    MOST_WHAT_IFS,
    StoredWhatIfs,
    WhatIf,
    decode_what_ifs,
    encode_what_ifs,
    with_descendants,
)
from attnviz.ui.page_state.linked import SENTENCE_PAGES, clear_entries
from attnviz.ui.page_state.selection import own_parameters
from attnviz.ui.page_state.what_if_state import WHAT_IFS, open_what_ifs, stored_what_ifs
from attnviz.ui.view import MAIN, View
from tests.figures import synthetic
from tests.trace.test_what_ifs import changes
from tests.what_if_links import link

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


@pytest.mark.parametrize(
    "text",
    ["x", "²", "=", "A" * 10**5, packed({}), packed(3), packed([0] * 10**6), packed("["), packed([[]])[:-1]],
    ids=lambda text: text[:9],
)
def test_damaged_or_too_long_address_is_reported(text: str, snapshot: SnapshotAssertion) -> None:
    assert decode_what_ifs(text) == ((), (snapshot,))


@given(st.text(max_size=60) | st.text("0123456789-_owxatvyhAB", max_size=60))
def test_any_address_is_decoded_or_reported(text: str) -> None:
    what_ifs, problems = decode_what_ifs(text)
    assert len(what_ifs) <= MOST_WHAT_IFS
    assert len(what_ifs) + len(problems) >= (1 if text else 0)
    assert all(problem.endswith(".") for problem in problems)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=4,
)


@given(trees, st.data())
def test_damaged_what_if_is_left_out_with_its_descendants(what_ifs: tuple[WhatIf, ...], data: st.DataObject) -> None:
    if not what_ifs:
        return
    number = data.draw(st.integers(1, len(what_ifs)))
    records: list[Any] = [what_if.to_json_dict() for what_if in what_ifs]
    field = data.draw(st.sampled_from(["parent", "held", "intervention", "other"]))
    records[number - 1] = data.draw(JSON | st.just(records[number - 1] | {field: "?"}))
    found, problems = decode_what_ifs(packed(records))
    gone = with_descendants(what_ifs, number)
    assert len(problems) == len(gone)
    assert [one.intervention for one in found] == [
        one.intervention for k, one in enumerate(what_ifs, 1) if k not in gone
    ]


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
    session = session_with(Temperature(0.01, 0), ExcludePosition(0, 1))
    assert stored_what_ifs(session, MAIN).what_ifs == (
        WhatIf(0, Temperature(0.01, 0)),
        WhatIf(1, ExcludePosition(0, 1)),
    )
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
        stored_what_ifs(session, MAIN).identity, (WhatIf(0, Temperature(0.01, 0)),), 1
    )
    for nowhere in (-1, 2, 99):
        store(session, StoredWhatIfs.showing, nowhere)
        store(session, StoredWhatIfs.removing, nowhere)
        assert stored_what_ifs(session, MAIN).current == 1


def test_removing_a_what_if_removes_its_descendants() -> None:
    session = session_with(Temperature(0.01, 0), ExcludePosition(0, 1))
    store(session, StoredWhatIfs.showing, 0)
    store(session, StoredWhatIfs.adding, WhatIf(0, Temperature(100.0, 2)))
    store(session, StoredWhatIfs.showing, 2)
    store(session, StoredWhatIfs.removing, 1)
    assert stored_what_ifs(session, MAIN).what_ifs == (WhatIf(0, Temperature(100.0, 2)),)
    assert stored_what_ifs(session, MAIN).current == 0


def test_repeated_dragging_makes_one_what_if_and_duplicates_are_reused() -> None:
    rows = [ReplaceWeights(row, 1) for row in ([1, 2, 3, 4], [4, 3, 2, 1], [1, 1, 1, 2])]
    session = session_with(rows[0], rows[1], Temperature(2.0), Temperature(3.0))
    assert [one.intervention for one in stored_what_ifs(session, MAIN).what_ifs] == [rows[1], Temperature(3.0)]
    store(session, StoredWhatIfs.showing, 1)
    store(session, StoredWhatIfs.adding, WhatIf(1, rows[2]))
    assert len(stored_what_ifs(session, MAIN).what_ifs) == 3  # kept, as another was made from it
    store(session, StoredWhatIfs.showing, 0)
    store(session, StoredWhatIfs.adding, WhatIf(0, rows[1]))
    assert (stored_what_ifs(session, MAIN).current, len(stored_what_ifs(session, MAIN).what_ifs)) == (1, 3)


def test_number_of_what_ifs_is_limited() -> None:
    session = session_with(*(ExcludePosition(source, 0) for source in range(MOST_WHAT_IFS)))
    with pytest.raises(AttnvizError, match="remove one"):
        store(session, StoredWhatIfs.adding, WhatIf(0, Temperature(0.01, 1)))
    assert len(stored_what_ifs(session, MAIN).what_ifs) == MOST_WHAT_IFS


def test_new_translation_starts_empty_and_a_link_with_its_what_ifs() -> None:
    session, hot = session_with(Temperature(0.01, 0)), Temperature(100.0, 0)
    linked = {"what_ifs": link(hot)}
    assert open_what_ifs(session, MAIN, FIRST, linked)
    assert len(stored_what_ifs(session, MAIN).what_ifs) == 1
    assert not open_what_ifs(session, MAIN, dataclasses.replace(FIRST, source_text="Another."), linked)
    assert stored_what_ifs(session, MAIN).what_ifs == ()
    clear_entries(session, SENTENCE_PAGES)
    partly_read = {"what_ifs": packed([WhatIf(0, hot).to_json_dict(), "x"]), "what_if": "1"}
    assert not open_what_ifs(session, MAIN, FIRST, partly_read)
    assert (stored_what_ifs(session, MAIN).what_ifs, stored_what_ifs(session, MAIN).current) == ((WhatIf(0, hot),), 1)
    assert len(stored_what_ifs(session, MAIN).problems) == 1
    for bad in ("2", "-1", "x", "²", "9" * 5000):
        clear_entries(session, SENTENCE_PAGES)
        open_what_ifs(session, MAIN, FIRST, linked | {"what_if": bad})
        assert stored_what_ifs(session, MAIN).current == 0


def test_what_ifs_return_when_a_file_is_closed() -> None:
    session = session_with(Temperature(0.01, 0))
    before, other = stored_what_ifs(session, MAIN), dataclasses.replace(synthetic.trace(seed=1), source_text="Another.")
    open_what_ifs(session, MAIN, other, {}, (WhatIf(0, Temperature(100.0, 1)),))
    assert (stored_what_ifs(session, MAIN).what_ifs, stored_what_ifs(session, MAIN).linked) == (
        (WhatIf(0, Temperature(100.0, 1)),),
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
    session = session_with(Temperature(0.01, 0), ExcludePosition(0, 1))
    text = encode_what_ifs([WhatIf(0, Temperature(0.01, 0)), WhatIf(1, ExcludePosition(0, 1))])
    assert in_address(session, view) == (text, "2")
    store(session, StoredWhatIfs.showing, 0)
    assert in_address(session, view) == (text, None)
    assert in_address(session_with(Temperature(0.01, 0), linked=False), view) == (None, None)
