"""A page of the program that tells a story, as one HTML file for a lecture: its chapters, pictures and tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from attnviz.browser_programs import KATEX
from attnviz.export.offline_page import difference, in_every_language, offline_page, plain, variants
from attnviz.languages import LANGUAGES, format_number, gettext, language, ngettext
from attnviz.palette import ThemeName

MOST_ROWS = 200
"""Rows of a table that are in the file."""


@dataclass(frozen=True)
class StoryPicture:
    """A picture of a chapter: one figure, or one for each moment of the story."""

    title: str
    notes: tuple[str, ...]
    """What is said beside it: once, or at each moment."""
    figures: tuple[go.Figure, ...]
    """One, in which the row of a moment is framed where `rows` in its `layout.meta` names it, or one for each."""
    numbers: pd.DataFrame | None = None


@dataclass(frozen=True)
class Chapter:
    """A heading, what is said below it, and what is shown."""

    heading: str
    paragraphs: tuple[str, ...]
    pictures: tuple[StoryPicture, ...] = ()
    tables: tuple[tuple[str, pd.DataFrame], ...] = ()
    equation: str = ""
    """LaTeX; none where it is empty."""


@dataclass(frozen=True)
class Story:
    """All that is told, in one language and for one theme."""

    title: str
    sentence: str
    chapters: tuple[Chapter, ...]
    moments: tuple[str, ...] = ()
    """What the moments are called through which a slider goes; none where nothing changes."""
    opened: int = 0
    """The 0-based moment on show at first."""
    references: Sequence[tuple[str, str, str]] = ()
    """Authors, title, and number at arXiv where it has one."""


def story_html(told: Callable[[ThemeName], Story]) -> str:
    """Return a whole HTML page of the story that `told` returns in the language in use, for a theme.

    It opens in the language in use and has a switch, takes the theme from the browser, and asks nothing of the network
    (see `offline_page`). Each picture has its text alternative and its numbers as a table, of which long ones are cut.
    """
    first = told("light")
    record = {
        "language": language(),
        "names": LANGUAGES,
        "opened": first.opened,
        "words": in_every_language(lambda: _words(told("light"))),
    } | variants(lambda theme: _drawn(told(theme)))
    program = KATEX.text if any(chapter.equation for chapter in first.chapters) else ""
    return offline_page("story.html", f"attnviz: {first.title}", record, "story.js", program)


def _words(story: Story) -> dict[str, Any]:
    """Return all that is said, in the language in use."""
    return {
        "title": story.title,
        "sentence": story.sentence,
        "moments": story.moments,
        "labels": {
            "previous": gettext("Previous step"),
            "next": gettext("Next step"),
            "step": gettext("Step"),
            "numbers": gettext("The numbers as a table"),
            "references": gettext("Who said it first"),
        },
        "chapters": [
            {
                "heading": chapter.heading,
                "paragraphs": chapter.paragraphs,
                "pictures": [
                    {"title": one.title, "notes": one.notes, "table": _table(one.numbers)} for one in chapter.pictures
                ],
                "tables": [{"title": title} | _table(numbers) for title, numbers in chapter.tables],
            }
            for chapter in story.chapters
        ],
        "references": [
            f"{who}. {title}." + (f" arXiv {number}" if number else "") for who, title, number in story.references
        ],
        "footer": gettext("Made with attnviz; this file opens without a network."),
    }


def _drawn(story: Story) -> list[dict[str, Any]]:
    """Return the equation and the figures of each chapter; of several figures of a picture, what the later ones change
    in the first."""
    return [
        {"equation": chapter.equation, "pictures": [_moved(one.figures) for one in chapter.pictures]}
        for chapter in story.chapters
    ]


def _moved(figures: tuple[go.Figure, ...]) -> dict[str, Any]:
    first, *others = map(plain, figures)
    return {"first": first, "others": [{"change": difference(first, other)} for other in others]}


def _table(numbers: pd.DataFrame | None) -> dict[str, Any]:
    """Return the head and the rows of a table as text; nothing where there is none."""
    if numbers is None:
        return {}
    index = numbers.index
    shown = numbers.iloc[:MOST_ROWS]
    left = len(numbers) - len(shown)
    names = [str(name) for name in (index.names if index.nlevels > 1 else [index.name or ""])]
    rows = [
        [*(map(_cell, place) if isinstance(place, tuple) else [_cell(place)]), *map(_cell, values)]
        for place, values in zip(shown.index, shown.itertuples(index=False, name=None), strict=True)
    ]
    return {
        "head": [*names, *map(str, numbers.columns)],
        "rows": rows,
        "more": ngettext("{count} more row is left out.", "{count} more rows are left out.", left) if left else "",
    }


def _cell(value: object) -> str:
    """Return a value of a table in the language in use: four digits of a number that is not whole."""
    if isinstance(value, bool) or not isinstance(value, float):
        return str(value)
    return "" if pd.isna(value) else format_number(value, ".4g")
