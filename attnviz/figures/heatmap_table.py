"""The alignment heatmap without colours: its numbers as a table, and a sentence for those who do not see it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from attnviz.analysis.grid import By, grid
from attnviz.languages import say
from attnviz.trace import Trace
from attnviz.wording.labels import shorten


def heatmap_alt(trace: Trace, *, by: By = "words", end: bool = True) -> str:
    """Return a sentence for those who do not see the heatmap: its size and where each row is brightest."""
    cells = grid(trace, by, end)
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


def heatmap_table(trace: Trace, *, by: By = "words", end: bool = True, margins: bool = False) -> pd.DataFrame:
    """Return the weights of the heatmap as a table: target down, source across, each name preceded by its number.

    `margins` adds a last column, the entropy of each row in bits, and a last row, how much each column was looked at.
    """
    cells = grid(trace, by, end)
    table = pd.DataFrame(
        cells.alpha,
        index=pd.Index([f"{i} {name}" for i, name in enumerate(cells.target, 1)], name=say("target \\ source")),
        columns=[f"{j} {name}" for j, name in enumerate(cells.source, 1)],
    )
    if margins:
        table[say("H, bits")] = cells.entropies
        table.loc["Σ α"] = [*cells.covered, np.nan]
    return table
