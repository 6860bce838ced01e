"""Before the first update: read the pairs, train the tokenizer, encode the corpus, and keep all three for a resume."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from tqdm import tqdm

from attnviz.errors import AttnvizError
from attnviz.model_folder import TOKENIZER
from attnviz.text import Tokenizer
from attnviz.training.config import DEFAULT_VOCABULARY, TrainingConfig
from attnviz.training.corpus import Corpus, Pair, encode, parse_weighted, read_pairs
from attnviz.training.guidance import Lexicon
from attnviz.training.state import CHECKPOINT, read_progress

_MAY_CHANGE = {
    "output", "device", "threads", "validate_every", "patience", "bleu_sentences", "checkpoint_every", "validation",
}  # fmt: skip
"""Fields a resumed run may have otherwise: none of them changes what the weights become before the run ends."""


def prepare(config: TrainingConfig) -> tuple[Tokenizer, Corpus]:
    """Return tokenizer and training corpus, made at the first call for this output folder and read afterwards.

    Raise AttnvizError where the folder holds a run with another config, or data cannot be read.
    """
    output = Path(config.output)
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AttnvizError(f"The output folder {output} cannot be made: {error.strerror}.") from error
    tokenizer_path, corpus_path, config_path = (
        output / name for name in ("tokenizer.model", "corpus.npz", "training.json")
    )
    if config_path.exists():
        _compare(config_path, config)
        return Tokenizer.load(tokenizer_path), Corpus.load(corpus_path)
    pairs, weights = _read(config)
    if config.tokenizer:
        tokenizer = Tokenizer.load(config.tokenizer)
    elif config.start_from and not config.vocabulary_size:
        tokenizer = Tokenizer.load(Path(config.start_from) / TOKENIZER)
    else:
        pieces = config.vocabulary_size or DEFAULT_VOCABULARY
        tokenizer = Tokenizer.train(_sample(pairs, weights, config.seed), pieces, config.seed)
    corpus = encode(pairs, weights, tokenizer)
    tokenizer_path.write_bytes(tokenizer.model)
    corpus.save(corpus_path)
    # Written last: its presence says that the other two are whole.
    config_path.write_text(json.dumps(config.to_dict(), indent=2) + "\n", encoding="utf-8")
    return tokenizer, corpus


def prepare_guidance(config: TrainingConfig, corpus: Corpus, vocabulary_size: int) -> Lexicon:
    """Return the lexicon that guides attention, learnt at the first call for this output folder."""
    path = Path(config.output) / "lexicon.npy"
    if not path.exists():
        learnt = Lexicon.learn(corpus, vocabulary_size, config.seed)
        beside = path.with_suffix(".tmp.npy")
        learnt.save(beside)
        beside.replace(path)
    return Lexicon.load(path)


def _sample(pairs: list[Pair], weights: list[float], seed: int) -> Iterator[str]:
    """Yield both sides of the pairs an epoch shows, each once at most: the pieces shall fit the mixture."""
    chosen = np.random.default_rng(seed).random(len(pairs)) < np.asarray(weights)
    return (side for pair, kept in zip(pairs, chosen.tolist(), strict=True) if kept for side in pair)


def _compare(path: Path, config: TrainingConfig) -> None:
    """Raise AttnvizError where the run in the folder was started with other settings."""
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise AttnvizError(f"{path} is damaged ({error}). Give another output folder.") from error
    now = json.loads(json.dumps(config.to_dict()))
    changed = [name for name in now if name not in _MAY_CHANGE and before.get(name) != now[name]]
    if changed and {*changed} <= {"updates", "decay_updates"} and config.decay_updates and before["decay_updates"]:
        # Another end, planned before the rate falls: up to there the weights are those of either run.
        level = min(before["updates"] - before["decay_updates"], config.updates - config.decay_updates)
        if read_progress(path.with_name(CHECKPOINT)).update <= level:
            path.write_text(json.dumps(now, indent=2) + "\n", encoding="utf-8")
            return
    if changed:
        raise AttnvizError(
            f"{path.parent} holds a run with another {', '.join(changed)}. Give another output folder, or the same "
            "settings to resume."
        )


def _read(config: TrainingConfig) -> tuple[list[Pair], list[float]]:
    """Return all training pairs within `max_words` and their weights; report what was left out."""
    pairs: list[Pair] = []
    weights: list[float] = []
    for entry in config.data:
        path, weight = parse_weighted(entry)
        found, malformed = read_pairs(path)
        kept = [pair for pair in found if max(len(pair[0].split()), len(pair[1].split())) <= config.max_words]
        pairs += kept
        weights += [weight] * len(kept)
        tqdm.write(
            f"{path}: {len(kept)} pairs"
            + (f", {len(found) - len(kept)} longer than {config.max_words} words left out" * (len(kept) < len(found)))
            + (f", {malformed} malformed lines skipped" * bool(malformed)),
            file=sys.stderr,
        )
    if not pairs:
        raise AttnvizError(f"No training pair is within {config.max_words} words. Raise max_words.")
    return pairs, weights
