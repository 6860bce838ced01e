"""Build HTML files of chapters and lessons: one file that opens offline, in every language, light and dark."""

from __future__ import annotations

import base64
import functools
import gzip
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any

from attnviz.browser_modules import bundle
from attnviz.browser_programs import PLOTLY
from attnviz.figures.encoding import common_part, to_json
from attnviz.figures.spec import Part, Spec
from attnviz.languages import LANGUAGES, language, set_language
from attnviz.palette import FONT, ThemeName, palette

THEMES: tuple[ThemeName, ...] = ("light", "dark")
_ASSETS = Path(__file__).parent / "assets"


def offline_page(name: str, title: str, payload: dict[str, Any], extra_scripts: str = "") -> str:
    """Return an HTML page: the assets `name`.html, its body, and `name`.js, the script that displays `payload` in it.

    It contains Plotly (about 1.2 MB) and `extra_scripts`. A content security policy forbids network access.
    """
    colour = {f"{theme}_{name}": value for theme in THEMES for name, value in asdict(palette(theme)).items()}
    parts = {
        "language": language(),
        "title": escape(title),
        "body": _asset(f"{name}.html").rstrip(),
        "style": filled(_asset("pages.css"), {"font": FONT} | colour),
        # Inside a script element only "</script" and "<!--" are markup, and only with a literal "<".
        "payload": to_json(payload).replace("<", "\\u003c"),
        "plotly": PLOTLY.text + extra_scripts,
        "program": bundle([_ASSETS / f"{name}.js"]) + f'attnvizModule("export/assets/{name}.js");',
    }
    return filled(_asset("page.html"), parts)


def in_every_language(make: Callable[[], Any]) -> dict[str, Any]:
    """Return the result of `make` in each language, by language code."""
    first, results = language(), {}
    try:
        for code in LANGUAGES:
            set_language(code)
            results[code] = make()
    finally:
        set_language(first)
    return results


def packed_figures(figures: Mapping[str, Spec]) -> Part:
    """Return the figures of a picture, for instance by step, as `_shared` does."""
    return _shared({name: spec.plotly for name, spec in figures.items()}, "slot")


def variants(draw: Callable[[ThemeName], Any]) -> Part:
    """Return what `draw` returns in every language and theme: lists and dictionaries of pictures.

    All variants have the same numbers, which are stored once; so are texts for both themes, and colours for all
    languages.
    """
    by_theme = {str(theme): _shared(in_every_language(functools.partial(draw, theme)), "language") for theme in THEMES}
    return _shared(by_theme, "theme")


def _shared(parts: Mapping[str, Any], slot: str) -> Part:
    """Return what `parts` have in common (`template`), and by their names what differs (`values`).

    `chosen` of the scripts (`assets/drawn.js`) makes one of them again.
    """
    template, values = common_part(list(parts.values()), slot)
    return {"template": template, "values": dict(zip(parts, values, strict=True))}


def compressed(payload: Any) -> str:
    """Return `payload`, with NumPy arrays, as base64-encoded gzip of JSON."""
    return base64.b64encode(gzip.compress(to_json(payload).encode("utf-8"), mtime=0)).decode("ascii")


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def filled(template: str, parts: Mapping[str, str]) -> str:
    """Return `template` with each {{name}} replaced, in one pass, so that inserted text is not substituted again."""
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)
