"""The style sheet and the scripts of every page, the theme of the visitor, and the path of the icon."""

from __future__ import annotations

from pathlib import Path

from attnviz import lazy_streamlit as st
from attnviz.browser_programs import PLOTLY, serif_style
from attnviz.languages import gettext, language
from attnviz.palette import JOINT, QUIET, ThemeName, palette
from attnviz.ui.components.component import component, view_blocks

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


def apply_style(theme: ThemeName) -> None:
    """Add the style sheet and the page's scripts: Plotly, the focus of popovers, and one that follows the theme.

    When the browser's theme differs from `theme`, the page is run again: figures contain their colours. The style sheet
    uses the browser's live colours.
    """
    st.html(f"<style>{serif_style()}{share_properties_css()}\n{PAGE_STYLE.read_text(encoding='utf-8')}</style>")
    with view_blocks("scripts", height=1, on_changed_change=lambda: None):
        component("popover_focus", "focus")
        component("plotly", "library", PLOTLY.file_name)
        texts = {"language": language(), "skip": gettext("Skip to main content")}
        component("theme", "theme", {"background": palette(theme).paper, **texts})
