"""Figures of a transformer's step for the level of detail "Idea": one head, all heads, and the residual stream."""

from __future__ import annotations

from typing import Any

import numpy as np

from attnviz.analysis.measures import strongest_words, word_weights_of_heads
from attnviz.figures.build import APART, Spec, axis_labels, base_axis, base_layout, emphasise, escape, rectangle
from attnviz.figures.heatmap_parts import font_size
from attnviz.figures.template import Slot, Values
from attnviz.languages import gettext, ngettext
from attnviz.palette import GREYS, ThemeName, palette
from attnviz.trace import TransformerTrace
from attnviz.trace.transformer_trace import Head
from attnviz.wording.idea import added_name
from attnviz.wording.labels import quote, shorten
from attnviz.wording.numbers import percent

_ROW, _LEFT, _LABEL_LENGTH = 21, 148, 12
"""Pixels of a row and of its label, and characters of a word above its column."""


def all_heads_template(trace: TransformerTrace, theme: ThemeName) -> Spec:
    """Return the template of all cross-attention heads at one step: a row for each, a column for each source word.

    Brightness is the square root of the share; layers are separated, the displayed head is framed.
    """
    ink, displayed, words = palette(theme), trace.displayed, trace.words().source
    layers, heads = trace.cross_alignment.shape[:2]
    count, displayed_row, columns = layers * heads, displayed.layer * heads + displayed.head, len(words)
    names = [gettext("attention {k}", k=k + 1) for k in range(count)]
    names[displayed_row] = emphasise(names[displayed_row], ink.context)
    labels = axis_labels(words, _LABEL_LENGTH)
    slanted = sum(map(len, labels)) > 40
    top = 16 + (max(map(len, labels)) * 6 if slanted else 14)
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False}
    image = {
        "type": "heatmap",
        "z": Slot("shares"),
        "zmin": 0,
        "zmax": 1,
        "colorscale": GREYS,
        "showscale": False,
        "text": Slot("texts"),
        "hoverinfo": "text",
        "xgap": 1,
        "ygap": 1,
    }
    layout = base_layout(ink) | {
        "height": top + _ROW * count + 8,
        "margin": {"l": 84, "r": 26, "t": top, "b": 8},
        "plot_bgcolor": ink.line,
        "shapes": [
            *(_separator(heads * layer, ink.quiet) for layer in range(1, layers)),
            rectangle(-0.5, columns - 0.5, displayed_row - 0.5, displayed_row + 0.5, ink.context),
        ],
        "xaxis": axis
        | {
            "side": "top",
            "range": [-0.5, columns - 0.5],
            "tickangle": -50 if slanted else 0,
            "tickvals": list(range(columns)),
            "ticktext": labels,
            "tickfont": {"size": font_size(columns), "color": ink.encoder},
        },
        "yaxis": axis
        | APART
        | {
            "range": [count - 0.5, -0.5],
            "tickvals": list(range(count)),
            "ticktext": names,
            "tickfont": {"size": 12, "color": ink.quiet},
        },
        "meta": {"alt": Slot("alt"), "narrowest": max(260, 110 + 12 * columns), "widest": 110 + 44 * max(columns, 6)},
    }
    return {"data": [image], "layout": layout}


def all_heads_values(trace: TransformerTrace, step: int) -> Values:
    """Return the values of `all_heads_template` at 0-based `step`."""
    words = trace.words().source
    shares = word_weights_of_heads(trace, step).reshape(-1, len(words))
    names = [escape(shorten(word, 60)) for word in words]
    texts = [
        [f"{gettext('attention {k}', k=k)}<br>{name} {percent(share)}" for name, share in zip(names, row, strict=True)]
        for k, row in enumerate(shares.tolist(), 1)
    ]
    strongest, counts = np.unique(strongest_words(trace, step), return_counts=True)
    most_attended = int(counts.argmax())
    alt = ngettext(
        "The {all} attention distributions of step {step}, a row each. {count} distribution attends most to {word}.",
        "The {all} attention distributions of step {step}, a row each. {count} distributions attend most to {word}.",
        int(counts[most_attended]),
        all=len(shares),
        step=step + 1,
        word=quote(shorten(words[int(strongest[most_attended])], 30)),
    )
    return {"shares": np.sqrt(shares), "texts": texts, "alt": alt}


def added_template(head: Head, theme: ThemeName) -> Spec:
    """Return the template of a bar for the contribution of the embedding and of each decoder block to the stream.

    Bars have no scale; the block of the displayed head is highlighted.
    """
    ink, streams, names = palette(theme), head.streams, _names(head)
    count, displayed_row = len(names), head.block + 1
    longest = float(max(np.linalg.norm(head.added, axis=-1).max(), np.linalg.norm(streams[0], axis=-1).max()))
    labels = axis_labels(names, 26)
    labels[displayed_row] = emphasise(labels[displayed_row], ink.context)
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False}
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": Slot("lengths"),
        "y": list(range(count)),
        "hoverinfo": "skip",
        "marker": {"color": [ink.context if row == displayed_row else ink.decoder for row in range(count)]},
    }
    layout = base_layout(ink) | {
        "height": _ROW * count + 16,
        "margin": {"l": _LEFT, "r": 8, "t": 8, "b": 8},
        "bargap": 0.3,
        "xaxis": axis | {"range": [0, longest or 1.0], "showticklabels": False},
        "yaxis": axis
        | APART
        | {
            "range": [count - 0.5, -0.5],
            "tickvals": list(range(count)),
            "ticktext": labels,
            "tickfont": {"size": 12, "color": ink.quiet},
        },
        "meta": {"alt": Slot("alt"), "narrowest": 260},
    }
    return {"data": [bars], "layout": layout}


def added_values(head: Head, step: int) -> Values:
    """Return the values of `added_template` at 0-based `step`."""
    terms = np.concatenate([head.streams[:1, step], head.added[:, step]])
    lengths = np.linalg.norm(terms, axis=1)
    names = _names(head)
    largest = ", ".join(names[k] for k in np.argsort(-lengths, kind="stable")[:3])
    alt = gettext(
        "What the residual stream of step {step} is made of, one bar for each part. The largest parts: {told}.",
        step=step + 1,
        told=largest,
    )
    return {"lengths": lengths, "alt": alt}


def _names(head: Head) -> list[str]:
    layers = range(1, head.layers + 1)
    return [gettext("last piece written"), *(added_name(block, layer) for layer in layers for block in head.blocks)]


def _separator(row: int, colour: str) -> dict[str, Any]:
    """Return a line above a 0-based row, across its label and the whole width."""
    return {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": row - 0.5,
        "y1": row - 0.5,
        "line": {"color": colour, "width": 2},
    }
