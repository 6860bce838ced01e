"""Store gold links between the words of a view, the words they belong to, and errors about them.

In the address they are `mark.0-0.1-2.2p1`: the digest of the words they index, then sure links, and possible ones with
a `p`. Without a digest they are links of the current words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attnviz.analysis.gold import GoldLinks, carried, counted_words, read_links, words_mark
from attnviz.analysis.pharaoh import read_gold_links
from attnviz.errors import AttnvizError
from attnviz.trace import Words
from attnviz.ui.page_state.view import MAIN, Session, View, view_key
from attnviz.wording.gold import links_dropped

GOLD = "gold"
"""Session state key, and address parameter."""
TEXT = "gold_text"
"""Key of the text box that links are typed in."""
_PROBLEM, _WRITTEN_OF = "gold_problem", "gold_text_of"
_MARK, _SOURCE = 12, 6
"""Length of the digest in characters, and of its part for the source."""
_LONGEST = 10_000
"""Largest length of an address value that is read, in characters."""


@dataclass(frozen=True)
class Given:
    """Links that were given for some words."""

    of: str
    """Digest of the words they index: `analysis.gold.words_mark`."""
    links: GoldLinks
    """Empty where the links that the trace contains were removed."""


def open_gold(session: Session, view: View, linked: Mapping[str, str]) -> None:
    """Initialise the links from the address; drop those of another sentence and say so.

    Links of another translation of the same sentence stay, and are shown with it.
    """
    key, words = view.key(GOLD), view.trace.words()
    mark = _mark_of(words)
    problem = session.get(view.key(_PROBLEM))
    if problem and problem[0] != mark:
        session.pop(view.key(_PROBLEM))
    if key not in session:
        session[key] = None
        if text := linked.get(key):
            try:
                session[key] = _read(text[:_LONGEST], words)
            except AttnvizError as error:
                session[view.key(_PROBLEM)] = mark, str(error)
    given: Given | None = session[key]
    if given is not None and given.of[:_SOURCE] != mark[:_SOURCE]:
        session[key] = None
        session.pop(view.key(TEXT), None)
        if given.links:
            session[view.key(_PROBLEM)] = mark, links_dropped()


def gold_of(session: Mapping[Any, Any], view: View) -> GoldLinks | None:
    """Return the links between the current words: those given, or else those in the trace.

    None where there are no links, or the model has no attention.
    """
    if not view.trace.attends:
        return None
    given: Given | None = session.get(view.key(GOLD))
    if given is not None and given.of == _mark_of(view.trace.words()):
        return given.links or None
    return carried(view.trace) or None


def waits(session: Mapping[Any, Any], view: View) -> bool:
    """Return whether the given links are of other words than the current ones."""
    given: Given | None = session.get(view.key(GOLD))
    return given is not None and bool(given.links) and given.of != _mark_of(view.trace.words())


def problem_of(session: Mapping[Any, Any], view: View) -> str:
    """Return the error about the links given last, or why they were dropped; empty where there is none."""
    of, told = session.get(view.key(_PROBLEM)) or ("", "")
    return told if of == _mark_of(view.trace.words()) else ""


def fill_box(session: Session, view: View) -> None:
    """Fill the text box with the current links, unless it has been edited for the current words."""
    mark = _mark_of(view.trace.words())
    if session.get(view.key(_WRITTEN_OF)) != mark or view.key(TEXT) not in session:
        links = gold_of(session, view)
        session[view.key(TEXT)] = links.text() if links else ""
        session[view.key(_WRITTEN_OF)] = mark


def give(session: Session, view: View, text: str) -> None:
    """Parse and store links typed by a visitor, none for empty text.

    On an error the previous links stay, and `problem_of` returns it.
    """
    words = view.trace.words()
    mark = _mark_of(words)
    session.pop(view.key(_PROBLEM), None)
    try:
        session[view.key(GOLD)] = Given(mark, read_links(text, words) if text.strip() else GoldLinks())
    except AttnvizError as error:
        session[view.key(_PROBLEM)] = mark, str(error)


def take_off(session: Session, view: View) -> None:
    """Remove the links, and empty the text box."""
    give(session, view, "")
    session[view.key(TEXT)] = ""


def bring_gold(session: Session, links: GoldLinks, source: Sequence[str], target: Sequence[str]) -> None:
    """Set these links, which are of those words, in the page's own view."""
    session[view_key(MAIN, GOLD)] = Given(words_mark(source, target), links)
    session.pop(view_key(MAIN, TEXT), None)


def gold_address(session: Mapping[Any, Any], view: View) -> dict[str, str | None]:
    """Return the address parameter of the links; None where none were given."""
    given: Given | None = session.get(view.key(GOLD))
    if given is None or not given.links:
        return {view.key(GOLD): None}
    return {view.key(GOLD): ".".join((given.of, *given.links.text().replace("?", "p").split()))}


def forget_gold(session: Session, view_id: str) -> None:
    """Clear the links of a view, before another address is followed."""
    for name in (GOLD, TEXT, _PROBLEM, _WRITTEN_OF):
        session.pop(view_key(view_id, name), None)


def _mark_of(words: Words) -> str:
    return words_mark(*counted_words(words))


def _read(text: str, words: Words) -> Given:
    """Parse the links of an address; raise AttnvizError where they are invalid or index missing words."""
    first, _, rest = text.partition(".")
    mark = _mark_of(words)
    of, written = (first, rest) if re.fullmatch(f"[0-9a-f]{{{_MARK}}}", first) else (mark, text)
    if of != mark:  # of another translation, so its words are unknown here
        sure, possible = read_gold_links(written.replace(".", " "))
        return Given(of, GoldLinks(sure, possible - sure))
    return Given(of, read_links(written.replace(".", " "), words))
