"""Benchmark of the training loop: target pieces per second, alone or alternating with a peer.

    OMP_WAIT_POLICY=PASSIVE python -m tests.benchmarks.training_speed
    python -m tests.benchmarks.training_speed --peer eole --peer-python ../peer/bin/python --data multi30k.tsv.xz

Every contender learns from the same batches, with dropout and label smoothing 0.1, gradients clipped and Adam. They
take turns (A B A B ...), so that whatever else the machine does falls on all alike; the medians over the turns, and the
median ratio within a turn, are printed. Ours has the sizes m, n (each encoder direction and the decoder), n' = l = n.
eole's network has one size for decoder, attention, readout and the encoder's two directions together: with that equal
to n, none of our sizes is smaller than its own; with 2n, the encoders are the same and its decoder is twice as wide.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch is loaded

import argparse
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
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
from tests.benchmarks.peers.process import DRIVERS, Peer

Rows = list[list[int]]
Turn = Callable[[], float]
"""Trains once on every batch; returns target pieces a second."""


def make_rows(options: argparse.Namespace) -> list[tuple[Rows, Rows]]:
    """Return batches of piece ids (source, target), special pieces left out, sentences of like length together.

    Lengths, and with `--data` the pieces too, are those of captions and everyday sentences: about 14, from 3 to 50.
    """
    random = np.random.default_rng(1)
    count = options.batch * options.batches
    if options.data:
        pairs = read_pairs(options.data).pairs
        tokenizer = Tokenizer.train((side for pair in pairs for side in pair), options.vocabulary)
        chosen = [pairs[i] for i in random.permutation(len(pairs))[: 4 * count]]
        sides = [tokenizer.encode_batch([pair[side] for pair in chosen]) for side in (0, 1)]
    else:
        lengths = np.clip(random.gamma(5.0, 2.8, 4 * count), 3, 50).astype(int)
        other = np.clip(lengths * random.normal(1.1, 0.15, len(lengths)), 3, 60).astype(int)
        # Zipf's law, as words have it, over the ordinary pieces.
        odds = 1 / np.arange(1, options.vocabulary - 3)
        sides = [
            [random.choice(len(odds), size, p=odds / odds.sum()) + 4 for size in sizes] for sizes in (lengths, other)
        ]
    source, target = sides
    order = sorted(range(len(source)), key=lambda i: (len(target[i]), len(source[i])))
    cuts = [order[start : start + options.batch] for start in range(0, len(order), options.batch)]
    chosen_cuts = [cuts[i] for i in random.permutation(len(cuts))[: options.batches]]
    return [tuple(_ordinary(side, cut) for side in (source, target)) for cut in chosen_cuts]  # type: ignore[misc]


def _ordinary(side: Rows, cut: list[int]) -> Rows:
    """Return these sentences as lists; an unknown piece becomes an ordinary one, since its id is padding elsewhere."""
    return [[max(EOS + 1, int(piece)) for piece in side[i]] for i in cut]


def as_batch(source: Rows, target: Rows) -> Batch:
    """Return one batch as the training loop has it."""
    sources = [[*ids, EOS] for ids in source]
    return Batch(
        source=padded(sources),
        source_lengths=torch.tensor([len(ids) for ids in sources]),
        previous=padded([[BOS, *ids] for ids in target]),
        target=padded([[*ids, EOS] for ids in target]),
    )


class Ours:
    """Our network, loss and optimizer, updated as `attnviz.training.loop` does it."""

    def __init__(self, size: int, options: argparse.Namespace, batches: list[Batch]) -> None:
        config = ModelConfig(options.vocabulary, options.embedding, size, size, size, dropout=0.1)
        self.network = RNNsearch(config)
        self.network.initialise(torch.Generator().manual_seed(1))
        self.objective = Objective(self.network, 0.1)
        self.optimizer = torch.optim.Adam(self.network.parameters(), 1e-3, (0.9, 0.98), fused=True)
        self.batches, self.pieces = batches, sum(batch.target_tokens for batch in batches)
        self.network.train()

    def sizes(self) -> tuple[int, int]:
        """Return the number of weights, and those outside the two embeddings."""
        total = sum(weight.numel() for weight in self.network.parameters())
        tables = (self.network.encoder.embedding.weight, self.network.decoder.embedding.weight)
        return total, total - sum(table.numel() for table in tables)

    def turn(self, precision: str) -> float:
        """Update once on each batch; return target pieces a second."""
        started = time.perf_counter()
        for batch in self.batches:
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bf16"):
                loss, _ = self.objective(batch)
            (loss / batch.target_tokens).backward()
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
            self.optimizer.step()
            self.optimizer.zero_grad()
        if not torch.isfinite(loss):
            raise RuntimeError("training diverged: this is no speed to report")
        return self.pieces / (time.perf_counter() - started)


def peer_turn(peer: Peer, pieces: int) -> float:
    """Have the peer update once on each batch; return target pieces a second."""
    answer = peer.ask("train")
    if answer["tokens"] != pieces:
        raise RuntimeError(f"the peer learnt from {answer['tokens']} pieces, not from {pieces}")
    return float(answer["tokens"] / answer["seconds"])


def contenders(size: int, options: argparse.Namespace, stack: ExitStack) -> dict[str, Turn]:
    """Return the contenders at this size by name, ours first."""
    rows = make_rows(options)
    ours = Ours(size, options, [as_batch(*pair) for pair in rows])
    total, body = ours.sizes()
    # Without bfloat16 instructions a turn in bfloat16 takes minutes.
    fastest = choose_precision("auto", torch.device("cpu"))
    precisions = ["bf16", "fp32"] if fastest == "bf16" else ["fp32"]
    turns: dict[str, Turn] = {
        f"attnviz n={size} {precision} ({body / 1e6:.1f} of {total / 1e6:.1f} M weights)": partial(ours.turn, precision)
        for precision in precisions
    }
    if not options.peer:
        return turns
    widths = [hidden for hidden in (size, 2 * size) if hidden <= options.peer_widest]
    kinds = [(hidden, precision, True) for hidden in widths for precision in precisions]
    for hidden, precision, keep in [*kinds, *((hidden, fastest, False) for hidden in widths)]:
        peer = stack.enter_context(Peer(options.peer, options.peer_python, keep_memory=keep))
        found = peer.ask(
            "build",
            vocabulary=options.vocabulary,
            embedding=options.embedding,
            hidden=hidden,
            precision=precision,
            threads=options.threads,
        )
        peer.ask("load_batches", batches=[{"source": source, "target": target} for source, target in rows])
        name = f"{options.peer} {hidden} {precision}{'' if keep else ', default malloc'}"
        turns[f"{name} ({found['body'] / 1e6:.1f} of {found['weights'] / 1e6:.1f} M weights)"] = partial(
            peer_turn, peer, ours.pieces
        )
    return turns


def report(speeds: dict[str, list[float]]) -> None:
    """Print the median speeds, and the ratio of our best precision to each within a turn."""
    names = [name for name in speeds if name.startswith("attnviz")]
    ours = max(names, key=lambda name: statistics.median(speeds[name]))
    for name, values in speeds.items():
        ratio = statistics.median(mine / its for mine, its in zip(speeds[ours], values, strict=True))
        spread = f"{min(values):.0f} to {max(values):.0f}"
        print(f"{name:54} {statistics.median(values):8.0f} pieces/s  ({spread:>14})   ours is {ratio:5.2f} x")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[256, 512], help="n, and n' = l = n")
    parser.add_argument("--embedding", type=int, default=256, help="m")
    parser.add_argument("--vocabulary", type=int, default=8000, help="K, of either language")
    parser.add_argument("--batch", type=int, default=80, help="sentence pairs a batch")
    parser.add_argument("--batches", type=int, default=6, help="updates a turn")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--data", type=Path, help="sentence pairs (.tsv, .tsv.xz) in place of generated ones")
    parser.add_argument("--peer", choices=sorted(DRIVERS))
    parser.add_argument("--peer-python", default="python", help="interpreter of the peer's environment")
    parser.add_argument("--peer-widest", type=int, default=512, help="leave out wider networks of the peer's")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    keep_memory()
    for size in options.sizes:
        with ExitStack() as stack:
            turns = contenders(size, options, stack)
            speeds: dict[str, list[float]] = {name: [] for name in turns}
            print(f"\n{options.batches} batches of {options.batch} pairs, {options.turns} turns, n={size}", flush=True)
            for number in range(options.turns + 1):  # the first warms up
                for name, turn in turns.items():
                    speed = turn()
                    print(f"turn {number} of {options.turns}: {name:54} {speed:8.0f} pieces/s", flush=True)
                    if number:
                        speeds[name].append(speed)
            report(speeds)


if __name__ == "__main__":
    main()
