"""What-ifs as the page remembers them, writes them into its address, and takes them up from the browser."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.errors import AttnvizError
from attnviz.trace import WhatIf
from attnviz.trace.changes import AttendOnly, ExcludeSource, SetTemperature, SetWeights, UniformAttention, shares_of
from attnviz.trace.what_ifs import MOST
from attnviz.ui.page_state import what_if_address
from attnviz.ui.page_state.view import MAIN, View
from attnviz.ui.page_state.what_ifs import (
    StoredWhatIfs,
    add,
    forget_what_ifs,
    open_what_ifs,
    remove,
    show,
    stored_what_ifs,
    undo,
    what_ifs_address,
    with_descendants,
)
from tests.figures import synthetic
from tests.trace.test_changes import changes

FIRST = synthetic.trace()

trees = st.lists(st.tuples(st.integers(0, 11), changes, st.booleans()), max_size=MOST).map(
    lambda parts: tuple(WhatIf(min(parent, k), change, held) for k, (parent, change, held) in enumerate(parts))
)


@given(trees)
def test_an_address_gives_what_ifs_back_bit_for_bit(what_ifs: tuple[WhatIf, ...]) -> None:
    text = what_if_address.written(what_ifs)
    assert what_if_address.read(text) == (what_ifs, ())
    assert re.fullmatch(r"[A-Za-z0-9._*-]*", text)  # nothing that a URL escapes


@given(st.text(max_size=60) | st.text("0123456789.*-_owxatvyhAB_", max_size=60))
def test_whatever_an_address_says_is_read_or_left_out_with_a_sentence(text: str) -> None:
    what_ifs, problems = what_if_address.read(text)
    assert len(what_ifs) <= MOST
    assert len(what_ifs) + len(problems) >= (1 if text else 0)
    assert all(problem.endswith(".") for problem in problems)
    assert all(what_if.parent <= k for k, what_if in enumerate(what_ifs))


@given(trees, st.data())
def test_a_what_if_that_is_damaged_is_left_out_with_all_that_was_made_from_it(
    what_ifs: tuple[WhatIf, ...], data: st.DataObject
) -> None:
    if not what_ifs:
        return
    number = data.draw(st.integers(1, len(what_ifs)))
    parts = what_if_address.written(what_ifs).split("*")
    parts[number - 1] = "?"
    found, problems = what_if_address.read("*".join(parts))
    gone = with_descendants(what_ifs, number)
    assert len(problems) == len(gone)
    assert [one.change for one in found] == [one.change for k, one in enumerate(what_ifs, 1) if k not in gone]


def tried(*changed: Any, linked: bool = True) -> dict[Any, Any]:
    kept: dict[Any, Any] = {}
    open_what_ifs(kept, MAIN, FIRST, {}, None if linked else ())
    for change in changed:
        add(kept, MAIN, WhatIf(stored_what_ifs(kept, MAIN).current, change))
    return kept


def test_what_is_tried_is_on_show_and_can_be_taken_back() -> None:
    kept = tried(AttendOnly(0, 1), ExcludeSource(1, 0))
    assert stored_what_ifs(kept, MAIN).what_ifs == (WhatIf(0, AttendOnly(0, 1)), WhatIf(1, ExcludeSource(1, 0)))
    assert stored_what_ifs(kept, MAIN).current == 2
    show(kept, MAIN, 1)
    undo(kept, MAIN)
    assert stored_what_ifs(kept, MAIN).current == 0  # kept, as another was made from it
    assert len(stored_what_ifs(kept, MAIN).what_ifs) == 2
    undo(kept, MAIN)
    assert stored_what_ifs(kept, MAIN).current == 0
    show(kept, MAIN, 2)
    undo(kept, MAIN)
    assert stored_what_ifs(kept, MAIN) == StoredWhatIfs(
        stored_what_ifs(kept, MAIN).identity, (WhatIf(0, AttendOnly(0, 1)),), 1
    )
    for nowhere in (-1, 2, 99):
        show(kept, MAIN, nowhere)
        remove(kept, MAIN, nowhere)
        assert stored_what_ifs(kept, MAIN).current == 1


def test_what_is_removed_takes_what_was_made_from_it_along() -> None:
    kept = tried(AttendOnly(0, 1), ExcludeSource(1, 0))
    show(kept, MAIN, 0)
    add(kept, MAIN, WhatIf(0, UniformAttention(2)))
    show(kept, MAIN, 2)
    remove(kept, MAIN, 1)
    assert stored_what_ifs(kept, MAIN).what_ifs == (WhatIf(0, UniformAttention(2)),)
    assert stored_what_ifs(kept, MAIN).current == 0


def test_a_bar_that_is_dragged_on_is_one_what_if_and_the_same_again_is_shown_where_it_is() -> None:
    rows = [SetWeights(1, shares_of(row)) for row in ([1, 2, 3, 4], [4, 3, 2, 1], [1, 1, 1, 1])]
    kept = tried(rows[0], rows[1], SetTemperature(2.0), SetTemperature(3.0))
    assert [one.change for one in stored_what_ifs(kept, MAIN).what_ifs] == [rows[1], SetTemperature(3.0)]
    show(kept, MAIN, 1)
    add(kept, MAIN, WhatIf(1, rows[2]))
    assert len(stored_what_ifs(kept, MAIN).what_ifs) == 3  # kept, as another was made from it
    show(kept, MAIN, 0)
    add(kept, MAIN, WhatIf(0, rows[1]))
    assert (stored_what_ifs(kept, MAIN).current, len(stored_what_ifs(kept, MAIN).what_ifs)) == (1, 3)


def test_there_is_an_end_to_what_is_tried() -> None:
    kept = tried(*(AttendOnly(0, source) for source in range(MOST)))
    with pytest.raises(AttnvizError, match="remove one"):
        add(kept, MAIN, WhatIf(0, AttendOnly(1, 0)))
    assert len(stored_what_ifs(kept, MAIN).what_ifs) == MOST


def test_another_translation_begins_with_nothing_and_a_link_with_its_own() -> None:
    kept = tried(AttendOnly(0, 1))
    assert open_what_ifs(kept, MAIN, FIRST, {"what_ifs": "0.a.1"})
    assert len(stored_what_ifs(kept, MAIN).what_ifs) == 1
    assert not open_what_ifs(kept, MAIN, dataclasses.replace(FIRST, source_text="Another."), {"what_ifs": "0.a.1"})
    assert stored_what_ifs(kept, MAIN).what_ifs == ()
    forget_what_ifs(kept, MAIN)
    assert not open_what_ifs(kept, MAIN, FIRST, {"what_ifs": "0.a.1*x", "what_if": "1"})
    assert (stored_what_ifs(kept, MAIN).what_ifs, stored_what_ifs(kept, MAIN).current) == (
        (WhatIf(0, UniformAttention(0)),),
        1,
    )
    assert len(stored_what_ifs(kept, MAIN).problems) == 1
    for bad in ("2", "-1", "x", "²", "9" * 5000):
        forget_what_ifs(kept, MAIN)
        open_what_ifs(kept, MAIN, FIRST, {"what_ifs": "0.a.1", "what_if": bad})
        assert stored_what_ifs(kept, MAIN).current == 0


def test_what_was_tried_comes_back_when_a_file_is_closed() -> None:
    kept = tried(AttendOnly(0, 1))
    before, other = stored_what_ifs(kept, MAIN), dataclasses.replace(synthetic.trace(seed=1), source_text="Another.")
    open_what_ifs(kept, MAIN, other, {}, (WhatIf(0, UniformAttention(1)),))
    assert (stored_what_ifs(kept, MAIN).what_ifs, stored_what_ifs(kept, MAIN).linked) == (
        (WhatIf(0, UniformAttention(1)),),
        False,
    )
    open_what_ifs(kept, MAIN, synthetic.trace(seed=2), {}, ())
    open_what_ifs(kept, MAIN, FIRST, {})
    assert stored_what_ifs(kept, MAIN) == before
    open_what_ifs(kept, MAIN, other, {}, ())
    open_what_ifs(kept, MAIN, other, {})
    assert stored_what_ifs(kept, MAIN).what_ifs == ()


def test_the_address_has_what_was_tried_but_for_that_of_a_file() -> None:
    view = View(MAIN, FIRST)
    assert what_ifs_address(tried(), view) == {"what_ifs": None, "what_if": None}
    kept = tried(AttendOnly(0, 1), ExcludeSource(1, 0))
    assert what_ifs_address(kept, view) == {"what_ifs": "0.o.1.2*1.x.2.1", "what_if": "2"}
    show(kept, MAIN, 0)
    assert what_ifs_address(kept, view) == {"what_ifs": "0.o.1.2*1.x.2.1", "what_if": None}
    assert what_ifs_address(tried(AttendOnly(0, 1), linked=False), view) == {"what_ifs": None, "what_if": None}
