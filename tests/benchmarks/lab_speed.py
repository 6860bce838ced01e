"""Benchmark of the lab: attributions of all steps, perturbation tests of one step, and the beam search's tree.

    OMP_WAIT_POLICY=PASSIVE python -m tests.benchmarks.lab_speed --model models/en-fr

Each round computes everything once and prints a line for each: wall seconds and, in brackets, seconds of processor
time, which depends less on other load. The first round fills the caches and is listed separately.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch is loaded

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from attnviz import Translator, analysis, figures
from attnviz.trace import Trace

SENTENCES = {
    "12 words": "The agreement on the European Economic Area was signed in August 1992.",
    "60 words": (
        "When the committee had finally read the whole report, its members agreed that nothing in it was new, that "
        "most of it was wrong, and that the rest, although true, should never have been written down by anyone who "
        "hoped to keep his place among the people who had asked for it in the first place, two years before that day."
    ),
}


def questions(translator: Translator, weights: dict[str, object], trace: Trace) -> dict[str, Callable[[], object]]:
    """Return the function for each attribution, by name."""
    step = len(trace.target_ids) // 2
    attributions, wide = translator.attributions(trace), translator.beam_tree(trace.source_text, beam=12)
    return {
        "the same translation again, beam 5": lambda: translator.translate(trace.source_text, beam=5),
        "the tree of that search": lambda: translator.beam_tree(trace.source_text, beam=5),
        "the tree of a search of width 12": lambda: translator.beam_tree(trace.source_text, beam=12),
        "its picture": lambda: figures.beam_tree(wide).figure().to_json(),
        "attributions (gradient, erased input)": lambda: translator.attributions(trace),
        "answers and agreement": lambda: analysis.agreement(analysis.attribution_methods(trace, weights, attributions)),
        "the five answers, with their agreement": lambda: analysis.agreement(
            analysis.attribution_methods(trace, weights, translator.attributions(trace))
        ),
        "trials of a step": lambda: analysis.perturbation_tests(trace, step, weights),
        "best look of a step": lambda: analysis.best_attention(trace, step, weights),
        "shuffled, all steps": lambda: analysis.shuffled(trace, weights),
        "firmness, all steps": lambda: analysis.minimal_change(trace, weights),
    }


def timed(action: Callable[[], object]) -> tuple[float, float]:
    """Return the wall seconds that `action` takes, and the processor's."""
    wall, busy = time.perf_counter(), time.process_time()
    action()
    return time.perf_counter() - wall, time.process_time() - busy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, default=Path("models/en-fr"))
    parser.add_argument("--turns", type=int, default=3, help="turns after the first (default 3)")
    options = parser.parse_args()
    translator, weights = Translator.load(options.model, device="cpu"), analysis.load_weights(options.model)
    for name, text in SENTENCES.items():
        trace = translator.translate(text, beam=5)
        print(f"{name}: {len(trace.source_ids)} source and {len(trace.target_ids)} target pieces", flush=True)
        for question, ask in questions(translator, weights, trace).items():
            first, *others = [timed(ask) for _ in range(1 + options.turns)]
            wall, busy = (statistics.median(seconds) for seconds in zip(*others or [first], strict=True))
            print(f"  {question:40} {wall:6.2f} s ({busy:.2f}); first {first[0]:.2f} ({first[1]:.2f})", flush=True)


if __name__ == "__main__":
    main()
