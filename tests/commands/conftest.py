"""The fixture of the tests of commands: it runs one in this process."""

import io
import re
import sys
from collections.abc import Callable

import pytest

from attnviz.commands.main import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(model_folder, capfd, monkeypatch) -> Run:
    """Return a function that runs a command with the tiny model: exit code, output, errors.

    Errors are without the progress bar, which appears after a second and so only on a busy machine.
    """

    def run_command(command: str, *arguments: str, given: str | bytes = "") -> tuple[int, str, str]:
        content = given.encode() if isinstance(given, str) else given
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        model = ["--model", str(model_folder)] if command != "train" else []
        code = main([command, "--device", "cpu", *model, *arguments])
        captured = capfd.readouterr()
        return code, captured.out, re.sub(r"\r[^\r\n]*\n?", "", captured.err)

    return run_command
