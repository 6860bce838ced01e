"""Benchmark of translation: one sentence with its Trace, greedy and beam 5, and sentences per second in batches.

    OMP_WAIT_POLICY=PASSIVE python -m tests.benchmarks.translation_speed --model models/en-fr

Each model folder translates its own way, or judges.
"""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch is loaded

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import torch

from attnviz import Translator
from attnviz.detector import Detector
from attnviz.model_folder import DETECTOR, model_folders
from tests.benchmarks.harness import Sample, compare, options_of, seconds_of

SHORT = "A girl is riding a red bicycle through the park."
LONG = (
    "When the committee had finally read the whole report, its members agreed that nothing in it was new, that most "
    "of it was wrong, and that the rest, although true, should never have been written down by anyone who hoped to "
    "keep his place."
)
"""About 16 and 50 pieces to a model trained on such text."""
JUDGED = "Une fille fait du vélo rouge dans le parc."
MANY = 100


def timed_anew(translator: Translator, action: Callable[[], object]) -> float:
    """Return the seconds that `action` takes when the translator has not encoded its sentence before."""
    translator._memory_of.cache_clear()
    return seconds_of(action)


def measure_folder(model: str, device: str, precision: str = "auto") -> Iterator[Sample]:
    """Yield the speeds of a model folder as it is used; a detector judges a short sentence."""
    if Path(model) in model_folders(Path(model).parent, (DETECTOR,)):
        yield _with_processor("short", partial(Detector.load(model, device).judge, SHORT, JUDGED))
        return
    translator: Translator = Translator.load(model, device, precision)
    for name, sentence in (("short", SHORT), ("long", LONG)):
        for beam in (1, 5):
            translate = partial(translator.translate, sentence, beam=beam)
            translate()
            yield _with_processor(f"{name}, beam {beam}", partial(timed_anew, translator, translate))
    many = [" ".join(SHORT.split()[: 4 + i % 7]) for i in range(MANY)]
    for beam in (1, 5):
        taken = timed_anew(translator, partial(translator.translate_batch, many, beam=beam))
        yield {f"{MANY} together, beam {beam}, sentences/s": MANY / taken}


def _with_processor(name: str, action: Callable[[], object]) -> Sample:
    before = time.process_time()
    return {f"{name}, ms": 1e3 * seconds_of(action), f"{name}, ms of processor": 1e3 * (time.process_time() - before)}


if __name__ == "__main__":
    parser = options_of(__doc__, turns=20)
    parser.add_argument("--model", nargs="+", default=["models/en-fr"], help="model folders to measure")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="auto", help="fp32 for what a processor without VNNI does")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    found = {one: partial(measure_folder, one, options.device, options.precision) for one in options.model}
    compare(found, options, warm_up=2)
