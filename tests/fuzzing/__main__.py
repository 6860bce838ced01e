"""Run every fuzzer and report failures: `python -m tests.fuzzing --cases 100000`.

A case fails with an exception that is not a sentence of the program, with more than 5 seconds of the processor's time
(1 second where a file is only read), or where memory goes over 2 GB. It is tried again with
`--only KIND --first N --cases 1`.
"""

from __future__ import annotations

import argparse
import logging
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import NoReturn

import torch

from tests.fuzzing.bench import Bench
from tests.fuzzing.kinds import KINDS, READERS, refused

SECONDS, READING_SECONDS, MEGABYTES = 5.0, 1.0, 2000


def main() -> int:
    """Print a table, and each failure when it happens; return 1 where there was one."""
    options = _options()
    sys.stdout.reconfigure(errors="backslashreplace")  # a failure may quote half a surrogate pair
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", ResourceWarning)  # what a page under test leaves open when it ends
    logging.disable()
    torch.set_num_threads(1)
    signal.signal(signal.SIGALRM, _too_late)
    names = [name for name, (_, often) in KINDS.items() if name in (options.only or KINDS) for _ in range(often)]
    tried, said_no, failed, slowest = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        for number in range(options.first, options.first + options.cases):
            name = random.Random(f"{options.seed} {number}").choice(names)
            started = time.process_time()
            signal.alarm(120)
            try:
                said_no[name] += refused(KINDS[name][0], bench, random.Random(f"{name} {options.seed} {number}"))
                took = time.process_time() - started
                if tried[name] and took > (READING_SECONDS if name in READERS else SECONDS):
                    raise TimeoutError(f"{took:.1f} s")
                if _megabytes() > MEGABYTES:
                    raise MemoryError(f"{_megabytes()} MB")
            except Exception:  # noqa: BLE001  it is what is looked for
                failed[name] += 1
                print(
                    f"--- {name}: --seed {options.seed} --first {number}\n{traceback.format_exc()[-3000:]}", flush=True
                )
            signal.alarm(0)
            if tried[name]:  # the first also makes the bench
                slowest[name] = max(slowest[name], round(1000 * (time.process_time() - started)))
            tried[name] += 1
    print(f"{'kind':10}{'tried':>9}{'refused':>9}{'failed':>9}{'slowest':>10}")
    for name in sorted(tried):
        print(f"{name:10}{tried[name]:9,}{said_no[name]:9,}{failed[name]:9,}{slowest[name]:7,} ms")
    print(f"memory at most {_megabytes()} MB")
    return int(bool(failed.total()))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=KINDS, nargs="+", help="these kinds of input")
    parser.add_argument("--readers", dest="only", action="store_const", const=READERS, help="files that are only read")
    return parser.parse_args()


def _megabytes() -> int:
    """Return the most memory that this process has taken so far."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most // (1024 * 1024 if sys.platform == "darwin" else 1024)


def _too_late(*_: object) -> NoReturn:
    raise TimeoutError("two minutes")


if __name__ == "__main__":
    sys.exit(main())
