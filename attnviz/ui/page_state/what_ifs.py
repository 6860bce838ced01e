"""Store the what-ifs of a view (changes by hand), and add, show, remove or undo one.

`ui.step.what_ifs` computes the translation of a what-if.
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
from attnviz.trace.what_if_text import decode_what_ifs, encode_what_ifs
from attnviz.trace.what_ifs import MOST, WhatIf, with_descendants
from attnviz.ui.page_state.linked import SENTENCE_PAGES, clear_with_link
from attnviz.ui.page_state.view import Session, View, view_key

WHAT_IFS, WHAT_IF = "what_ifs", "what_if"
"""Address parameters: all what-ifs, and the number of the current one."""
_PREVIOUS = "what_ifs_behind"
"""Session state key of the what-ifs of the translation that was shown before a file was opened."""


@dataclass(frozen=True)
class StoredWhatIfs:
    """The what-ifs of a translation; the methods return changed ones."""

    identity: str = ""
    """Identity of the original translation."""
    what_ifs: tuple[WhatIf, ...] = ()
    current: int = 0
    """0 for the original translation, or the number of a what-if, from 1."""
    linked: bool = True
    """Whether they are in the address; those from a file are not."""
    problems: tuple[str, ...] = ()
    """Sentences about errors, until the next change."""

    def adding(self, what_if: WhatIf) -> StoredWhatIfs:
        """Add a what-if and show it; raise AttnvizError where there are already MOST.

        If the current one set the same weights or temperature, it is replaced, so that dragging a bar again makes no
        second what-if. A what-if that exists already is shown.
        """
        current, what_ifs = self.current, self.what_ifs
        if what_if in what_ifs:
            return self.showing(what_ifs.index(what_if) + 1)
        if current and what_if.parent == current and self._sets_again(what_if):
            changed = dataclasses.replace(what_if, parent=what_ifs[current - 1].parent)
            return self._with((*what_ifs[: current - 1], changed, *what_ifs[current:]), current)
        if len(what_ifs) == MOST:
            raise AttnvizError(gettext("There are {count} what-ifs already: remove one of them first.", count=MOST))
        if what_if.parent > len(what_ifs):  # the parent was removed meanwhile
            return self
        return self._with((*what_ifs, what_if), len(what_ifs) + 1)

    def showing(self, number: int) -> StoredWhatIfs:
        """Show a what-if by its number, from 1, or with 0 the original translation; ignore invalid numbers."""
        return self._with(self.what_ifs, number) if 0 <= number <= len(self.what_ifs) else self

    def removing(self, number: int) -> StoredWhatIfs:
        """Remove a what-if and all that derive from it; if the current one is removed, show its parent."""
        return self.without(with_descendants(self.what_ifs, number)) if 1 <= number <= len(self.what_ifs) else self

    def without(self, removed: Set[int], problems: Sequence[str] = ()) -> StoredWhatIfs:
        """Remove the what-ifs with these numbers, which must include their descendants; add sentences about why."""
        current = self.current
        while current in removed:
            current = self.what_ifs[current - 1].parent
        new_numbers, what_ifs = {0: 0}, list[WhatIf]()
        for number, what_if in enumerate(self.what_ifs, 1):
            if number not in removed:
                what_ifs.append(dataclasses.replace(what_if, parent=new_numbers[what_if.parent]))
                new_numbers[number] = len(what_ifs)
        return self._with(what_ifs, new_numbers[current], problems)

    def undoing(self) -> StoredWhatIfs:
        """Remove the current what-if and show its parent; keep it if others derive from it."""
        if not self.current:
            return self
        if self._is_leaf(self.current):
            return self.removing(self.current)
        return self.showing(self.what_ifs[self.current - 1].parent)

    def _with(self, what_ifs: Sequence[WhatIf], current: int, problems: Sequence[str] = ()) -> StoredWhatIfs:
        return dataclasses.replace(self, what_ifs=tuple(what_ifs), current=current, problems=tuple(problems))

    def _is_leaf(self, number: int) -> bool:
        return all(what_if.parent != number for what_if in self.what_ifs)

    def _sets_again(self, what_if: WhatIf) -> bool:
        """Return whether `what_if` sets the same weights or temperature as the current what-if, a leaf, again."""
        last, change = self.what_ifs[self.current - 1], what_if.change
        if last.held != what_if.held or not self._is_leaf(self.current):
            return False
        if isinstance(last.change, SetWeights) and isinstance(change, SetWeights):
            return last.change.step == change.step and not last.change.lender and not change.lender
        if isinstance(last.change, SetTemperature) and isinstance(change, SetTemperature):
            return last.change.step == change.step
        return False


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
    key, previous_key = view_key(view_id, WHAT_IFS), view_key(view_id, _PREVIOUS)
    clear_with_link(session, key, previous_key, scope=SENTENCE_PAGES)
    stored: StoredWhatIfs | None = session.get(key)
    identity = identity_of(first) if saved is None else first.fingerprint
    if stored is not None and stored.identity == identity:
        return True
    previous: StoredWhatIfs | None = session.pop(previous_key, None)
    if saved is not None:
        session[key] = StoredWhatIfs(identity, tuple(saved), linked=False)
        session[previous_key] = stored if stored is not None and stored.linked else previous
    elif previous is not None and previous.identity == identity:
        session[key] = previous
    elif stored is None:
        what_ifs, problems = decode_what_ifs(linked.get(key, ""))
        number = linked.get(view_key(view_id, WHAT_IF), "")
        current = next((k for k in range(len(what_ifs) + 1) if str(k) == number), 0)
        session[key] = StoredWhatIfs(identity, what_ifs, current, problems=problems)
    else:
        session[key] = StoredWhatIfs(identity)
    return False


def stored_what_ifs(session: Mapping[Any, Any], view_id: str) -> StoredWhatIfs:
    """Return the what-ifs of a view."""
    stored: StoredWhatIfs = session.get(view_key(view_id, WHAT_IFS), StoredWhatIfs())
    return stored


def what_ifs_text(session: Mapping[Any, Any], view: View) -> str | None:
    """Return the what-ifs for the address; None for those left out of it."""
    stored = stored_what_ifs(session, view.id)
    return encode_what_ifs(stored.what_ifs) or None if stored.linked else None


def what_if_number(session: Mapping[Any, Any], view: View) -> str | None:
    """Return the number of the current what-if for the address; None for the original translation."""
    current = stored_what_ifs(session, view.id).current
    return str(current) if current and what_ifs_text(session, view) else None
