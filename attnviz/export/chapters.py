"""A page of the app as one HTML file for a lecture: chapters, figures and tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from attnviz import lazy_pandas as pd
from attnviz.browser_programs import KATEX
from attnviz.export.offline_page import in_every_language, offline_page, packed_figures, variants
from attnviz.figures.spec import Part, Spec
from attnviz.languages import LANGUAGES, format_number, gettext, language, ngettext
from attnviz.palette import ThemeName

MOST_CHAPTER_ROWS = 200
"""Largest number of rows of a table in the file."""


@dataclass(frozen=True)
class ChapterPicture:
    """A figure of a chapter: one figure, or one for each moment of the slider."""

    title: str
    notes: tuple[str, ...]
    """Texts beside it: one, or one for each moment."""
    figures: tuple[Spec, ...]
    """One figure, or one for each moment; the file has the numbers of the last one.

    In a single figure, the row of a moment is framed where `rows` in its `layout.meta` names it.
    """


@dataclass(frozen=True)
class Chapter:
    """A heading with its paragraphs, figures and tables."""

    heading: str
    paragraphs: tuple[str, ...]
    pictures: tuple[ChapterPicture, ...] = ()
    tables: tuple[tuple[str, pd.DataFrame], ...] = ()
    equation: str = ""
    """LaTeX; empty for none."""


@dataclass(frozen=True)
class ChapterPage:
    """The whole page, in one language and one theme."""

    title: str
    sentence: str
    chapters: tuple[Chapter, ...]
    moments: tuple[str, ...] = ()
    """Labels of the slider's moments; empty without a slider."""
    first_moment: int = 0
    """0-based moment displayed first."""
    references: Sequence[tuple[str, str, str]] = ()
    """Authors, title, and arXiv number where there is one."""


def chapters_html(make_page: Callable[[ThemeName], ChapterPage]) -> str:
    """Return as an HTML file the page that `make_page` returns in the current language, for a theme.

    The page has a language switch, uses the browser's theme, and needs no network (see `offline_page`). Each figure has
    its text alternative and its numbers as a table, shortened to MOST_ROWS.
    """
    first = make_page("light")
    payload = {
        "language": language(),
        "names": LANGUAGES,
        "opened": first.first_moment,
        "words": in_every_language(lambda: _words(make_page("light"))),
        "figures": variants(lambda theme: _pictures(make_page(theme))),
    }
    program = KATEX.text if any(chapter.equation for chapter in first.chapters) else ""
    return offline_page("chapters", f"attnviz: {first.title}", payload, program)


def _words(page: ChapterPage) -> dict[str, Any]:
    """Return all texts in the current language."""
    return {
        "title": page.title,
        "sentence": page.sentence,
        "moments": page.moments,
        "labels": {
            "previous": gettext("Previous step"),
            "next": gettext("Next step"),
            "step": gettext("Step"),
            "numbers": gettext("The numbers of the figure as a table"),
            "references": gettext("References"),
        },
        "chapters": [
            {
                "heading": chapter.heading,
                "paragraphs": chapter.paragraphs,
                "pictures": [
                    {"title": shown.title, "notes": shown.notes, "table": _numbers(shown.figures[-1])}
                    for shown in chapter.pictures
                ],
                "tables": [{"title": title} | _table(numbers) for title, numbers in chapter.tables],
            }
            for chapter in page.chapters
        ],
        "references": [
            f"{who}. {title}." + (f" arXiv {number}" if number else "") for who, title, number in page.references
        ],
        "footer": gettext("Made with attnviz. This file opens without an internet connection."),
    }


def _pictures(page: ChapterPage) -> list[Part]:
    """Return the equation and the pictures of each chapter, with a figure for each moment where they change."""
    return [
        {
            "equation": chapter.equation,
            "pictures": [
                packed_figures({str(k): figure for k, figure in enumerate(one.figures)}) for one in chapter.pictures
            ],
        }
        for chapter in page.chapters
    ]


def _numbers(spec: Spec) -> dict[str, Any]:
    """Return the table of a figure; empty where it has none."""
    return _table(spec.frame()) if spec.table else {}


def _table(numbers: pd.DataFrame) -> dict[str, Any]:
    """Return the header and the rows of a table as text."""
    index = numbers.index
    shown = numbers.iloc[:MOST_CHAPTER_ROWS]
    left_out = len(numbers) - len(shown)
    names = [str(name) for name in (index.names if index.nlevels > 1 else [index.name or ""])]
    rows = [
        [*(map(_cell, label) if isinstance(label, tuple) else [_cell(label)]), *map(_cell, values)]
        for label, values in zip(shown.index, shown.itertuples(index=False, name=None), strict=True)
    ]
    return {
        "head": [*names, *map(str, numbers.columns)],
        "rows": rows,
        "more": ngettext("{count} row of the table is left out.", "{count} rows of the table are left out.", left_out)
        if left_out
        else "",
    }


def _cell(value: object) -> str:
    """Return a table value in the current language, fractions to four significant digits."""
    if isinstance(value, bool) or not isinstance(value, float):
        return str(value)
    return "" if pd.isna(value) else format_number(value, ".4g")
