"""Prepare a run before its first update: pairs, tokenizer, encoded corpus, lexicon, and weights to start from.

The results, the settings and a report on the data files are saved in the run's folder, from which a resumed run loads
them.

A piece that the old tokenizer lacks starts as the mean of the old pieces that spell it (vocabulary transfer), in the
embeddings and in the output layer.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from attnviz.checkpoint import load_model
from attnviz.errors import AttnvizError
from attnviz.files import replace_bytes, replace_text
from attnviz.installed_models import find_model
from attnviz.model_folder import TOKENIZER_FILE
from attnviz.network import ModelConfig, Seq2Seq, Trainable, build_network
from attnviz.pair_files import Pair, read_pairs
from attnviz.text import EOS, SPACE, UNK, Tokenizer
from attnviz.training.encoded_pairs import Corpus, encode_pairs, parse_weighted
from attnviz.training.objective import Lexicon
from attnviz.training.run_state import CHECKPOINT, read_progress
from attnviz.training.training_config import DEFAULT_VOCABULARY, TrainingConfig

CORPUS, SETTINGS, LEXICON, DATA = "corpus.npz", "training.json", "lexicon.npy", "data.json"
"""Files in a run's folder: encoded pairs, `TrainingConfig`, links of pieces, and a report on the data files read."""
_NAMED = 1000
"""Largest number of skipped lines of a file that the report lists."""

_MAY_CHANGE = {
    "output",
    "device",
    "threads",
    "validate_every",
    "patience",
    "bleu_sentences",
    "checkpoint_every",
    "validation",
    "average",
    "keep_at",
    "snapshots",
    "snapshot_sentences",
    "precision",
    "skip_malformed",
}
"""Fields that may change on resume; of these only the precision affects the weights, through rounding."""


def prepare_training(config: TrainingConfig) -> tuple[Tokenizer, Corpus]:
    """Return tokenizer and training corpus, created in the first call for this output folder and loaded afterwards.

    Raise AttnvizError where the folder holds a run with another config or a damaged file, where data or the model to
    start from cannot be read, or where a file cannot be written.
    """
    output = Path(config.output)
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AttnvizError(f"The output folder {output} cannot be created: {error.strerror}.") from error
    tokenizer_path, corpus_path, config_path = output / TOKENIZER_FILE, output / CORPUS, output / SETTINGS
    begun = config_path.exists()
    if not begun:
        _refuse_foreign_files(output)
    if begun:
        _compare(config_path, config)
        tokenizer = Tokenizer.load(tokenizer_path)
        if corpus_path.exists():
            return tokenizer, Corpus.load(corpus_path, len(tokenizer))
    elif config.start_from:
        load_model(find_model(config.start_from))  # fail before the slow steps if it cannot be loaded
    pairs, weights = _read(config)
    if not begun:
        tokenizer = _tokenizer(config, pairs, weights)
    corpus = encode_pairs(pairs, weights, tokenizer)
    replace_bytes(tokenizer_path, tokenizer.model)
    corpus.save(corpus_path)
    # Written last: its presence means that tokenizer and corpus are complete.
    replace_text(config_path, config.to_json())
    return tokenizer, corpus


def _refuse_foreign_files(output: Path) -> None:
    """Raise AttnvizError where a folder without a run holds files that no run wrote, which training could overwrite."""
    first = {TOKENIZER_FILE, CORPUS, DATA}  # left by a run that was killed early
    names = (path.name for path in output.iterdir())
    foreign = sorted(name for name in names if name not in first and not name.startswith("."))
    if foreign:
        more = f" and {len(foreign) - 1:,} more" if len(foreign) > 1 else ""
        raise AttnvizError(
            f"The output folder {output} contains no training run, but the file {foreign[0]}{more}. Give a new or "
            "empty folder."
        )


