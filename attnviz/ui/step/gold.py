"""Draw the box to enter gold alignment links in the step view, and the list of the model's missed and false links."""

from __future__ import annotations

from functools import partial
from html import escape
from typing import Any

import streamlit as st

from attnviz.analysis.gold import GoldLinks, LinkErrors, link_errors, linkable_words
from attnviz.analysis.grid import Face
from attnviz.languages import gettext, language
from attnviz.trace import Words
from attnviz.ui.components.findings import findings_at
from attnviz.ui.fields import popover, text_box, uploader
from attnviz.ui.page_state.gold import (
    TEXT,
    gold_of,
    has_links_for_other_words,
    problem_of,
    remove_links,
    set_links,
)
from attnviz.ui.page_state.selection import Selection
from attnviz.ui.requests import request_button
from attnviz.ui.resources import cached_for_all, has_posterior, posterior_of, weights_digest_of
from attnviz.ui.session_payloads import register_payload
from attnviz.ui.view import View
from attnviz.wording.gold import (
    false_link_sentence,
    gold_summary,
    hidden_links_message,
    links_help,
    missed_link_sentence,
)

MOST_MEGABYTES = 16
"""Largest size of a file of links, in megabytes."""
SHOWN_LINKS = 6
"""Number of links shown before "more"."""


def gold_box(view: View) -> None:
    """Draw the box in which links are entered."""
    session, key = st.session_state, view.key(TEXT)
    box = view.key("gold_box")
    with popover(gettext("Links marked by hand"), type="tertiary", key=box):
        st.html(f'<p class="reading">{escape(links_help(of_file=not view.trace.translated))}</p>')
        for name, side in zip((gettext("Source"), gettext("Target")), linkable_words(view.trace.words()), strict=True):
            st.html(f'<p class="reading"><b>{escape(name)}</b> {_numbered(side)}</p>')
        links = gold_of(session, view)
        text_box(
            gettext("Links"),
            key=key,
            default=links.text() if links else "",
            height=90,
            placeholder="0-0 1-2 2?1",
            label_visibility="collapsed",
        )
        with st.container(horizontal=True):
            request_button(gettext("Show them"), partial(_store_links, view), type="primary", key=view.key("gold_show"))
            request_button(gettext("Take them off"), partial(remove_links, session, view), key=view.key("gold_off"))
        if problem := problem_of(session, view):
            st.container(key=view.key("gold_problem_within")).text(problem)
        if view.open_gold:
            label = gettext("Or open a file of links, in any format")
            uploader(label, partial(view.open_gold, view), key=box, megabytes=MOST_MEGABYTES)


def _numbered(words: tuple[str, ...]) -> str:
    return " ".join(
        f'<span style="white-space:nowrap"><small>{number}</small>\u00a0{escape(word)}</span>'
        for number, word in enumerate(words)
    )


def _store_links(view: View) -> None:
    set_links(st.session_state, view, str(st.session_state.get(view.key(TEXT)) or ""))


def gold_panel(view: View, *, listed: bool) -> None:
    """Draw the problem of the gold links; if `listed`, also the errors of the links in the heatmap against them.

    Each error is a link to its cell.
    """
    session = st.session_state
    with st.container(key=view.key("gold_panel")):  # always present: otherwise the parts below are mounted again
        if problem := problem_of(session, view):
            st.container(key=view.key("gold_problem")).text(problem)
        elif has_links_for_other_words(session, view):
            st.text(hidden_links_message())
        if not listed or (gold := gold_of(session, view)) is None:
            return

        def make_payload(selection: Selection) -> dict[str, Any]:
            face = selection.choices.face if has_posterior(view.trace) else "before"
            digest = "" if face == "before" else weights_digest_of(view.trace) or ""
            return _cached_payload(view.trace, view.identity, digest, gold.text(), gold, face, language())

        findings_at(view, register_payload(view, "gold_links", gold.text(), make_payload, "options"), "gold_links")


@cached_for_all
def _cached_payload(
    _trace: Any,
    identity: str,  # noqa: ARG001
    digest: str,  # noqa: ARG001
    links: str,  # noqa: ARG001
    _gold: GoldLinks,
    face: Face,
    code: str,  # noqa: ARG001
) -> dict[str, Any]:
    """Return the payload of the errors; the unused arguments complete the cache key."""
    posterior = None if face == "before" else posterior_of(_trace)
    shares = None if posterior is None else _trace.words().merged(posterior)
    return gold_payload(_trace.words(), _gold, face, shares, of_file=not _trace.translated)


def gold_payload(
    words: Words, gold: GoldLinks, face: Face, posterior: Any = None, *, of_file: bool = False
) -> dict[str, Any]:
    """Return the payload: the error rate of the links of `words`, and each missed or false link with its cell.

    The links are compared with `gold`. `posterior`, (target words, source words), is the posterior attention; if both
    kinds are shown, the listed links are those of the posterior. With `of_file`, another program made the links.
    """
    errors_by_face: dict[Face, LinkErrors] = {}
    if face != "after":
        errors_by_face["before"] = link_errors(words, gold)
    if face != "before":
        errors_by_face["after"] = link_errors(words, gold, posterior)
    errors = errors_by_face["before" if face == "before" else "after"]
    listed = [(missed_link_sentence(words, errors, link, of_file=of_file), "missed", link) for link in errors.missed]
    listed += [(false_link_sentence(words, link, of_file=of_file), "false", link) for link in errors.false]
    entries = [
        {
            "text": text,
            "kind": kind,
            "strong": False,
            "step": words.target_groups[i][0],
            "source": words.source_groups[j][0],
        }
        for text, kind, (j, i) in listed
    ]
    return {
        "summary": gold_summary(gold, errors_by_face, of_file=of_file),
        "findings": entries,
        "steps": [],
        "atOnce": SHOWN_LINKS,
        "more": gettext("{n} more"),
    }
