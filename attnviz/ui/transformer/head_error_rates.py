"""Read the alignment error rates of a transformer's cross-attention heads from a CSV file in its model folder."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnviz.analysis.heads import OpenHead, heads_of
from attnviz.installed_models import installed_models
from attnviz.lru_cache import LRUCache, cached_in, size_of
from attnviz.model_folder import stamp
from attnviz.trace import TransformerTrace
from attnviz.ui.resources import weights_digest_of

FILE = "heads.csv"
"""File in the model's folder that `attnviz evaluate --heads --heads-csv` writes."""
LINK_METHOD = "mutual argmax"
"""How the links are derived from the weights in the rows that are read; the file has other methods too."""


@dataclass(frozen=True)
class HeadErrors:
    """Alignment error rates of all cross-attention heads, on one file of gold links."""

    file: str
    """Name of the file of gold links."""
    sentences: int
    """Number of sentence pairs in it."""
    rates: Mapping[tuple[int, int], float]
    """By 0-based layer and head, each in [0, 1]."""


def head_errors(trace: Any) -> HeadErrors | None:
    """Return the rates of the model that made `trace`, on the first file of gold links in the table.

    Return None if they are missing or damaged, or belong to other weights.
    """
    folder, digest = installed_models().get(trace.model), weights_digest_of(trace)
    if folder is None or not digest:
        return None
    try:
        return _read(str(folder), stamp(str(folder), FILE), digest)
    except (OSError, ValueError, KeyError):
        return None


def best_head(trace: TransformerTrace) -> OpenHead:
    """Return the cross-attention head with the lowest alignment error rate; the first if the rates are unknown."""
    heads, errors = heads_of(trace, "cross"), head_errors(trace)
    rates = errors.rates if errors else {}
    if {(head.layer, head.head) for head in heads} != set(rates):
        return heads[0]
    return min(heads, key=lambda head: rates[head.layer, head.head])


@cached_in(LRUCache(1 << 18, size=size_of))
def _read(folder: str, file: tuple[tuple[int, ...], ...], digest: str) -> HeadErrors | None:  # noqa: ARG001  part of the cache key
    with (Path(folder) / FILE).open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["links"] == LINK_METHOD and row["head"]]
    if not rows or any(not row["weights"] or not digest.startswith(row["weights"]) for row in rows):
        return None
    selected = [row for row in rows if row["file"] == rows[0]["file"]]
    rates = {(int(row["layer"]) - 1, int(row["head"]) - 1): float(row["aer"]) for row in selected}
    return HeadErrors(selected[0]["file"], int(selected[0]["sentences"]), rates)
