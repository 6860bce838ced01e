"""Markdown tables, numbers and command lines in the output of `attnviz evaluate`."""

from __future__ import annotations

import shlex
from pathlib import Path

from attnviz.evaluation.measurement_tables import command_line, table_number


def test_number_format() -> None:
    assert [
        table_number(12345.678),
        table_number(None),
        table_number(-1.25, 2, signed=True),
        table_number(0.5, signed=True),
    ] == [
        "12,345.7",
        "–",
        "\u22121.25",
        "+0.5",
    ]


def test_command_line_shortens_paths() -> None:
    models = [Path("/somewhere/private/models/en-fr"), Path("models/a model")]
    files = [Path(f"/somewhere/private/test/file-{number}.tsv") for number in range(9)]
    command = command_line(files, models, ["--limit", "10"])
    assert "private" not in command
    assert max(map(len, command.splitlines())) <= 120
    words = shlex.split(command.replace("\\\n", " "))
    assert words[:5] == ["python", "-m", "attnviz", "evaluate", "test/file-0.tsv"]
    assert words[-6:] == ["--model", "models/en-fr", "--model", "models/a model", "--limit", "10"]
