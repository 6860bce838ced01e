"""Run a peer program in a separate process over a pipe, to time it alternately with this project."""

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

DRIVERS = {"eole": Path(__file__).with_name("eole_rnn.py")}

KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(2**31 - 1), "MALLOC_TOP_PAD_": str(64 * 2**20), "MALLOC_MMAP_MAX_": "0"}
"""glibc's settings that `attnviz.memory.keep_memory` makes, as environment variables."""


def add_peer(parser: argparse.ArgumentParser) -> None:
    """Give a benchmark the options of a peer."""
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peer", choices=sorted(DRIVERS))
    parser.add_argument("--peer-python", default="python", help="interpreter of the peer's environment")
    parser.add_argument("--peer-widest", type=int, default=512, help="leave out wider networks of the peer's")


class Peer:
    """A running driver. It waits on its pipe, and so takes no processor time, until it is asked for something."""

    def __init__(self, name: str, python: str, *, keep_memory: bool) -> None:
        """Start the driver `name` with the interpreter `python`, and optionally let glibc keep freed memory."""
        settings = KEEP_MEMORY if keep_memory else {}
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed in __exit__)
        self._process = subprocess.Popen(
            [python, "-W", "ignore", str(DRIVERS[name])],
            env={**os.environ, **settings},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )

    def ask(self, action: str, **request: Any) -> dict[str, Any]:
        """Return the driver's answer; raise RuntimeError with its last words where it died."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"action": action, **request}) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it has died: the empty answer below says so
        line = self._process.stdout.readline()
        if not line:
            self._errors.seek(0)
            raise RuntimeError(f"the peer ended during {action!r}:\n{self._errors.read().decode()[-3000:]}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def __enter__(self) -> Self:
        """Return the peer itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the driver by closing its input."""
        self._process.communicate()
        self._errors.close()
