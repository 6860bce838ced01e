"""Figure of the residual stream of one head: what each block of a transformer adds to it at a step."""

from __future__ import annotations

import numpy as np

from attnviz.analysis.numbers import decimal
from attnviz.analysis.transformer_steps import added_name
from attnviz.figures.grammar import bars, bars_layout, colour_limit, label_axis, numbers, panel, strips, strips_layout
from attnviz.figures.spec import Spec, axis_labels, emphasise
from attnviz.figures.subject import Subject
from attnviz.languages import gettext

_ROW = 22
"""Height of a row in pixels."""
_STRIPS_SPAN = [0, 0.68]
_LENGTHS_SPAN = [0.72, 0.92]
"""Shares of the width for the strips of units and for the bars of their lengths."""


def draw_stream(subject: Subject) -> Spec:
    """Draw the terms of the stream: its embedding with position, the contribution of each block, and their sum.

    Each has a strip of units and a bar of its length; the block of the displayed head is framed. At the level *Idea*
    only the lengths of the terms are drawn, without a scale, and the displayed block is highlighted.
    """
    head, step, ink = subject.attention, subject.step, subject.ink
    streams, displayed, label_length, colour = head.streams, head.block + 1, 20, ink.bar
    blocks = [(block, layer) for layer in range(1, head.layers + 1) for block in head.blocks]
    names = [gettext("embedding"), *(_block_name(block, layer) for block, layer in blocks), gettext("sum")]
    rows = np.concatenate([streams[:1, step], head.added[:, step], streams[-1:, step]])  # (blocks + 2, units)
    units, limit = rows.shape[1], colour_limit(streams[-1])
    table = {gettext("unit"): np.arange(1, units + 1)}
    table |= {f"({k}) {name}": row for k, (name, row) in enumerate(zip(names, rows, strict=True))}
    if subject.simple:
        names = [gettext("last piece written"), *(added_name(block, layer) for block, layer in blocks)]
        streams, label_length, colour = streams[:1], 26, ink.decoder
    labels, colours = axis_labels(names, label_length), [colour] * len(names)
    labels[displayed], colours[displayed] = emphasise(labels[displayed], ink.context), ink.context
    lengths = np.linalg.norm(rows, axis=1)[: len(names)]
    longest = float(np.linalg.norm(np.concatenate([streams, head.added]), axis=-1).max()) or 1.0

    if subject.simple:
        axis = label_axis(labels, ink, ink.quiet)
        layout = bars_layout(axis, ink, _ROW * len(names) + 16, (148, 8, 8, 8), 260, longest)
        alt = gettext(
            "What the residual stream of step {step} is made of, one bar for each part. The largest parts: {told}.",
            step=step + 1,
            told=", ".join(names[k] for k in np.argsort(-lengths, kind="stable")[:3]),
        )
        return Spec([bars(lengths, {"color": colours})], layout, alt, table)

    labels[-1], colours[-1] = emphasise(labels[-1], ink.decoder), ink.decoder
    texts = [decimal(length) for length in lengths.tolist()]
    on_lengths = [
        bars(lengths, {"color": colours}, texts, hovertemplate=gettext("length %{x:.3f}") + "<extra></extra>"),
        numbers(lengths, [f" {text}" for text in texts], 12, ink),
    ]
    axis = label_axis(labels, ink, ink.quiet)
    layout = strips_layout(
        axis, units, ink, displayed, ink.context, height=_ROW, left=132, top=44, bottom=8, narrowest=340
    )
    hidden = {"showticklabels": False, "showgrid": False, "zeroline": False}
    layout |= {
        "bargap": 0.3,
        "xaxis": panel(ink, _STRIPS_SPAN, gettext("{count} units", count=units), range=[0.5, units + 0.5], **hidden),
        "xaxis2": panel(ink, _LENGTHS_SPAN, gettext("length"), range=[0, longest], **hidden),
    }
    alt = gettext(
        "Terms of the residual stream of step {step}, with their lengths: {told}.",
        step=step + 1,
        told="; ".join(f"{name} {text}" for name, text in zip(names, texts, strict=True)),
    )
    parts = [strips(rows, limit, ink), *(part | {"xaxis": "x2"} for part in on_lengths)]
    return Spec(parts, layout, alt, table)


def _block_name(block: str, layer: int) -> str:
    """Return the name of a block of a layer, from 1."""
    if block == "attention":
        return gettext("self-attention {layer}", layer=layer)
    if block == "cross":
        return gettext("cross-attention {layer}", layer=layer)
    return gettext("feed-forward {layer}", layer=layer)
