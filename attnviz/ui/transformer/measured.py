"""What was measured of a transformer's heads: the alignment error of each, as a command wrote it beside the weights."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnviz.kept import Kept, kept_in, size_of
from attnviz.model_folder import stamp
from attnviz.ui.resources import models, weights_digest_of

FILE = "heads.csv"
"""In the model's folder, as `attnviz evaluate --heads --heads-csv` writes it."""
LINKS = "mutual argmax"


@dataclass(frozen=True)
class HeadErrors:
    """The alignment error rate of every head of the cross-attention, on one file of gold links."""

    file: str
    sentences: int
    rates: Mapping[tuple[int, int], float]
    """By 0-based layer and head."""


def head_errors(trace: Any) -> HeadErrors | None:
    """Return what was measured of the model that made `trace`, on the first file of the table; None where it was not,
    the table is damaged, or it is of other weights."""
    folder, digest = models().get(trace.model), weights_digest_of(trace)
    if folder is None or not digest:
        return None
    try:
        return _read(str(folder), stamp(str(folder), FILE), digest)
    except (OSError, ValueError, KeyError):
        return None


@kept_in(Kept(1 << 18, size=size_of))
def _read(folder: str, file: tuple[tuple[int, ...], ...], digest: str) -> HeadErrors | None:  # noqa: ARG001  the key
    with (Path(folder) / FILE).open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["links"] == LINKS and row["head"]]
    if not rows or any(not row["weights"] or not digest.startswith(row["weights"]) for row in rows):
        return None
    first = [row for row in rows if row["file"] == rows[0]["file"]]
    rates = {(int(row["layer"]) - 1, int(row["head"]) - 1): float(row["aer"]) for row in first}
    return HeadErrors(first[0]["file"], int(first[0]["sentences"]), rates)
