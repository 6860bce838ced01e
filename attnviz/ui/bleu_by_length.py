"""Read BLEU by sentence length, as measured and stored beside the model folders."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attnviz.lru_cache import LRUCache, cached_in, size_of
from attnviz.model_folder import stamp
from attnviz.ui.resources import models

FILE = "by-length.csv"
"""File that `attnviz evaluate --by-length --csv` writes."""

Rows = tuple[Mapping[str, str], ...]


def measured(names: Sequence[str], *, all_of_them: bool = True) -> Rows:
    """Return the measured rows of the models `names`, one for each model and bucket of sentence lengths.

    Return nothing where the file is missing or damaged, or, with `all_of_them`, where one of the models is missing.
    """
    folders = models()
    installed = [name for name in names if name in folders]
    if not installed or (all_of_them and len(installed) < len(names)):
        return ()
    folder = folders[installed[-1]].resolve().parent
    try:
        rows = _read(str(folder), stamp(str(folder), FILE))
    except (OSError, ValueError, KeyError):
        return ()
    return tuple(row for row in rows if row["model"] in installed)


@cached_in(LRUCache(1 << 20, size=size_of))
def _read(folder: str, file: tuple[tuple[int, ...], ...]) -> Rows:  # noqa: ARG001  part of the key
    with (Path(folder) / FILE).open(encoding="utf-8", newline="") as lines:
        rows: list[dict[str, Any]] = list(csv.DictReader(lines))
    for row in rows:
        float(row["bleu"]), int(row["pairs"]), str(row["model"])
    return tuple(rows)
