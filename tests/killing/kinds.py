"""The command that is killed: its input, and the files that must be equal in the end."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from attnviz.model_folder import TRAINING_LOG
from tests.small_run import write_texts

_TIMED = ("seconds", "tokens_per_second")
"""The columns of a log that no two runs have in common."""
Result = dict[str, bytes]


@dataclass(frozen=True)
class Kind:
    """A command that goes on where it was, and writes to the folder `run` of a folder."""

    prepare: Callable[[Path], list[str]]
    """Writes what it reads to a folder, and returns its arguments but for the output."""
    result: Callable[[Path], Result]
    """Returns what must be the same, by name, of the folder in which it wrote."""

    def arguments(self, bench: Path, folder: Path) -> list[str]:
        """Return the command, with what `prepare` wrote to `bench`."""
        return [*self.prepare(bench), "--output", str(folder / "run")]


def _train(bench: Path) -> list[str]:
    files = dict(zip(("data", "validation"), map(str, write_texts(bench)), strict=True))
    sizes = {"vocabulary-size": 80, "embedding-size": 16, "hidden-size": 24, "alignment-size": 16, "maxout-size": 16}
    often = {"updates": 60, "warmup": 10, "validate-every": 20, "checkpoint-every": 7, "batch-tokens": 120}
    more = {"bleu-sentences": 4, "snapshots": 4, "threads": 1, "patience": 0, "average": 2, "device": "cpu"}
    options = files | sizes | often | more | {"precision": "fp32"}
    return ["train", *itertools.chain.from_iterable((f"--{name}", str(value)) for name, value in options.items())]


def _trained(folder: Path) -> Result:
    files = [file for part in ("model", "snapshots") for file in sorted((folder / "run" / part).rglob("*"))]
    found = {str(file.relative_to(folder)): file.read_bytes() for file in files if file.is_file()}
    log = f"run/model/{TRAINING_LOG}"
    return found | {
        "log.csv": _without_times((folder / "run" / "log.csv").read_bytes()),
        log: _without_times(found[log]),
    }


def _without_times(log: bytes) -> bytes:
    """Return a log without its times."""
    lines = csv.DictReader(io.StringIO(log.decode()))
    return repr([{name: row[name] for name in row if name not in _TIMED} for row in lines]).encode()


KINDS = {"train": Kind(_train, _trained)}
"""By name; `tests/corpora` interrupts the command `corpus`, and `tests/test_files.py` kills a writer of one file."""
