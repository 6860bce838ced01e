"""Read the cost of training a model from its training log."""

from __future__ import annotations

import csv
from pathlib import Path

from attnviz.evaluation.tables import TableRow


def training_cost(folder: Path) -> TableRow:
    """Return updates, pieces and seconds of training, by name of their column; None each where there is no log.

    They are in the last row of the training log, in the model's folder or beside it in the folder of a run.
    """
    path = folder / "training-log.csv"
    path = path if path.is_file() else folder.parent / "log.csv"
    try:
        with path.open(newline="", encoding="utf-8", errors="replace") as file:
            *_, row = csv.DictReader(file)
        return {
            "training_updates": int(row["update"]),
            "training_pieces": int(row["tokens"]),
            "training_seconds": float(row["seconds"]),
        }
    except (OSError, csv.Error, KeyError, ValueError, TypeError):  # no log, or an empty one
        return dict.fromkeys(("training_updates", "training_pieces", "training_seconds"))
