"""Prepare figures for files: print layout, and a title with both sentences."""

from __future__ import annotations

import plotly.graph_objects as go

from attnviz.architectures import step_texts
from attnviz.figures.build import for_print
from attnviz.figures.labels import literal
from attnviz.figures.letters import width
from attnviz.languages import gettext
from attnviz.palette import ThemeName, palette
from attnviz.trace import Aligned
from attnviz.wording.labels import shorten

_HEADINGS, _SENTENCE = (17, 15, 13), 13
"""Font sizes in pixels; the heading takes the largest in which it fits."""
_BOLD = 1.1
"""Width of bold letters relative to regular ones."""
_SIDE, _TOP = 16, 26
"""Pixels left and right of the title, and above it."""
_TITLE_HEIGHT = 84
"""Pixels of its three lines, including those above."""
_EDGE = 10
"""Pixels added at the other edges, where the page has space anyway."""
_NARROWEST = 520
"""Pixels of the narrowest exported figure, so that the title fits."""


def printed(figure: go.Figure, trace: Aligned, heading: str, *, theme: ThemeName = "light") -> go.Figure:
    """Return `figure` prepared for a file (`for_print`), with a title: `heading` and both sentences.

    Each sentence is on a line of its own, shortened where it does not fit.
    """
    return _titled(
        figure, heading, step_texts(trace).made_by(trace), (trace.source_text, trace.translation), theme=theme
    )


def titled(
    figure: go.Figure,
    heading: str,
    name: str,
    sentences: tuple[str, str] | tuple[()] = (),
    *,
    theme: ThemeName = "light",
) -> go.Figure:
    """Return `figure` prepared for a file, with a title: `heading`, the model's `name`, and `sentences`.

    `sentences` are source and target, or empty.
    """
    return _titled(figure, heading, gettext("model {model}", model=shorten(name, 24)), sentences, theme=theme)


def _titled(
    figure: go.Figure, heading: str, made_by: str, sentences: tuple[str, str] | tuple[()], *, theme: ThemeName
) -> go.Figure:
    """Return `figure` as `titled` does; `made_by` names the origin of its numbers."""
    ink = palette(theme)
    drawn = for_print(figure, ink.sheet)
    extra = max(_NARROWEST - drawn.layout.width, 0)  # empty space on the right
    space = drawn.layout.width + extra - 2 * _SIDE
    model = "  " + gettext("attnviz, {made_by}", made_by=made_by)
    size = next((size for size in _HEADINGS if _BOLD * width(heading, size) <= space), _HEADINGS[-1])
    first = fit(heading, space / _BOLD, size)
    lines = [f'<span style="font-size:{size}px"><b>{literal(first)}</b></span>']
    if _BOLD * width(first, size) + width(model, _SENTENCE) <= space:
        lines[0] += f'<span style="color:{ink.quiet}">{literal(model)}</span>'
    for sentence, colour in zip(sentences, (ink.encoder, ink.decoder), strict=False):
        lines.append(
            f'<span style="color:{colour}">{literal(fit(" ".join(sentence.split()), space, _SENTENCE))}</span>'
        )
    title = {
        "text": "<br>".join(lines),
        "font": {"size": _SENTENCE, "color": ink.ink},
        "xref": "container",
        "x": 0,
        "xanchor": "left",
        "yref": "container",
        "y": 1,
        "yanchor": "top",
        "pad": {"l": _SIDE, "t": _TOP},
    }
    margin = drawn.layout.margin
    return drawn.update_layout(
        title=title,
        height=drawn.layout.height + _TITLE_HEIGHT + _EDGE,
        width=drawn.layout.width + extra,
        margin={"t": margin.t + _TITLE_HEIGHT, "r": margin.r + extra + _EDGE, "b": margin.b + _EDGE},
    )


def fit(text: str, space: float, size: int) -> str:
    """Return `text`, shortened at a word with an ellipsis to at most `space` pixels."""
    if width(text, size) <= space:
        return text
    short = text
    while short and width(short + " …", size) > space:
        words = short.rsplit(" ", 1)
        # Cut long words, and scripts without spaces, between letters.
        short = words[0] if len(words) == 2 and len(words[1]) < 30 else short[:-1]
    return short.rstrip() + " …"
