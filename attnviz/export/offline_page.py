"""What every HTML file for a lecture is made of: one file that opens from disk, in every language, light and dark."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any

import plotly.graph_objects as go

from attnviz.browser_modules import as_one_script
from attnviz.browser_programs import PLOTLY
from attnviz.languages import LANGUAGES, language, set_language
from attnviz.palette import FONT, PALE_TEXT, ThemeName, palette

THEMES: tuple[ThemeName, ...] = ("light", "dark")
_ASSETS = Path(__file__).parent / "assets"


def offline_page(body: str, title: str, record: dict[str, Any], module: str, more: str = "") -> str:
    """Return the HTML page of the template `body` that shows `record` by a `module`, the name of a file among the
    assets; it holds Plotly's program (some 1.2 MB) and `more` of others', and asks nothing of the network: a policy in
    the page forbids it."""
    colour = {f"{theme}_{name}": value for theme in THEMES for name, value in asdict(palette(theme)).items()}
    parts = {
        "language": language(),
        "title": escape(title),
        "style": _fill(_asset("lecture.css"), {"font": FONT, "pale_text": f"{PALE_TEXT:g}"} | colour),
        # In a script element only "</script" and "<!--" are read as markup, and only where a "<" is written as one.
        "record": json.dumps(record, separators=(",", ":")).replace("<", "\\u003c"),
        "plotly": PLOTLY.text + more,
        "program": as_one_script(_ASSETS / module),
    }
    return _fill(_asset(body), parts)


def in_every_language(told: Callable[[], Any]) -> dict[str, Any]:
    """Return what `told` returns, by the code of the language that is in use meanwhile."""
    first, found = language(), {}
    try:
        for code in LANGUAGES:
            set_language(code)
            found[code] = told()
    finally:
        set_language(first)
    return found


def variants(drawn: Callable[[ThemeName], Any]) -> dict[str, Any]:
    """Return what `drawn` returns, plain JSON, in the language in use and light, as "figures", and what is other in the
    rest, by language and theme, as "changes".

    All variants draw the same numbers: written out, they would take four times the room.
    """
    first, base = language(), drawn("light")
    found = in_every_language(
        lambda: {
            f"{language()}-{theme}": difference(base, drawn(theme))
            for theme in THEMES
            if (language(), theme) != (first, "light")
        }
    )
    return {"figures": base, "changes": {name: change for each in found.values() for name, change in each.items()}}


def difference(one: Any, other: Any) -> Any:
    """Return what makes `other` of `one`, both plain JSON: None where they are equal, else `[other]`, or for two
    objects with the same keys, or lists of one length, an object with the differences of their entries."""
    if one == other and type(one) is type(other):
        return None
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        pairs = ((key, one[key], other[key]) for key in one)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = ((str(place), *two) for place, two in enumerate(zip(one, other, strict=True)))
    else:
        return [other]
    found = ((key, difference(mine, yours)) for key, mine, yours in pairs)
    return {key: change for key, change in found if change is not None}


def plain(figure: go.Figure) -> Any:
    """Return `figure` as plain JSON."""
    return json.loads(figure.to_json())


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def _fill(template: str, parts: dict[str, str]) -> str:
    """Return `template` with each {{name}} replaced, in one pass: what is put in is not looked at again."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)
