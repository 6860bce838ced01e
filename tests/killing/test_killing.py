"""A command that was killed goes on where it was, and ends with the same bytes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.killing.kinds import KINDS
from tests.killing.runs import PerturbedStep

pytestmark = pytest.mark.nightly


@pytest.mark.parametrize("name", sorted(KINDS.keys() - {"corpus"}))  # which tests/corpora kills, in smaller windows
def test_killed_twice_it_ends_with_the_same_bytes(name: str, tmp_path: Path) -> None:
    trial = PerturbedStep(KINDS[name], tmp_path, random.Random(f"{name} 2"))
    differences = []
    while trial.kills < 2 or trial.under_way:
        differences += trial.go_on(kill=trial.kills < 2)
    assert trial.ended
    assert not differences
