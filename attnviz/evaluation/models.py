"""Translate test files with several models, and compute the likelihoods of the references under each."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from attnviz.errors import AttnvizError
from attnviz.evaluation.forced import Advance, Likelihood, force_pairs, likelihoods
from attnviz.translator import Translator

Pairs = Sequence[tuple[str, str]]
Predicted = dict[tuple[str, str], list[Likelihood]]
"""Likelihoods by (model, file)."""
_BLOCK = 500


@dataclass(frozen=True)
class Model:
    """A model under test."""

    name: str
    folder: Path
    translator: Translator


@dataclass(frozen=True)
class Translated:
    """A test file as one model translated it."""

    model: Model
    corpus: str
    beam: int
    translations: list[str]
    seconds: float


def search_name(beam: int) -> str:
    """Return "greedy", or for example "beam 5"."""
    return "greedy" if beam == 1 else f"beam {beam}"


def translate_all(
    models: Sequence[Model],
    corpora: Mapping[str, Pairs],
    beams: Sequence[int],
    length_penalty: float,
    progress: Advance,
) -> list[Translated]:
    """Translate every file with every model at every beam width; raise AttnvizError, naming the place, on errors."""
    results = []
    for model in models:
        for corpus, pairs in corpora.items():
            for beam in beams:
                translations: list[str] = []
                started = time.perf_counter()
                for start in range(0, len(pairs), _BLOCK):
                    block = [source for source, _ in pairs[start : start + _BLOCK]]
                    try:
                        translated = model.translator.translate_batch(block, beam=beam, length_penalty=length_penalty)
                    except AttnvizError as error:
                        raise AttnvizError(f"Translating {corpus} failed after {start} pairs: {error}") from error
                    translations += translated
                    progress(len(block))
                results.append(Translated(model, corpus, beam, translations, time.perf_counter() - started))
    return results


def predict_all(models: Sequence[Model], corpora: Mapping[str, Pairs], progress: Advance) -> Predicted:
    """Return the likelihood of each reference of every file under every model, by forced decoding."""
    return {
        (model.name, corpus): likelihoods(
            force_pairs(model.translator, pairs, progress), [target for _, target in pairs]
        )
        for model in models
        for corpus, pairs in corpora.items()
    }
