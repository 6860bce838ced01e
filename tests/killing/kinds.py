"""The commands that are killed: their input, and the files that must be equal in the end."""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from attnviz.model_folder import TRAINING_LOG
from tests.conftest import REPOSITORY

_SUBJECTS = {"the cat": "le chat", "the dog": "le chien", "a girl": "une fille", "the king": "le roi"}
_VERBS = {"sees": "voit", "likes": "aime", "finds": "trouve", "has": "a"}
_OBJECTS = {"a red house": "une maison rouge", "the black sea": "la mer noire", "a blue book": "un livre bleu"}
PAIRS = [
    (f"{s[0]} {v[0]} {o[0]}.", f"{s[1]} {v[1]} {o[1]}.")
    for s, v, o in itertools.product(_SUBJECTS.items(), _VERBS.items(), _OBJECTS.items())
]
_TIMED = ("seconds", "tokens_per_second")
"""The columns of a log that no two runs have in common."""

Result = dict[str, bytes]


@dataclass(frozen=True)
class Kind:
    """A command that goes on where it was."""

    prepare: Callable[[Path], list[str]]
    """Writes what it reads to a folder, and returns its arguments but for the output."""
    output: str
    """What it writes, in a folder that is empty at first."""
    option: str
    """That names it."""
    result: Callable[[Path], Result]
    """Returns what must be the same, by name, of the folder in which it wrote."""
    whole: bool = False
    """Whether a kill may leave nothing but the whole output, or none."""

    def arguments(self, bench: Path, folder: Path) -> list[str]:
        """Return the command, with what `prepare` wrote to `bench`."""
        return [*self.prepare(bench), self.option, str(folder / self.output)]


def _pairs(file: Path, lines: int) -> str:
    text = "".join(f"{a}\t{b}\n" for a, b in itertools.islice(itertools.cycle(PAIRS), lines))
    if not file.exists():
        file.write_text(text, encoding="utf-8")
    return str(file)


def _train(bench: Path) -> list[str]:
    sizes = {
        "vocabulary-size": 80,
        "embedding-size": 16,
        "hidden-size": 24,
        "alignment-size": 16,
        "maxout-size": 16,
        "batch-tokens": 120,
        "updates": 60,
        "warmup": 10,
        "validate-every": 20,
        "checkpoint-every": 7,
        "bleu-sentences": 4,
        "snapshots": 4,
        "threads": 1,
        "patience": 0,
        "average": 2,
    }
    named = {
        "data": _pairs(bench / "train.tsv", 40),
        "validation": _pairs(bench / "validation.tsv", 8),
        "device": "cpu",
        "precision": "fp32",
    }
    return [
        "train",
        *itertools.chain.from_iterable((f"--{name}", str(value)) for name, value in (sizes | named).items()),
    ]


def _trained(folder: Path) -> Result:
    found = _files(folder / "run" / "model") | _files(folder / "run" / "snapshots")
    return found | {
        "log.csv": _without_times((folder / "run" / "log.csv").read_bytes()),
        TRAINING_LOG: _without_times(found[TRAINING_LOG]),
    }


def _without_times(log: bytes) -> bytes:
    """Return a log without its times."""
    rows = [
        {name: value for name, value in row.items() if name not in _TIMED}
        for row in csv.DictReader(io.StringIO(log.decode()))
    ]
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0])
    writer.writerows(rows)
    return text.getvalue().encode()


def _import(_bench: Path) -> list[str]:
    return ["import", str(REPOSITORY / "tests" / "importing" / "fixtures" / "joey")]


def _figure(bench: Path) -> list[str]:
    attention = bench / "attention.json"
    if not attention.exists():
        words = [f"w{k}" for k in range(60)]
        rows = [[1 / 60] * 60 for _ in words]
        attention.write_text(json.dumps({"source": words, "target": words, "matrix": rows}), encoding="utf-8")
    return ["figure", "--attention", str(attention)]


def _drawn(folder: Path) -> Result:
    page = folder / "out.html"
    return {page.name: page.read_bytes()} if page.exists() else {}


def _files(folder: Path) -> Result:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


KINDS = {
    "train": Kind(_train, "run", "--output", _trained),
    "figure": Kind(_figure, "out.html", "--output", _drawn, whole=True),
    "import": Kind(_import, "mine", "--output", _files),
}
"""By name; `tests/corpora` kills the command `corpus`, in smaller windows."""
