"""Figures are made while another thread imports pandas."""

from __future__ import annotations

import subprocess
import sys

from tests.conftest import REPOSITORY

WHILE_IMPORTING = """
import sys, threading
from attnviz import lazy_pandas
from attnviz.figures.build import build, figure_json

assert "pandas" not in sys.modules
importing = threading.Thread(target=lambda: lazy_pandas.DataFrame)
importing.start()
made = 0
while importing.is_alive() or not made:
    figure_json(build([{"type": "bar", "x": [1, 2], "y": [3.0, 4.0]}], {}))
    made += 1
importing.join()
assert "pandas" in sys.modules
"""


def test_figures_are_made_while_another_thread_imports_pandas() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WHILE_IMPORTING], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
