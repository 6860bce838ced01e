"""A command that is killed and restarted until it finishes."""

from __future__ import annotations

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

from tests.conftest import REPOSITORY
from tests.killing.kinds import Kind


class KillTrial:
    """A command that is killed and restarted repeatedly."""

    def __init__(self, kind: Kind, folder: Path, chance: random.Random) -> None:
        """Run the command once without a kill, for the expected files and for its duration."""
        self._kind, self._chance, self._bench, self._folder = kind, chance, folder / "bench", folder / "killed"
        self._bench.mkdir()
        self.kills = self.ended = 0
        self.under_way = False
        whole = folder / "whole"
        started = time.monotonic()
        self._run(whole, None)
        self._seconds = time.monotonic() - started
        self._expected = kind.result(whole)

    def resume(self, *, kill: bool) -> list[str]:
        """Start the command, then kill it or let it end; return descriptions of the files that differ."""
        at_file = self._chance.random() < 0.5
        self.under_way = True
        if self._run(self._folder, self._moment(at_file) if kill else None):
            self.kills += 1
            left = self._kind.result(self._folder) if self._kind.whole else {}
            return [f"{name} is not whole after a kill" for name in left if left[name] != self._expected[name]]
        found, self.under_way = self._kind.result(self._folder), False
        self.ended += 1
        differences = [f"{name} differs" for name, content in self._expected.items() if found.get(name) != content]
        differences += [f"{name} is too much" for name in found.keys() - self._expected.keys()]
        shutil.rmtree(self._folder)
        return differences

    def _moment(self, at_file: bool) -> Iterator[bool]:
        """Yield False until the time to kill has come, then True: at a random time, or soon after a file changes."""
        if at_file:
            changes, seen = self._chance.randint(1, 6), _state(self._folder)
            while changes:
                if (now := _state(self._folder)) != seen:
                    changes, seen = changes - 1, now
                yield False
        end = time.monotonic() + self._chance.uniform(0, 0.02 if at_file else self._seconds)
        while time.monotonic() < end:
            yield False
        yield True

    def _run(self, folder: Path, moment: Iterator[bool] | None) -> bool:
        """Run the command in a folder until it ends or `moment` yields True; return whether it was killed."""
        folder.mkdir(exist_ok=True)
        process = subprocess.Popen(
            [sys.executable, "-m", "attnviz", *self._kind.arguments(self._bench, folder)],
            cwd=REPOSITORY,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        while moment is not None and process.poll() is None:
            if next(moment):
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                return True
            time.sleep(0.001)
        _, errors = process.communicate()
        if process.returncode:
            raise AssertionError(f"the command ended with {process.returncode}: {errors[-2000:]}")
        return False


def _state(folder: Path) -> dict[str, int]:
    """Return the modification time of each file."""
    found = {}
    with contextlib.suppress(OSError):  # a file that disappears meanwhile changes the state, too
        for path in folder.rglob("*"):
            found[str(path)] = path.stat().st_mtime_ns
    return found
