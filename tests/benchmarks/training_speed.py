"""Benchmark of the training loop: target pieces per second, alone or alternating with a peer.

    OMP_WAIT_POLICY=PASSIVE python -m tests.benchmarks.training_speed
    python -m tests.benchmarks.training_speed --peer eole --peer-python ../peer/bin/python --data multi30k.tsv.xz

Every contender learns from the same batches, with dropout and label smoothing 0.1, gradients clipped and Adam. They
take turns (A B A B ...), so that whatever else the machine does falls on all alike. Ours has the sizes m, n (each
encoder direction and the decoder), n' = l = n. eole's network has one size for decoder, attention, readout and the
encoder's two directions together: with that equal to n, none of our sizes is smaller than its own; with 2n, the
encoders are the same and its decoder is twice as wide.
"""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch is loaded

import argparse
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import torch

from attnviz.decoding import padded
from attnviz.memory import keep_memory
from attnviz.network import ModelConfig, RNNsearch
from attnviz.network.products import choose_precision
from attnviz.pair_files import read_pairs
from attnviz.text import BOS, EOS, Tokenizer
from attnviz.training.encoded_pairs import Batch
from attnviz.training.objective import Objective
from tests.benchmarks.harness import Measure, Sample, compare, options_of
from tests.benchmarks.peers.process import Ask, add_peer, running_peer

Rows = list[list[int]]
Batches = list[tuple[Rows, Rows]]


def add_sizes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--embedding", type=int, default=256, help="m")
    parser.add_argument("--vocabulary", type=int, default=8000, help="K, of either language")
    parser.add_argument("--batch", type=int, default=80, help="sentence pairs a batch")
    parser.add_argument("--batches", type=int, default=6, help="updates a turn")
    parser.add_argument("--data", type=Path, help="sentence pairs (.tsv, .tsv.xz) in place of generated ones")


def make_rows(options: argparse.Namespace) -> Batches:
    """Return batches of piece ids (source, target), special pieces left out, sentences of like length together.

    Lengths, and with `--data` the pieces too, are those of captions and everyday sentences: about 14, from 3 to 50.
    """
    random, count = np.random.default_rng(1), 4 * options.batch * options.batches
    if options.data:
        pairs = read_pairs(options.data).pairs
        tokenizer = Tokenizer.train((side for pair in pairs for side in pair), options.vocabulary)
        chosen = [pairs[i] for i in random.permutation(len(pairs))[:count]]
        sides = [tokenizer.encode_batch([pair[side] for pair in chosen]) for side in (0, 1)]
    else:
        lengths = np.clip(random.gamma(5.0, 2.8, count), 3, 50).astype(int)
        other = np.clip(lengths * random.normal(1.1, 0.15, len(lengths)), 3, 60).astype(int)
        # Zipf's law, as words have it, over the ordinary pieces.
        odds = 1 / np.arange(1, options.vocabulary - 3)
        odds /= odds.sum()
        sides = [[random.choice(len(odds), size, p=odds) + 4 for size in sizes] for sizes in (lengths, other)]
    # An unknown piece becomes an ordinary one, since its id is padding elsewhere.
    source, target = ([[max(EOS + 1, int(piece)) for piece in row] for row in side] for side in sides)
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

    def sizes(self) -> dict[str, int]:
        total = sum(weight.numel() for weight in self.network.parameters())
        tables = (self.network.encoder.embedding.weight, self.network.decoder.embedding.weight)
        return {"weights": total, "body": total - sum(table.numel() for table in tables)}

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


def peer_turn(ask: Ask, pieces: int) -> float:
    """Have the peer update once on each batch; return target pieces a second."""
    answer = ask("train")
    if answer["tokens"] != pieces:
        raise RuntimeError(f"the peer learnt from {answer['tokens']} pieces, not from {pieces}")
    return float(answer["tokens"] / answer["seconds"])


def contenders(size: int, options: argparse.Namespace, stack: ExitStack) -> dict[str, Measure]:
    rows = make_rows(options)
    ours = Ours(size, options, rows)
    # Without bfloat16 instructions a turn in bfloat16 takes minutes.
    fastest = choose_precision("auto", torch.device("cpu"))
    precisions = ["bf16", "fp32"] if fastest == "bf16" else ["fp32"]
    found: dict[str, Measure] = {}

    def add(name: str, sizes: dict[str, int], turn: object, *given: object) -> None:
        def measure() -> Iterator[Sample]:
            yield {f"n={size}, pieces/s": turn(*given)}

        found[f"{name} ({sizes['body'] / 1e6:.1f} of {sizes['weights'] / 1e6:.1f} M)"] = measure

    for precision in precisions:
        add(f"attnviz {precision}", ours.sizes(), ours.turn, precision)
    widths = [hidden for hidden in (size, 2 * size) if options.peer and hidden <= options.peer_widest]
    kinds = [(hidden, precision, True) for hidden in widths for precision in precisions]
    for hidden, precision, keep in [*kinds, *((hidden, fastest, False) for hidden in widths)]:
        ask = stack.enter_context(running_peer(options, keep_memory=keep))
        sizes = {name: getattr(options, name) for name in ("vocabulary", "embedding", "threads")}
        built = ask("build", hidden=hidden, precision=precision, **sizes)
        ask("load_batches", batches=[{"source": source, "target": target} for source, target in rows])
        malloc = "" if keep else ", default malloc"
        add(f"{options.peer} {hidden} {precision}{malloc}", built, peer_turn, ask, ours.pieces)
    return found


if __name__ == "__main__":
    parser = options_of(__doc__, turns=5)
    parser.add_argument("--sizes", type=int, nargs="+", default=[256, 512], help="n, and n' = l = n")
    add_sizes(parser)
    add_peer(parser)
    options = parser.parse_args()
    options.seconds //= len(options.sizes)
    torch.set_num_threads(options.threads)
    keep_memory()
    for size in options.sizes:
        with ExitStack() as stack:
            compare(contenders(size, options, stack), options, warm_up=1)
