"""Run Python in a process of its own, and wait for other threads and processes."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.conftest import REPOSITORY


def run_python(*arguments: object, folder: Path = REPOSITORY, **settings: str) -> str:
    """Run this Python with `settings` in its environment; return what it prints, or fail with that and its errors."""
    command, environment = [sys.executable, *map(str, arguments)], os.environ | settings
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}{done.stderr[-3000:]}"
    return done.stdout


def wait_until(condition: Callable[[], object], seconds: float = 120) -> None:
    """Return once the condition holds; fail after so many seconds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the condition never held"
        time.sleep(0.001)
