"""Run the project's checks: those of a push, or all with `--all`.

    python -m tests [--all] [--only PART] [-- PYTEST_ARGUMENT ...]

Every part runs, also after one that failed; the exit status is 1 if any failed.
"""

import argparse
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
PARTS = {
    "format": ["ruff", "format", "--check"],
    "lint": ["ruff", "check"],
    "types": ["mypy"],
    "javascript": ["pytest", "tests/javascript", "--numprocesses=0", "--noconftest", "-p", "no:cacheprovider"],
    "tests": ["pytest", "--ignore=tests/javascript", "--durations=10", "--snapshot-details"],
}
"""The command of each part, by `python -m`."""


@dataclass(frozen=True)
class Result:
    """How a part ended, and what it printed if that was held back."""

    part: str
    seconds: float
    passed: bool
    output: str

    def __str__(self) -> str:
        return f"{self.part:<12}{self.seconds:>8.1f} s   {'passed' if self.passed else 'FAILED'}"


def environment(nightly: bool) -> dict[str, str]:
    # Idle OpenMP threads that spin would take the cores from everything else.
    added = {"OMP_WAIT_POLICY": "PASSIVE"}
    # Two pytest workers use two cores: more threads in each make tests of tensors 16 % slower (117 and 98 s of
    # processor time). The nightly suite keeps them, as users do.
    added |= {} if nightly else {"OMP_NUM_THREADS": "1"}
    # Some forty processes of a run import the package: without bytecode each compiles it, for 0.6 s.
    return added | os.environ | {"PYTHONDONTWRITEBYTECODE": ""}


def run(part: str, *more: str, nightly: bool = False, quiet: bool = True) -> Result:
    """Run one part; hold its output back if `quiet`."""
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", *PARTS[part], *more],
        cwd=REPOSITORY,
        env=environment(nightly),
        stdout=subprocess.PIPE if quiet else None,
        stderr=subprocess.STDOUT if quiet else None,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    return Result(part, time.perf_counter() - started, done.returncode == 0, done.stdout or "")


def report(result: Result) -> Result:
    print(result if result.passed else f"{result.output}{result}", flush=True)
    return result


def main() -> int:
    """Run the parts, print each as it ends and all in a table, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests", description="Run the checks of a push.")
    parser.add_argument("--all", action="store_true", help="run the nightly tests too, and try more generated input")
    parser.add_argument("--only", choices=PARTS, action="append", help="run this part only; may be repeated")
    parser.add_argument("pytest", nargs="*", metavar="-- ARGUMENT", help="arguments for pytest")
    options = parser.parse_args()
    chosen = ["--hypothesis-profile=nightly"] if options.all else ["-m", "not nightly"]
    wanted = [part for part in PARTS if part in (options.only or PARTS)]
    started = time.perf_counter()
    results = [report(run(part)) for part in wanted if part in ("format", "lint")]
    with ThreadPoolExecutor() as pool:
        # In the background: browser tests leave the cores idle for much of their time.
        held = [pool.submit(run, part) for part in wanted if part in ("types", "javascript")]
        tests = [run("tests", *chosen, *options.pytest, nightly=options.all, quiet=False)] if "tests" in wanted else []
        results += [report(future.result()) for future in held]
    results += [report(result) for result in tests]
    print(f"\n{'part':<12}{'time':>10}   result", *results, sep="\n")
    print(f"{'together':<12}{time.perf_counter() - started:>8.1f} s")
    return int(not all(result.passed for result in results))


if __name__ == "__main__":
    sys.exit(main())
