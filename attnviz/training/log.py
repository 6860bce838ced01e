"""Write and read the CSV log of a training run: one row every few updates and one at every validation."""

from __future__ import annotations

import csv
import io
import math
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from attnviz.errors import AttnvizError
from attnviz.files import replace_text
from attnviz.trace.snapshots import Curve

if TYPE_CHECKING:
    from attnviz.training.state import Progress, Sums

COLUMNS = (
    "update",
    "epoch",
    "tokens",
    "seconds",
    "learning_rate",
    "tokens_per_second",
    "train_loss",
    "train_likelihood",
    "validation_loss",
    "validation_bleu",
    "validation_accuracy",
    "weights",
)
MEAN = "mean"
"""Prefix of the column `weights` in rows of validations of averaged weights; other validations use the current ones."""

LogRow = dict[str, str]


class Log:
    """CSV log of a run; losses are nats per term of the loss, the likelihood is without label smoothing."""

    def __init__(self, path: Path, update: int) -> None:
        """Open the log of a run that resumes at `update`.

        Rows beyond `update`, written after the last checkpoint, are dropped. So are those of averaged weights, which
        will be measured again.
        """
        self.path = path
        rows = [row for row in read_log(path) if int(row["update"]) <= update and not row["weights"].startswith(MEAN)]
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
        replace_text(path, text.getvalue())

    def write(
        self, progress: Progress, values: Mapping[str, float], rate: float | None = None, weights: str = ""
    ) -> None:
        """Append a row with `values` by column; other columns stay empty.

        Raise AttnvizError where that fails.
        """
        row = {
            "update": progress.update,
            "epoch": progress.epoch,
            "tokens": progress.tokens,
            "weights": weights,
            "seconds": f"{progress.seconds:.1f}",
            "learning_rate": "" if rate is None else f"{rate:.3g}",
        } | {name: f"{value:.5g}" for name, value in values.items()}
        try:
            with self.path.open("a", newline="", encoding="utf-8") as file:
                csv.DictWriter(file, COLUMNS).writerow(row)
                file.flush()
                # The row must be on disk before the checkpoint of the same update, from which a run may resume.
                os.fsync(file.fileno())
        except OSError as error:
            raise AttnvizError(f"The log {self.path} cannot be written: {error.strerror}.") from error


def read_log(path: Path) -> list[LogRow]:
    """Return the rows of a log by column, with "" for missing values.

    A missing log has no rows; invalid rows of a damaged file are skipped.
    """
    rows: list[LogRow] = []
    try:
        with path.open(newline="", encoding="utf-8", errors="replace") as file:
            for row in csv.DictReader(file):
                values = {name: row.get(name) or "" for name in COLUMNS}
                if values["update"].isdecimal() and len(values["update"]) < 15:
                    rows.append(values)
    except (OSError, csv.Error):
        return rows
    return rows


CURVES = {"training": "train_likelihood", "loss": "validation_loss", "bleu": "validation_bleu"}
"""Columns of the log that are plotted over the updates, by curve name."""


def read_curves(path: Path) -> dict[str, Curve]:
    """Return the non-empty curves in a log, without validations of averaged weights."""
    rows = [row for row in read_log(path) if not row["weights"].startswith(MEAN)]
    curves = {
        name: {int(row["update"]): float(row[column]) for row in rows if _is_number(row[column])}
        for name, column in CURVES.items()
    }
    return {name: tuple(sorted(curve.items())) for name, curve in curves.items() if curve}


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


class Window:
    """Loss sums since the last row of the log, and the speed of this process over them."""

    def __init__(self, sums: Sums) -> None:
        """Continue `sums`, which may come from before this process started."""
        self.sums, self._before, self._started = sums, sums.tokens, time.perf_counter()

    def row(self) -> dict[str, float]:
        """Return the values of the log's columns."""
        count = max(1, self.sums.tokens)
        return {
            "train_loss": self.sums.loss / count,
            "train_likelihood": self.sums.likelihood / count,
            "tokens_per_second": (self.sums.tokens - self._before) / (time.perf_counter() - self._started),
        }

    def report(self) -> dict[str, str]:
        """Return what the progress bar shows."""
        row = self.row()
        return {"tok/s": f"{row['tokens_per_second']:.0f}", "loss": f"{row['train_likelihood']:.3f}"}
