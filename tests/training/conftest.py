"""Fixtures: the files of a tiny text, and a run that learned it, made once."""

from pathlib import Path

import pytest

from attnviz import train
from tests.small_run import Files, tiny, write_texts

MOMENTS = (0, 20, 300)
"""Updates at which the run kept its weights."""


@pytest.fixture(scope="session")
def files(tmp_path_factory) -> Files:
    return write_texts(tmp_path_factory.mktemp("text"))


@pytest.fixture(scope="session")
def learned(files, tmp_path_factory) -> Path:
    """Return the folder of a finished run, with markup in its name."""
    output, updates = tmp_path_factory.mktemp("learned") / "<run>", MOMENTS[-1]
    train(tiny(files, output, updates=updates, validate_every=100, dropout=0.0, keep_at=MOMENTS))
    return output
