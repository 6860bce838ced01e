"""Type of a section of the page *Lab*."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from attnviz.ui.payloads import Shown
from attnviz.ui.toolbar.downloads import OfferedPart
from attnviz.ui.view import View


@dataclass(frozen=True)
class LabSection:
    """A question and its analyses."""

    title: Callable[[], str]
    """Title in the current language."""
    draw: Callable[[View], Shown]
    """Draws the section, where it is not missing, and returns what of the visitor's choices it shows."""
    offered: OfferedPart
    """What it offers to save of that, and why a translation has no such section."""
