"""Benchmark of one sentence with each model: `python -m tests.benchmarks.models_speed`.

A translator translates it with its whole record, greedily and by a beam of five; a detector judges it. They take turns.
Milliseconds are processor time of one thread, medians, which other work on the machine disturbs less than the clock.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch is loaded

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch

from attnviz import Translator
from attnviz.detector import Detector
from attnviz.model_folder import detector_folders, model_folders
from tests.benchmarks.translation_speed import LONG, SHORT

JUDGED = "Une fille fait du vélo rouge dans le parc."


def ways(folder: Path) -> dict[str, Callable[[], object]]:
    """Return what the translator in `folder` can be asked for, by name."""
    translator = Translator.load(folder)
    return {
        f"{name}, {length}": partial(translator.translate, text, beam=beam)
        for name, beam in (("greedy", 1), ("beam 5", 5))
        for length, text in (("short", SHORT), ("long", LONG))
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, default=Path("models"))
    parser.add_argument("--turns", type=int, default=20)
    options = parser.parse_args()
    torch.set_num_threads(1)
    asked = {(folder.name, name): way for folder in model_folders(options.models) for name, way in ways(folder).items()}
    for folder in detector_folders(options.models):
        asked[folder.name, "judge, short"] = partial(Detector.load(folder).judge, SHORT, JUDGED)
    took: dict[tuple[str, str], list[float]] = {key: [] for key in asked}
    for way in asked.values():
        way()
    for _ in range(options.turns):
        for key, way in asked.items():
            started = time.process_time()
            way()
            took[key].append(1000 * (time.process_time() - started))
    for (model, name), times in took.items():
        print(f"{model:20}{name:16}{statistics.median(times):8.1f} ms", flush=True)


if __name__ == "__main__":
    main()
