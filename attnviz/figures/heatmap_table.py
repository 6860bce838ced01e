"""The alignment heatmap without colours: its numbers as a table, and a sentence for those who do not see it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from attnviz.analysis.grid import By, grid
from attnviz.languages import say
from attnviz.trace import FloatArray, Record
from attnviz.wording.labels import shorten


def heatmap_alt(trace: Record, *, by: By = "words", end: bool = True, weights: FloatArray | None = None) -> str:
    """Return a sentence for those who do not see the heatmap: its size and where each row is brightest.

    `weights`, (Ty, Tx), stand in the alignment's place.
    """
    cells = grid(trace, by, end, weights)
    links = [
        say("{target} at {source} {alpha:.2f}", target=shorten(word, 30),
            source=shorten(cells.source[int(row.argmax())], 30), alpha=row.max())
        for word, row in zip(cells.target, cells.alpha, strict=True)
    ]  # fmt: skip
    shown = "; ".join(links[:60]) + ("; …" if len(links) > 60 else "")
    told = {"rows": len(cells.target), "columns": len(cells.source), "shown": shown}
    if by == "words":
        return say("Alignment of {rows} target and {columns} source words. Largest weights: {shown}.", **told)
    return say("Alignment of {rows} target and {columns} source pieces. Largest weights: {shown}.", **told)


def heatmap_table(
    trace: Record, *, by: By = "words", end: bool = True, margins: bool = False, weights: FloatArray | None = None
) -> pd.DataFrame:
    """Return the weights of the heatmap as a table: target down, source across, each name preceded by its number.

    `margins` adds a last column, the entropy of each row in bits, and a last row, how much each column was looked at.
    `weights`, (Ty, Tx), stand in the alignment's place.
    """
    cells = grid(trace, by, end, weights)
    table = pd.DataFrame(
        cells.alpha,
        index=pd.Index([f"{i} {name}" for i, name in enumerate(cells.target, 1)], name=say("target \\ source")),
        columns=[f"{j} {name}" for j, name in enumerate(cells.source, 1)],
    )
    if margins:
        table[say("H, bits")] = cells.entropies
        table.loc["Σ α"] = [*cells.covered, np.nan]
    return table
