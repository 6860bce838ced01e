"""Store the gold alignment links of a view, and errors about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attnviz.analysis.gold import GoldLinks, PairLinks, linkable_words, read_links, stored_links
from attnviz.errors import AttnvizError
from attnviz.ui.page_state.linked import SENTENCE_PAGES, Session, clear_with_link, keep_for, linked_entry
from attnviz.ui.view import MAIN, View, view_key
from attnviz.wording.gold import removed_links_message

GOLD = "gold"
"""Session state key, and address parameter."""
TEXT = "gold_text"
"""Key of the text box that links are typed in."""
_PROBLEM = "gold_problem"
_LONGEST = 10_000
"""Largest length of an address value that is read, in characters."""


def open_gold(session: Session, view: View, linked: Mapping[str, str]) -> None:
    """Begin the links with the address; drop those of another sentence, with a message.

    Links of another translation of the same sentence stay, and are shown with it.
    """
    words = view.trace.words()
    text, problem = view.key(TEXT), view.key(_PROBLEM)
    for key in (text, problem):
        keep_for(session, key, repr(linkable_words(words)))
    clear_with_link(session, text, problem, scope=SENTENCE_PAGES)

    def parse(linked_text: str) -> PairLinks | None:
        try:
            return PairLinks.read(linked_text[:_LONGEST], words) if linked_text else None
        except AttnvizError as error:
            session[problem] = str(error)
            return None

    stored: PairLinks | None = linked_entry(session, linked, view.key(GOLD), None, parse=parse, scope=SENTENCE_PAGES)
    if stored is not None and not stored.joins_source(words):
        session[view.key(GOLD)] = None
        session.pop(text, None)
        if stored.links:
            session[problem] = removed_links_message()


def gold_of(session: Mapping[Any, Any], view: View) -> GoldLinks | None:
    """Return the links between the current words: those of the visitor, else those in the trace.

    None if there are no links, or the model has no attention.
    """
    if not view.trace.attends:
        return None
    stored = _stored(session, view)
    if stored is not None and stored.joins(view.trace.words()):
        return stored.links or None  # empty where the visitor removed the trace's own links
    return stored_links(view.trace) or None


def has_links_for_other_words(session: Mapping[Any, Any], view: View) -> bool:
    """Return whether links are stored, but for other words than the current ones."""
    stored = _stored(session, view)
    return stored is not None and bool(stored.links) and not stored.joins(view.trace.words())


def problem_of(session: Mapping[Any, Any], view: View) -> str:
    """Return the error in the last links, or why they were dropped; empty if there is none."""
    return str(session.get(view.key(_PROBLEM), ""))


def set_links(session: Session, view: View, text: str) -> None:
    """Parse and store links typed by a visitor; empty text removes them.

    On an error the previous links stay, and `problem_of` returns the message.
    """
    words = view.trace.words()
    session.pop(view.key(_PROBLEM), None)
    try:
        links = read_links(text, words) if text.strip() else GoldLinks()
    except AttnvizError as error:
        session[view.key(_PROBLEM)] = str(error)
    else:
        session[view.key(GOLD)] = PairLinks.of(*linkable_words(words), links)


def is_drawn_in(view: View, request: Any) -> bool:
    """Return whether a browser's request, which may be anything, is about links drawn in `view`."""
    return (
        isinstance(request, Mapping)
        and request.get("view") == view.id
        and request.get("identity") == view.identity
        and isinstance(request.get("links"), str)
    )


def set_drawn_links(session: Session, view: View, request: Mapping[str, Any]) -> None:
    """Store the links of a request that `is_drawn_in` the view, and write them in the text box."""
    text = request["links"][:_LONGEST]
    set_links(session, view, text)
    session[view.key(TEXT)] = text


def remove_links(session: Session, view: View) -> None:
    """Remove the links, and empty the text box."""
    set_links(session, view, "")
    session[view.key(TEXT)] = ""


def set_gold(session: Session, links: GoldLinks, source: Sequence[str], target: Sequence[str]) -> None:
    """Set the links between the words of `source` and `target` in the page's own view."""
    session[view_key(MAIN, GOLD)] = PairLinks.of(source, target, links)
    session.pop(view_key(MAIN, TEXT), None)


def gold_text(session: Mapping[Any, Any], view: View) -> str | None:
    """Return the links for the address; None if there are none."""
    stored = _stored(session, view)
    return stored.text() if stored is not None and stored.links else None


def _stored(session: Mapping[Any, Any], view: View) -> PairLinks | None:
    stored: PairLinks | None = session.get(view.key(GOLD))
    return stored
