"""Benchmark of `attnviz corpus`: pairs per second, and peak memory of all its processes.

    OMP_WAIT_POLICY=PASSIVE python -m tests.benchmarks.corpus_speed train.tsv.xz --pairs 2000 --kinds balanced none

Each sample is a run of the whole command, including the start of its processes and the loading of the model.

Pairs per second of processor time, times the processors, is the speed of an otherwise idle machine. Memory is the
proportional set size, which counts shared pages once.
"""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch is loaded, in every process

import itertools
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from attnviz.corpora import Line, read_lines
from attnviz.memory import keep_few_shapes
from tests.benchmarks.harness import Sample, compare, options_of


def _memory(process: int) -> int:
    """Return the proportional memory of a process and its descendants, in bytes; 0 for one that has ended."""
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    own = sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    return own + sum(map(_memory, map(int, children)))


def run_command(count: int, *arguments: str) -> Iterator[Sample]:
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "attnviz", "corpus", *arguments])
    memory = 0
    while process.poll() is None:
        memory = max(memory, _memory(process.pid))
        time.sleep(0.5)
    if process.returncode:
        raise SystemExit(f"attnviz corpus ended with {process.returncode}")
    after, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - started
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    yield {"pairs/s": count / seconds, "pairs/s of processor": count / spent, "most memory, MiB": memory / 2**20}


def sample_pairs(files: list[Path], pairs: int) -> Iterator[str]:
    """Yield `pairs` pairs: equally many of each file, evenly spread over it."""
    share = pairs // len(files)
    for file in files:
        count = sum(1 for _ in read_lines(file))
        found = itertools.islice(read_lines(file), 0, None, max(1, count // share))
        for line in itertools.islice((line for line in found if isinstance(line, Line)), share):
            yield f"{line.source}\t{line.target}\n"


if __name__ == "__main__":
    parser = options_of(__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--kinds", nargs="+", default=["balanced", "none"])
    parser.add_argument("--workers", type=int, nargs="+", default=[2])
    parser.add_argument("--model", default="models/en-fr")
    parser.add_argument("--precision", default="auto")
    options = parser.parse_args()
    keep_few_shapes()  # as the command does
    with tempfile.TemporaryDirectory() as folder:
        file, table = Path(folder) / "pairs.tsv", Path(folder) / "table.parquet"
        lines = [*sample_pairs(options.files, options.pairs)]
        file.write_text("".join(lines), encoding="utf-8")
        model = ["--model", options.model, "--device", "cpu", "--precision", options.precision]

        def command(kind: str, workers: int) -> Iterator[Sample]:
            table.unlink(missing_ok=True)
            more = ["--kind", kind, "--workers", str(workers)]
            return run_command(len(lines), str(file), "-o", str(table), *model, *more)

        print(f"{len(lines)} pairs", flush=True)
        runs = itertools.product(options.kinds, options.workers)
        contenders = {f"{kind}, {n} workers": partial(command, kind, n) for kind, n in runs}
        compare(contenders, options)
