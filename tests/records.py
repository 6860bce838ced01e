"""Checks for every kind of saved record: round trips, opening without torch, clear errors for damaged files."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import json
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz import AttnvizError
from attnviz.trace.saved import Computation
from tests.conftest import REPOSITORY

Damage = Callable[[dict[str, Any]], object]
"""Changes the JSON of a record."""


def assert_same(one: Computation, other: Computation) -> None:
    """Assert that two records have the same type and equal fields, arrays bit for bit."""
    assert type(one) is type(other)
    for field in dataclasses.fields(one):
        mine, theirs = getattr(one, field.name), getattr(other, field.name)
        if isinstance(mine, np.ndarray):
            assert mine.dtype == theirs.dtype, field.name
            assert np.array_equal(mine, theirs), field.name
        else:
            assert mine == theirs, field.name


def open_without_torch(record: Computation, path: Path, expressions: str, module: str = "attnviz.trace") -> list[str]:
    """Return the words printed when a saved record is opened in a process without torch and other packages.

    The record is saved to `path` and opened by its class, imported from `module`; `expressions` are Python
    expressions about `record` to print.
    """
    record.save(path)
    kind = type(record).__name__
    program = (
        "import sys\n"
        "for name in ('torch', 'streamlit', 'plotly', 'safetensors'): sys.modules[name] = None\n"
        f"from {module} import {kind}\n"
        f"record = {kind}.load(sys.argv[1])\n"
        f"print({expressions})\n"
    )
    command = [sys.executable, "-c", program, str(path)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def packed(array: np.ndarray) -> dict[str, Any]:
    """Return an array in the encoding of a record's JSON."""
    content = base64.b64encode(zlib.compress(array.tobytes())).decode()
    return {"dtype": array.dtype.name, "shape": array.shape, "zlib": content}


def assert_damage_is_refused(record: Computation, damage: Damage, path: Path) -> None:
    """Assert that a damaged record in a file at `path` is refused with an error that names the file."""
    written = json.loads(record.to_json())
    damage(written)
    path.write_text(json.dumps(written), encoding="utf-8")
    with pytest.raises(AttnvizError) as refused:
        type(record).load(path)
    assert path.name in str(refused.value)


def assert_changed_byte_is_handled(record: Computation, place: int, value: int) -> None:
    """Change one byte of a record's JSON, and assert that it opens or raises an AttnvizError."""
    content = bytearray(record.to_json().encode())
    content[place % len(content)] = value
    with contextlib.suppress(AttnvizError):
        type(record).from_json(content.decode("utf-8", errors="replace"))
