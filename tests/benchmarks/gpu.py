"""Compare a GPU with the CPU, then measure it: `python -m tests.benchmarks.gpu`.

First, the largest difference between the devices of every number that a step records, under forced decoding of the
CPU's translations, and how many sentences both devices translate alike. Then both devices take turns: milliseconds for
one sentence with everything recorded, sentences and pairs of `corpus` per second, and target pieces per second of
training.
"""

import argparse
import dataclasses
from collections.abc import Iterator
from functools import partial

import numpy as np
import torch

from attnviz import AttnvizError, Translator
from attnviz.corpora import Analyser, Line, Settings
from attnviz.devices import resolve_device
from attnviz.network.products import bfloat16_speed
from tests.benchmarks.harness import Sample, compare, options_of, seconds_of
from tests.benchmarks.training_speed import Ours, add_sizes, make_rows
from tests.benchmarks.translation_speed import measure_folder

SENTENCES = (
    "The green house at the end of the street is very old.",
    "Two men in blue shirts are playing guitar on a busy street.",
    "I do not know where he went.",
    "A little girl climbing into a wooden playhouse.",
    "The Commission will present its report to the European Parliament before the end of the year.",
    "Did you see the film that everyone is talking about?",
    "If I had known that you were coming, I would have baked a cake.",
    "Mr. Speaker, the agreement on the European Economic Area was signed in August 1992.",
    "My brother, who lives in Canada, has just bought a new car, although the old one still worked very well.",
    "Thank you.",
    "The children were playing in the park while their parents sat on a bench and looked at the photographs.",
    "She gave him the book because he had asked for it.",
)


def compare_devices(folder: str, device: str) -> None:
    """Print the largest difference of each recorded array, and how many sentences are translated alike."""
    cpu, gpu = Translator.load(folder, "cpu", "fp32"), Translator.load(folder, device, "fp32")
    largest: dict[str, float] = {}
    for sentence in SENTENCES:
        target = [*map(int, cpu.translate(sentence, beam=5).target_ids)]
        here, there = (one.translate(sentence, target=target) for one in (cpu, gpu))
        for field in dataclasses.fields(here):
            one, other = getattr(here, field.name), getattr(there, field.name)
            if isinstance(one, np.ndarray) and one.dtype.kind == "f" and one.size:
                largest[field.name] = max(float(np.abs(one - other).max()), largest.get(field.name, 0.0))
    print(f"{folder}: largest differences between CPU and {device}, forced decoding")
    print("  " + ", ".join(f"{name} {value:.1e}" for name, value in sorted(largest.items())))
    for beam in (1, 5):
        alike = sum(cpu.translate(s, beam=beam).target_ids == gpu.translate(s, beam=beam).target_ids for s in SENTENCES)
        print(f"  beam {beam}: {alike} of {len(SENTENCES)} sentences translated alike", flush=True)


def measure(device: str, options: argparse.Namespace) -> Iterator[Sample]:
    yield from measure_folder(options.model, device)
    translator = Translator.load(options.model, device)
    lines = [Line(n, s, translator.translate(s, beam=1).translation) for n, s in enumerate(SENTENCES * 10, 1)]
    for kind in ("balanced", None):
        analyser = Analyser.load(options.model, Settings(kind=kind), device)
        yield {f"corpus, posterior {kind or 'none'}, pairs/s": len(lines) / seconds_of(lambda: analyser(lines))}  # noqa: B023
    if device != "cpu":
        for precision, batch in ((p, b) for p in ("fp32", "bf16") for b in options.batch_sizes):
            ours = Ours(256, options, make_rows(argparse.Namespace(**vars(options) | {"batch": batch})), device)
            ours.turn(precision)
            yield {f"training, {precision}, batches of {batch} pairs, pieces/s": ours.turn(precision)}


if __name__ == "__main__":
    parser = options_of(__doc__, turns=2)
    add_sizes(parser)
    parser.add_argument("--model", default="models/en-fr")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--batch-sizes", type=int, nargs="+", default=[400, 1600, 3200])
    options = parser.parse_args()
    try:
        device = resolve_device(options.device)
    except AttnvizError as error:
        raise SystemExit(str(error)) from error
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else str(device)
    print(f"{name}, torch {torch.__version__}, bf16 {bfloat16_speed(device.type, device.index):.1f} times fp32\n")
    compare_devices(options.model, options.device)
    devices = dict.fromkeys(["cpu", options.device])
    compare({one: partial(measure, one, options) for one in devices}, options, warm_up=1)
