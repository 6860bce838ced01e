"""The run's CSV log: a row every few updates and at every validation."""

from __future__ import annotations

import csv
from pathlib import Path

from attnviz.training.state import Progress

COLUMNS = (
    "update", "epoch", "tokens", "seconds", "learning_rate", "tokens_per_second",
    "train_loss", "train_likelihood", "validation_loss", "validation_bleu",
)  # fmt: skip


class Log:
    """Appends rows; losses are nats per target piece, the likelihood is without label smoothing."""

    def __init__(self, path: Path, update: int) -> None:
        """Open the log of a run that stands at `update`; rows a killed run wrote after its checkpoint are dropped."""
        self.path = path
        kept: list[dict[str, str]] = []
        if path.exists():
            with path.open(newline="", encoding="utf-8") as file:
                rows = csv.DictReader(file)
                kept = [row for row in rows if (row["update"] or "").isdigit() and int(row["update"]) <= update]
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(kept)

    def write(self, progress: Progress, rate: float | None = None, **values: float) -> None:
        """Append a row; columns without a value stay empty."""
        row = {
            "update": progress.update, "epoch": progress.epoch, "tokens": progress.tokens,
            "seconds": f"{progress.seconds:.1f}", "learning_rate": "" if rate is None else f"{rate:.3g}",
        } | {name: f"{value:.5g}" for name, value in values.items()}  # fmt: skip
        with self.path.open("a", newline="", encoding="utf-8") as file:
            csv.DictWriter(file, COLUMNS).writerow(row)
