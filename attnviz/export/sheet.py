"""Prepare figures for image files: print layout, and a title with both sentences."""

from __future__ import annotations

import plotly.graph_objects as go

from attnviz.architectures import step_texts
from attnviz.figures.build import for_print
from attnviz.figures.labels import literal
from attnviz.figures.text_width import width
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
"""Pixels of the title's three lines, including those above."""
_EDGE = 10
"""Pixels added to the right and bottom margins."""
_NARROWEST = 520
"""Pixels of the narrowest exported figure, so that the title fits."""


def translation_sheet(figure: go.Figure, trace: Aligned, heading: str, *, theme: ThemeName = "light") -> go.Figure:
    """Return `figure` prepared for a file (`for_print`), with a title: `heading` and both sentences.

    Each sentence is on a line of its own, shortened where it is too long.
    """
    return _titled(
        figure, heading, step_texts(trace).made_by(trace), (trace.source_text, trace.translation), theme=theme
    )


def titled_sheet(
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
    """Return `figure` as `titled_sheet` does; `made_by` names the origin of its numbers."""
    ink = palette(theme)
    print_figure = for_print(figure, ink.sheet)
    extra_width = max(_NARROWEST - print_figure.layout.width, 0)  # empty space on the right
    space = print_figure.layout.width + extra_width - 2 * _SIDE
    origin = "  " + gettext("attnviz, {made_by}", made_by=made_by)
    size = next((size for size in _HEADINGS if _BOLD * width(heading, size) <= space), _HEADINGS[-1])
    heading_text = shortened_to_fit(heading, space / _BOLD, size)
    lines = [f'<span style="font-size:{size}px"><b>{literal(heading_text)}</b></span>']
    if _BOLD * width(heading_text, size) + width(origin, _SENTENCE) <= space:
        lines[0] += f'<span style="color:{ink.quiet}">{literal(origin)}</span>'
    for sentence, colour in zip(sentences, (ink.encoder, ink.decoder), strict=False):
        line = shortened_to_fit(" ".join(sentence.split()), space, _SENTENCE)
        lines.append(f'<span style="color:{colour}">{literal(line)}</span>')
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
    margin = print_figure.layout.margin
    return print_figure.update_layout(
        title=title,
        height=print_figure.layout.height + _TITLE_HEIGHT + _EDGE,
        width=print_figure.layout.width + extra_width,
        margin={"t": margin.t + _TITLE_HEIGHT, "r": margin.r + extra_width + _EDGE, "b": margin.b + _EDGE},
    )


def shortened_to_fit(text: str, space: float, size: int) -> str:
    """Return `text`, shortened at a word with an ellipsis to at most `space` pixels."""
    if width(text, size) <= space:
        return text
    shortened = text
    while shortened and width(shortened + " …", size) > space:
        words = shortened.rsplit(" ", 1)
        # Cut long words, and scripts without spaces, between letters.
        shortened = words[0] if len(words) == 2 and len(words[1]) < 30 else shortened[:-1]
    return shortened.rstrip() + " …"
