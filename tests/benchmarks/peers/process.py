"""Run a peer program in a separate process over a pipe, to time it alternately with this project."""

import argparse
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

Ask = Callable[..., dict[str, Any]]
DRIVERS = {"eole": Path(__file__).with_name("eole_rnn.py")}
KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(2**31 - 1), "MALLOC_TOP_PAD_": str(64 * 2**20), "MALLOC_MMAP_MAX_": "0"}
"""glibc's settings that `attnviz.memory.keep_memory` makes, as environment variables."""


def add_peer(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peer", choices=sorted(DRIVERS))
    parser.add_argument("--peer-python", default="python", help="interpreter of the peer's environment")
    parser.add_argument("--peer-widest", type=int, default=512, help="leave out wider networks of the peer's")


@contextmanager
def running_peer(options: argparse.Namespace, *, keep_memory: bool) -> Iterator[Ask]:
    """Run the peer of the `options`; yield a function that returns its answer to a request.

    It waits on its pipe, and so takes no processor time, until it is asked. With `keep_memory`, glibc keeps memory.
    """
    command = [options.peer_python, "-W", "ignore", str(DRIVERS[options.peer])]
    how = {"env": os.environ | (KEEP_MEMORY if keep_memory else {}), "stdin": subprocess.PIPE, "text": True}
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, **how) as process,
    ):

        def ask(action: str, **request: Any) -> dict[str, Any]:
            with suppress(BrokenPipeError):  # it has died: the empty answer below says so
                process.stdin.write(json.dumps({"action": action, **request}) + "\n")
                process.stdin.flush()
            if not (line := process.stdout.readline()):
                errors.seek(0)
                raise RuntimeError(f"the peer ended during {action!r}:\n{errors.read().decode()[-3000:]}")
            return json.loads(line)

        yield ask
