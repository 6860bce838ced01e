"""Pyright finds the types of public calls in `tests/typed_calls.py`, as mypy does in `python -m tests`."""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

from deno import find_deno_bin

from tests.conftest import REPOSITORY

CALLS = REPOSITORY / "tests/typed_calls.py"
PYRIGHT = Path(str(files("pyright"))) / "dist/index.js"


def checked(path: Path) -> tuple[int, str]:
    """Return the exit status of Pyright, run by Deno so that no Node.js is needed, and what it printed."""
    command = [find_deno_bin(), "run", "--allow-all", "--unstable-detect-cjs", PYRIGHT]
    done = subprocess.run(
        [*command, "--pythonpath", sys.executable, path], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_pyright_finds_the_types_of_public_calls(tmp_path: Path) -> None:
    code, printed = checked(CALLS)
    assert code == 0, printed
    wrong = tmp_path / "wrong.py"
    wrong.write_text(CALLS.read_text(encoding="utf-8").replace("Translator[Trace])", "Translator[int])"), "utf-8")
    code, printed = checked(wrong)
    assert code == 1
    assert "assert_type" in printed
