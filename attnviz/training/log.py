"""Write and read the CSV log of a training run, and draw it as an HTML page with curves over updates."""

from __future__ import annotations

import csv
import html
import io
import math
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from attnviz.errors import AttnvizError
from attnviz.files import check_regular, replace_text
from attnviz.trace.snapshots import Curve

if TYPE_CHECKING:
    from attnviz.training.run_state import LossSums, TrainingProgress

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
        self, progress: TrainingProgress, values: Mapping[str, float], rate: float | None = None, weights: str = ""
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
        check_regular(path)
        with path.open(newline="", encoding="utf-8", errors="replace") as file:
            for row in csv.DictReader(file):
                values = {name: row.get(name) or "" for name in COLUMNS}
                if values["update"].isdecimal() and len(values["update"]) < 15:
                    rows.append(values)
    except (OSError, csv.Error, AttnvizError):
        return rows
    return rows


CURVES = {"training": "train_likelihood", "loss": "validation_loss", "bleu": "validation_bleu"}
"""Columns of the log that are plotted over the updates, by curve name."""


def read_curves(path: Path) -> dict[str, Curve]:
    """Return the non-empty curves in a log, without validations of averaged weights."""
    rows = [row for row in read_log(path) if not row["weights"].startswith(MEAN)]
    curves = {name: {int(update): value for update, value in _points(rows, CURVES[name])} for name in CURVES}
    return {name: tuple(sorted(curve.items())) for name, curve in curves.items() if curve}


class Window:
    """Loss sums since the last row of the log, and the speed of this process over them."""

    def __init__(self, sums: LossSums) -> None:
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


Point = tuple[float, float]
"""(update, value)."""

_TRAINING, _VALIDATION, _MEAN = (
    "light-dark(#5f6368, #a8adb3)",
    "light-dark(#1d4ed8, #8ab4f8)",
    "light-dark(#b93815, #fb923c)",
)
_WIDTH, _HEIGHT, _LEFT, _GAP = 760, 180, 70, 60
LOSS = "Loss, nats per target piece or, of a detector, per pair"
_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 860px; margin: 2rem auto; padding: 0 1rem; }
svg { width: 100%; height: auto; }
text { fill: currentColor; font-size: 13px; }
.grid { stroke: currentColor; opacity: 0.2; }
polyline { fill: none; stroke-width: 1.5; }
"""

_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>{style}</style></head>
<body><h1>{title}</h1>
<svg role="img" aria-label="{title}" viewBox="{box}">
{drawn}
</svg>
<p>The numbers are in log.csv beside this file.</p></body></html>
"""


@dataclass(frozen=True)
class Series:
    """One curve of a plot; `with_points` draws its points, `joined` the line between them."""

    name: str
    colour: str
    points: list[Point]
    with_points: bool = False
    joined: bool = True


def write_curve(log: Path, path: Path, name: str) -> None:
    """Write the curves of the run `name` with this `log` to `path` (.html); raise AttnvizError where that fails."""
    replace_text(path, curve_html(read_log(log), name))