def _tokenizer(config: TrainingConfig, pairs: list[Pair], weights: list[float]) -> Tokenizer:
    """Return the tokenizer that `config` names, or train one on the pairs."""
    if config.tokenizer:
        return Tokenizer.load(config.tokenizer)
    if config.start_from and not config.vocabulary_size:
        return Tokenizer.load(find_model(config.start_from) / TOKENIZER_FILE)
    pieces = config.vocabulary_size or DEFAULT_VOCABULARY
    tokenizer = Tokenizer.train(_sample(pairs, weights, config.seed), pieces, config.seed)
    if len(tokenizer) < pieces:
        _report(
            f"The vocabulary has {len(tokenizer):,} pieces: this text yields no more, though {pieces:,} were asked for."
        )
    return tokenizer


def _report(remark: str) -> None:
    """Print a remark to standard error, above a progress bar if there is one."""
    tqdm.write(remark, file=sys.stderr)


def prepare_guidance(
    config: TrainingConfig, corpus: Corpus, vocabulary_size: int, device: torch.device | str = "cpu"
) -> Lexicon:
    """Return the lexicon that guides attention, on the CPU.

    The first call for this output folder learns it, on `device`.
    """
    path = Path(config.output) / LEXICON
    if not path.exists():
        Lexicon.learn(corpus, vocabulary_size, config.seed, device).save(path)
    return Lexicon.load(path, vocabulary_size)


def _sample(pairs: list[Pair], weights: list[float], seed: int) -> Iterator[str]:
    """Yield both sides of the pairs of an epoch, each at most once, so that the pieces fit the weighted mixture."""
    chosen = np.random.default_rng(seed).random(len(pairs)) < np.asarray(weights)
    return (side for pair, included in zip(pairs, chosen.tolist(), strict=True) if included for side in pair)


def _compare(path: Path, config: TrainingConfig) -> None:
    """Raise AttnvizError where the run in the folder was started with other settings."""
    try:
        previous_config = TrainingConfig.from_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, AttnvizError) as error:
        raise AttnvizError(
            f"The file {path} is damaged ({error}). Restore it, or give another output folder."
        ) from error
    names = [each.name for each in dataclasses.fields(config)]
    changed = [
        name
        for name in names
        if name not in _MAY_CHANGE and _unchanging_part(previous_config, name) != _unchanging_part(config, name)
    ]
    if changed == ["updates"] and config.updates > previous_config.updates:
        _report(f"The run goes on to update {config.updates:,}, with the learning rates of a run of that length.")
        replace_text(path, config.to_json())
        return
    if {*changed} == {"updates", "decay_updates"} and config.decay_updates and previous_config.decay_updates:
        # A new end is allowed while the rate is constant: up to that update both runs have the same weights.
        level = min(previous_config.updates - previous_config.decay_updates, config.updates - config.decay_updates)
        if read_progress(path.with_name(CHECKPOINT)).update <= level:
            replace_text(path, config.to_json())
            return
    if changed:
        raise AttnvizError(
            f"The folder {path.parent} contains a run with other values of {', '.join(changed)}. Give another "
            "output folder, or the same settings to resume that run."
        )


def _unchanging_part(config: TrainingConfig, name: str) -> object:
    """Return the part of a setting that must not change on resume: of a path, its last part.

    So a run's folder can be moved to a machine where the input files have other paths or are absent.
    """
    value = getattr(config, name)
    if name == "data":
        return [Path(entry).name for entry in value]
    return Path(value).name if name in ("start_from", "tokenizer") else value


