"""Initialise and read the stored what-ifs (changes by hand) of a view, and encode them for the address.

`ui.step.what_if_panel` adds, shows, removes and undoes what-ifs, and computes their translations.
"""

from __future__ import annotations

from collections.abc import Sequence

from attnviz.trace import Trace
from attnviz.trace.what_ifs import StoredWhatIfs, WhatIf, decode_what_ifs, encode_what_ifs, what_ifs_identity
from attnviz.ui.embedding import page_session
from attnviz.ui.page_state.linked import SENTENCE_PAGES, clear_with_link, link
from attnviz.ui.view import View, view_key

WHAT_IFS, WHAT_IF = "what_ifs", "what_if"
"""Address parameters: all what-ifs, and the number of the current one."""
_PREVIOUS = "what_ifs_behind"
"""Session state key of the what-ifs of the translation that was shown before a file was opened."""


def open_what_ifs(view_id: str, first: Trace, saved: Sequence[WhatIf] | None = None) -> bool:
    """Set the what-ifs of `first`; return whether the last run showed the same translation.

    Another translation starts without what-ifs, the first of a session with those of its link, and one from a file with
    those `saved` in it. When the file is closed, the previous what-ifs are restored.
    """
    session, linked = page_session(), link()
    key, previous_key = view_key(view_id, WHAT_IFS), view_key(view_id, _PREVIOUS)
    clear_with_link(key, previous_key, scope=SENTENCE_PAGES)
    stored: StoredWhatIfs | None = session.get(key)
    identity = what_ifs_identity(first) if saved is None else first.fingerprint
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


def stored_what_ifs(view_id: str) -> StoredWhatIfs:
    """Return the what-ifs of a view."""
    stored: StoredWhatIfs = page_session().get(view_key(view_id, WHAT_IFS), StoredWhatIfs())
    return stored


def what_ifs_text(view: View) -> str | None:
    """Return the what-ifs for the address; None for those left out of it."""
    stored = stored_what_ifs(view.id)
    return encode_what_ifs(stored.what_ifs) or None if stored.linked else None


def what_if_number(view: View) -> str | None:
    """Return the number of the current what-if for the address; None for the original translation."""
    current = stored_what_ifs(view.id).current
    return str(current) if current and what_ifs_text(view) else None
