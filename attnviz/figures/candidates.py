"""Figures of the last stages of a step: the maxout, and the likeliest next pieces."""

from __future__ import annotations

import numpy as np

from attnviz.analysis.labels import shorten, subscript
from attnviz.figures.grammar import bare_axis, colour_limit, label_axis, numbers, strips, strips_layout
from attnviz.figures.spec import Part, Spec, axis_labels, base_layout, emphasise, escape
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
    chosen, ids = int(trace.target_ids[step]), trace.top_ids[step].tolist()
    ranks = [rank for rank, piece_id in enumerate(ids) if rank < _SHOWN or piece_id == chosen]
    words, pieces = [ids[rank] for rank in ranks], [trace.top_pieces[step][rank] for rank in ranks]
    probabilities = [float(trace.top_probabilities[step][rank]) for rank in ranks]
    if chosen not in ids:
        ranks.append(-1)
        words.append(chosen)
        pieces.append(trace.target_pieces[step])
        probabilities.append(float(trace.probabilities[step]))
    count, is_chosen, names = len(words), [word == chosen for word in words], list(map(piece_name, pieces))
    shares = [format_share(probability, 1) for probability in probabilities]

    bars = {
        "type": "bar",
        "orientation": "h",
        "x": np.array(probabilities),
        "y": list(range(count)),
        "marker": {
            "color": [ink.decoder if own else ink.quiet for own in is_chosen],
            "opacity": [1 if own else PALE for own in is_chosen],
        },
        "customdata": [escape(shorten(name, 60)) for name in names],
        "hovertemplate": gettext("%{customdata}: %{x:.6f}") + "<extra></extra>",
    }
    labels = [
        emphasise(label, ink.decoder) if own else label
        for label, own in zip(axis_labels(names, _LABEL), is_chosen, strict=True)
    ]
    layout = base_layout(ink) | {
        "height": _ROW * count + 12,
        "margin": {"l": 110, "r": 56, "t": 4, "b": 4},
        "bargap": 0.3,
        "hovermode": "y",
        "xaxis": bare_axis(ink, range=[0, 1], showticklabels=False),
        "yaxis": label_axis(labels, ink, ink.ink, range=[count - 0.4, -0.6], size=13),
        "meta": {"narrowest": 280, "words": words},
    }
    listed = [
        f"{shorten(name, 30)} {share}{gettext(', chosen') if own else ''}"
        for name, share, own in zip(names, shares, is_chosen, strict=True)
    ]
    table = {
        gettext("rank"): [rank + 1 for rank in ranks],
        gettext("piece"): pieces,
        gettext("probability"): probabilities,
        gettext("chosen"): is_chosen,
    }
    at_bars = numbers(probabilities, [f" {share}" for share in shares], 13, ink)
    return Spec([bars, at_bars], layout, gettext("Likeliest next pieces: {listed}.", listed="; ".join(listed)), table)


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
