"""Figures and tables of the last stages of a step: the maxout, and the likeliest next pieces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from attnviz import lazy_pandas as pd
from attnviz.analysis.labels import shorten, subscript
from attnviz.figures.legacy import Slot, Values, figure_of, number_values, numbers
from attnviz.figures.spec import (
    APART,
    STRIP,
    Part,
    axis_labels,
    base_axis,
    base_layout,
    emphasise,
    escape,
    rectangle,
    strip_separators,
)
from attnviz.languages import format_share, gettext
from attnviz.palette import LOSER_OPACITY, PALE, STRONGEST, ThemeName, palette
from attnviz.text import piece_name
from attnviz.trace import Record, Trace

_ROW = 20
"""Height of a row in pixels."""
_LABEL = 13
"""Characters of a label, the same at every step, so that the bars begin at one position."""


def candidates_table(trace: Record, step: int, k: int = 10) -> pd.DataFrame:
    """Return the likeliest pieces of a step with probability, then the chosen one if it is not among them.

    Args:
        trace: The translation.
        step: Step, 0-based.
        k: Number of pieces.

    Returns:
        A table whose index is the rank, from 1; 0 for a chosen piece without a recorded rank.
    """
    ranked = _ranked_candidates(trace, step, k)
    columns = {
        gettext("piece"): [one.piece for one in ranked],
        gettext("probability"): [one.probability for one in ranked],
        gettext("chosen"): [one.chosen for one in ranked],
    }
    return pd.DataFrame(columns, index=pd.Index([one.rank for one in ranked], name=gettext("rank")))


class _Candidate(NamedTuple):
    rank: int
    """Rank from 1; 0 where not recorded."""
    piece_id: int
    piece: str
    probability: float
    chosen: bool


def _ranked_candidates(trace: Record, step: int, k: int = 10) -> list[_Candidate]:
    """Return the rows of `candidates_table`, in its order."""
    chosen, ids = int(trace.target_ids[step]), trace.top_ids[step]
    ranks = list(range(min(k, len(ids))))
    positions = np.flatnonzero(ids == chosen)
    ranks += [rank for rank in positions.tolist() if rank >= k]
    ranked = [
        _Candidate(
            rank + 1,
            int(ids[rank]),
            trace.top_pieces[step][rank],
            float(trace.top_probabilities[step][rank]),
            int(ids[rank]) == chosen,
        )
        for rank in ranks
    ]
    if not positions.size:
        ranked.append(_Candidate(0, chosen, trace.target_pieces[step], float(trace.probabilities[step]), chosen=True))
    return ranked


def candidates_template(theme: ThemeName) -> Part:
    """Return the template of `candidates`."""
    ink = palette(theme)
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": Slot("probabilities"),
        "y": Slot("rows"),
        "marker": {
            "color": Slot("chosen", (ink.quiet, ink.decoder)),
            "opacity": Slot("chosen", (PALE, 1)),
        },
        "customdata": Slot("pieces"),
        "hovertemplate": gettext("%{customdata}: %{x:.6f}") + "<extra></extra>",
    }
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False}
    layout = base_layout(ink) | {
        "height": Slot("height"),
        "margin": {"l": 110, "r": 56, "t": 4, "b": 4},
        "bargap": 0.3,
        "hovermode": "y",
        "xaxis": axis | {"range": [0, 1], "showticklabels": False},
        "yaxis": axis
        | APART
        | {
            "range": [Slot("lowest"), -0.6],
            "tickvals": Slot("rows"),
            "ticktext": Slot("labels"),
            "tickfont": {"size": 13, "color": ink.ink},
        },
        "meta": {"alt": Slot("alt"), "narrowest": 280, "words": Slot("words")},
    }
    return {"data": [bars, numbers(13, ink)], "layout": layout}


def candidates_values(trace: Record, step: int, theme: ThemeName) -> Values:
    """Return the values of `candidates`."""
    ink, ranked = palette(theme), _ranked_candidates(trace, step)
    names = [piece_name(one.piece) for one in ranked]
    labels = [
        emphasise(label, ink.decoder) if one.chosen else label
        for label, one in zip(axis_labels(names, _LABEL), ranked, strict=True)
    ]
    probabilities = np.array([one.probability for one in ranked])
    texts = [f" {format_share(one.probability, 1)}" for one in ranked]
    return {
        "probabilities": probabilities,
        "rows": list(range(len(names))),
        "chosen": [int(one.chosen) for one in ranked],
        "pieces": [escape(shorten(name, 60)) for name in names],
        "height": _ROW * len(names) + 12,
        "lowest": len(names) - 0.4,
        "labels": labels,
        "alt": _candidates_alt(ranked),
        "words": [one.piece_id for one in ranked],
    } | number_values(probabilities, texts)


def candidates(trace: Record, step: int, *, theme: ThemeName = "light") -> go.Figure:
    """Draw the ten likeliest pieces of a step as bars; the chosen one has the decoder's colour.

    Args:
        trace: The translation.
        step: Step, 0-based.
        theme: "light" or "dark".
    """
    return figure_of(candidates_template(theme), candidates_values(trace, step, theme))


def _candidates_alt(ranked: Sequence[_Candidate]) -> str:
    names = [
        f"{shorten(piece_name(one.piece), 30)} {format_share(one.probability, 1)}"
        f"{gettext(', chosen') if one.chosen else ''}"
        for one in ranked
    ]
    return gettext("Likeliest next pieces: {listed}.", listed="; ".join(names))


def maxout_template(trace: Trace, theme: ThemeName, *, paired: bool) -> Part:
    """Return the template of the l pairs t~_i, if `paired`, and the larger of each, t_i; others are pale."""
    ink, size, last = palette(theme), trace.readouts.shape[1], 2 if paired else 0
    strip = {
        "type": "heatmap",
        "x0": 1,
        "dx": 1,
        "zmin": Slot("low"),
        "zmax": Slot("high"),
        "colorscale": ink.signed_root_scale,
        "showscale": False,
        "hovertemplate": gettext("pair %{x}: %{z:.3f}") + "<extra></extra>",
    }
    traces = [
        strip | {"z": Slot(name), "y": [0, 1], "opacity": opacity}
        for name, opacity in (("won", 1), ("lost", LOSER_OPACITY))
    ]
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False}
    layout = base_layout(ink) | {
        "height": 4 + STRIP * (last + 1) + 4,
        "margin": {"l": 116, "r": 6, "t": 4, "b": 4},
        "shapes": [
            *strip_separators(range(last + 1), size, ink, first=0.5),
            rectangle(0.5, size + 0.5, last - 0.46, last + 0.46, ink.quiet, 1),
        ],
        "xaxis": axis | {"range": [0.5, size + 0.5], "showticklabels": False},
        "yaxis": axis
        | APART
        | {
            "range": [last + 0.5, -0.5],
            "tickvals": list(range(last + 1)),
            "ticktext": Slot("names"),
            "tickfont": {"size": 12, "color": ink.ink},
        },
        "meta": {"alt": Slot("alt"), "narrowest": 320},
    }
    return {"data": [*(traces if paired else []), strip | {"z": Slot("larger"), "y": [last]}], "layout": layout}


def maxout_values(trace: Trace, step: int, pairs: NDArray[np.floating] | None) -> Values:
    """Return the values of `maxout_template`.

    `pairs`, (2l,), are those of `analysis.logit_attribution.pairs`, None without the weights, which they need. Colours
    saturate at the 98th percentile of |t_i|.
    """
    winners = trace.readouts[step]
    limit = float(np.quantile(np.abs(winners), STRONGEST)) or 1.0
    name = f"t{subscript(step + 1)}"
    values = {
        "larger": winners[None],
        "low": -limit,
        "high": limit,
        "names": [name],
        "alt": _maxout_alt(winners, step),
    }
    if pairs is None:
        return values
    values_of_pairs = np.asarray(pairs, dtype=np.float32).reshape(-1, 2).T
    is_smaller = values_of_pairs < values_of_pairs.max(axis=0)
    return values | {
        "won": np.where(is_smaller, np.nan, values_of_pairs),
        "lost": np.where(is_smaller, values_of_pairs, np.nan),
        "names": [gettext("first of pair"), gettext("second of pair"), gettext("larger: {vector}", vector=name)],
    }


def maxout_table(trace: Trace, step: int, pairs: NDArray[np.floating] | None) -> pd.DataFrame:
    """Return the `pairs`, (2l,), where available, and the larger of each, a row each (counted from 1)."""
    columns = {} if pairs is None else {gettext("first"): pairs[0::2], gettext("second"): pairs[1::2]}
    index = pd.RangeIndex(1, trace.readouts.shape[1] + 1, name=gettext("pair"))
    return pd.DataFrame(columns | {gettext("larger"): trace.readouts[step]}, index=index)


def _maxout_alt(winners: NDArray[np.float32], step: int) -> str:
    return gettext(
        "Maxout of step {step}: it keeps the larger value of each of {count} pairs. The kept values run from "
        "{low:.2f} to {high:.2f}.",
        step=step + 1,
        count=len(winners),
        low=winners.min(),
        high=winners.max(),
    )
