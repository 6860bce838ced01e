"""Data frames of a trace: one row for each pair of pieces, or for each link between words."""

from __future__ import annotations

import numpy as np

from attnviz import lazy_pandas as pd
from attnviz.analysis.gold import word_links
from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.trace import Aligned
from attnviz.trace.parts import head_choices

_COLUMNS = {
    "alignment": "weight",
    "energies": "energy",
    "head_weights": "weight",
    "cross_weights": "weight",
    "cross_scores": "score",
}
"""Column names of quantities; others have their own name."""
_AXES = {("Ty", "Tx"): ("i", "j"), ("L", "H", "Ty", "Tx"): ("layer", "head", "i", "j")}
"""Names of the index columns, by the shape of a quantity."""


def to_frame(record: Aligned) -> pd.DataFrame:
    """Return one row for each step and source piece: `Aligned.to_frame` names the columns.

    Raise AttnvizError where there is no attention.
    """
    shape = ("L", "H", "Ty", "Tx") if head_choices(record) else ("Ty", "Tx")
    found = {
        _COLUMNS.get(quantity.name, quantity.name): getattr(record, quantity.name)
        for quantity in record.arrays
        if quantity.shape == shape
    }
    cells = {name: array for name, array in found.items() if array.size}
    if not record.attends or "weight" not in cells:
        raise AttnvizError(_no_attention())
    axes = dict(zip(_AXES[shape], np.indices(cells["weight"].shape).reshape(len(shape), -1), strict=True))
    target, source = (np.array(pieces, dtype=object) for pieces in (record.target_pieces, record.source_pieces))
    columns = {**axes, "target": target[axes["i"]], "source": source[axes["j"]]}
    columns |= {name: cells[name].ravel() for name in sorted(cells, key="weight".__eq__)}
    if (probabilities := getattr(record, "probabilities", None)) is not None:
        columns["probability"] = probabilities[axes["i"]]
    return pd.DataFrame(columns)


def links_frame(record: Aligned, threshold: float | None = None) -> pd.DataFrame:
    """Return one row for each link between words: `Aligned.links_frame` names the columns.

    Raise AttnvizError where there is no attention.
    """
    if not record.attends:
        raise AttnvizError(_no_attention())
    words = record.words()
    rows = [
        (i, j, words.target[i], words.source[j], float(words.alignment[i, j]), possible)
        for j, i, possible in word_links(record, threshold)
    ]
    return pd.DataFrame(sorted(rows), columns=["i", "j", "target", "source", "weight", "possible"])


def _no_attention() -> str:
    return gettext("This model has no attention, so there is no alignment to put into a table.")
