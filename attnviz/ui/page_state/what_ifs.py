"""Store the what-ifs of a view (changes by hand), and add, show, remove or undo one.

Plain functions on a mapping; `ui.step.what_ifs` computes the translation of a what-if.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.trace import Trace, what_if_text
from attnviz.trace.changes import SetTemperature, SetWeights
from attnviz.trace.what_ifs import MOST, WhatIf
from attnviz.ui.page_state.view import Session, View, view_key

WHAT_IFS, WHAT_IF = "what_ifs", "what_if"
"""Address parameters: all what-ifs, and the number of the current one."""
_PREVIOUS = "what_ifs_behind"
"""Session state key of the what-ifs of the translation that was shown before a file was opened."""


@dataclass(frozen=True)
class StoredWhatIfs:
    """The what-ifs of a translation."""

    identity: str
    """Identity of the original translation."""
    what_ifs: tuple[WhatIf, ...] = ()
    current: int = 0
    """0 for the original translation, or the number of a what-if, from 1."""
    linked: bool = True
    """Whether they are in the address; those from a file are not."""
    problems: tuple[str, ...] = ()
    """Sentences about errors, until the next change."""


def identity_of(first: Trace) -> str:
    """Return the identity of an original translation: model, sentence, search and result.

    It leaves out computed numbers, whose last digits depend on the other sentences in their batch.
    """
    inputs = (first.model, first.weights_digest, first.device, first.source_text, first.search, first.target_ids)
    return repr((*inputs, first.interventions))


def open_what_ifs(
    session: Session, view_id: str, first: Trace, linked: Mapping[str, str], saved: Sequence[WhatIf] | None = None
) -> bool:
    """Set the what-ifs of `first`; return whether the last run showed the same translation.

    Another translation starts without what-ifs, the first of a session with those of its link, and one from a file with
    those `saved` in it. When the file is closed, the previous what-ifs are restored.
    """
    key = view_key(view_id, WHAT_IFS)
    stored: StoredWhatIfs | None = session.get(key)
    identity = identity_of(first) if saved is None else first.fingerprint
    if stored is not None and stored.identity == identity:
        return True
    previous: StoredWhatIfs | None = session.pop(view_key(view_id, _PREVIOUS), None)
    if saved is not None:
        session[key] = StoredWhatIfs(identity, tuple(saved), linked=False)
        session[view_key(view_id, _PREVIOUS)] = stored if stored is not None and stored.linked else previous
    elif previous is not None and previous.identity == identity:
        session[key] = previous
    elif stored is None:
        what_ifs, problems = what_if_text.decode_what_ifs(linked.get(key, ""))
        current = _number(linked.get(view_key(view_id, WHAT_IF), ""), len(what_ifs))
        session[key] = StoredWhatIfs(identity, what_ifs, current, problems=problems)
    else:
        session[key] = StoredWhatIfs(identity)
    return False


def stored_what_ifs(session: Mapping[Any, Any], view_id: str) -> StoredWhatIfs:
    """Return the what-ifs of a view."""
    stored: StoredWhatIfs = session.get(view_key(view_id, WHAT_IFS), StoredWhatIfs(""))
    return stored


def add(session: Session, view_id: str, what_if: WhatIf) -> None:
    """Add a what-if and show it; raise AttnvizError where there are already MOST.

    If the current one set the same weights or temperature, it is replaced, so that dragging a bar again makes no second
    what-if. A what-if that exists already is shown.
    """
    stored = stored_what_ifs(session, view_id)
    current, what_ifs = stored.current, stored.what_ifs
    if what_if in what_ifs:
        show(session, view_id, what_ifs.index(what_if) + 1)
    elif current and what_if.parent == current and _sets_again(stored, what_if):
        changed = dataclasses.replace(what_if, parent=what_ifs[current - 1].parent)
        _store(session, view_id, stored, (*what_ifs[: current - 1], changed, *what_ifs[current:]), current)
    elif len(what_ifs) == MOST:
        raise AttnvizError(gettext("There are {count} what-ifs already: remove one of them first.", count=MOST))
    elif what_if.parent <= len(what_ifs):  # otherwise the parent was removed meanwhile
        _store(session, view_id, stored, (*what_ifs, what_if), len(what_ifs) + 1)


def show(session: Session, view_id: str, number: int) -> None:
    """Show a what-if by its number, from 1, or with 0 the original translation; ignore invalid numbers."""
    stored = stored_what_ifs(session, view_id)
    if 0 <= number <= len(stored.what_ifs):
        _store(session, view_id, stored, stored.what_ifs, number)


def remove(session: Session, view_id: str, number: int) -> None:
    """Remove a what-if and all that derive from it; if the current one is removed, show its parent."""
    stored = stored_what_ifs(session, view_id)
    if 1 <= number <= len(stored.what_ifs):
        remove_what_ifs(session, view_id, with_descendants(stored.what_ifs, number))


def remove_what_ifs(session: Session, view_id: str, removed: Set[int], problems: Sequence[str] = ()) -> None:
    """Remove the what-ifs with these numbers, which must include their descendants, and store sentences about why."""
    stored = stored_what_ifs(session, view_id)
    current = stored.current
    while current in removed:
        current = stored.what_ifs[current - 1].parent
    new_numbers, what_ifs = {0: 0}, list[WhatIf]()
    for number, what_if in enumerate(stored.what_ifs, 1):
        if number not in removed:
            what_ifs.append(dataclasses.replace(what_if, parent=new_numbers[what_if.parent]))
            new_numbers[number] = len(what_ifs)
    _store(session, view_id, stored, what_ifs, new_numbers[current], problems)


def undo(session: Session, view_id: str) -> None:
    """Remove the current what-if and show its parent; keep it if others derive from it."""
    stored = stored_what_ifs(session, view_id)
    if not stored.current:
        return
    if with_descendants(stored.what_ifs, stored.current) == {stored.current}:
        remove(session, view_id, stored.current)
    else:
        show(session, view_id, stored.what_ifs[stored.current - 1].parent)


def with_descendants(what_ifs: Sequence[WhatIf], number: int) -> set[int]:
    """Return the numbers of a what-if and of all its descendants."""
    numbers = {number}
    for child, what_if in enumerate(what_ifs, 1):
        if what_if.parent in numbers:  # a parent precedes its children
            numbers.add(child)
    return numbers


def forget_what_ifs(session: Session, view_id: str) -> None:
    """Clear the what-ifs of a view, before another link is followed."""
    for name in (WHAT_IFS, _PREVIOUS):
        session.pop(view_key(view_id, name), None)


def what_ifs_address(session: Mapping[Any, Any], view: View) -> dict[str, str | None]:
    """Return the address parameters of the what-ifs; None for those left out of the address."""
    stored = stored_what_ifs(session, view.id)
    text = what_if_text.encode_what_ifs(stored.what_ifs) if stored.linked else ""
    current = str(stored.current) if text and stored.current else None
    return {view.key(WHAT_IFS): text or None, view.key(WHAT_IF): current}


def store_problem(session: Session, view_id: str, problem: str) -> None:
    """Store a sentence about an error, for the page to show."""
    stored = stored_what_ifs(session, view_id)
    session[view_key(view_id, WHAT_IFS)] = dataclasses.replace(stored, problems=(problem,))


def _store(
    session: Session,
    view_id: str,
    stored: StoredWhatIfs,
    what_ifs: Sequence[WhatIf],
    current: int,
    problems: Sequence[str] = (),
) -> None:
    updated = dataclasses.replace(stored, what_ifs=tuple(what_ifs), current=current, problems=tuple(problems))
    session[view_key(view_id, WHAT_IFS)] = updated


def _sets_again(stored: StoredWhatIfs, what_if: WhatIf) -> bool:
    """Return whether `what_if` sets the same weights or temperature as the current what-if, a leaf, again."""
    last, change = stored.what_ifs[stored.current - 1], what_if.change
    if last.held != what_if.held or len(with_descendants(stored.what_ifs, stored.current)) > 1:
        return False
    if isinstance(last.change, SetWeights) and isinstance(change, SetWeights):
        return last.change.step == change.step and not last.change.lender and not change.lender
    if isinstance(last.change, SetTemperature) and isinstance(change, SetTemperature):
        return last.change.step == change.step
    return False


def _number(text: str, count: int) -> int:
    """Return the number of a what-if in an address, up to `count`; 0 for an invalid one."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 3 and int(text) <= count else 0
