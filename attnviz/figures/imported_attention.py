"""Figure and table of imported attention at one target token: a bar for each source piece."""

from __future__ import annotations

import numpy as np
import pandas as pd

from attnviz.analysis.measures import weight_order
from attnviz.figures.build import Spec
from attnviz.figures.source_rows import (
    bar_numbers,
    bar_texts,
    piece_bars,
    short_name,
    source_layout,
    source_values,
    value_axis,
)
from attnviz.figures.template import Slot, Values
from attnviz.languages import gettext
from attnviz.palette import ThemeName, palette
from attnviz.trace import Aligned


def imported_template(trace: Aligned, theme: ThemeName) -> Spec:
    """Return the template of the weights: a bar in [0, 1] for each source piece, with the same axis at every step."""
    ink = palette(theme)
    bars = piece_bars(trace, Slot("weights"), "α") | {"marker": {"color": ink.bar}}
    layout = source_layout(trace, ink)
    layout["xaxis"] = value_axis(ink, gettext("weight α"), [0, 1.16]) | {"tickvals": [0, 0.5, 1]}
    return {"data": [bars, *bar_numbers(trace, ink)], "layout": layout}


def imported_values(trace: Aligned, step: int) -> Values:
    """Return the values of `imported_template` at 0-based `step`: alpha_ij."""
    alpha = trace.alignment[step]
    best = weight_order(trace, step)[0]
    alt = gettext(
        "Weights of step {step}, a bar for each of {count} source pieces. The largest, {weight:.2f}, is that of piece "
        "{number}, {name}.",
        step=step + 1,
        count=len(alpha),
        weight=alpha[best],
        number=best + 1,
        name=short_name(trace, best),
    )
    return {"weights": alpha} | bar_texts(alpha) | source_values(trace, step, alt)


def imported_table(trace: Aligned, step: int) -> pd.DataFrame:
    """Return alpha_ij of 0-based `step`, one row for each source piece j (counted from 1)."""
    return pd.DataFrame(
        {
            "j": np.arange(1, len(trace.source_pieces) + 1),
            gettext("source piece"): list(trace.source_pieces),
            "alpha": trace.alignment[step],
        }
    ).set_index("j")
