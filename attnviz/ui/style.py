"""Apply the app's style sheet, follow the browser's theme, mount the focus script of popovers; path of the icon."""

from __future__ import annotations

from pathlib import Path

from attnviz import lazy_streamlit as st
from attnviz.browser_programs import serif_style
from attnviz.languages import language
from attnviz.palette import JOINT, QUIET, ThemeName, palette
from attnviz.ui.components.component import component
from attnviz.ui.embedding import embedding

SHARES: dict[str, float] = {"quiet": QUIET, "joint": JOINT}
"""Constants of style sheets: custom properties such as `--quiet-share`, in percent."""


def share_properties_css() -> str:
    """Return the CSS that defines the shares for the whole page, including components with a shadow root."""
    return ":root { " + " ".join(f"--{name}-share: {100 * value:g}%;" for name, value in SHARES.items()) + " }"


_FOLDER = Path(__file__).parent
PAGE_STYLE = _FOLDER / "page.css"
"""The style sheet of the page."""
ICON = str(_FOLDER / "icon.svg")
"""The browser tab's icon: a local file, since Streamlit fetches its named icons from the internet."""


def follow_theme(theme: ThemeName) -> None:
    """Set colours and language of the page; when the browser's theme differs from `theme`, rerun the page."""
    payload = {"background": palette(theme).paper, "language": language()}
    component("theme", key="theme", data=payload, height=1, on_changed_change=lambda: None)


def manage_popover_focus() -> None:
    """Run the script, which handles all popovers of the page."""
    component("popover_focus", key="focus", height=1)


def theme_name() -> ThemeName:
    """Return the theme of the visitor's browser, or of the host that embeds the view."""
    if (host := embedding()) is not None:
        return host.theme
    return "dark" if st.context.theme.type == "dark" else "light"


def apply_style(theme: ThemeName) -> None:
    """Add the style sheet to the page; when the browser's theme differs from `theme`, rerun the page.

    Figures contain their colours and must be drawn again; the style sheet uses the browser's live colours.
    """
    own = PAGE_STYLE.read_text(encoding="utf-8")
    st.html(f"<style>{serif_style()}{share_properties_css()}\n{own}</style>")
    manage_popover_focus()
    follow_theme(theme)
