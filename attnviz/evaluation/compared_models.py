"""Translate test files with several models, score references under each, and tune beam width and length penalty."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from attnviz.arguments import check_each, check_texts
from attnviz.decoding import FinishedHypothesis
from attnviz.errors import locate_errors, user_error
from attnviz.evaluation.bleu import bleu_of, corpus_scores, sentence_counts
from attnviz.evaluation.forced import Advance, Likelihood, force_pairs, likelihoods, total_likelihood
from attnviz.languages import gettext
from attnviz.translator import Translator

TextPairs = Sequence[tuple[str, str]]
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
class TranslatedCorpus:
    """A test file as one model translated it."""

    model: Model
    corpus: str
    beam: int
    translations: list[str]
    seconds: float


def beam_name(beam: int) -> str:
    """Return "greedy", or for example "beam 5"."""
    return "greedy" if beam == 1 else f"beam {beam}"


@dataclass(frozen=True)
class Evaluation:
    """Scores of a translator on sentence pairs."""

    bleu: float
    chrf: float
    perplexity: float
    """Of the references, for each piece."""


def evaluate(
    translator: Translator[Any], pairs: TextPairs, *, beam: int = 5, length_penalty: float = 1.0
) -> Evaluation:
    """Return BLEU, chrF and perplexity of a translator on pairs of a source sentence and its reference.

    Args:
        translator: The translator.
        pairs: Pairs of a source sentence and its reference.
        beam: Width of the search, from 1 (greedy) to 100.
        length_penalty: As in `Translator.translate`.

    Returns:
        The scores.

    Raises:
        AttnvizError: There are no pairs, or a sentence is blank or too long.
    """
    check_each(gettext("translators"), (translator,), (Translator,))
    check_texts(pairs)
    found = [tuple(pair) if isinstance(pair, Iterable) and not isinstance(pair, str) else () for pair in pairs]
    if not found or any(len(pair) != 2 for pair in found):
        raise user_error("Give a list of pairs: a source sentence and its translation.")
    sources, targets = (list(side) for side in zip(*found, strict=True))
    translations = translator.translate_batch(sources, beam=beam, length_penalty=length_penalty)
    bleu, chrf = corpus_scores(translations, targets)
    forced = likelihoods(force_pairs(translator, list(zip(sources, targets, strict=True))), targets)
    return Evaluation(bleu.value, chrf.value, total_likelihood(forced).perplexity)


def translate_all(
    models: Sequence[Model],
    corpora: Mapping[str, TextPairs],
    beams: Sequence[int],
    length_penalty: float,
    progress: Advance,
) -> list[TranslatedCorpus]:
    """Translate every file with every model at every beam width; raise AttnvizError, naming the place, on errors."""
    results = []
    for model in models:
        for corpus, pairs in corpora.items():
            for beam in beams:
                translations: list[str] = []
                started = time.perf_counter()
                for block in _blocks(pairs, progress):
                    with locate_errors(f"Translating {corpus} failed after {len(translations)} pairs"):
                        translations += model.translator.translate_batch(
                            block, beam=beam, length_penalty=length_penalty
                        )
                results.append(TranslatedCorpus(model, corpus, beam, translations, time.perf_counter() - started))
    return results


def predict_all(models: Sequence[Model], corpora: Mapping[str, TextPairs], progress: Advance) -> Predicted:
    """Return the likelihood of each reference of every file under every model, by forced decoding."""
    return {
        (model.name, corpus): likelihoods(
            force_pairs(model.translator, pairs, progress), [target for _, target in pairs]
        )
        for model in models
        for corpus, pairs in corpora.items()
    }


BEAMS = (1, 2, 4, 5, 8, 12)
LENGTH_PENALTIES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4)


@dataclass(frozen=True)
class Trial:
    """One combination of beam width and length penalty, and its score."""

    beam: int
    length_penalty: float
    bleu: float
    """Mean BLEU of the files, each with the same weight."""
    by_file: dict[str, float]
    sentences_per_second: float


def tune(
    translator: Translator,
    corpora: Mapping[str, Sequence[tuple[str, str]]],
    beams: Sequence[int] = BEAMS,
    length_penalties: Sequence[float] = LENGTH_PENALTIES,
    progress: Advance = lambda _: None,
) -> list[Trial]:
    """Return a trial for each width and penalty, sorted by width, then penalty.

    Each width is searched once: the length penalty only ranks the finished hypotheses.
    """
    trials = []
    for beam in beams:
        started = time.perf_counter()
        hypotheses_by_file = {name: _search(translator, pairs, beam, progress) for name, pairs in corpora.items()}
        speed = sum(map(len, hypotheses_by_file.values())) / (time.perf_counter() - started)
        by_file = {
            name: _rescored(translator, hypotheses, [target for _, target in corpora[name]], length_penalties)
            for name, hypotheses in hypotheses_by_file.items()
        }
        for index, penalty in enumerate(length_penalties):
            each = {name: scores[index] for name, scores in by_file.items()}
            trials.append(Trial(beam, penalty, sum(each.values()) / len(each), each, speed))
    return trials


def best_trial(trials: Sequence[Trial]) -> Trial:
    """Return the trial with the highest BLEU; of equals the one with the narrowest beam."""
    return max(trials, key=lambda trial: (trial.bleu, -trial.beam))


def choose_hypothesis(finished: Sequence[FinishedHypothesis], length_penalty: float) -> FinishedHypothesis:
    """Return the best hypothesis under a penalty; scores are plain log probabilities (penalty 0)."""
    return max(finished, key=lambda hypothesis: hypothesis.score / len(hypothesis.ids) ** length_penalty)


def _search(
    translator: Translator, pairs: Sequence[tuple[str, str]], beam: int, progress: Advance
) -> list[list[FinishedHypothesis]]:
    hypotheses: list[list[FinishedHypothesis]] = []
    for block in _blocks(pairs, progress):
        hypotheses += translator.search_batch(block, beam=beam, length_penalty=0.0)
    return hypotheses


def _blocks(pairs: TextPairs, progress: Advance) -> Iterator[list[str]]:
    """Yield the sources of some pairs at a time, and advance after each."""
    for start in range(0, len(pairs), _BLOCK):
        block = [source for source, _ in pairs[start : start + _BLOCK]]
        yield block
        progress(len(block))


def _rescored(
    translator: Translator,
    hypotheses: Sequence[Sequence[FinishedHypothesis]],
    references: Sequence[str],
    penalties: Sequence[float],
) -> list[float]:
    """Return the BLEU for each penalty; a hypothesis that several penalties choose is scored once."""
    totals = np.zeros((len(penalties), 10), dtype=np.int64)
    for finished, reference in zip(hypotheses, references, strict=True):
        chosen = [choose_hypothesis(finished, penalty).ids for penalty in penalties]
        texts = {ids: translator.tokenizer.decode(ids) for ids in dict.fromkeys(chosen)}
        counts = dict(zip(texts, sentence_counts(list(texts.values()), [reference] * len(texts)), strict=True))
        for total, ids in zip(totals, chosen, strict=True):
            total += counts[ids]
    return [bleu_of(total) for total in totals]
