"""Type of a section of the page *Lab*."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from attnviz.ui.toolbar.downloads import OfferedPart
from attnviz.ui.view import View


@dataclass(frozen=True)
class LabSection:
    """A question and its analyses."""

    title: Callable[[], str]
    """Title in the current language."""
    draw: Callable[[View], None]
    """Draws the section, where it is not missing."""
    offered: OfferedPart
    """What it offers to save, and why a translation has no such section."""
    choices: Sequence[str] = ()
    """Session state keys of the choices that determine the figures."""
