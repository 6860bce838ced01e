"""A command that was killed resumes and ends with the same bytes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.killing.kinds import KINDS
from tests.killing.runs import KillTrial

pytestmark = pytest.mark.nightly


@pytest.mark.parametrize("name", sorted(KINDS))
def test_command_killed_twice_ends_with_same_bytes(name: str, tmp_path: Path) -> None:
    trial = KillTrial(KINDS[name], tmp_path, random.Random(f"{name} 2"))
    differences = []
    while trial.kills < 2 or trial.under_way:
        differences += trial.resume(kill=trial.kills < 2)
    assert trial.ended
    assert not differences