def curve_html(rows: Sequence[LogRow], name: str) -> str:
    """Return the page for these rows of the log: one self-contained HTML file without scripts."""
    last = [row for row in rows if not row["weights"].startswith(MEAN)]
    mean = [row for row in rows if row["weights"].startswith(MEAN)]

    def series(label: str, colour: str, column: str, **style: bool) -> Series:
        return Series(label, colour, _points(last, column), **style)

    def averaged(column: str) -> Series:
        return Series("mean of the last weights", _MEAN, _points(mean, column), with_points=True, joined=False)

    pictures = {
        LOSS: [
            series("training", _TRAINING, "train_likelihood"),
            series("validation", _VALIDATION, "validation_loss", with_points=True),
            averaged("validation_loss"),
        ],
        "BLEU of validation sentences, greedy": [
            series("validation", _VALIDATION, "validation_bleu", with_points=True),
            averaged("validation_bleu"),
        ],
        "Accuracy on validation pairs, in per cent": [
            series("validation", _VALIDATION, "validation_accuracy", with_points=True),
            averaged("validation_accuracy"),
        ],
        "Learning rate": [series("learning rate", _TRAINING, "learning_rate")],
    }
    updates = max([float(row["update"]) for row in rows], default=0.0)
    # A translator has no accuracy, a detector no BLEU.
    pictures = {
        title: lines for title, lines in pictures.items() if title == LOSS or any(line.points for line in lines)
    }
    drawn = [_plot_svg(title, lines, place, updates) for place, (title, lines) in enumerate(pictures.items())]
    title = html.escape(f"Training of {name}, {updates:,.0f} updates")
    box = f"0 0 {_WIDTH + 2 * _LEFT} {len(pictures) * (_HEIGHT + _GAP)}"
    return _PAGE.format(title=title, style=_STYLE, box=box, drawn="\n".join(drawn))


_SMALLEST = 1e-300
"""Values below this have too few digits to be divided."""


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return round tick values, at most `most` steps apart, that enclose `low` and `high`."""
    span = high - low
    if span <= max(1e-6 * max(abs(low), abs(high)), _SMALLEST):  # nearly constant
        span = abs(high) if abs(high) > _SMALLEST else 1.0
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(factor * power for factor in (1, 2, 5, 10, 20) if factor * power * most >= span)
    first, end = math.floor(low / step), math.ceil(high / step)
    return [float(f"{multiple * step:.12g}") for multiple in range(first, max(end, first + 1) + 1)]


def _points(rows: Sequence[LogRow], column: str) -> list[Point]:
    points = []
    for row in rows:
        try:
            value = float(row[column])
        except ValueError:  # no value in this row
            continue
        if math.isfinite(value):
            points.append((float(row["update"]), value))
    return points


def _plot_svg(title: str, lines: Sequence[Series], index: int, updates: float) -> str:
    """Return one plot as SVG, the `index`-th from the top."""
    values = [value for line in lines for _, value in line.points] or [0.0]
    across, up = ticks(0, updates, 8), ticks(min(values), max(values))
    bottom = index * (_HEIGHT + _GAP) + _HEIGHT + _GAP / 2

    def at(point: Point) -> tuple[float, float]:
        x, y = point[0] / across[-1], (point[1] - up[0]) / (up[-1] - up[0])
        return _LEFT + x * _WIDTH, bottom - y * (_HEIGHT - 10)

    parts = [f'<text x="{_LEFT}" y="{bottom - _HEIGHT:.0f}" font-weight="600">{title}</text>']
    for value in up:
        y = at((0, value))[1]
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_LEFT + _WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>')
    for value in across:
        x = at((value, 0))[0]
        parts.append(f'<text x="{x:.1f}" y="{bottom + 18:.0f}" text-anchor="middle">{value:,.0f}</text>')
    legend = float(_LEFT + _WIDTH)
    for line in reversed([line for line in lines if line.points]):
        y = bottom - _HEIGHT
        parts.append(f'<text x="{legend}" y="{y}" text-anchor="end" style="fill:{line.colour}">{line.name}</text>')
        legend -= 8 * len(line.name) + 20
    for line in lines:
        parts += _line_elements(line, [at(point) for point in line.points])
    return "\n".join(parts)


def _line_elements(line: Series, coordinates: Sequence[Point]) -> list[str]:
    """Return the SVG elements of `line`, whose points have the coordinates `coordinates`."""
    parts = []
    if line.joined and coordinates:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in coordinates)
        parts.append(f'<polyline points="{path}" style="stroke:{line.colour}"/>')
    if line.with_points:
        for (x, y), (update, value) in zip(coordinates, line.points, strict=True):
            tooltip = f"<title>{line.name}, update {update:,.0f}: {value:g}</title>"
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" style="fill:{line.colour}">{tooltip}</circle>')
    return parts
