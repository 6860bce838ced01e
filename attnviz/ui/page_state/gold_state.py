"""Store the gold alignment links of a view, and errors about them.

A visitor types or draws the links, or they are in the address. Where there are none, `gold_of` returns those of a gold
file or of the trace. Links of each pair of a file last as long as the session.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from attnviz.analysis.gold import (
    GoldLinks,
    PairLinks,
    linkable_words,
    parse_gold_links,
    recorded_gold_links,
    removed_links_message,
    word_links,
)
from attnviz.errors import AttnvizError
from attnviz.trace import Words
from attnviz.ui.embedding import page_session
from attnviz.ui.page_state.linked import SENTENCE_PAGES, clear_with_link, keep_for, linked_entry
from attnviz.ui.view import MAIN, FilePair, View, view_key

GOLD = "gold"
"""Session state key, and address parameter."""
TEXT = "gold_text"
"""Key of the text box that links are typed in."""
LINKS_OF_PAIRS, _OPENED_PAIRS = "gold_of_pairs", "gold_opened_pairs"
"""Session state keys: the visitor's links of each pair of a file, and the words of the pairs that were shown.

They last as long as the session, so that links are there again when their file is opened again.
"""
_PROBLEM = "gold_problem"
_LONGEST = 10_000
"""Largest length of an address value that is read, in characters."""


def open_gold(view: View) -> None:
    """Begin the links with the address; drop those of another sentence, with a message.

    Links of another translation of the same sentence stay, and are shown with it; so do those of each pair of a file.
    """
    session, words = page_session(), view.trace.words()
    text, problem, pair = view.key(TEXT), view.key(_PROBLEM), pair_of(view)
    for key in (text, problem):
        keep_for(key, repr((pair, linkable_words(words))))
    clear_with_link(text, problem)
    if pair:
        session.setdefault(_OPENED_PAIRS, {})[pair] = words
        return

    def parse(linked_text: str) -> PairLinks | None:
        try:
            return PairLinks.parse(linked_text[:_LONGEST], words) if linked_text else None
        except AttnvizError as error:
            session[problem] = str(error)
            return None

    stored: PairLinks | None = linked_entry(view.key(GOLD), None, parse=parse, scope=SENTENCE_PAGES)
    if stored is not None and not stored.joins_source(words):
        session[view.key(GOLD)] = None
        session.pop(text, None)
        if stored.links:
            session[problem] = removed_links_message()


def pair_of(view: View) -> str:
    """Return text that identifies the pair of a file that `view` shows, with its words; empty for a translation."""
    return _pair_name(view.file, view.file.number, view.trace.words()) if view.file else ""


def _pair_name(file: FilePair, number: int, words: Words) -> str:
    return f"{file.key(number)} {PairLinks.of(*linkable_words(words), GoldLinks()).digest}"


def gold_of(view: View) -> GoldLinks | None:
    """Return the links between the current words: those of the visitor, else those of a gold file or in the trace.

    None if there are no links, or the model has no attention.
    """
    if not view.trace.attends:
        return None
    stored = _stored(view)
    if stored is not None and stored.joins(view.trace.words()):
        return stored.links or None  # empty where the visitor removed the trace's own links
    with suppress(AttnvizError):  # the page has the message
        if view.file and (given := view.file.own_gold) is not None:
            return given or None
    return recorded_gold_links(view.trace) or None


def gold_entries(view: View) -> dict[str, Any]:
    """Return the entries of the session state from which `gold_of` returns the same links."""
    stored, pair = _stored(view), pair_of(view)
    if stored is None:
        return {}
    return {LINKS_OF_PAIRS: {pair: stored}} if pair else {view.key(GOLD): stored}


def links_of_pairs() -> dict[str, PairLinks]:
    """Return the visitor's links of the pairs of files, as they are now."""
    return dict(page_session().get(LINKS_OF_PAIRS, {}))


def links_of_pair(file: FilePair, number: int, record: Any) -> GoldLinks:
    """Return the links of a pair of `file` with its attention: the visitor's, else gold links, else its own.

    Raise AttnvizError where the gold links cannot be read.
    """
    if (stored := links_of_pairs().get(_pair_name(file, number, record.words()))) is not None:
        return stored.links
    if (given := file.gold_links(number)) is not None:
        return given
    return recorded_gold_links(record) or GoldLinks(frozenset((j, i) for j, i, _ in word_links(record)))


def has_links_for_other_words(view: View) -> bool:
    """Return whether links are stored, but for other words than the current ones."""
    stored = _stored(view)
    return stored is not None and bool(stored.links) and not stored.joins(view.trace.words())


def problem_of(view: View) -> str:
    """Return the error in the last links, or why they were dropped; empty if there is none."""
    return str(page_session().get(view.key(_PROBLEM), ""))


def set_problem(view: View, message: str) -> None:
    """Store why links could not be taken."""
    page_session()[view.key(_PROBLEM)] = message


def set_links(view: View, text: str, identity: str = "") -> None:
    """Parse and store links that a visitor typed or drew; empty text removes them.

    They belong to the pair of this `identity` that `view` showed, by default to the current one. On an error the
    previous links stay, and `problem_of` returns the message.
    """
    session = page_session()
    pair = identity if identity in session.get(_OPENED_PAIRS, {}) else pair_of(view)
    words = session.get(_OPENED_PAIRS, {}).get(pair) or view.trace.words()
    session.pop(view.key(_PROBLEM), None)
    try:
        links = PairLinks.of(*linkable_words(words), parse_gold_links(text, words) if text.strip() else GoldLinks())
    except AttnvizError as error:
        set_problem(view, str(error))
        return
    if pair:
        session.setdefault(LINKS_OF_PAIRS, {})[pair] = links
    else:
        session[view.key(GOLD)] = links


def drawn_identity(view: View) -> str:
    """Return text that identifies what links are drawn for in `view`."""
    return pair_of(view) or view.identity


def set_drawn_links(view: View, request: Any) -> None:
    """Store the links of a browser's request, which may be anything; write those of the current words in the text box.

    They may be of a pair that `view` showed before: the visitor may go to another pair at once after an edit.
    """
    session = page_session()
    match request:
        case {"identity": str(identity), "links": str(links)}:
            if identity == drawn_identity(view) or identity in session.get(_OPENED_PAIRS, {}):
                set_links(view, links[:_LONGEST], identity)
            if identity == drawn_identity(view):
                session[view.key(TEXT)] = links[:_LONGEST]


def take_links(view: View, links: GoldLinks) -> None:
    """Store links between the words of `view`, none to remove them, and write them in the text box."""
    set_links(view, links.text())
    page_session()[view.key(TEXT)] = links.text()


def set_gold(links: GoldLinks, source: Sequence[str], target: Sequence[str]) -> None:
    """Set the links between the words of `source` and `target` in the page's own view."""
    session = page_session()
    session[view_key(MAIN, GOLD)] = PairLinks.of(source, target, links)
    session.pop(view_key(MAIN, TEXT), None)


def gold_text(view: View) -> str | None:
    """Return the links for the address; None if there are none."""
    stored = _stored(view)
    return stored.text() if stored is not None and stored.links else None


def _stored(view: View) -> PairLinks | None:
    session, pair = page_session(), pair_of(view)
    stored: PairLinks | None = session.get(LINKS_OF_PAIRS, {}).get(pair) if pair else session.get(view.key(GOLD))
    return stored
