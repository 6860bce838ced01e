"""The what-ifs of a view: which there are of its first translation, which is on show, and how each click changes that.

Plain functions on a mapping. What comes of a branch is made by the page (`ui.step.branching`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.trace import Trace
from attnviz.trace.branches import MOST, Branch
from attnviz.trace.changes import SetTemperature, SetWeights
from attnviz.ui.page_state import branch_address
from attnviz.ui.page_state.view import Session, View, view_key

BRANCHES, BRANCH = "branches", "branch"
"""Address parameters: the branches there are, and which is on show."""
_BEHIND = "branches_behind"
"""What was tried on the translation that a file was opened over."""


@dataclass(frozen=True)
class Tried:
    """What was tried on a translation."""

    identity: str
    """Of the first translation."""
    branches: tuple[Branch, ...] = ()
    on_show: int = 0
    """0 for the first translation, or the number of a branch, from 1."""
    linked: bool = True
    """Whether the address has them: what was read from a file is in no link."""
    problems: tuple[str, ...] = ()
    """Sentences about what could not be done, until something else is."""


def identity_of(first: Trace) -> str:
    """Return what tells a translation from others that branches are made of: who made it, of what, and how; not its
    numbers, the last digits of which depend on what else was computed with it."""
    made = (first.model, first.weights_digest, first.device, first.source_text, first.search, first.target_ids)
    return repr((*made, first.interventions))


def open_branches(
    session: Session, view_id: str, first: Trace, linked: Mapping[str, str], saved: Sequence[Branch] | None = None
) -> bool:
    """Begin with what was tried on `first`; return whether it was on show in the last run already.

    Another translation begins with nothing, the first of a visit with the branches of its link, and one that was read
    from a file with those that were `saved` there; where the file is closed, what was there before comes back.
    """
    key = view_key(view_id, BRANCHES)
    kept: Tried | None = session.get(key)
    identity = identity_of(first) if saved is None else first.fingerprint
    if kept is not None and kept.identity == identity:
        return True
    behind: Tried | None = session.pop(view_key(view_id, _BEHIND), None)
    if saved is not None:
        session[key] = Tried(identity, tuple(saved), linked=False)
        session[view_key(view_id, _BEHIND)] = kept if kept is not None and kept.linked else behind
    elif behind is not None and behind.identity == identity:
        session[key] = behind
    elif kept is None:
        branches, problems = branch_address.read(linked.get(key, ""))
        shown = _number(linked.get(view_key(view_id, BRANCH), ""), len(branches))
        session[key] = Tried(identity, branches, shown, problems=problems)
    else:
        session[key] = Tried(identity)
    return False


def tried_in(session: Mapping[Any, Any], view_id: str) -> Tried:
    """Return what was tried in a view."""
    tried: Tried = session.get(view_key(view_id, BRANCHES), Tried(""))
    return tried


def add(session: Session, view_id: str, branch: Branch) -> None:
    """Try something more and show what comes of it; raise AttnvizError where there is no room for it.

    What is on show is changed itself where its own weights, or its temperature, are set once more: a bar that is
    dragged on is one what-if. What was tried before is shown where it is.
    """
    tried = tried_in(session, view_id)
    here, before = tried.on_show, tried.branches
    if branch in before:
        show(session, view_id, before.index(branch) + 1)
    elif here and branch.parent == here and _sets_again(tried, branch):
        again = dataclasses.replace(branch, parent=before[here - 1].parent)
        _keep(session, view_id, tried, (*before[: here - 1], again, *before[here:]), here)
    elif len(before) == MOST:
        raise AttnvizError(gettext("There are {count} what-ifs already: remove one of them first.", count=MOST))
    elif branch.parent <= len(before):  # or it was removed meanwhile
        _keep(session, view_id, tried, (*before, branch), len(before) + 1)


def show(session: Session, view_id: str, number: int) -> None:
    """Show a branch by its number, from 1, or with 0 the first translation; what there is not is not shown."""
    tried = tried_in(session, view_id)
    if 0 <= number <= len(tried.branches):
        _keep(session, view_id, tried, tried.branches, number)


def remove(session: Session, view_id: str, number: int) -> None:
    """Remove a branch with all that was made from it; where it was on show, what it was made from is shown."""
    tried = tried_in(session, view_id)
    if 1 <= number <= len(tried.branches):
        leave_out(session, view_id, made_from(tried.branches, number))


def leave_out(session: Session, view_id: str, gone: Set[int], problems: Sequence[str] = ()) -> None:
    """Remove the branches with these numbers, which have all that was made from them among them, and keep sentences
    that say why."""
    tried = tried_in(session, view_id)
    shown = tried.on_show
    while shown in gone:
        shown = tried.branches[shown - 1].parent
    places, branches = {0: 0}, list[Branch]()
    for place, branch in enumerate(tried.branches, 1):
        if place not in gone:
            branches.append(dataclasses.replace(branch, parent=places[branch.parent]))
            places[place] = len(branches)
    _keep(session, view_id, tried, branches, places[shown], problems)


def undo(session: Session, view_id: str) -> None:
    """Take back what is on show, and show what it was made from; it stays where others were made from it."""
    tried = tried_in(session, view_id)
    if not tried.on_show:
        return
    if made_from(tried.branches, tried.on_show) == {tried.on_show}:
        remove(session, view_id, tried.on_show)
    else:
        show(session, view_id, tried.branches[tried.on_show - 1].parent)


def made_from(branches: Sequence[Branch], number: int) -> set[int]:
    """Return the numbers of a branch and of all that were made from it, directly or not."""
    found = {number}
    for place, branch in enumerate(branches, 1):
        if branch.parent in found:  # a parent stands before its branches
            found.add(place)
    return found


def forget_branches(session: Session, view_id: str) -> None:
    """Forget what was tried in a view: another link is to be followed."""
    for name in (BRANCHES, _BEHIND):
        session.pop(view_key(view_id, name), None)


def branches_address(session: Mapping[Any, Any], view: View) -> dict[str, str | None]:
    """Return the address parameters of what was tried; None for what stays out of the address."""
    tried = tried_in(session, view.id)
    text = branch_address.written(tried.branches) if tried.linked else ""
    shown = str(tried.on_show) if text and tried.on_show else None
    return {view.key(BRANCHES): text or None, view.key(BRANCH): shown}


def tell(session: Session, view_id: str, problem: str) -> None:
    """Keep a sentence about what could not be done, for the page to say."""
    tried = tried_in(session, view_id)
    session[view_key(view_id, BRANCHES)] = dataclasses.replace(tried, problems=(problem,))


def _keep(
    session: Session, view_id: str, tried: Tried, branches: Sequence[Branch], on_show: int, problems: Sequence[str] = ()
) -> None:
    kept = dataclasses.replace(tried, branches=tuple(branches), on_show=on_show, problems=tuple(problems))
    session[view_key(view_id, BRANCHES)] = kept


def _sets_again(tried: Tried, branch: Branch) -> bool:
    """Return whether `branch` sets once more what the branch on show, from which nothing was made, has set."""
    last, change = tried.branches[tried.on_show - 1], branch.change
    if last.held != branch.held or len(made_from(tried.branches, tried.on_show)) > 1:
        return False
    if isinstance(last.change, SetWeights) and isinstance(change, SetWeights):
        return last.change.step == change.step and not last.change.lender and not change.lender
    if isinstance(last.change, SetTemperature) and isinstance(change, SetTemperature):
        return last.change.step == change.step
    return False


def _number(text: str, count: int) -> int:
    """Return the number of a branch in an address, of `count`; 0 where it is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 3 and int(text) <= count else 0
