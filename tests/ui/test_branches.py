"""What-ifs as the page remembers them, writes them into its address, and takes them up from the browser."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.errors import AttnvizError
from attnviz.trace import Branch
from attnviz.trace.branches import MOST
from attnviz.trace.changes import LookAlike, LookAway, LookOnly, SetTemperature, SetWeights, shares_of
from attnviz.ui.page_state import branch_address
from attnviz.ui.page_state.branches import (
    Tried,
    add,
    branches_address,
    forget_branches,
    made_from,
    open_branches,
    remove,
    show,
    tried_in,
    undo,
)
from attnviz.ui.page_state.view import MAIN, View
from tests.figures import synthetic
from tests.trace.test_changes import changes

FIRST = synthetic.trace()

trees = st.lists(st.tuples(st.integers(0, 11), changes, st.booleans()), max_size=MOST).map(
    lambda parts: tuple(Branch(min(parent, k), change, held) for k, (parent, change, held) in enumerate(parts))
)


@given(trees)
def test_an_address_gives_branches_back_bit_for_bit(branches: tuple[Branch, ...]) -> None:
    text = branch_address.written(branches)
    assert branch_address.read(text) == (branches, ())
    assert re.fullmatch(r"[A-Za-z0-9._*-]*", text)  # nothing that a URL escapes


@given(st.text(max_size=60) | st.text("0123456789.*-_owxatvyhAB_", max_size=60))
def test_whatever_an_address_says_is_read_or_left_out_with_a_sentence(text: str) -> None:
    branches, problems = branch_address.read(text)
    assert len(branches) <= MOST
    assert len(branches) + len(problems) >= (1 if text else 0)
    assert all(problem.endswith(".") for problem in problems)
    assert all(branch.parent <= k for k, branch in enumerate(branches))


@given(trees, st.data())
def test_a_branch_that_is_damaged_is_left_out_with_all_that_was_made_from_it(
    branches: tuple[Branch, ...], data: st.DataObject
) -> None:
    if not branches:
        return
    number = data.draw(st.integers(1, len(branches)))
    parts = branch_address.written(branches).split("*")
    parts[number - 1] = "?"
    found, problems = branch_address.read("*".join(parts))
    gone = made_from(branches, number)
    assert len(problems) == len(gone)
    assert [one.change for one in found] == [one.change for k, one in enumerate(branches, 1) if k not in gone]


def tried(*changed: Any, linked: bool = True) -> dict[Any, Any]:
    kept: dict[Any, Any] = {}
    open_branches(kept, MAIN, FIRST, {}, None if linked else ())
    for change in changed:
        add(kept, MAIN, Branch(tried_in(kept, MAIN).on_show, change))
    return kept


def test_what_is_tried_is_on_show_and_can_be_taken_back() -> None:
    kept = tried(LookOnly(0, 1), LookAway(1, 0))
    assert tried_in(kept, MAIN).branches == (Branch(0, LookOnly(0, 1)), Branch(1, LookAway(1, 0)))
    assert tried_in(kept, MAIN).on_show == 2
    show(kept, MAIN, 1)
    undo(kept, MAIN)
    assert tried_in(kept, MAIN).on_show == 0  # kept, as another was made from it
    assert len(tried_in(kept, MAIN).branches) == 2
    undo(kept, MAIN)
    assert tried_in(kept, MAIN).on_show == 0
    show(kept, MAIN, 2)
    undo(kept, MAIN)
    assert tried_in(kept, MAIN) == Tried(tried_in(kept, MAIN).identity, (Branch(0, LookOnly(0, 1)),), 1)
    for nowhere in (-1, 2, 99):
        show(kept, MAIN, nowhere)
        remove(kept, MAIN, nowhere)
        assert tried_in(kept, MAIN).on_show == 1


def test_what_is_removed_takes_what_was_made_from_it_along() -> None:
    kept = tried(LookOnly(0, 1), LookAway(1, 0))
    show(kept, MAIN, 0)
    add(kept, MAIN, Branch(0, LookAlike(2)))
    show(kept, MAIN, 2)
    remove(kept, MAIN, 1)
    assert tried_in(kept, MAIN).branches == (Branch(0, LookAlike(2)),)
    assert tried_in(kept, MAIN).on_show == 0


def test_a_bar_that_is_dragged_on_is_one_what_if_and_the_same_again_is_shown_where_it_is() -> None:
    rows = [SetWeights(1, shares_of(row)) for row in ([1, 2, 3, 4], [4, 3, 2, 1], [1, 1, 1, 1])]
    kept = tried(rows[0], rows[1], SetTemperature(2.0), SetTemperature(3.0))
    assert [one.change for one in tried_in(kept, MAIN).branches] == [rows[1], SetTemperature(3.0)]
    show(kept, MAIN, 1)
    add(kept, MAIN, Branch(1, rows[2]))
    assert len(tried_in(kept, MAIN).branches) == 3  # kept, as another was made from it
    show(kept, MAIN, 0)
    add(kept, MAIN, Branch(0, rows[1]))
    assert (tried_in(kept, MAIN).on_show, len(tried_in(kept, MAIN).branches)) == (1, 3)


def test_there_is_an_end_to_what_is_tried() -> None:
    kept = tried(*(LookOnly(0, source) for source in range(MOST)))
    with pytest.raises(AttnvizError, match="remove one"):
        add(kept, MAIN, Branch(0, LookOnly(1, 0)))
    assert len(tried_in(kept, MAIN).branches) == MOST


def test_another_translation_begins_with_nothing_and_a_link_with_its_own() -> None:
    kept = tried(LookOnly(0, 1))
    assert open_branches(kept, MAIN, FIRST, {"branches": "0.a.1"})
    assert len(tried_in(kept, MAIN).branches) == 1
    assert not open_branches(kept, MAIN, dataclasses.replace(FIRST, source_text="Another."), {"branches": "0.a.1"})
    assert tried_in(kept, MAIN).branches == ()
    forget_branches(kept, MAIN)
    assert not open_branches(kept, MAIN, FIRST, {"branches": "0.a.1*x", "branch": "1"})
    assert (tried_in(kept, MAIN).branches, tried_in(kept, MAIN).on_show) == ((Branch(0, LookAlike(0)),), 1)
    assert len(tried_in(kept, MAIN).problems) == 1
    for bad in ("2", "-1", "x", "²", "9" * 5000):
        forget_branches(kept, MAIN)
        open_branches(kept, MAIN, FIRST, {"branches": "0.a.1", "branch": bad})
        assert tried_in(kept, MAIN).on_show == 0


def test_what_was_tried_comes_back_when_a_file_is_closed() -> None:
    kept = tried(LookOnly(0, 1))
    before, other = tried_in(kept, MAIN), dataclasses.replace(synthetic.trace(seed=1), source_text="Another.")
    open_branches(kept, MAIN, other, {}, (Branch(0, LookAlike(1)),))
    assert (tried_in(kept, MAIN).branches, tried_in(kept, MAIN).linked) == ((Branch(0, LookAlike(1)),), False)
    open_branches(kept, MAIN, synthetic.trace(seed=2), {}, ())
    open_branches(kept, MAIN, FIRST, {})
    assert tried_in(kept, MAIN) == before
    open_branches(kept, MAIN, other, {}, ())
    open_branches(kept, MAIN, other, {})
    assert tried_in(kept, MAIN).branches == ()


def test_the_address_has_what_was_tried_but_for_that_of_a_file() -> None:
    view = View(MAIN, FIRST)
    assert branches_address(tried(), view) == {"branches": None, "branch": None}
    kept = tried(LookOnly(0, 1), LookAway(1, 0))
    assert branches_address(kept, view) == {"branches": "0.o.1.2*1.x.2.1", "branch": "2"}
    show(kept, MAIN, 0)
    assert branches_address(kept, view) == {"branches": "0.o.1.2*1.x.2.1", "branch": None}
    assert branches_address(tried(LookOnly(0, 1), linked=False), view) == {"branches": None, "branch": None}
