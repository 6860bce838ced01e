"""Figures of the energies, the softmax, the attention weights and the posterior attention of one step, as bars."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from attnviz.analysis.labels import shorten
from attnviz.analysis.measures import weight_order
from attnviz.analysis.numbers import decimal, percent, significant, small
from attnviz.figures.grammar import (
    MOST_ROWS,
    energy_range,
    finite_energies,
    label_size,
    numbers,
    on,
    short_source_name,
    signed_colours,
    source_bars,
    source_layout,
    value_axis,
)
from attnviz.figures.spec import Part, Spec, Table
from attnviz.figures.subject import Subject
from attnviz.languages import gettext
from attnviz.palette import PALE
from attnviz.text import piece_name


def draw_imported(subject: Subject) -> Spec:
    """Draw alpha_ij of another program: a bar in [0, 1] for each source piece."""
    ink, alpha = subject.ink, subject.attention.alignment[subject.step]
    axis = value_axis(ink, gettext("weight α"), [0, 1.16], tickvals=[0, 0.5, 1])
    alt = gettext(
        "Weights of step {step}, a bar for each of {count} source pieces. Piece {number}, {name}, has the largest "
        "weight, {weight:.2f}.",
        **_strongest(subject),
    )
    data, layout = source_bars(subject, alpha, "α", ink.bar), source_layout(subject, axis)
    return Spec(data, layout, alt, _table(subject, "alpha"))


def draw_energy(subject: Subject) -> Spec:
    """Draw e_ij, a signed bar for each source piece; the axis is the same at every step."""
    ink, all_energies = subject.ink, finite_energies(subject.attention)
    energies, limits = all_energies[subject.step], energy_range(all_energies)
    data = source_bars(subject, energies, "e", signed_colours(energies, ink))
    alt = gettext(
        "Energies of step {step}, a bar for each of {count} source pieces. Piece {number}, {name}, has the highest "
        "energy, {energy:.2f}.",
        **_strongest(subject),
    )
    layout = source_layout(subject, value_axis(ink, gettext("energy e"), limits))
    return Spec(data, layout, alt, _table(subject, "energy"))


def draw_softmax(subject: Subject) -> Spec:
    """Draw e_ij and, on the same rows, alpha_ij in [0, 1]; the axes are the same at every step.

    Where the page lets the user drag the weights, the bars named by `weights` in `layout.meta` are dragged.
    """
    trace, step, ink = subject.attention, subject.step, subject.ink
    all_energies = finite_energies(trace)
    energies, alpha = all_energies[step], trace.alignment[step]
    dragged = {"pieces": [shorten(piece_name(piece), 40) for piece in trace.source_pieces]}
    table = _table(subject, "energy", "exp(e - max)", "alpha")
    alt = gettext(
        "Softmax of step {step}: each energy and its attention weight, side by side. The largest weight, "
        "{weight:.2f}, is that of piece {number}, {name}.",
        **_strongest(subject),
    )
    energy_bars, *_ = source_bars(subject, energies, "e", signed_colours(energies, ink))
    energy_bars["marker"]["opacity"] = PALE
    limits = energy_range(all_energies, padding=0.06)
    layout = source_layout(
        subject,
        value_axis(ink, gettext("energy e"), limits, domain=[0, 0.36]),
        value_axis(ink, gettext("weight α"), [0, 1.16], domain=[0.44, 1], tickvals=[0, 0.5, 1]),
        weights=dragged | {"trace": 1, "axis": "xaxis2"},
    )
    return Spec([energy_bars, *on("x2", *source_bars(subject, alpha, "α", ink.bar))], layout, alt, table)


def _strongest(subject: Subject) -> Part:
    """Return what text alternatives say about a step: its number, and the piece of the largest weight."""
    trace, step = subject.attention, subject.step
    best = weight_order(trace, step)[0]
    weight = float(trace.alignment[step][best])
    return {
        "step": step + 1,
        "count": len(trace.source_pieces),
        "number": best + 1,
        "name": short_source_name(trace, best),
        "weight": weight,
        "share": percent(weight),
        "energy": float(trace.energies[step][best]) if trace.energies.size else None,
    }


def _table(subject: Subject, *columns: Literal["energy", "exp(e - max)", "alpha"]) -> Table:
    """Return these numbers of a step, a row for each source piece j (counted from 1)."""
    trace, step = subject.attention, subject.step
    table: dict[str, Any] = {
        "j": np.arange(1, len(trace.source_pieces) + 1),
        gettext("source piece"): list(trace.source_pieces),
    }
    for column in columns:
        if column == "alpha":
            table[column] = trace.alignment[step]
        elif column == "energy":
            table[gettext("energy")] = trace.energies[step]
        else:
            table[column] = np.exp(trace.energies[step] - trace.energies[step].max())
    return table


_AXIS_LENGTH = 1.5
"""Length of the axes relative to the longest bar, for the numbers at the ends."""
_VISIBLE = 0.02
"""Smallest posterior attention of the heatmap that has a mark."""


def draw_posterior(subject: Subject) -> Spec:
    """Draw alpha_ij of a step, p(y_i | c = h_j) and p(j | y_i), each in [0, 1], on the same rows.

    Only ratios of likelihoods matter: their axis ends at the step's largest. A diamond is the heatmap's posterior
    attention, which normalises over steps too.
    """
    trace, step, ink, found = subject.trace, subject.step, subject.ink, subject.posterior_attention
    prior, likelihood, posterior = found.prior[step], found.likelihood[step], found.posterior[step]
    # Marks at 0 would carry no information.
    marks = np.where(found.heatmap_posterior[step] >= _VISIBLE, found.heatmap_posterior[step], np.nan)
    largest = _axis_end(float(likelihood.max()))
    layout = source_layout(
        subject,
        value_axis(ink, "α", [0, _AXIS_LENGTH], domain=[0, 0.26], tickvals=[0, 1]),
        value_axis(
            ink,
            "× p(y | h)",
            [0, _AXIS_LENGTH * 1.2 * largest],
            domain=[0.33, 0.63],
            tickvals=[0, largest],
            ticktext=["0", significant(largest, 1) if largest >= 0.001 else small(largest)],
        ),
        value_axis(ink, "→ p(j | y),  ◇ α′", [0, _AXIS_LENGTH], domain=[0.71, 1], tickvals=[0, 1]),
        narrowest=300,
    )
    priors, likelihoods = (
        source_bars(subject, prior, "α", ink.bar),
        source_bars(subject, likelihood, "p(y | h)", ink.decoder, ".3~g", small),
    )
    posteriors, *_ = source_bars(subject, posterior, "p(j | y)", ink.bar)
    diamonds, *_ = source_bars(subject, marks, gettext("α′ of the heatmap"), ink.paper)
    del diamonds["orientation"]
    diamonds |= {
        "type": "scatter",
        "mode": "markers",
        "marker": {"symbol": "diamond", "size": 9, "color": ink.paper, "line": {"width": 1.5, "color": ink.ink}},
    }
    ends = np.fmax(posterior, marks)
    # The number comes after the mark too.
    texts = [
        f"{'   ' if math.isfinite(mark) else ' '}{decimal(value)} "
        for value, mark in zip(posterior.tolist(), marks.tolist(), strict=True)
    ]
    posterior_numbers = [numbers(ends, texts, label_size(len(ends)) - 1, ink)] if len(ends) <= MOST_ROWS else []
    data = [*priors, *on("x2", *likelihoods), *on("x3", posteriors, diamonds, *posterior_numbers)]
    table = dict(_table(subject, "alpha")) | {
        gettext("likelihood p(y | h)"): likelihood,
        gettext("product"): prior * likelihood,
        gettext("posterior p(j | y)"): posterior,
        gettext("α′ of the heatmap"): found.heatmap_posterior[step],
    }
    first, last = int(prior.argmax()), int(posterior.argmax())
    alt = gettext(
        "Attention of step {step}, before and after its word is known. The posterior of a source piece is "
        "proportional to its weight α times the likelihood of the word, given the annotation of this piece alone. "
        "{piece} has the largest weight, {weight:.2f}. {other} has the largest posterior, {posterior:.2f}; given its "
        "annotation alone, the word has likelihood {likelihood}.",
        step=step + 1,
        weight=prior[first],
        piece=short_source_name(trace, first),
        posterior=posterior[last],
        other=short_source_name(trace, last),
        likelihood=small(float(likelihood[last])),
    )
    return Spec(data, layout, alt, table)


def _axis_end(largest: float) -> float:
    """Return the round number at which the axis of likelihoods ends, for the largest."""
    if largest > 0.5:
        return 1.0
    unit = 10.0 ** np.floor(np.log10(max(largest, 1e-300)))
    return float(unit * np.ceil(largest / unit * (1 - 1e-9)))
