"""A training run that is killed and restarted until it finishes ends with the same bytes."""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.small_run import assert_same_run, tiny, train_command

pytestmark = pytest.mark.nightly


def state_of(folder: Path) -> dict[str, int]:
    found = {}
    with contextlib.suppress(OSError):  # a file that disappears meanwhile changes the state, too
        for path in folder.rglob("*"):
            found[str(path)] = path.stat().st_mtime_ns
    return found


def moment(folder: Path, seconds: float, chance: random.Random) -> Iterator[bool]:
    """Yield False until the time to kill has come, then True: at a random time, or soon after a file changes."""
    if at_file := chance.random() < 0.5:
        changes, seen = chance.randint(1, 6), state_of(folder)
        while changes:
            if (now := state_of(folder)) != seen:
                changes, seen = changes - 1, now
            yield False
    end = time.monotonic() + chance.uniform(0, 0.02 if at_file else seconds)
    while time.monotonic() < end:
        yield False
    yield True


def run(arguments: list[str], until: Iterator[bool] | None = None) -> bool:
    """Run the command until it ends or `until` yields True; return whether it was killed."""
    how = {"cwd": REPOSITORY, "env": os.environ | {"OMP_NUM_THREADS": "1"}, "start_new_session": True, "text": True}
    command = [sys.executable, "-m", "attnviz", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **how)
    while until is not None and process.poll() is None:
        if next(until):
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return True
        time.sleep(0.001)
    _, errors = process.communicate()
    assert process.returncode == 0, f"the command ended with {process.returncode}: {errors[-2000:]}"
    return False


def test_command_killed_twice_ends_with_same_bytes(files, tmp_path) -> None:
    """The command `corpus` is interrupted in `tests/corpora`, and the writer of one file in `tests/test_files.py`."""
    whole, killed = (tmp_path / name / "run" for name in ("whole", "killed"))  # snapshots have the folder's name
    chance, kills = random.Random("train 2"), 0
    commands = [train_command(tiny(files, output, average=2)) for output in (whole, killed)]
    started = time.monotonic()
    run(commands[0])
    seconds = time.monotonic() - started
    while kills < 2:
        if run(commands[1], moment(killed, seconds, chance)):
            kills += 1
        else:  # it was too quick
            shutil.rmtree(killed)
    run(commands[1])
    assert_same_run(whole, killed)
    saved = []
    for output in (whole, killed):
        paths = [output / "model" / "model.safetensors", *sorted((output / "model" / "snapshots").rglob("*"))]
        saved.append({path.name: path.read_bytes() for path in paths if path.is_file()})
    assert len(saved[0]) > 1
    assert saved[0] == saved[1]
