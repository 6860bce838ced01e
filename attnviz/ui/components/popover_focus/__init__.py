"""Mount the script that sets the keyboard focus when popovers open and close."""

from __future__ import annotations

from attnviz.ui.components.loader import component


def manage_popover_focus() -> None:
    """Run the script, which handles all popovers of the page."""
    component("popover_focus", isolate=False)(key="focus", height=1)
