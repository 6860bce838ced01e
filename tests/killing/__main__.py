"""Kill commands at random moments, restart them until they finish, and compare their output with uninterrupted runs.

    python -m tests.killing --kinds train corpus import --times 50

Half of the kills happen at any time, half a moment after an output file changed, which is mostly during the writing of
the next.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

from tests.killing.kinds import KINDS
from tests.killing.runs import KillTrial


def main() -> int:
    """Print a table, and each difference when it is found; return 1 where there was one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--times", type=int, default=50, help="kills of each kind")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    table = [f"{'kind':8}{'kills':>7}{'at a file':>11}{'runs ended':>12}{'differ':>8}"]
    differing = 0
    for name in options.kinds:
        with tempfile.TemporaryDirectory() as folder:
            trial = KillTrial(KINDS[name], Path(folder), random.Random(f"{name} {options.seed}"))
            while trial.kills < options.times or trial.under_way:
                print(f"{name}: {trial.kills} kills, {trial.ended} runs ended", end="\r", file=sys.stderr, flush=True)
                for difference in trial.resume(kill=trial.kills < options.times):
                    differing += 1
                    print(f"{name}, --seed {options.seed}, after {trial.kills} kills: {difference}", flush=True)
            table.append(f"{name:8}{trial.kills:7}{trial.at_files:11}{trial.ended:12}{trial.differing:8}")
    print("\n".join(table))
    return int(bool(differing))


if __name__ == "__main__":
    sys.exit(main())
