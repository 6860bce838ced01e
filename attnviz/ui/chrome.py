"""Run the app: handle the browser's requests, then draw title, navigation, language switch and the current page.

If sign-in or a limit of visitors is configured, others see only the sign-in button or their position in the queue.
All pages are one Streamlit page; the parameter `page` of the address selects which one is drawn. The browser requests
another page through the queue of `attnviz.ui.requests`, so that all earlier clicks and keys are handled before it.
Widgets have the same keys on all pages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.languages import LANGUAGES, gettext, language
from attnviz.ui.components.component import component
from attnviz.ui.fields import drop_restored_values, restore_values, segmented_control, set_value
from attnviz.ui.language import LANGUAGE, use_chosen_language
from attnviz.ui.opened_address import follow_address, link
from attnviz.ui.page_state.linked import (
    PAGE,
    SENTENCE_PAGES,
    begin_link,
    drop_link_problems,
    link_problems,
    open_address,
    page_payload,
)
from attnviz.ui.requests import RESUME, Handler, acknowledge_handled, handle, inbox, next_request, receive
from attnviz.ui.style import apply_style, theme_name
from attnviz.ui.waiting import admitted, in_turn, translating_for


def page_links(titles: Mapping[str, str], current: str) -> None:
    """Draw a link to each page, given the titles by path, and mark the `current` one.

    One component draws all of them: separate ones change one after another, and two pages are marked in between.
    """
    pages = [{"path": path, "title": title} for path, title in titles.items()]
    data = {"pages": pages, "current": current, "label": gettext("Pages")}
    component("page_links", key="pages", data=data, width="content")


def _link_messages(problems: Mapping[str, Mapping[str, Any]]) -> None:
    """Draw messages about the `problems` of the link, by the names of its parameters, and those that views report."""
    words = {
        "number": gettext("In this link “{name}” is “{value}”, but it must be a whole number from {first} to {last}."),
        "choice": gettext("In this link “{name}” is “{value}”, but it must be one of these: {listed}."),
    }
    component("link_messages", key="link_messages", data={"problems": problems, "words": words})


def lecture_mode(page: str) -> None:
    """Listen for the key of lecture mode on `page`, by its path; in the mode, draw the button that leaves it."""
    words = {
        "leave": gettext("Leave lecture mode"),
        "escape": gettext("Esc"),
        "blacken": gettext("Black screen"),
        "entered": gettext("Lecture mode is on; Escape leaves it."),
        "left": gettext("Lecture mode is off."),
    }
    payload = {"page": page, "language": language(), "words": words}
    component("lecture_mode", key="lecture_mode", data=payload, width="content")


@dataclass(frozen=True)
class Page:
    """A page of the app."""

    path: str
    """Value of `page` in the address; empty for the first page."""
    title: Callable[[], str]
    """Title in the current language."""
    draw: Callable[[], None]
    shows_sentence: bool = False
    """Whether the page shows the visitor's sentence."""
    keeps_choices: Callable[[Mapping[str, str]], bool] = lambda _: False
    """Whether what was chosen on the page stays when this link to it is followed."""


def go_to(path: str) -> None:
    """Select the page at `path` from the next run on."""
    st.session_state[PAGE] = path
    drop_link_problems(st.session_state)


def _asks_to_sign_in() -> bool:
    """Return whether the secrets have a section `auth` with a provider."""
    return st.secrets.load_if_toml_exists() and "auth" in st.secrets


def _signed_in() -> bool:
    """Return whether this visitor may see the page; if not, draw the sign-in button."""
    if not _asks_to_sign_in() or st.user.is_logged_in:
        return True
    with st.container(key="sign_in"):
        st.subheader(gettext("Please sign in"), anchor=False)
        st.text(gettext("Only people who sign in can use this page. What you type is not stored."))
        st.button(gettext("Sign in"), on_click=st.login, type="primary", key="sign_in_button")
    return False


@in_turn()
def run_pages(pages: Sequence[Page]) -> None:
    """Draw the current page, its navigation and title: the requested page, else that of the address, else the first."""
    session = st.session_state
    if PAGE not in session:
        session[PAGE] = link().get(PAGE, "")
    use_chosen_language()
    receive()
    handlers: dict[str, Handler] = {
        "page": lambda path: go_to(str(path)),
        "follow": partial(_follow, pages),
        "set": set_value,
        RESUME: partial(_resume, pages),
    }
    handle(handlers)
    use_chosen_language()
    apply_style(theme_name())
    if not (_signed_in() and admitted()):
        return
    current = _current_page(pages)
    st.set_page_config(page_title=f"{current.title()} · attnviz")
    open_address(session, current.path)
    first_request = next_request()
    _masthead(pages, current)
    messages = st.container(key="link_problem")
    with st.container(key="queue_notice"):
        position = st.empty()
    with translating_for(inbox(session).memory, position), _page_container(pages, current):
        current.draw()
    with messages:
        _link_messages(link_problems(session))
    acknowledge_handled(first_request, page_payload(session))


def _page_container(pages: Sequence[Page], current: Page) -> DeltaGenerator:
    """Return the container of the `current` page; each page has its own.

    The containers of the other pages are emptied at once: otherwise Streamlit briefly shows their stale elements on the
    new page.
    """
    containers = {page.path: st.container() if page is current else st.empty() for page in pages}
    return containers[current.path]


def _current_page(pages: Sequence[Page]) -> Page:
    """Return the current page."""
    return next((page for page in pages if page.path == st.session_state[PAGE]), pages[0])


def _resume(pages: Sequence[Page], payload: Any) -> None:
    """Follow the address that the browser sends to a restarted server, and restore the values of its fields."""
    if isinstance(payload, Mapping) and payload.get("memory") not in ("", inbox(st.session_state).memory):
        _follow(pages, payload.get("query"))
        restore_values(payload.get("values"))


def _follow(pages: Sequence[Page], query: Any) -> None:
    """Make the `query` of an address the current link, with its page and language."""
    session = st.session_state
    follow_address(query)
    drop_restored_values()
    session[PAGE] = link().get(PAGE, "")
    session.pop(LANGUAGE, None)
    page = _current_page(pages)
    scopes = [SENTENCE_PAGES] if page.shows_sentence else []
    begin_link(session, *scopes, *([] if page.keeps_choices(link()) else [session[PAGE]]))


def _masthead(pages: Sequence[Page], current: Page) -> None:
    """Draw the title, the navigation if there are several pages, the language switch and lecture mode.

    The first page also shows what the app is about; the navigation marks the `current` page.
    """
    about = gettext("See how a translator turns English into French, and where it looks as it writes each word.")
    tagline = "" if current.path else f'<span class="about">{about}</span>'
    with st.container(horizontal=True, vertical_alignment="center", key="masthead"):
        st.html(f'<div class="masthead"><h1 class="title">attnviz</h1>{tagline}</div>')
        if len(pages) > 1:
            page_links({page.path: page.title() for page in pages}, current.path)
        _language_switch()
        if _asks_to_sign_in() and st.user.is_logged_in:
            st.button(gettext("Sign out"), on_click=st.logout, type="tertiary", key="sign_out")
        lecture_mode(current.path)


def _language_switch() -> None:
    codes = {code: code for code in LANGUAGES}
    segmented_control(gettext("Language"), codes, key=LANGUAGE, default=language(), label_visibility="collapsed")
