"""Benchmark of the training loop: target pieces per second.

    OMP_WAIT_POLICY=PASSIVE python -m tests.benchmarks.training_speed

Every network learns from the same batches, with dropout and label smoothing 0.1, gradients clipped and Adam. They take
turns (A B A B ...), so that whatever else the machine does falls on all alike. n is the size of each direction of the
encoder and of the decoder; n' = l = n.
"""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch is loaded

import argparse
import time
from collections.abc import Iterator
from functools import partial

import numpy as np
import torch

from attnviz.decoding import padded
from attnviz.memory import keep_memory
from attnviz.network import ModelConfig, RNNsearch
from attnviz.network.products import choose_precision
from attnviz.text import BOS, EOS
from attnviz.training.encoded_pairs import Batch
from attnviz.training.objective import Objective
from tests.benchmarks.harness import Sample, compare, options_of

Rows = list[list[int]]
Batches = list[tuple[Rows, Rows]]


def add_sizes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--embedding", type=int, default=256, help="m")
    parser.add_argument("--vocabulary", type=int, default=8000, help="K, of either language")
    parser.add_argument("--batch", type=int, default=80, help="sentence pairs a batch")
    parser.add_argument("--batches", type=int, default=6, help="updates a turn")


def make_rows(options: argparse.Namespace) -> Batches:
    """Return batches of piece ids (source, target), special pieces left out, sentences of like length together.

    Lengths are those of captions and everyday sentences: about 14, from 3 to 50.
    """
    random, count = np.random.default_rng(1), 4 * options.batch * options.batches
    lengths = np.clip(random.gamma(5.0, 2.8, count), 3, 50).astype(int)
    other = np.clip(lengths * random.normal(1.1, 0.15, len(lengths)), 3, 60).astype(int)
    # Zipf's law, as words have it, over the ordinary pieces.
    odds = 1 / np.arange(1, options.vocabulary - EOS)
    odds /= odds.sum()
    sides = [[random.choice(len(odds), size, p=odds) + EOS + 1 for size in sizes] for sizes in (lengths, other)]
    source, target = ([row.tolist() for row in side] for side in sides)
    order = sorted(range(len(source)), key=lambda i: (len(target[i]), len(source[i])))
    cuts = [order[start : start + options.batch] for start in range(0, len(order), options.batch)]
    chosen_cuts = [cuts[i] for i in random.permutation(len(cuts))[: options.batches]]
    return [([source[i] for i in cut], [target[i] for i in cut]) for cut in chosen_cuts]


def as_batch(source: Rows, target: Rows) -> Batch:
    sources = [[*ids, EOS] for ids in source]
    return Batch(
        source=padded(sources),
        source_lengths=torch.tensor([len(ids) for ids in sources]),
        previous=padded([[BOS, *ids] for ids in target]),
        target=padded([[*ids, EOS] for ids in target]),
    )


class Ours:
    """Our network, loss and optimizer, updated as `attnviz.training.loop` does it."""

    def __init__(self, size: int, options: argparse.Namespace, rows: Batches, device: str = "cpu") -> None:
        config = ModelConfig(options.vocabulary, options.embedding, size, size, size, dropout=0.1)
        network = RNNsearch(config)
        network.initialise(torch.Generator().manual_seed(1))
        self.network, self.device = network.to(device).train(), torch.device(device)
        self.objective = Objective(self.network, 0.1)
        self.optimizer = torch.optim.Adam(self.network.parameters(), 1e-3, (0.9, 0.98), fused=True)
        self.batches = [as_batch(*pair).to(self.device) for pair in rows]
        self.pieces = sum(batch.target_tokens for batch in self.batches)

    def turn(self, precision: str) -> float:
        """Update once on each batch; return target pieces a second."""
        started = time.perf_counter()
        for batch in self.batches:
            with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=precision == "bf16"):
                loss, _ = self.objective(batch)
            (loss / batch.target_tokens).backward()
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
            self.optimizer.step()
            self.optimizer.zero_grad()
        if not torch.isfinite(loss):  # and wait for the device
            raise RuntimeError("training diverged: this is no speed to report")
        return self.pieces / (time.perf_counter() - started)


def measure(ours: Ours, precision: str) -> Iterator[Sample]:
    yield {"pieces/s": ours.turn(precision)}


if __name__ == "__main__":
    parser = options_of(__doc__, turns=5)
    parser.add_argument("--sizes", type=int, nargs="+", default=[256, 512], help="n, and n' = l = n")
    parser.add_argument("--threads", type=int, default=2)
    add_sizes(parser)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    keep_memory()
    # Without bfloat16 instructions a turn in bfloat16 takes minutes.
    precisions = ["bf16", "fp32"] if choose_precision("auto", torch.device("cpu")) == "bf16" else ["fp32"]
    rows = make_rows(options)
    networks = {size: Ours(size, options, rows) for size in options.sizes}
    contenders = {f"n={n} {one}": partial(measure, networks[n], one) for n in networks for one in precisions}
    compare(contenders, options, warm_up=1)
