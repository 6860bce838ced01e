"""The energies of one decoder step, a signed bar for each source piece."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from attnviz.analysis.measures import weight_order
from attnviz.figures.attention import attention_table
from attnviz.figures.build import build
from attnviz.figures.source_rows import (
    bar_numbers,
    energy_range,
    finite_energies,
    piece_bars,
    short_name,
    signed_colours,
    source_layout,
    value_axis,
)
from attnviz.languages import say
from attnviz.palette import ThemeName, palette
from attnviz.trace import Trace


def energy_bars(trace: Trace, step: int, *, theme: ThemeName = "light") -> go.Figure:
    """Draw e_ij of 0-based `step`, a signed bar for each source piece; the axis is the same at every step."""
    ink, energies = palette(theme), finite_energies(trace)
    bars = piece_bars(trace, energies[step], "e") | signed_colours(energies[step], ink)
    layout = source_layout(trace, step, ink)
    layout["xaxis"] = value_axis(ink, say("energy e"), energy_range(energies))
    best = weight_order(trace, step)[0]
    layout["meta"]["alt"] = say(
        "Energies of step {step}, a bar for each of {count} source pieces. The highest, {energy:.2f}, is that of piece "
        "{number}, {name}.", step=step + 1, count=len(energies[step]), energy=energies[step, best], number=best + 1,
        name=short_name(trace, best),
    )  # fmt: skip
    return build([bars, *bar_numbers(energies[step], ink)], layout)


def energy_table(trace: Trace, step: int) -> pd.DataFrame:
    """Return e_ij of 0-based `step`, one row for each source piece j (counted from 1)."""
    return attention_table(trace, step).drop(columns="alpha")
