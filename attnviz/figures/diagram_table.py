"""Table of the numbers in the architecture diagram at one decoder step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attnviz import lazy_pandas as pd
from attnviz.analysis.context_units import drawn_units
from attnviz.analysis.labels import subscript
from attnviz.languages import gettext
from attnviz.text import piece_name
from attnviz.trace import Trace


def diagram_table(trace: Trace, step: int) -> pd.DataFrame:
    """Return a row for each vector drawn at 0-based `step`.

    These are the annotations with energies and weights, then context, both states and readout; the last columns are the
    displayed units (`drawn_units`). Without attention there are no energies and weights.
    """
    units, step_subscript = drawn_units(trace), subscript(step + 1)
    symbols = [f"h{subscript(j + 1)}" for j in range(len(trace.source_pieces))]
    names = [piece_name(piece) for piece in trace.source_pieces]
    rows: list[NDArray[np.float32]] = list(trace.annotations[:, units.annotation])
    for symbol, name, values in (
        (f"c{step_subscript}", "", trace.contexts[step][units.context]),
        (f"s{subscript(step)}", piece_name(trace.previous_pieces[step]), trace.previous_states[step][units.state]),
        (f"s{step_subscript}", "", trace.states[step][units.state]),
        (f"t{step_subscript}", piece_name(trace.target_pieces[step]), trace.readouts[step][units.readout]),
    ):
        symbols.append(symbol)
        names.append(name)
        rows.append(values)
    columns: dict[str, object] = {gettext("piece"): names}
    if trace.attends:
        none = [np.nan] * (len(rows) - len(trace.source_pieces))
        columns["e"] = [*trace.energies[step].tolist(), *none]
        columns["α"] = [*trace.alignment[step].tolist(), *none]
    for k in range(max(map(len, rows))):
        columns[gettext("square {k}", k=k + 1)] = [float(row[k]) if k < len(row) else np.nan for row in rows]
    return pd.DataFrame(columns, index=pd.Index(symbols, name=gettext("vector")))
