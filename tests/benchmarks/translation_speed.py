"""Benchmark of translation: one sentence with its Trace, greedy and beam 5, and sentences per second in batches.

    OMP_WAIT_POLICY=PASSIVE python -m tests.benchmarks.translation_speed --model models/en-fr
    python -m tests.benchmarks.translation_speed --random-size 256 512 --peer eole --peer-python ../peer/bin/python

With `--model`, the model folder translates its own way. With `--random-size` the network is made up (m = 256,
n' = l = n, 8,000 pieces) and every translation is made to take a fixed number of steps, since random networks end at
random: the closing piece is made so unlikely that only the limit on the length ends a translation. The peer gets the
same treatment, sentences of the same numbers of pieces and the same steps; it is handed ids and returns ids with the
attention, while ours goes from text to the full record. Contenders take turns (A B A B ...) in one run. eole's network
has one size for decoder, attention, readout and the encoder's two directions together: with that equal to n, none of
our sizes is smaller than its own; with 2n, the encoders are the same and its decoder is twice as wide.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch is loaded

import argparse
import random
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from unittest.mock import patch

import torch

import attnviz.translator
from attnviz import Translator
from attnviz.network import ModelConfig, RNNsearch
from attnviz.text import EOS, Tokenizer
from tests.benchmarks.peers.process import DRIVERS, Peer

SHORT = "A girl is riding a red bicycle through the park."
LONG = (
    "When the committee had finally read the whole report, its members agreed that nothing in it was new, that most "
    "of it was wrong, and that the rest, although true, should never have been written down by anyone who hoped to "
    "keep his place."
)
"""About 16 and 50 pieces to a model trained on such text."""

Turn = Callable[[], float]
"""Translates once; returns the seconds it took."""


def timed(action: Callable[[], object]) -> float:
    """Return the seconds `action` takes."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def made_up_text(count: int, seed: int) -> list[str]:
    """Return sentences of 5 to 20 made-up words, of syllables, frequent ones far more often than rare ones."""
    source = random.Random(seed)
    syllables = [a + b for a in "bcdfgklmnprstv" for b in ("a", "e", "i", "o", "u", "an", "er", "ou")]
    words = ["".join(source.choices(syllables, k=source.randint(1, 4))) for _ in range(9000)]
    odds = [1 / (rank + 3) for rank in range(len(words))]
    return [" ".join(source.choices(words, odds, k=source.randint(5, 20))) + "." for _ in range(count)]


def sentence_of(pieces: int, text: list[str], tokenizer: Tokenizer) -> str:
    """Return a sentence of exactly so many pieces, made of the words of `text`."""
    words: list[str] = []
    for word in " ".join(text).split():
        if len(tokenizer.encode(" ".join([*words, word]))) <= pieces:
            words.append(word)
        if len(tokenizer.encode(" ".join(words))) == pieces:
            return " ".join(words)
    raise ValueError(f"the text has no sentence of {pieces} pieces")


def random_translator(size: int, tokenizer: Tokenizer, precision: str) -> Translator:
    """Return a translator with random weights that never ends a translation of its own accord."""
    network = RNNsearch(ModelConfig(len(tokenizer), 256, size, size, size))
    network.initialise(torch.Generator().manual_seed(1))
    with torch.no_grad():
        for weight in network.parameters():  # as `save_model` stores them
            weight.copy_(weight.half())
        network.decoder.output.bias[EOS] = -1e4
    translator = Translator(network.requires_grad_(False).eval(), tokenizer)
    translator.prepared.decoder.output.set_precision(precision)
    return translator


def timed_anew(translator: Translator, action: Callable[[], object]) -> float:
    """Return the seconds that `action` takes when the translator has not encoded its sentence before."""
    translator._memory_of.cache_clear()
    return timed(action)


def fixed(steps: int, translator: Translator, translate: Callable[[], object]) -> Turn:
    """Return a turn whose translations are ended after exactly so many steps."""

    def turn() -> float:
        with patch.object(attnviz.translator, "longest_target", lambda _: steps):
            return timed_anew(translator, translate)

    return turn


def peer_turn(peer: Peer, sources: list[list[int]], steps: int) -> float:
    """Have the peer translate once, and hold it to the number of steps."""
    answer = peer.ask("translate", sources=sources, repeats=1)
    if answer["steps"] != steps:
        raise RuntimeError(f"the peer took {answer['steps']} steps, not {steps}")
    return float(answer["seconds"][0])


