"""Table and text alternative of the alignment heatmap."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from attnviz.analysis.gold import GoldLinks
from attnviz.analysis.grid import By, Face, Grid, grid
from attnviz.languages import gettext
from attnviz.text import isolated
from attnviz.trace import FloatArray
from attnviz.trace.attention_matrix import AttentionMatrix
from attnviz.wording.attention_variants import SYMBOLS
from attnviz.wording.gold import link_count_texts
from attnviz.wording.labels import shorten
from attnviz.wording.numbers import decimal, signed
from attnviz.wording.weight_names import size_text


def heatmap_alt(
    trace: AttentionMatrix,
    *,
    by: By = "words",
    face: Face = "before",
    posterior: NDArray[np.float64] | None = None,
    end: bool = True,
    weights: FloatArray | None = None,
    gold: GoldLinks | None = None,
) -> str:
    """Return the text alternative: size, and the strongest cell of each row, or of the difference the largest gains.

    With `gold`, it mentions marked links. Other arguments as for `heatmap`.
    """
    cells = grid(trace, by, end, face, posterior, weights)
    links = [
        gettext(
            "{target} on {source}: {alpha}",
            target=shorten(word, 30),
            source=shorten(cells.source[int(row.argmax())], 30),
            alpha=_amount(cells, float(row.max())),
        )
        for word, row in zip(cells.target, cells.shown, strict=True)
    ]
    shown = "; ".join(links[:60]) + ("; …" if len(links) > 60 else "")
    if gold:
        shown += ". " + gettext(
            "The heatmap also shows {sure} and {possible}, marked by hand",
            **link_count_texts(len(gold.sure), len(gold.possible)),
        )
    fields = {"size": size_text(by, len(cells.target), len(cells.source)), "shown": shown}
    if cells.face == "after":
        return gettext("Posterior attention (after the word) of {size}. Largest values: {shown}.", **fields)
    if cells.face == "difference":
        return gettext(
            "Change of the alignment of {size}, α′ (after the word) minus α (before the word). Largest gains: {shown}.",
            **fields,
        )
    return gettext("Alignment of {size}. Largest weights: {shown}.", **fields)


def _amount(cells: Grid, number: float) -> str:
    return signed(number) if cells.face == "difference" else decimal(number)


def heatmap_table(
    trace: AttentionMatrix,
    *,
    by: By = "words",
    face: Face = "before",
    posterior: NDArray[np.float64] | None = None,
    end: bool = True,
    margins: bool = False,
    weights: FloatArray | None = None,
) -> pd.DataFrame:
    """Return the numbers of the heatmap as a table: target down, source across, each name preceded by its number.

    `margins` adds a last column, the entropy of each row in bits, and a last row, the sum of each column, both of the
    displayed `face`. `weights`, (Ty, Tx), replace the alignment. Raise ValueError for an unknown choice,
    AttnvizError for a face without its posterior.
    """
    cells = grid(trace, by, end, face, posterior, weights)
    table = pd.DataFrame(
        cells.shown,
        index=pd.Index(
            [f"{i} {isolated(name)}" for i, name in enumerate(cells.target, 1)], name=gettext("target \\ source")
        ),
        columns=[f"{j} {isolated(name)}" for j, name in enumerate(cells.source, 1)],
    )
    if margins:
        table[("Δ" if face == "difference" else "") + gettext("H, bits")] = cells.entropies
        table.loc["Σ (α′ − α)" if face == "difference" else f"Σ {SYMBOLS[face]}"] = [*cells.covered, np.nan]
    return table
