"""The likeliest pieces of one decoder step, as bars and as a table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from attnviz.figures.build import APART, base_axis, base_layout, build, emphasise, numbers
from attnviz.figures.labels import axis_labels, literal
from attnviz.languages import say
from attnviz.palette import PALE, ThemeName, palette
from attnviz.text import piece_name
from attnviz.trace import Trace
from attnviz.wording.labels import shorten
from attnviz.wording.numbers import decimal

_ROW = 20
_CANDIDATE = 13
"""Characters of a candidate's label: the same room at every step, so that the bars begin at one place."""


def candidates_table(trace: Trace, step: int, k: int = 10) -> pd.DataFrame:
    """Return the `k` likeliest pieces of 0-based `step` with probability, then the chosen one if it is not one of them.

    The index is the rank, counted from 1; the chosen piece's is 0 where it is not among those recorded.
    """
    heads = {"piece": say("piece"), "probability": say("probability"), "chosen": say("chosen")}
    return _ranked(trace, step, k).rename(columns=heads).rename_axis(say("rank"))


def _ranked(trace: Trace, step: int, k: int = 10) -> pd.DataFrame:
    """Return `candidates_table` with its columns in English, by which others take them."""
    chosen = trace.target_ids[step]
    ids = trace.top_ids[step]
    ranks = list(range(min(k, len(ids))))
    found = np.flatnonzero(ids == chosen)
    if found.size and int(found[0]) not in ranks:
        ranks.append(int(found[0]))
    pieces = [trace.top_pieces[step][rank] for rank in ranks]
    probabilities = [float(trace.top_probabilities[step][rank]) for rank in ranks]
    if not found.size:
        ranks.append(-1)
        pieces.append(trace.target_pieces[step])
        probabilities.append(float(trace.probabilities[step]))
    is_chosen = [rank == -1 or int(ids[rank]) == chosen for rank in ranks]
    return pd.DataFrame(
        {"piece": pieces, "probability": probabilities, "chosen": is_chosen},
        index=pd.Index([rank + 1 for rank in ranks], name="rank"),
    )


def candidates(trace: Trace, step: int, *, theme: ThemeName = "light") -> go.Figure:
    """Draw the ten likeliest pieces of 0-based `step` as bars, the chosen one in the decoder's colour."""
    ink, table = palette(theme), _ranked(trace, step)
    names = [piece_name(piece) for piece in table["piece"]]
    rows = np.arange(len(table), dtype=np.int32)
    chosen = table["chosen"].to_numpy()
    bars = {
        "type": "bar", "orientation": "h", "x": table["probability"].to_numpy(), "y": rows,
        "marker": {
            "color": [ink.decoder if one else ink.quiet for one in chosen],
            "opacity": [1 if one else PALE for one in chosen],
        },
        "customdata": [literal(shorten(name, 60)) for name in names],
        "hovertemplate": say("%{customdata}: %{x:.6f}") + "<extra></extra>",
    }  # fmt: skip
    labels = [
        emphasise(label, ink.decoder) if one else label
        for label, one in zip(axis_labels(names, _CANDIDATE), chosen, strict=True)
    ]
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False}
    layout = base_layout(ink) | {
        "height": _ROW * len(names) + 12, "margin": {"l": 110, "r": 56, "t": 4, "b": 4}, "bargap": 0.3,
        "hovermode": "y",
        "xaxis": axis | {"range": [0, 1], "showticklabels": False},
        "yaxis": axis | APART | {
            "range": [len(names) - 0.4, -0.6], "tickvals": list(range(len(names))), "ticktext": labels,
            "tickfont": {"size": 13, "color": ink.ink},
        },
        "meta": {"alt": _candidates_alt(table), "narrowest": 280, "words": _ids(trace, step, table)},
    }  # fmt: skip
    texts = [f" {_percent(p)}" for p in table["probability"]]
    return build([bars, numbers(table["probability"].to_numpy(), texts, 13, ink)], layout)


def _ids(trace: Trace, step: int, table: pd.DataFrame) -> list[int]:
    """Return the id of each of the `_ranked` pieces."""
    return [
        int(trace.target_ids[step] if chosen else trace.top_ids[step][rank - 1])
        for rank, chosen in zip(table.index, table["chosen"], strict=True)
    ]


def _candidates_alt(table: pd.DataFrame) -> str:
    names = [
        f"{shorten(piece_name(piece), 30)} {_percent(p)}{say(', chosen') if chosen else ''}"
        for piece, p, chosen in zip(table["piece"], table["probability"], table["chosen"], strict=True)
    ]
    return say("Likeliest next pieces: {listed}.", listed="; ".join(names))


def _percent(p: float) -> str:
    """Return a probability as a percentage that never claims to be 0 or 100 when it is not."""
    if 0 < p < 0.0005:
        return f"<{decimal(0.1, 1)} %"
    return f">{decimal(99.9, 1)} %" if 0.9995 <= p < 1 else f"{decimal(100 * p, 1)} %"