def report(title: str, turns: dict[str, Turn], count: int, sentences: int = 1) -> None:
    """Let the contenders take turns and print median and 95th percentile, or sentences a second; ours is the first."""
    seconds: dict[str, list[float]] = {name: [] for name in turns}
    for number in range(count + 2):  # two to warm up
        for name, turn in turns.items():
            taken = turn()
            if number > 1:
                seconds[name].append(taken)
    print(f"\n{title}, {count} turns")
    ours = next(iter(seconds))
    for name, values in seconds.items():
        ratio = statistics.median(mine / its for mine, its in zip(seconds[ours], values, strict=True))
        middle, high = statistics.median(values), sorted(values)[int(0.95 * (len(values) - 1))]
        latency = f"{1e3 * middle:6.1f} ms, p95 {1e3 * high:6.1f}"
        speed = f"{sentences / middle:8.0f} sentences/s" if sentences > 1 else latency
        compared = f"   ours takes {ratio:4.2f} of its time" if name != ours else ""
        print(f"  {name:42} {speed}{compared}", flush=True)


def benchmark_against_peer(size: int, options: argparse.Namespace) -> None:
    """Compare at one size, all translations being of fixed length."""
    text = made_up_text(4000, seed=1)
    tokenizer = Tokenizer.train(text, 8000)
    ours = random_translator(size, tokenizer, options.precision)
    many = text[:100]
    name = f"attnviz n={size}, with the Trace"
    with ExitStack() as stack:
        peers: dict[str, dict[int, Peer]] = {}
        for hidden in (size, 2 * size) if options.peer else ():
            if hidden <= options.peer_widest:
                peers[f"{options.peer} {hidden}, with attention"] = {
                    beam: stack.enter_context(Peer(options.peer, options.peer_python, keep_memory=True))
                    for beam in (1, 5)
                }
            for peer in peers.get(f"{options.peer} {hidden}, with attention", {}).values():
                peer.ask(
                    "build", vocabulary=8000, embedding=256, hidden=hidden, precision="fp32", threads=options.threads
                )
        for pieces in (16, 50):
            sentence = sentence_of(pieces - 1, text, tokenizer)  # the closing piece makes it `pieces`
            source = [[*tokenizer.encode(sentence), EOS]]
            for beam in (1, 5):
                turns = {name: fixed(pieces, ours, partial(ours.translate, sentence, beam=beam))}
                for other, by_beam in peers.items():
                    by_beam[beam].ask("load_translator", beam=beam, steps=pieces)
                    turns[other] = partial(peer_turn, by_beam[beam], source, pieces)
                how = "greedy" if beam == 1 else f"beam {beam}"
                report(f"One sentence, {pieces} pieces in, {pieces} steps, {how}", turns, options.turns)
        turns = {f"attnviz n={size}": fixed(16, ours, partial(ours.translate_batch, many, beam=1))}
        for other, by_beam in peers.items():
            by_beam[1].ask("load_translator", beam=1, steps=16)
            turns[other] = partial(peer_turn, by_beam[1], [[*tokenizer.encode(s), EOS] for s in many], 16)
        report("100 sentences of 5 to 20 words, 16 steps, greedy", turns, max(3, options.turns // 4), len(many))


def benchmark_model_folder(options: argparse.Namespace) -> None:
    """Measure a model folder as it is used."""
    translator = Translator.load(options.model, options.device, options.precision)
    for sentence in (SHORT, LONG):
        for beam in (1, 5):
            trace = translator.translate(sentence, beam=beam)
            sizes = f"{len(trace.source_pieces)} pieces in, {len(trace.target_pieces)} out"
            how = "greedy" if beam == 1 else f"beam {beam}"
            turn = partial(timed_anew, translator, partial(translator.translate, sentence, beam=beam))
            report(f"One sentence, {sizes}, {how}", {f"{translator.name}, with the Trace": turn}, options.turns)
    many = [" ".join(SHORT.split()[: 4 + i % 7]) for i in range(100)]
    turn = partial(timed_anew, translator, partial(translator.translate_batch, many, beam=1))
    report("100 short sentences, greedy", {translator.name: turn}, max(3, options.turns // 4), len(many))


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="models/en-fr", help="model folder to measure")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="auto", help="fp32 for what a processor without VNNI does")
    parser.add_argument("--random-size", type=int, nargs="+", help="n, and n' = l = n, of made-up networks instead")
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peer", choices=sorted(DRIVERS))
    parser.add_argument("--peer-python", default="python", help="interpreter of the peer's environment")
    parser.add_argument("--peer-widest", type=int, default=512, help="leave out wider networks of the peer's")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.random_size:
        for size in options.random_size:
            benchmark_against_peer(size, options)
    else:
        benchmark_model_folder(options)


if __name__ == "__main__":
    main()
