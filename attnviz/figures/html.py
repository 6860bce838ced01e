"""A translation as one HTML file for a lecture: heatmap, steps and keys, opened from disk without any network."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from attnviz.figures.alignment import By, heatmap
from attnviz.figures.labels import BLANK, quote, shorten
from attnviz.figures.narration import step_sentence
from attnviz.figures.palette import FONT, Colours, ThemeName, palette
from attnviz.figures.registry import step_figures
from attnviz.languages import language, say
from attnviz.text import SPACE, SPECIAL_PIECES, join_pieces
from attnviz.trace import Trace

PICTURES = ("attention", "candidates")
"""The pictures of a step that the file shows: those that fit beside the heatmap on a projector."""

_ASSETS = Path(__file__).parent / "assets"
_THEMES: tuple[ThemeName, ...] = ("light", "dark")


def lecture_html(
    trace: Trace,
    *,
    by: By = "words",
    colours: Colours = "paper",
    root: bool = False,
    end: bool = True,
    step: int | None = None,
) -> str:
    """Return a whole HTML page that opens at 0-based `step`, the first unless given; choices as those of `heatmap`.

    It holds Plotly's program (some 5 MB) and the figures of all steps in both themes, takes the theme from the
    browser, and asks nothing of the network: a policy in the page forbids it. Raise ValueError on an unknown choice.
    """
    pictures = {name: figure for name, figure in step_figures(trace).items() if name in PICTURES}
    count = len(trace.target_pieces)

    def drawn(theme: ThemeName) -> dict[str, Any]:
        return {
            "heatmap": _plain(heatmap(trace, by=by, colours=colours, root=root, end=end, theme=theme)),
            "pictures": {
                name: [_plain(picture.draw(trace, i, theme=theme)) for i in range(count)]
                for name, picture in pictures.items()
            },
        }

    source = join_pieces(trace.source_surfaces[:-1])
    record = {
        "source": source,
        "steps": [_step(trace, i) for i in range(count)],
        "step": 1 if step is None else step + 1,
        "heading": say("Step {i} of {n}"),
        "titles": {name: picture.title() for name, picture in pictures.items()},
        "figures": {theme: drawn(theme) for theme in _THEMES},
    }
    colour = {f"{theme}_{name}": value for theme in _THEMES for name, value in asdict(palette(theme)).items()}
    names = {"previous": say("Previous step"), "next": say("Next step"), "step": say("Step"), "grid": say("Alignment")}
    parts = {name: escape(text) for name, text in names.items()} | {
        "language": language(),
        "title": escape(f"attnviz: {shorten(source, 80)}"),
        "style": _fill(_asset("lecture.css"), {"font": FONT} | colour),
        "footer": escape(_footer(trace, by, root)),
        # In a script element only "</script" and "<!--" are read as markup, and only where a "<" is written as one.
        "record": json.dumps(record).replace("<", "\\u003c"),
        "plotly": get_plotlyjs(),
        "program": _asset("lecture.js"),
    }
    return _fill(_asset("lecture.html"), parts)


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def _fill(template: str, parts: dict[str, str]) -> str:
    """Return `template` with each {{name}} replaced, in one pass: what is put in is not looked at again."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)


def _plain(figure: go.Figure) -> Any:
    return json.loads(figure.to_json())


def _step(trace: Trace, step: int) -> dict[str, Any]:
    """Return the piece of a step, whether a blank goes before it, and the step in a sentence."""
    piece = trace.target_pieces[step]
    return {
        "text": join_pieces([piece]) or BLANK,
        "space": step > 0 and (piece in SPECIAL_PIECES or piece.startswith(SPACE)),
        "sentence": step_sentence(trace, step, quote(BLANK)),
    }


def _footer(trace: Trace, by: By, root: bool) -> str:
    how = {
        "greedy": say("greedy search"),
        "beam": say("beam search, width {width}", width=trace.search.beam),
        "forced": say("a given translation"),
    }[trace.search.method]
    shade = say("the square root of the weight") if root else say("the weight")
    if by == "words":
        reading = say("A row for each target word, a column for each source word; the brighter a cell, the larger "
                      "{shade} that the row's word gave it.", shade=shade)  # fmt: skip
    else:
        reading = say("A row for each target piece, a column for each source piece; the brighter a cell, the larger "
                      "{shade} that the row's piece gave it.", shade=shade)  # fmt: skip
    made = say("← and → move the step. Model {model}, {how}; made with attnviz.", model=trace.model, how=how)
    return f"{reading} {made}"
