"""Store the gold alignment links of a view, in the session state and in the address, and errors about them.

In the address they are `digest.0-0.1-2.2p1`: the digest of the words, then pairs of source and target word counted from
0, sure ones with `-` and possible ones with `p`. Without a digest the links are between the current words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attnviz.analysis.gold import GoldLinks, linkable_words, read_links, stored_links, words_digest
from attnviz.analysis.pharaoh import read_gold_links
from attnviz.errors import AttnvizError
from attnviz.trace import Words
from attnviz.ui.page_state.linked import SENTENCE_PAGES, clear_with_link, keep_for, linked_entry
from attnviz.ui.page_state.view import MAIN, Session, View, view_key
from attnviz.wording.gold import removed_links_message

GOLD = "gold"
"""Session state key, and address parameter."""
TEXT = "gold_text"
"""Key of the text box that links are typed in."""
_PROBLEM = "gold_problem"
_DIGEST, _SOURCE_DIGEST = 12, 6
"""Length of the digest in characters, and of its part for the source."""
_LONGEST = 10_000
"""Largest length of an address value that is read, in characters."""


@dataclass(frozen=True)
class StoredLinks:
    """Links that a visitor or an address gave for some words."""

    digest: str
    """Digest of the words they index: `analysis.gold.words_digest`."""
    links: GoldLinks
    """Empty where the visitor removed the trace's own links."""


def open_gold(session: Session, view: View, linked: Mapping[str, str]) -> None:
    """Begin the links with the address; drop those of another sentence, with a message.

    Links of another translation of the same sentence stay, and are shown with it.
    """
    words = view.trace.words()
    key, text, problem, digest = view.key(GOLD), view.key(TEXT), view.key(_PROBLEM), _digest_of(words)
    keep_for(session, text, digest)
    keep_for(session, problem, digest)
    clear_with_link(session, text, problem, scope=SENTENCE_PAGES)

    def parse(linked_text: str) -> StoredLinks | None:
        try:
            return _parsed_links(linked_text[:_LONGEST], words) if linked_text else None
        except AttnvizError as error:
            session[problem] = str(error)
            return None

    stored: StoredLinks | None = linked_entry(session, linked, key, None, parse=parse, scope=SENTENCE_PAGES)
    if stored is not None and stored.digest[:_SOURCE_DIGEST] != digest[:_SOURCE_DIGEST]:
        session[key] = None
        session.pop(text, None)
        if stored.links:
            session[problem] = removed_links_message()


def gold_of(session: Mapping[Any, Any], view: View) -> GoldLinks | None:
    """Return the links between the current words: those of the visitor, else those in the trace.

    None if there are no links, or the model has no attention.
    """
    if not view.trace.attends:
        return None
    stored: StoredLinks | None = session.get(view.key(GOLD))
    if stored is not None and stored.digest == _digest_of(view.trace.words()):
        return stored.links or None
    return stored_links(view.trace) or None


def has_links_for_other_words(session: Mapping[Any, Any], view: View) -> bool:
    """Return whether links are stored, but for other words than the current ones."""
    stored: StoredLinks | None = session.get(view.key(GOLD))
    return stored is not None and bool(stored.links) and stored.digest != _digest_of(view.trace.words())


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
        session[view.key(GOLD)] = StoredLinks(_digest_of(words), links)


def remove_links(session: Session, view: View) -> None:
    """Remove the links, and empty the text box."""
    set_links(session, view, "")
    session[view.key(TEXT)] = ""


def set_gold(session: Session, links: GoldLinks, source: Sequence[str], target: Sequence[str]) -> None:
    """Set the links between the words of `source` and `target` in the page's own view."""
    session[view_key(MAIN, GOLD)] = StoredLinks(words_digest(source, target), links)
    session.pop(view_key(MAIN, TEXT), None)


def gold_text(session: Mapping[Any, Any], view: View) -> str | None:
    """Return the links for the address; None if there are none."""
    stored: StoredLinks | None = session.get(view.key(GOLD))
    if stored is None or not stored.links:
        return None
    return ".".join((stored.digest, *stored.links.text().replace("?", "p").split()))


def _digest_of(words: Words) -> str:
    return words_digest(*linkable_words(words))


def _parsed_links(text: str, words: Words) -> StoredLinks:
    """Parse the links of an address; raise AttnvizError where they are invalid or index missing words."""
    prefix, _, remainder = text.partition(".")
    digest = _digest_of(words)
    links_digest, links_text = (prefix, remainder) if re.fullmatch(f"[0-9a-f]{{{_DIGEST}}}", prefix) else (digest, text)
    if links_digest != digest:  # of another translation, whose words are unknown here
        sure, possible = read_gold_links(links_text.replace(".", " "))
        return StoredLinks(links_digest, GoldLinks(sure, possible - sure))
    return StoredLinks(links_digest, read_links(links_text.replace(".", " "), words))
