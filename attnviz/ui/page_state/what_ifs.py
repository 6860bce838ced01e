"""Store the what-ifs of a view: those of its original translation, the current one, and the effect of each click.

Plain functions on a mapping; the page computes the translation of a what-if (`ui.step.branching`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.trace import Trace
from attnviz.trace.changes import SetTemperature, SetWeights
from attnviz.trace.what_ifs import MOST, WhatIf
from attnviz.ui.page_state import what_if_address
from attnviz.ui.page_state.view import Session, View, view_key

WHAT_IFS, WHAT_IF = "what_ifs", "what_if"
"""Address parameters: all what-ifs, and the number of the current one."""
_BEHIND = "what_ifs_behind"
"""What-ifs of the translation that was shown before a file was opened."""


@dataclass(frozen=True)
class Tried:
    """The what-ifs of a translation."""

    identity: str
    """Identity of the original translation."""
    what_ifs: tuple[WhatIf, ...] = ()
    on_show: int = 0
    """0 for the original translation, or the number of a what-if, from 1."""
    linked: bool = True
    """Whether they are in the address; those from a file are not."""
    problems: tuple[str, ...] = ()
    """Sentences about errors, until the next change."""


def identity_of(first: Trace) -> str:
    """Return the identity of a translation that what-ifs are made of: model, sentence, search and result.

    It leaves out computed numbers, whose last digits depend on the other sentences of their batch.
    """
    made = (first.model, first.weights_digest, first.device, first.source_text, first.search, first.target_ids)
    return repr((*made, first.interventions))


def open_what_ifs(
    session: Session, view_id: str, first: Trace, linked: Mapping[str, str], saved: Sequence[WhatIf] | None = None
) -> bool:
    """Set the what-ifs of `first`; return whether the last run showed the same translation.

    Another translation starts without what-ifs, the first of a session with those of its link, and one from a file with
    those `saved` in it. When the file is closed, the previous ones are restored.
    """
    key = view_key(view_id, WHAT_IFS)
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
        what_ifs, problems = what_if_address.read(linked.get(key, ""))
        shown = _number(linked.get(view_key(view_id, WHAT_IF), ""), len(what_ifs))
        session[key] = Tried(identity, what_ifs, shown, problems=problems)
    else:
        session[key] = Tried(identity)
    return False


def tried_in(session: Mapping[Any, Any], view_id: str) -> Tried:
    """Return the what-ifs of a view."""
    tried: Tried = session.get(view_key(view_id, WHAT_IFS), Tried(""))
    return tried


def add(session: Session, view_id: str, what_if: WhatIf) -> None:
    """Add a what-if and show it; raise AttnvizError where there are already MOST.

    The current one is replaced where its own weights or temperature are set again: dragging a bar further stays one
    what-if. A what-if that exists already is shown.
    """
    tried = tried_in(session, view_id)
    here, before = tried.on_show, tried.what_ifs
    if what_if in before:
        show(session, view_id, before.index(what_if) + 1)
    elif here and what_if.parent == here and _sets_again(tried, what_if):
        again = dataclasses.replace(what_if, parent=before[here - 1].parent)
        _keep(session, view_id, tried, (*before[: here - 1], again, *before[here:]), here)
    elif len(before) == MOST:
        raise AttnvizError(gettext("There are {count} what-ifs already: remove one of them first.", count=MOST))
    elif what_if.parent <= len(before):  # or it was removed meanwhile
        _keep(session, view_id, tried, (*before, what_if), len(before) + 1)


def show(session: Session, view_id: str, number: int) -> None:
    """Show a what-if by its number, from 1, or with 0 the original translation; ignore invalid numbers."""
    tried = tried_in(session, view_id)
    if 0 <= number <= len(tried.what_ifs):
        _keep(session, view_id, tried, tried.what_ifs, number)


def remove(session: Session, view_id: str, number: int) -> None:
    """Remove a what-if and all that derive from it; if the current one is removed, show its parent."""
    tried = tried_in(session, view_id)
    if 1 <= number <= len(tried.what_ifs):
        leave_out(session, view_id, made_from(tried.what_ifs, number))


def leave_out(session: Session, view_id: str, gone: Set[int], problems: Sequence[str] = ()) -> None:
    """Remove the what-ifs with these numbers, which must include their descendants, and store sentences about why."""
    tried = tried_in(session, view_id)
    shown = tried.on_show
    while shown in gone:
        shown = tried.what_ifs[shown - 1].parent
    places, what_ifs = {0: 0}, list[WhatIf]()
    for place, what_if in enumerate(tried.what_ifs, 1):
        if place not in gone:
            what_ifs.append(dataclasses.replace(what_if, parent=places[what_if.parent]))
            places[place] = len(what_ifs)
    _keep(session, view_id, tried, what_ifs, places[shown], problems)


def undo(session: Session, view_id: str) -> None:
    """Remove the current what-if and show its parent; keep it if others derive from it."""
    tried = tried_in(session, view_id)
    if not tried.on_show:
        return
    if made_from(tried.what_ifs, tried.on_show) == {tried.on_show}:
        remove(session, view_id, tried.on_show)
    else:
        show(session, view_id, tried.what_ifs[tried.on_show - 1].parent)


def made_from(what_ifs: Sequence[WhatIf], number: int) -> set[int]:
    """Return the numbers of a what-if and of all its descendants."""
    found = {number}
    for place, what_if in enumerate(what_ifs, 1):
        if what_if.parent in found:  # a parent precedes its children
            found.add(place)
    return found


def forget_what_ifs(session: Session, view_id: str) -> None:
    """Clear the what-ifs of a view, before another link is followed."""
    for name in (WHAT_IFS, _BEHIND):
        session.pop(view_key(view_id, name), None)


def what_ifs_address(session: Mapping[Any, Any], view: View) -> dict[str, str | None]:
    """Return the address parameters of the what-ifs; None for those left out of the address."""
    tried = tried_in(session, view.id)
    text = what_if_address.written(tried.what_ifs) if tried.linked else ""
    shown = str(tried.on_show) if text and tried.on_show else None
    return {view.key(WHAT_IFS): text or None, view.key(WHAT_IF): shown}


def tell(session: Session, view_id: str, problem: str) -> None:
    """Store a sentence about an error, for the page to show."""
    tried = tried_in(session, view_id)
    session[view_key(view_id, WHAT_IFS)] = dataclasses.replace(tried, problems=(problem,))


def _keep(
    session: Session, view_id: str, tried: Tried, what_ifs: Sequence[WhatIf], on_show: int, problems: Sequence[str] = ()
) -> None:
    kept = dataclasses.replace(tried, what_ifs=tuple(what_ifs), on_show=on_show, problems=tuple(problems))
    session[view_key(view_id, WHAT_IFS)] = kept


def _sets_again(tried: Tried, what_if: WhatIf) -> bool:
    """Return whether `what_if` only sets again what the current what-if, which has no children, has set."""
    last, change = tried.what_ifs[tried.on_show - 1], what_if.change
    if last.held != what_if.held or len(made_from(tried.what_ifs, tried.on_show)) > 1:
        return False
    if isinstance(last.change, SetWeights) and isinstance(change, SetWeights):
        return last.change.step == change.step and not last.change.lender and not change.lender
    if isinstance(last.change, SetTemperature) and isinstance(change, SetTemperature):
        return last.change.step == change.step
    return False


def _number(text: str, count: int) -> int:
    """Return the number of a what-if in an address, up to `count`; 0 for an invalid one."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 3 and int(text) <= count else 0
