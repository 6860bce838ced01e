"""Run the app: handle the browser's requests, then draw title, navigation, language switch and the current page.

If sign-in or a limit of visitors is configured, others see only the sign-in button or their position in the queue.
The browser requests another page through the queue of `attnviz.ui.controls`, so that all earlier clicks and keys are
handled before Streamlit opens it. Widgets have the same keys on all pages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from attnviz.browser_modules import COMPONENTS
from attnviz.browser_programs import PLOTLY
from attnviz.languages import LANGUAGES, gettext, gettexts, language
from attnviz.palette import ThemeName, palette
from attnviz.ui.blocks import component, view_blocks
from attnviz.ui.controls import (
    RESUME,
    begin_page,
    drop_restored_values,
    end_page,
    inbox,
    restore_values,
    segmented_control,
)
from attnviz.ui.embedding import page_session, theme_name
from attnviz.ui.inputs import (
    LANGUAGE,
    PAGE,
    SENTENCE_PAGES,
    begin_link,
    drop_link_problems,
    follow_link,
    link,
    link_problems,
    open_address,
    page_payload,
    parse_query,
    use_chosen_language,
)
from attnviz.ui.waiting import admitted, in_turn, translating_for

ICON = str(COMPONENTS.with_name("icon.svg"))
"""The browser tab's icon: a local file, since Streamlit fetches its named icons from the internet."""


def _apply_style(theme: ThemeName) -> None:
    """Add the page's scripts, with its style sheet: Plotly, the focus of popovers, and one that follows the theme.

    When the browser's theme differs from `theme`, the page is run again: figures contain their colours. The style sheet
    uses the browser's live colours.
    """
    with view_blocks("scripts", height=1, on_changed_change=lambda: None):
        component("popover_focus", "focus")
        component("plotly", "library", PLOTLY.file_name)
        texts = {"language": language(), "skip": gettext("Skip to main content")}
        component("theme", "theme", {"background": palette(theme).paper, **texts})


@dataclass(frozen=True)
class Page:
    """A page of the app."""

    path: str
    """Path in the address; empty for the first page."""
    title: Callable[[], str]
    """Title in the current language."""
    draw: Callable[[], None]
    shows_sentence: bool = False
    """Whether the page shows the visitor's sentence."""
    keeps_choices: Callable[[Mapping[str, str]], bool] = lambda _: False
    """Whether what was chosen on the page stays when this link to it is followed."""
    offered: Callable[[], bool] = lambda: True
    """Whether the navigation has the page."""


_ASKED = "asked_page"
"""Session state key: the path of the page that the next run opens."""


def go_to(path: str) -> None:
    """Open the page at `path` in the next run."""
    page_session()[_ASKED] = path
    drop_link_problems()


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
    """Draw the current page, its navigation and title: the requested page, else that of the address, else the first.

    After Back or Forward, the address is the link.
    """
    session = page_session()
    use_chosen_language()
    follow = partial(_follow, pages)

    def resume(payload: Any) -> None:  # the server has restarted
        if isinstance(payload, Mapping) and payload.get("memory") not in ("", inbox().memory):
            follow(payload.get("address"))
            restore_values(payload.get("values"))

    begin_page({"page": lambda path: go_to(str(path)), "follow": follow, RESUME: resume})
    offered = {
        page.path: st.Page(page.draw, title=page.title(), url_path=page.path, default=page is pages[0])
        for page in pages
    }
    opened = st.navigation([*offered.values()], position="hidden")
    current = _page_at(pages, opened.url_path)
    asked, shown, address = session.get(_ASKED), session.get(PAGE, current.path), inbox().address
    if address is not None:
        sender, query = _parse_address(pages, address)
        if asked is None and sender is current:
            asked = shown  # requests do not change the page: these were sent before the browser knew of it
        if asked in offered and asked != current.path:
            session[PAGE] = asked  # first, since Streamlit may stop this run at each access
            session.pop(_ASKED, None)
            # Where the query differs from the browser's, Streamlit (1.67) adds another entry to the history.
            st.switch_page(offered[asked], query_params=query)
    session[PAGE] = current.path
    if current.path not in (asked, shown):
        _follow_link(current, st.query_params.to_dict())
    use_chosen_language()
    _apply_style(theme_name())
    if not (_signed_in() and admitted()):
        return
    st.set_page_config(page_title=f"{current.title()} · attnviz")
    open_address(current.path, session.pop(_ASKED, None))
    _masthead(pages, current)
    messages = st.container(key="link_problem")
    with st.container(key="queue_notice"):
        position = st.empty()
    with translating_for(inbox().memory, position):
        opened.run()
    words = gettexts(
        {
            "number": "In this link “{name}” is “{value}”, but it must be a whole number from {first} to {last}.",
            "choice": "In this link “{name}” is “{value}”, but it must be one of these: {listed}.",
        }
    )
    with messages:
        component("link_messages", "link_messages", {"problems": link_problems(), "words": words})
    end_page(page_payload())


def _page_at(pages: Sequence[Page], path: str) -> Page:
    return next((page for page in pages if page.path == path), pages[0])


def _parse_address(pages: Sequence[Page], address: str) -> tuple[Page, dict[str, str]]:
    """Return the page of an address, by the end of its path, and the parameters in its query."""
    path, _, query = address.partition("?")
    return _page_at(pages, path.rpartition("/")[2]), parse_query(query)


def _follow(pages: Sequence[Page], address: Any) -> None:
    """Open the page of an address, with its query as the link."""
    page, query = _parse_address(pages, str(address))
    go_to(page.path)
    _follow_link(page, query)


def _follow_link(page: Page, parameters: Mapping[str, str]) -> None:
    """Make the `parameters` of an address the current link, with its language, on a page."""
    follow_link(parameters)
    drop_restored_values()
    page_session().pop(LANGUAGE, None)
    scopes = [SENTENCE_PAGES] if page.shows_sentence else []
    begin_link(*scopes, *([] if page.keeps_choices(link()) else [page.path]))


def _masthead(pages: Sequence[Page], current: Page) -> None:
    """Draw the title, the navigation if there are several pages, the language switch and lecture mode.

    The first page also shows what the app is about; the navigation marks the `current` page.
    """
    about = gettext("See how a translator turns English into French, and where it looks as it writes each word.")
    tagline = "" if current.path else f'<span class="about">{about}</span>'
    with st.container(horizontal=True, vertical_alignment="center", key="masthead"):
        st.html(f'<div class="masthead"><h1 class="title">attnviz</h1>{tagline}</div>')
        if len(pages) > 1:  # separate components change one after another: two pages would be marked in between
            links = [{"path": page.path, "title": page.title()} for page in pages]
            data = {"pages": links, "current": current.path, "label": gettext("Pages")}
            component("page_links", "pages", data, width="content")
        codes = {code: code for code in LANGUAGES}
        segmented_control(gettext("Language"), codes, key=LANGUAGE, default=language())
        if _asks_to_sign_in() and st.user.is_logged_in:
            st.button(gettext("Sign out"), on_click=st.logout, type="tertiary", key="sign_out")
        words = gettexts(
            {
                "present": "Present",
                "leave": "Leave lecture mode",
                "escape": "Esc",
                "blacken": "Black screen",
                "entered": "Lecture mode is on; Escape leaves it.",
                "left": "Lecture mode is off.",
            }
        )
        payload = {"page": current.path, "language": language(), "words": words}
        component("lecture_mode", "lecture_mode", payload, width="content")
