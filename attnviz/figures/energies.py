"""Figure and table of the energies of one decoder step, a signed bar for each source piece."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from attnviz.analysis.measures import weight_order
from attnviz.figures.attention import attention_table
from attnviz.figures.build import Spec
from attnviz.figures.source_rows import (
    bar_numbers,
    bar_texts,
    energy_range,
    finite_energies,
    piece_bars,
    short_name,
    signed_colours,
    signs,
    source_layout,
    source_values,
    value_axis,
)
from attnviz.figures.template import Slot, Values, filled
from attnviz.languages import gettext
from attnviz.palette import ThemeName, palette
from attnviz.trace import Recurrent


def energy_template(trace: Recurrent, theme: ThemeName) -> Spec:
    """Return the template of `energy_bars`; the axis is the same at every step."""
    ink = palette(theme)
    bars = piece_bars(trace, Slot("energies"), "e") | signed_colours(ink)
    layout = source_layout(trace, ink)
    layout["xaxis"] = value_axis(ink, gettext("energy e"), energy_range(finite_energies(trace)))
    return {"data": [bars, *bar_numbers(trace, ink)], "layout": layout}


def energy_values(trace: Recurrent, step: int) -> Values:
    """Return the values of `energy_bars`."""
    energies = finite_energies(trace)[step]
    best = weight_order(trace, step)[0]
    alt = gettext(
        "Energies of step {step}, a bar for each of {count} source pieces. The highest, {energy:.2f}, is that of piece "
        "{number}, {name}.",
        step=step + 1,
        count=len(energies),
        energy=energies[best],
        number=best + 1,
        name=short_name(trace, best),
    )
    return {"energies": energies} | signs(energies) | bar_texts(energies) | source_values(trace, step, alt)


def energy_bars(trace: Recurrent, step: int, *, theme: ThemeName = "light") -> go.Figure:
    """Draw e_ij of 0-based `step`, a signed bar for each source piece; the axis is the same at every step."""
    return filled(energy_template(trace, theme), energy_values(trace, step))


def energy_table(trace: Recurrent, step: int) -> pd.DataFrame:
    """Return e_ij of 0-based `step`, one row for each source piece j (counted from 1)."""
    return attention_table(trace, step).drop(columns="alpha")
