"""Figures of the last stages of a step: the maxout, and the likeliest next pieces."""

from __future__ import annotations

import numpy as np

from attnviz.analysis.labels import shorten, subscript
from attnviz.figures.grammar import bars, bars_layout, colour_limit, label_axis, numbers, strips, strips_layout
from attnviz.figures.spec import Part, Spec, axis_labels, emphasise
from attnviz.figures.subject import Subject
from attnviz.languages import format_share, gettext
from attnviz.palette import LOSER_OPACITY, PALE
from attnviz.text import piece_name

_ROW = 20
"""Height of a row in pixels."""
_LABEL = 13
"""Characters of a label, the same at every step, so that the bars begin at one position."""
_SHOWN = 10
"""Number of the likeliest pieces."""


def draw_candidates(subject: Subject) -> Spec:
    """Draw the ten likeliest pieces of a step as bars, then the chosen one if it is not among them.

    The chosen one has the decoder's colour. `layout.meta` has the ids of the pieces (`words`). In the table the rank is
    0 for a chosen piece without a recorded rank.
    """
    trace, step, ink = subject.trace, subject.step, subject.ink
    chosen, recorded = int(trace.target_ids[step]), trace.top_ids[step].tolist()
    candidates = zip(recorded, trace.top_pieces[step], trace.top_probabilities[step].tolist(), strict=True)
    rows = [(rank, *row) for rank, row in enumerate(candidates, 1) if rank <= _SHOWN or row[0] == chosen]
    if chosen not in recorded:
        rows.append((0, chosen, trace.target_pieces[step], float(trace.probabilities[step])))
    ranks, words, pieces, probabilities = zip(*rows, strict=True)
    count, own, names = len(rows), words.index(chosen), list(map(piece_name, pieces))
    shares = [format_share(probability, 1) for probability in probabilities]
    labels, colours, opacities = axis_labels(names, _LABEL), [ink.quiet] * count, [PALE] * count
    labels[own], colours[own], opacities[own] = emphasise(labels[own], ink.decoder), ink.decoder, 1
    likeliest = bars(
        np.array(probabilities),
        {"color": colours, "opacity": opacities},
        axis_labels(names, 60),
        hovertemplate=gettext("%{customdata}: %{x:.6f}") + "<extra></extra>",
    )
    axis = label_axis(labels, ink, ink.ink, size=13, range=[count - 0.4, -0.6])
    layout = bars_layout(axis, ink, _ROW * count + 12, (110, 56, 4, 4), 280, words=list(words)) | {"hovermode": "y"}
    listed = [f"{shorten(name, 30)} {share}" for name, share in zip(names, shares, strict=True)]
    listed[own] += gettext(", chosen")
    alt = gettext("Likeliest next pieces: {listed}.", listed="; ".join(listed))
    table = {
        gettext("rank"): ranks,
        gettext("piece"): pieces,
        gettext("probability"): probabilities,
        gettext("chosen"): [word == chosen for word in words],
    }
    at_bars = numbers(probabilities, [f" {share}" for share in shares], 13, ink)
    return Spec([likeliest, at_bars], layout, alt, table)


def draw_maxout(subject: Subject) -> Spec:
    """Draw the l pairs t~_i, where the weights are available, and the larger of each, t_i; smaller ones are pale."""
    trace, step, ink, pairs = subject.trace, subject.step, subject.ink, subject.maxout_pairs
    larger, name = trace.readouts[step], f"t{subscript(step + 1)}"
    count, limit = len(larger), colour_limit(larger)
    names, columns, parts = [name], {gettext("pair"): np.arange(1, count + 1)}, []
    if pairs is not None:
        both = np.asarray(pairs, dtype=np.float32).reshape(-1, 2).T  # (2, l)
        is_smaller = both < both.max(axis=0)
        won, lost = np.where(is_smaller, np.nan, both), np.where(is_smaller, both, np.nan)
        parts = [strips(won, limit, ink), strips(lost, limit, ink, opacity=LOSER_OPACITY)]
        names = [gettext("first of pair"), gettext("second of pair"), gettext("larger: {vector}", vector=name)]
        columns |= {gettext("first"): pairs[0::2], gettext("second"): pairs[1::2]}
    last = len(names) - 1
    parts.append(strips(larger[None], limit, ink, y=[last]))
    hover: Part = {"hovertemplate": gettext("pair %{x}: %{z:.3f}") + "<extra></extra>"}
    layout = strips_layout(label_axis(names, ink, ink.ink), count, ink, last, ink.quiet, width=1)
    alt = gettext(
        "Maxout of step {step}: it keeps the larger value of each of {count} pairs. The kept values run from "
        "{low:.2f} to {high:.2f}.",
        step=step + 1,
        count=count,
        low=larger.min(),
        high=larger.max(),
    )
    return Spec([part | hover for part in parts], layout, alt, columns | {gettext("larger"): larger})
