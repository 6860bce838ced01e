"""Benchmark of translation: one sentence with its Trace, greedy and beam 5, and sentences per second in batches.

    OMP_WAIT_POLICY=PASSIVE python -m tests.benchmarks.translation_speed --model models/en-fr
    python -m tests.benchmarks.translation_speed --random-size 256 --peer eole --peer-python ../peer/bin/python

With `--model`, each model folder translates its own way, or judges. With `--random-size` the network is made up (m =
256, n' = l = n, 8,000 pieces) and every translation is made to take a fixed number of steps, since random networks
end at random: the closing piece is made so unlikely that only the limit on the length ends a translation. The peer
gets the same treatment, sentences of the same numbers of pieces and the same steps; it is handed ids and returns ids
with the attention, while ours goes from text to the full record. Of the sizes of eole's network, see
`training_speed`.
"""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch is loaded

import argparse
import random
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from unittest.mock import patch

import torch

import attnviz.translator
from attnviz import Translator
from attnviz.detector import Detector
from attnviz.model_folder import DETECTOR, model_folders
from attnviz.network import ModelConfig, RNNsearch
from attnviz.text import EOS, Tokenizer
from tests.benchmarks.harness import Measure, Sample, compare, options_of, seconds_of
from tests.benchmarks.peers.process import Ask, add_peer, running_peer

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


def against_peer(size: int, options: argparse.Namespace, stack: ExitStack) -> dict[str, Measure]:
    """Return the contenders at one size, all translations being of fixed length."""
    text = made_up_text(4000, seed=1)
    tokenizer = Tokenizer.train(text, 8000)
    ours, many = random_translator(size, tokenizer, options.precision), text[:MANY]
    # the closing piece makes it as many
    alone = {pieces: sentence_of(pieces - 1, text, tokenizer) for pieces in (16, 50)}
    cases = [(f"{pieces} steps, beam {beam}, ms", [alone[pieces]], pieces, beam) for pieces in alone for beam in (1, 5)]
    cases.append((f"{MANY} together, 16 steps, sentences/s", many, 16, 1))

    def own() -> Iterator[Sample]:
        for name, sentences, steps, beam in cases:
            how = (ours.translate, sentences[0]) if len(sentences) == 1 else (ours.translate_batch, many)
            with patch.object(attnviz.translator, "longest_target", lambda _, steps=steps: steps):
                yield _speed(name, len(sentences), timed_anew(ours, partial(*how, beam=beam)))

    def of_peer(ask: Ask) -> Iterator[Sample]:
        for name, sentences, steps, beam in cases:
            ask("load_translator", beam=beam, steps=steps)
            answer = ask("translate", sources=[[*tokenizer.encode(s), EOS] for s in sentences], repeats=1)
            if answer["steps"] != steps:
                raise RuntimeError(f"the peer took {answer['steps']} steps, not {steps}")
            yield _speed(name, len(sentences), float(answer["seconds"][0]))

    found: dict[str, Measure] = {f"attnviz n={size}, with the Trace": own}
    for hidden in (size, 2 * size):
        if options.peer and hidden <= options.peer_widest:
            ask = stack.enter_context(running_peer(options, keep_memory=True))
            sizes = {"vocabulary": 8000, "embedding": 256, "hidden": hidden}
            ask("build", precision="fp32", threads=options.threads, **sizes)
            found[f"{options.peer} {hidden}, with attention"] = partial(of_peer, ask)
    return found


def _speed(name: str, sentences: int, seconds: float) -> Sample:
    return {name: 1e3 * seconds if sentences == 1 else sentences / seconds}


if __name__ == "__main__":
    parser = options_of(__doc__, turns=20)
    parser.add_argument("--model", nargs="+", default=["models/en-fr"], help="model folders to measure")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="auto", help="fp32 for what a processor without VNNI does")
    parser.add_argument("--random-size", type=int, help="n, and n' = l = n, of a made-up network instead")
    add_peer(parser)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    with ExitStack() as stack:
        found = {one: partial(measure_folder, one, options.device, options.precision) for one in options.model}
        if options.random_size:
            found = against_peer(options.random_size, options, stack)
        compare(found, options, warm_up=2)
