"""The logit ledger as a figure: a sum drawn as a waterfall, each source piece's attention beside what it added."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from attnviz.analysis.ledger import Ledger
from attnviz.figures.build import build, emphasise
from attnviz.figures.labels import axis_labels, literal
from attnviz.figures.waterfall import panel, rows_layout, sum_range, waterfall, written
from attnviz.languages import say
from attnviz.palette import ThemeName, palette
from attnviz.text import piece_name
from attnviz.trace import Trace
from attnviz.wording.labels import shorten
from attnviz.wording.numbers import decimal, signed

SOURCES = 12
"""Source pieces of a ledger with a bar of their own, the largest entries; the rest are one bar."""

_LABEL = 15
"""Characters of a row's label: the same room at every step, so that the bars begin at one place."""


def ledger_table(trace: Trace, account: Ledger) -> pd.DataFrame:
    """Return the entries of a ledger, all of them, with alpha_ij beside those of source pieces; they add up to the last
    row. alpha is missing where an entry has none."""
    through = say("through s_i") if trace.config["readout_state"] == "current" else say("state s_{i-1}")
    pieces = [piece_name(piece) for piece in trace.source_pieces]
    entries = [say("bias"), through, say("previous word"), *pieces, say("logit")]
    values = [account.bias, account.state, account.previous_word, *account.source, account.logit]
    alpha = [None] * 3 + [float(weight) for weight in trace.alignment[account.step]] + [None]
    frame = {say("entry"): entries, say("adds"): values, "alpha": pd.array(alpha, dtype="Float64")}
    return pd.DataFrame(frame, index=pd.RangeIndex(1, len(entries) + 1, name=say("row")))


def ledger_rows(accounts: Sequence[Ledger], chosen: int | None = None) -> tuple[int, ...]:
    """Return the source pieces that have a row of their own, in sentence order: those of the largest entries in any of
    the `accounts`, which can so be drawn with the same rows, and the `chosen` one in any case."""
    sizes = np.max([np.abs(account.source) for account in accounts], axis=0)
    # Without attention all but one add nothing: no bar for each of them.
    named = min(SOURCES, max(int(np.count_nonzero(sizes)), 1))
    rows = np.argsort(-sizes, kind="stable")[:named].tolist()
    if chosen is not None and chosen not in rows:
        rows = [*rows[: SOURCES - 1], chosen]
    return tuple(sorted(rows))


def ledger_waterfall(
    trace: Trace, account: Ledger, title: str | None = None, *, rows: Sequence[int] | None = None,
    theme: ThemeName = "light",
) -> go.Figure:  # fmt: skip
    """Draw a ledger, or the contrast of two, from the bias down to its sum, which is called `title`, or the logit.

    `rows` are the source pieces with a row each, increasing, if not those of `ledger_rows`. They stand in sentence
    order; on the left of each is its alpha_ij as a bar, so that much attention with little effect is seen for what it
    is. For those who mark the source piece on show and listen to clicks, `layout.meta` has the row of each piece, None
    where it shares one (`entries`), and the mark's colour (`mark`).
    """
    ink, title = palette(theme), title or say("logit")
    order = np.array(ledger_rows([account]) if rows is None else rows)
    others = np.setdiff1d(np.arange(len(account.source)), order)
    alpha = [float(weight) for weight in trace.alignment[account.step][order]]
    pieces = [piece_name(trace.source_pieces[j]) for j in order]
    values = [account.bias, account.state, account.previous_word, *account.source[order].tolist()]
    if others.size:
        pieces.append(say("{n} more", n=others.size))
        alpha.append(float(trace.alignment[account.step][others].sum()))
        values.append(float(account.source[others].sum()))
    through = say("through sᵢ") if trace.config["readout_state"] == "current" else say("state sᵢ₋₁")
    before = piece_name(trace.previous_pieces[account.step])
    names = [say("bias"), through, say("after {piece}", piece=before), *pieces, title]
    amounts = [*values, account.logit]
    colours = [ink.quiet, ink.decoder, ink.decoder, *([ink.encoder] * len(pieces)), ink.ink]
    labels = [
        emphasise(label, colour) if row == len(names) - 1 else f'<span style="color:{colour}">{label}</span>'
        for row, (label, colour) in enumerate(zip(axis_labels(names, _LABEL), colours, strict=True))
    ]
    hover = [
        say("{name}: {amount}", name=literal(shorten(name, 60)), amount=signed(amount, 4))
        for name, amount in zip(names, amounts, strict=True)
    ]
    for row, weight in enumerate(alpha, 3):
        hover[row] += f"<br>α = {decimal(float(weight), 4)}"
    attention = {
        "type": "bar", "orientation": "h", "name": "alpha", "xaxis": "x2", "y": list(range(3, 3 + len(alpha))),
        "x": alpha, "marker": {"color": ink.bar}, "customdata": hover[3:-1],
        "hovertemplate": "%{customdata}<extra></extra>",
    }  # fmt: skip
    layout = rows_layout(labels, 118, ink) | {
        "xaxis": panel(ink, [0.19, 1], say("running sum")) | {"range": sum_range(values), "nticks": 5},
        "xaxis2": panel(ink, [0, 0.14], "α") | {"range": [0, 1], "tickvals": [0, 1]},
        "meta": {
            "alt": _alt(trace, account, title),
            "narrowest": 320,
            "mark": ink.encoder,
            "entries": [3 + int(np.searchsorted(order, j)) if j in order else None for j in range(len(account.source))],
        },
    }
    return build([waterfall(values, hover, ink), written(values, ink), attention], layout)


def _alt(trace: Trace, account: Ledger, title: str) -> str:
    largest = int(np.abs(account.source).argmax())
    piece = shorten(piece_name(trace.source_pieces[largest]))
    return say(
        "{title}: what each ingredient of step {step} added to the sum of {logit:.2f}. The largest entry of a source "
        "piece, {entry:+.2f}, is that of {piece}, whose weight is {weight:.2f}.", title=shorten(title, 60),
        step=account.step + 1, logit=account.logit, entry=account.source[largest], piece=piece,
        weight=trace.alignment[account.step][largest],
    )  # fmt: skip
