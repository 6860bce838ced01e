"""Compare a GPU with the CPU, then measure it: `python -m tests.benchmarks.gpu`.

For each model: the largest difference between the devices of every number that a step records, under forced decoding
of the CPU's translations, and how many sentences both devices translate alike. Then, for the first model: milliseconds
for one sentence with everything recorded, sentences per second in batches, pairs per second of `corpus`, and target
pieces per second of training.
"""

from __future__ import annotations

import argparse
import dataclasses
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from attnviz.corpora import Analyser, Line, Settings
from attnviz.devices import resolve_device
from attnviz.errors import AttnvizError
from attnviz.network.products import bfloat16_speed
from attnviz.text import EOS
from attnviz.training.encoded_pairs import Corpus, make_batch
from attnviz.training.objective import Objective
from attnviz.training.preparation import start_from
from attnviz.training.run_state import make_optimizers
from attnviz.training.training_config import TrainingConfig
from attnviz.translator import Translator

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
REPEATS = 3


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=["models/en-fr"])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--batch-tokens", type=int, nargs="+", default=[6_000, 24_000, 48_000])
    options = parser.parse_args()
    try:
        device = resolve_device(options.device)
    except AttnvizError as error:
        raise SystemExit(str(error)) from error
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else str(device)
    print(f"{name}, torch {torch.__version__}, bf16 {bfloat16_speed(device.type, device.index):.1f} times fp32\n")
    for folder in options.models:
        compare_devices(folder, options.device)
    folder = options.models[0]
    for one in ("cpu", options.device):
        measure_translation(folder, one)
    for precision in ("fp32", "bf16"):
        for batch_tokens in options.batch_tokens:
            speed = training_speed(folder, device, precision, batch_tokens)
            print(f"training, {precision}, batches of {batch_tokens:,}: {speed:,.0f} target pieces/s", flush=True)


def compare_devices(folder: str, device: str) -> None:
    """Print the largest difference of each recorded array, and how many sentences are translated alike."""
    cpu, gpu = Translator.load(folder, "cpu", "fp32"), Translator.load(folder, device, "fp32")
    largest: dict[str, float] = {}
    for sentence in SENTENCES:
        here = cpu.translate(sentence, beam=5)
        there = gpu.translate(sentence, target=[*map(int, here.target_ids)])
        same = cpu.translate(sentence, target=[*map(int, here.target_ids)])
        for field in dataclasses.fields(same):
            one, other = getattr(same, field.name), getattr(there, field.name)
            if isinstance(one, np.ndarray) and one.dtype.kind == "f" and one.size:
                found = float(np.abs(one - other).max())
                largest[field.name] = max(found, largest.get(field.name, 0.0))
    print(f"{folder}: largest differences between CPU and {device}, forced decoding")
    print("  " + ", ".join(f"{name} {value:.1e}" for name, value in sorted(largest.items())))
    for beam in (1, 5):
        alike = sum(cpu.translate(s, beam=beam).target_ids == gpu.translate(s, beam=beam).target_ids for s in SENTENCES)
        print(f"  beam {beam}: {alike} of {len(SENTENCES)} sentences translated alike", flush=True)


def measure_translation(folder: str, device: str) -> None:
    """Print the speeds of translation and of the corpus analysis on a device."""
    translator: Translator[Any] = Translator.load(folder, device)
    batch = [*SENTENCES] * 10
    for beam in (1, 5):
        one = _seconds(lambda: [translator.translate(s, beam=beam) for s in SENTENCES]) / len(SENTENCES)  # noqa: B023
        many = len(batch) / _seconds(lambda: translator.translate_batch(batch, beam=beam))  # noqa: B023
        print(f"{device}, beam {beam}: {1000 * one:.0f} ms a sentence, {many:,.0f} sentences/s in batches", flush=True)
    lines = [Line(number, s, translator.translate(s, beam=1).translation) for number, s in enumerate(batch, 1)]
    for kind in ("balanced", None):
        analyser = Analyser.load(folder, Settings(kind=kind), device)
        speed = len(lines) / _seconds(lambda: analyser(lines))  # noqa: B023
        print(f"{device}, corpus, posterior {kind or 'none'}: {speed:,.0f} pairs/s", flush=True)


def training_speed(folder: str, device: torch.device, precision: str, batch_tokens: int) -> float:
    """Return target pieces per second of whole updates, Muon and Adam, of sentences of 8 to 40 pieces."""
    tokenizer = Translator.load(folder, "cpu").tokenizer
    network = start_from(folder, tokenizer, dropout=0.1).to(device).train()
    config = TrainingConfig(data=("-",), validation=("-",), output="-", precision=precision)
    optimizers, objective = make_optimizers(network, config), Objective(network, 0.1)
    random = np.random.default_rng(1)
    batches = []
    for length in (8, 16, 24, 40):
        count = batch_tokens // length
        ids = random.integers(EOS + 1, len(tokenizer), 2 * count * length, dtype=np.int32)
        starts = np.arange(0, count * length + 1, length)
        corpus = Corpus(ids[: count * length], starts, ids[count * length :], starts, np.ones(count, np.float32))
        batches.append(make_batch(corpus, np.arange(count)))
    pieces = sum(batch.target_tokens for batch in batches)
    on_device = [batch.to(device) for batch in batches]

    def turn() -> None:
        for batch in on_device:
            with torch.autocast(device.type, torch.bfloat16, enabled=precision == "bf16"):
                loss, _ = objective(batch)
            (loss / batch.target.numel()).backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            for optimizer in optimizers:
                optimizer.step()
                optimizer.zero_grad()
        float(loss.detach())

    return pieces / _seconds(turn)


def _seconds(action: Callable[[], object]) -> float:
    """Return the median time in seconds of an action, which ends with a result on the CPU, after one not measured."""
    action()
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


if __name__ == "__main__":
    main()
