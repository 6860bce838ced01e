"""Sections of the page *Lab*, each with its analyses and figures in a module of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from attnviz import Trace
from attnviz.ui.payloads import PayloadRequest
from attnviz.ui.toolbar.downloads import NamedTables, OfferedFigure, OfferedPart
from attnviz.ui.view import View

_Item = TypeVar("_Item")


@dataclass(frozen=True)
class LabSection:
    """A question and its analyses. No section imports another."""

    title: Callable[[], str]
    """Title in the current language."""
    draw: Callable[[View], None]
    """Draws the section."""
    pictures: Callable[[PayloadRequest], Iterator[OfferedFigure]]
    """Yields the figures as currently shown, to be saved; none where it has none."""
    tables: Callable[[PayloadRequest], NamedTables] = lambda _: iter(())
    """Yields numbers that are in no figure, each table with its name."""
    missing: Callable[[Trace], str] = lambda _: ""
    """Returns why a translation has no such section, as a sentence; empty where it has."""
    choices: Sequence[str] = ()
    """Session state keys of the choices that determine the figures."""

    @property
    def offered(self) -> OfferedPart:
        """What it offers to save: nothing where it is missing."""

        def of_section(
            items: Callable[[PayloadRequest], Iterator[_Item]],
        ) -> Callable[[PayloadRequest], Iterator[_Item]]:
            return lambda request: iter(()) if self.missing(request.trace) else items(request)

        return OfferedPart(of_section(self.pictures), of_section(self.tables))
