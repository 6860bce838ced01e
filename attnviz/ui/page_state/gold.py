"""Links that people drew between the words of a view: which a visitor gave, for which words, and what became of them.

In the address they stand as `mark.0-0.1-2.2p1`: what tells the words they count from others, then sure links, and
possible ones with a `p`; without a mark they are taken for those of the words on show.
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
"""What is kept in the session, and address parameter."""
TEXT = "gold_text"
"""The key of the box that they are written in."""
_PROBLEM, _WRITTEN_OF = "gold_problem", "gold_text_of"
_MARK, _SOURCE = 12, 6
"""Characters of a mark, and of that part of it which is of the source."""
_LONGEST = 10_000
"""Characters of an address that are looked at."""


@dataclass(frozen=True)
class Given:
    """Links that were given for some words."""

    of: str
    """The mark of the words they count: `analysis.gold.words_mark`."""
    links: GoldLinks
    """None at all where those that a record carries were taken off."""


def open_gold(session: Session, view: View, linked: Mapping[str, str]) -> None:
    """Begin with the links of the address; those of another sentence go, and that is said. Links of another translation
    of the same sentence stay, and are shown when that is."""
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
    """Return the links between the words on show: those that were given, or else those that the record carries; None
    where there are none, or nothing looks at anything."""
    if not view.trace.attends:
        return None
    given: Given | None = session.get(view.key(GOLD))
    if given is not None and given.of == _mark_of(view.trace.words()):
        return given.links or None
    return carried(view.trace) or None


def waits(session: Mapping[Any, Any], view: View) -> bool:
    """Return whether links were given that are of other words than those on show."""
    given: Given | None = session.get(view.key(GOLD))
    return given is not None and bool(given.links) and given.of != _mark_of(view.trace.words())


def problem_of(session: Mapping[Any, Any], view: View) -> str:
    """Return what is wrong with the links that were given last, or what became of them; empty where nothing is."""
    of, told = session.get(view.key(_PROBLEM)) or ("", "")
    return told if of == _mark_of(view.trace.words()) else ""


def fill_box(session: Session, view: View) -> None:
    """Have the links on show stand in the box that they are written in, unless something was written there of the words
    on show."""
    mark = _mark_of(view.trace.words())
    if session.get(view.key(_WRITTEN_OF)) != mark or view.key(TEXT) not in session:
        links = gold_of(session, view)
        session[view.key(TEXT)] = links.text() if links else ""
        session[view.key(_WRITTEN_OF)] = mark


def give(session: Session, view: View, text: str) -> None:
    """Take over links as a visitor wrote them, none where nothing stands there; what is wrong with them is for
    `problem_of`, and then those before stay."""
    words = view.trace.words()
    mark = _mark_of(words)
    session.pop(view.key(_PROBLEM), None)
    try:
        session[view.key(GOLD)] = Given(mark, read_links(text, words) if text.strip() else GoldLinks())
    except AttnvizError as error:
        session[view.key(_PROBLEM)] = mark, str(error)


def take_off(session: Session, view: View) -> None:
    """Take the links off, and empty the box that they were written in."""
    give(session, view, "")
    session[view.key(TEXT)] = ""


def bring_gold(session: Session, links: GoldLinks, source: Sequence[str], target: Sequence[str]) -> None:
    """Have these links, which are of those words, shown with the page's own view."""
    session[view_key(MAIN, GOLD)] = Given(words_mark(source, target), links)
    session.pop(view_key(MAIN, TEXT), None)


def gold_address(session: Mapping[Any, Any], view: View) -> dict[str, str | None]:
    """Return the address parameter of the links; None where nobody gave any."""
    given: Given | None = session.get(view.key(GOLD))
    if given is None or not given.links:
        return {view.key(GOLD): None}
    return {view.key(GOLD): ".".join((given.of, *given.links.text().replace("?", "p").split()))}


def forget_gold(session: Session, view_id: str) -> None:
    """Forget the links of a view: another link of the page is to be followed."""
    for name in (GOLD, TEXT, _PROBLEM, _WRITTEN_OF):
        session.pop(view_key(view_id, name), None)


def _mark_of(words: Words) -> str:
    return words_mark(*counted_words(words))


def _read(text: str, words: Words) -> Given:
    """Return the links of an address; raise AttnvizError where they are none, or of words that there are not."""
    first, _, rest = text.partition(".")
    mark = _mark_of(words)
    of, written = (first, rest) if re.fullmatch(f"[0-9a-f]{{{_MARK}}}", first) else (mark, text)
    if of != mark:  # of another translation, which nobody can look at here
        sure, possible = read_gold_links(written.replace(".", " "))
        return Given(of, GoldLinks(sure, possible - sure))
    return Given(of, read_links(written.replace(".", " "), words))