def _read(config: TrainingConfig) -> tuple[list[Pair], list[float]]:
    """Return all training pairs within `max_words` and their weights; report what was left out."""
    pairs: list[Pair] = []
    weights: list[float] = []
    files: list[dict[str, Any]] = []
    for entry in config.data:
        path, weight = parse_weighted(entry)
        read = read_pairs(path, skip_malformed=config.skip_malformed)
        file_pairs = read.pairs
        short_enough = [
            pair for pair in file_pairs if max(len(pair[0].split()), len(pair[1].split())) <= config.max_words
        ]
        pairs += short_enough
        weights += [weight] * len(short_enough)
        _report(
            f"{path}: {len(short_enough)} pairs"
            + (
                f", {len(file_pairs) - len(short_enough)} longer than {config.max_words} words left out"
                * (len(short_enough) < len(file_pairs))
            )
            + (f", {len(read.skipped)} lines skipped" * bool(read.skipped))
        )
        files.append(
            {
                "file": str(path),
                "pairs": len(short_enough),
                "too_long": len(file_pairs) - len(short_enough),
                "skipped": len(read.skipped),
                "first_skipped": [dataclasses.asdict(line) for line in read.skipped[:_NAMED]],
            }
        )
    if not pairs:
        raise AttnvizError(f"No training pair has at most {config.max_words} words on both sides. Raise max_words.")
    replace_text(Path(config.output) / DATA, json.dumps(files, indent=2, ensure_ascii=False) + "\n")
    return pairs, weights


_ROWS = (
    "encoder.embedding.weight",
    "decoder.embedding.weight",
    "decoder.output.weight",
    "decoder.output.bias",
    "output.weight",
    "output.bias",
)
"""Parameters with one row for each piece: four of RNNsearch, two of a transformer."""


@torch.no_grad()
def start_from(folder: str | Path, tokenizer: Tokenizer, dropout: float, guidance: float = 0.0) -> Trainable:
    """Return a network with the weights, sizes and attention of the model in `folder`, for the pieces of `tokenizer`.

    With `guidance` 0 the config keeps the value of the old model. Raise AttnvizError where the folder holds no model
    that can be read, or an imported one.
    """
    old, old_tokenizer = load_model(find_model(folder))
    if isinstance(old, Seq2Seq):
        raise AttnvizError(f"The model {folder} was imported, and attnviz cannot continue its training.")
    weights = old.state_dict()
    if tokenizer.model != old_tokenizer.model:
        shares = _shares(tokenizer, old_tokenizer)
        for name in weights.keys() & {*_ROWS}:
            rows = weights[name]
            weights[name] = (shares @ rows.view(len(rows), -1)).view(-1, *rows.shape[1:])
    config = dataclasses.replace(old.config, vocabulary_size=len(tokenizer), dropout=dropout)
    if isinstance(config, ModelConfig) and guidance:
        config = dataclasses.replace(config, guidance=guidance)
    network = build_network(config)
    network.load_state_dict(weights)
    return network


_LIGATURES = str.maketrans({"Œ": "Oe", "œ": "oe", "Æ": "Ae", "æ": "ae"})
"""Letters that Unicode does not decompose."""


def _shares(tokenizer: Tokenizer, old: Tokenizer) -> Tensor:
    """Return a sparse matrix (K, old K) whose row k is uniform over the old pieces that spell new piece k."""
    known = {old.piece(index): index for index in range(len(old))}
    rows, columns, values = [], [], []
    for index in range(len(tokenizer)):
        piece = tokenizer.piece(index)
        parts = [index] if index <= EOS else [known[piece]] if piece in known else _spelling(piece, old)
        rows += [index] * len(parts)
        columns += parts
        values += [1 / len(parts)] * len(parts)
    return torch.sparse_coo_tensor(
        torch.tensor([rows, columns]), torch.tensor(values), (len(tokenizer), len(old)), check_invariants=False
    ).coalesce()


def _spelling(piece: str, old: Tokenizer) -> list[int]:
    """Return the old pieces that spell `piece`; inside a word, without the leading space that encoding adds."""
    ids = old.encode(piece.replace(SPACE, " "))
    if not piece.startswith(SPACE) and ids and old.piece(ids[0]) == SPACE:
        ids = ids[1:]
    if UNK in ids:  # a character unknown to the old tokenizer, such as Ç: its base letter, C, is closer than <unk>
        plain = unicodedata.normalize("NFKD", piece.translate(_LIGATURES))
        base = "".join(character for character in plain if not unicodedata.combining(character))
        if base != piece:
            return _spelling(base, old)
    return ids or [UNK]
