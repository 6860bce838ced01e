"""`Section`: a table of measurements as Markdown and as rows for JSON; Markdown of tables, numbers and commands."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TableRow = dict[str, Any]
"""Numbers of one row by column name, fit for JSON."""
MINUS = "\u2212"


@dataclass(frozen=True)
class Section:
    """A titled table or list."""

    key: str
    """Name in JSON."""
    title: str
    records: list[TableRow]
    """All numbers, unrounded or nearly so."""
    body: str
    """The same as Markdown, rounded."""
    kind: str
    """Files that it needs: "pairs", "gold" or "none"."""
    switches: tuple[str, ...] = ()
    """Options, other than models and files, that are needed to print it."""
    notes: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Return title, table and notes."""
        return "\n\n".join([f"{self.title}:", self.body, *self.notes])

    def markdown(self, command: str) -> str:
        """Return the section as Markdown, with the `command` that prints it."""
        return "\n\n".join([f"### {self.title}", f"```sh\n{command}\n```", self.body, *self.notes])


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int = 1) -> str:
    """Return a Markdown table with aligned columns; those after the first `text_columns` are right-aligned numbers."""
    cells = [[cell.replace("|", "\\|") for cell in row] for row in (columns, *rows)]
    widths = [max(3, *(len(row[place]) for row in cells)) for place in range(len(columns))]
    rule = ["-" * width if place < text_columns else "-" * (width - 1) + ":" for place, width in enumerate(widths)]
    lines = []
    for row in (cells[0], rule, *cells[1:]):
        padded = [
            cell.ljust(width) if place < text_columns else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(f"| {' | '.join(padded)} |")
    return "\n".join(lines)


def speed_note(device: str, threads: int) -> str:
    """Return the sentence that says where speed was measured: the type of `device`, and the processor threads."""
    names = {"cpu": "the CPU", "cuda": "the GPU"}
    return f"Speed was measured in batches on {names.get(device, device)}, with {threads} thread{'s'[: threads != 1]}."


def table_number(value: float | None, decimals: int = 1, signed: bool = False) -> str:
    """Return `value` with thousands separators and a true minus sign; a dash for None."""
    if value is None:
        return "–"
    return f"{value:{'+' if signed else ''},.{decimals}f}".replace("-", MINUS)


def short(path: Path) -> str:
    """Return the last two parts of a path, to identify a file in a table."""
    return "/".join(path.parts[-2:])


def command_line(files: Sequence[Path], models: Sequence[Path], options: Sequence[str]) -> str:
    """Return the command that evaluates `models` on `files`, with shortened paths and line breaks."""
    words = [short(path) for path in files]
    words += [word for model in models for word in ("--model", short(model))] + list(options)
    lines = ["python -m attnviz evaluate"]
    for word in map(shlex.quote, words):
        # Keep an option and its value on one line; 112 leaves room for the backslash within 120.
        if len(lines[-1]) + len(word) > 112 and not lines[-1].split(" ")[-1].startswith("--"):
            lines.append("   ")
        lines[-1] += " " + word
    return " \\\n".join(lines)
