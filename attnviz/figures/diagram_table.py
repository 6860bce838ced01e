"""Table of the numbers in the architecture diagram at one decoder step."""

from __future__ import annotations

import math
from itertools import zip_longest

from attnviz import lazy_pandas as pd
from attnviz.analysis.diagram import drawn_units
from attnviz.analysis.labels import subscript
from attnviz.languages import gettext
from attnviz.text import piece_name
from attnviz.trace import Trace


def diagram_table(trace: Trace, step: int) -> pd.DataFrame:
    """Return a row for each vector drawn at 0-based `step`.

    These are the annotations with energies and weights, then context, both states and readout; the last columns are the
    displayed units (`drawn_units`). Without attention there are no energies and weights.
    """
    units, before, after = drawn_units(trace), subscript(step), subscript(step + 1)
    vectors = {f"h{subscript(j)}": vector for j, vector in enumerate(trace.annotations[:, units.annotation], 1)}
    index = pd.Index([*vectors, f"c{after}", f"s{before}", f"s{after}", f"t{after}"], name=gettext("vector"))
    names = [piece_name(piece) for piece in trace.source_pieces]
    names += ["", piece_name(trace.previous_pieces[step]), "", piece_name(trace.target_pieces[step])]
    table = pd.DataFrame({gettext("piece"): names}, index=index)
    if trace.attends:
        for symbol, values in (("e", trace.energies), ("α", trace.alignment)):
            table[symbol] = pd.Series(values[step].tolist(), index=list(vectors))
    rows = [
        *vectors.values(),
        trace.contexts[step][units.context],
        trace.previous_states[step][units.state],
        trace.states[step][units.state],
        trace.readouts[step][units.readout],
    ]
    for k, column in enumerate(zip_longest(*(row.tolist() for row in rows), fillvalue=math.nan), 1):
        table[gettext("square {k}", k=k)] = column
    return table
