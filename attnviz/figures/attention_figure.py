"""Figures of the energies, the softmax, the attention weights and the posterior attention of one step, as bars."""

from __future__ import annotations

import math
from typing import Any

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
    points,
    short_source_name,
    signed_colours,
    source_bars,
    source_layout,
    value_axis,
)
from attnviz.figures.spec import Spec
from attnviz.figures.subject import Subject
from attnviz.languages import gettext
from attnviz.palette import PALE
from attnviz.text import piece_name


def draw_imported(subject: Subject) -> Spec:
    """Draw alpha_ij of another program: a bar in [0, 1] for each source piece."""
    table = attention_table(subject) | {"alpha": subject.attention.alignment[subject.step]}
    alt = gettext(
        "Weights of step {step}, a bar for each of {count} source pieces. Piece {number}, {name}, has the largest "
        "weight, {weight:.2f}.",
        **strongest(subject),
    )
    layout = source_layout(subject, value_axis(gettext("weight α"), [0, 1.16], tickvals=[0, 0.5, 1]))
    return Spec(source_bars(subject, table["alpha"], "α", "bar"), layout, alt, table, subject.theme)


def draw_energy(subject: Subject) -> Spec:
    """Draw e_ij, a signed bar for each source piece; the axis is the same at every step."""
    all_energies = finite_energies(subject.attention)
    energies = all_energies[subject.step]
    alt = gettext(
        "Energies of step {step}, a bar for each of {count} source pieces. Piece {number}, {name}, has the highest "
        "energy, {energy:.2f}.",
        **strongest(subject),
    )
    layout = source_layout(subject, value_axis(gettext("energy e"), energy_range(all_energies)))
    data = source_bars(subject, energies, "e", signed_colours(energies))
    table = attention_table(subject) | {gettext("energy"): subject.attention.energies[subject.step]}
    return Spec(data, layout, alt, table, subject.theme)


def draw_softmax(subject: Subject) -> Spec:
    """Draw e_ij and, on the same rows, alpha_ij in [0, 1]; the axes are the same at every step.

    Where the page lets the user drag the weights, the bars named by `weights` in `layout.meta` are dragged.
    """
    trace, step = subject.attention, subject.step
    all_energies, energies, alpha = finite_energies(trace), trace.energies[step], trace.alignment[step]
    pieces = [shorten(piece_name(piece), 40) for piece in trace.source_pieces]
    finite = all_energies[step]
    energy_bars, *_ = source_bars(subject, finite, "e", signed_colours(finite))
    energy_bars["marker"]["opacity"] = PALE
    layout = source_layout(
        subject,
        value_axis(gettext("energy e"), energy_range(all_energies, padding=0.06), domain=[0, 0.36]),
        value_axis(gettext("weight α"), [0, 1.16], domain=[0.44, 1], tickvals=[0, 0.5, 1]),
        weights={"pieces": pieces, "trace": 1, "axis": "xaxis2"},
    )
    alt = gettext(
        "Softmax of step {step}: each energy and its attention weight, side by side. The largest weight, "
        "{weight:.2f}, is that of piece {number}, {name}.",
        **strongest(subject),
    )
    table = attention_table(subject)
    table |= {gettext("energy"): energies, "exp(e - max)": np.exp(energies - energies.max()), "alpha": alpha}
    data = [energy_bars, *on("x2", *source_bars(subject, alpha, "α", "bar"))]
    return Spec(data, layout, alt, table, subject.theme)


def strongest(subject: Subject) -> dict[str, Any]:
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


def attention_table(subject: Subject) -> dict[str, Any]:
    """Return the first columns of a table with a row for each source piece j (counted from 1)."""
    pieces = subject.attention.source_pieces
    return {"j": np.arange(1, len(pieces) + 1), gettext("source piece"): list(pieces)}


_AXIS_LENGTH = 1.5
"""Length of the axes relative to the longest bar, for the numbers at the ends."""
_VISIBLE = 0.02
"""Smallest posterior attention of the heatmap that has a mark."""


def draw_posterior(subject: Subject) -> Spec:
    """Draw alpha_ij of a step, p(y_i | c = h_j) and p(j | y_i), each in [0, 1], on the same rows.

    Only ratios of likelihoods matter: their axis ends at the step's largest. A diamond is the heatmap's posterior
    attention, which normalises over steps too.
    """
    trace, step, found = subject.trace, subject.step, subject.posterior_attention
    prior, likelihood, posterior, heatmap_posterior = (
        values[step] for values in (found.prior, found.likelihood, found.posterior, found.heatmap_posterior)
    )
    # Marks at 0 would carry no information.
    marks = np.where(heatmap_posterior >= _VISIBLE, heatmap_posterior, np.nan)
    largest = _axis_end(float(likelihood.max()))
    largest_label = significant(largest, 1) if largest >= 0.001 else small(largest)
    likelihood_scale = {"tickvals": [0, largest], "ticktext": ["0", largest_label]}
    layout = source_layout(
        subject,
        value_axis("α", [0, _AXIS_LENGTH], domain=[0, 0.26], tickvals=[0, 1]),
        value_axis("× p(y | h)", [0, _AXIS_LENGTH * 1.2 * largest], domain=[0.33, 0.63], **likelihood_scale),
        value_axis("→ p(j | y),  ◇ α′", [0, _AXIS_LENGTH], domain=[0.71, 1], tickvals=[0, 1]),
        narrowest=300,
    )
    posteriors, *_ = source_bars(subject, posterior, "p(j | y)", "bar")
    of_marks, *_ = source_bars(subject, marks, gettext("α′ of the heatmap"), "")
    diamond = {"symbol": "diamond", "size": 9, "color": "paper", "line": {"width": 1.5, "color": "ink"}}
    hover = {name: of_marks[name] for name in ("customdata", "hovertemplate")}
    on_posteriors = [posteriors, points(marks, of_marks["y"], diamond, **hover)]
    if len(marks) <= MOST_ROWS:  # the number comes after the mark too
        texts = [
            f"{'   ' if math.isfinite(mark) else ' '}{decimal(value)} "
            for value, mark in zip(posterior.tolist(), marks.tolist(), strict=True)
        ]
        on_posteriors.append(numbers(np.fmax(posterior, marks), texts, label_size(len(marks)) - 1))
    data = [
        *source_bars(subject, prior, "α", "bar"),
        *on("x2", *source_bars(subject, likelihood, "p(y | h)", "decoder", ".3~g", small)),
        *on("x3", *on_posteriors),
    ]
    table = attention_table(subject) | {
        "alpha": prior,
        gettext("likelihood p(y | h)"): likelihood,
        gettext("product"): prior * likelihood,
        gettext("posterior p(j | y)"): posterior,
        gettext("α′ of the heatmap"): heatmap_posterior,
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
    return Spec(data, layout, alt, table, subject.theme)


def _axis_end(largest: float) -> float:
    """Return the round number at which the axis of likelihoods ends, for the largest."""
    if largest > 0.5:
        return 1.0
    unit = 10.0 ** np.floor(np.log10(max(largest, 1e-300)))
    return float(unit * np.ceil(largest / unit * (1 - 1e-9)))
