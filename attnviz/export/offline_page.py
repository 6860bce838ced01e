"""Build HTML files for lectures: one file that opens offline, in every language, light and dark."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Callable
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any

import plotly.graph_objects as go

from attnviz.browser_modules import bundle
from attnviz.browser_programs import PLOTLY
from attnviz.figures.spec import figure_json
from attnviz.languages import LANGUAGES, language, set_language
from attnviz.palette import FONT, PALE_TEXT, ThemeName, palette

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
        "style": _fill(_asset("lecture.css"), {"font": FONT, "pale_text": f"{PALE_TEXT:g}"} | colour),
        # Inside a script element only "</script" and "<!--" are markup, and only with a literal "<".
        "payload": json.dumps(payload, separators=(",", ":")).replace("<", "\\u003c"),
        "plotly": PLOTLY.text + extra_scripts,
        "program": bundle(_ASSETS / f"{name}.js"),
    }
    return _fill(_asset("page.html"), parts)


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


def variants(draw: Callable[[ThemeName], Any]) -> dict[str, Any]:
    """Return the result of `draw`, JSON, in the current language and light theme, and its changes in other variants.

    They are under "figures" and, by language and theme, "changes". All variants have the same numbers; as whole
    figures they would take four times the space.
    """
    first, base = language(), draw("light")
    by_language = in_every_language(
        lambda: {
            f"{language()}-{theme}": difference(base, draw(theme))
            for theme in THEMES
            if (language(), theme) != (first, "light")
        }
    )
    return {
        "figures": base,
        "changes": {name: change for each in by_language.values() for name, change in each.items()},
    }


def difference(old: Any, new: Any) -> Any:
    """Return the change from JSON `old` to `new`: None where they are equal, else `[new]`.

    For objects with the same keys, or lists of the same length, return an object with the differences of their entries.
    """
    if old == new and type(old) is type(new):
        return None
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        pairs = ((key, old[key], new[key]) for key in old)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = ((str(index), *entries) for index, entries in enumerate(zip(old, new, strict=True)))
    else:
        return [new]
    changes = ((key, difference(old_entry, new_entry)) for key, old_entry, new_entry in pairs)
    return {key: change for key, change in changes if change is not None}


def compressed(payload: Any) -> str:
    """Return `payload`, JSON, as base64-encoded gzip."""
    text = json.dumps(payload, separators=(",", ":"), ensure_ascii=False)
    return base64.b64encode(gzip.compress(text.encode("utf-8"), mtime=0)).decode("ascii")


def json_objects(figure: go.Figure) -> Any:
    """Return `figure` as JSON-compatible objects."""
    return json.loads(figure_json(figure))


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def _fill(template: str, parts: dict[str, str]) -> str:
    """Return `template` with each {{name}} replaced, in one pass, so that inserted text is not substituted again."""
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)
