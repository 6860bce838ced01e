"""Read BLEU by sentence length of installed models, from a CSV file in the folder that contains the model folders."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attnviz.installed_models import installed_models
from attnviz.lru_cache import LRUCache, cached_in, size_of
from attnviz.model_folder import stamp

FILE = "by-length.csv"
"""File that `attnviz evaluate --by-length --csv` writes."""

Rows = tuple[Mapping[str, str], ...]


def measured(names: Sequence[str], *, require_all: bool = True) -> Rows:
    """Return the rows of the installed models among `names`, one for each model and bucket of sentence lengths.

    Return nothing if the file is missing or damaged, or, with `require_all`, if one of the models is not installed.
    """
    folders = installed_models()
    installed = [name for name in names if name in folders]
    if not installed or (require_all and len(installed) < len(names)):
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
        float(row["bleu"]), int(row["pairs"]), str(row["model"])  # raises where the file is damaged
    return tuple(rows)
