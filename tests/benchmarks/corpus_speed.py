"""Benchmark of `attnviz corpus`: pairs per second, and peak memory of all its processes.

    OMP_WAIT_POLICY=PASSIVE python -m tests.benchmarks.corpus_speed train.tsv.xz --pairs 2000 --kinds balanced none

Each line is a run of the whole command, including the start of its processes and the loading of the model.
With --alone, one thread of this process measures pairs without that start, like one actor of `--ray`.

Pairs per second of processor time, times the processors, is the speed of an otherwise idle machine. Memory is the
proportional set size, which counts shared pages once.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch is loaded, in every process

import argparse
import itertools
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

from attnviz.corpora import Analyser, Line, Settings, read_lines
from attnviz.corpora.job import WINDOW
from attnviz.memory import keep_few_shapes

_MEBI = 2**20


@dataclass(frozen=True)
class Measurement:
    """A run of the command."""

    seconds: float
    processor_seconds: float
    memory: int
    """Most of all processes together, in bytes."""


def _process_tree(root: int) -> Iterator[int]:
    """Yield a process and all its descendants."""
    yield root
    try:
        children = Path(f"/proc/{root}/task/{root}/children").read_text().split()
    except OSError:
        return
    for child in children:
        yield from _process_tree(int(child))


def _proportional_memory(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def measure_command(arguments: list[str]) -> Measurement:
    """Run `attnviz corpus` with the arguments."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "attnviz", "corpus", *arguments])
    memory = 0
    while process.poll() is None:
        memory = max(memory, sum(map(_proportional_memory, _process_tree(process.pid))))
        time.sleep(0.5)
    if process.returncode:
        raise SystemExit(f"attnviz corpus ended with {process.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Measurement(time.perf_counter() - started, spent, memory)


def sample_pairs(files: list[Path], pairs: int) -> Iterator[str]:
    """Yield `pairs` pairs: equally many of each file, evenly spread over it."""
    for file in files:
        share = pairs // len(files)
        count = sum(1 for _ in read_lines(file))
        found = itertools.islice(read_lines(file), 0, None, max(1, count // share))
        for line in itertools.islice((line for line in found if isinstance(line, Line)), share):
            yield f"{line.source}\t{line.target}\n"


def pairs_per_cpu_second(file: Path, model: str, kind: str, precision: str) -> float:
    """Return how many pairs one thread computes per second of processor time, after its start."""
    torch.set_num_threads(1)
    analyser = Analyser.load(model, Settings(kind=None if kind == "none" else kind, precision=precision), "cpu")
    lines = [line for line in read_lines(file) if isinstance(line, Line)]
    analyser(lines[:50])
    started = time.process_time()
    for first in range(0, len(lines), WINDOW):
        analyser(lines[first : first + WINDOW])
    return len(lines) / (time.process_time() - started)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--kinds", nargs="+", default=["balanced", "none"])
    parser.add_argument("--workers", type=int, nargs="+", default=[2])
    parser.add_argument("--model", default="models/en-fr")
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--alone", action="store_true")
    options = parser.parse_args()
    keep_few_shapes()  # as the command does
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pairs.tsv"
        file.write_text("".join(sample_pairs(options.files, options.pairs)), encoding="utf-8")
        count = file.read_text(encoding="utf-8").count("\n")
        if options.alone:
            for kind in options.kinds:
                speed = pairs_per_cpu_second(file, options.model, kind, options.precision)
                print(f"{kind:9} {speed:5.0f} pairs/s of processor", flush=True)
            return
        print(f"{count} pairs, {count / (200 * options.workers[0]):.0f} s or so a run\n")
        print("kind      workers  pairs/s  pairs/s of processor  memory MB", flush=True)
        for kind, workers in itertools.product(options.kinds, options.workers):
            table = str(Path(folder) / f"{kind}{workers}.parquet")
            one = measure_command(
                [
                    str(file),
                    "-o",
                    table,
                    "--model",
                    options.model,
                    "--device",
                    "cpu",
                    "--precision",
                    options.precision,
                    "--kind",
                    kind,
                    "--workers",
                    str(workers),
                ]
            )
            print(
                f"{kind:9} {workers:7} {count / one.seconds:8.0f} {count / one.processor_seconds:21.0f} "
                f"{one.memory / _MEBI:10.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
