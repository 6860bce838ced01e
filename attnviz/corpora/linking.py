"""`PairLinker`: attention or posterior attention between the words of given sentence pairs, in batches.

A translator is forced to write each target. The result has weights; `attnviz align` derives the links from them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from attnviz.analysis.posterior import DEFAULT
from attnviz.corpora.forced_decoding import BatchPosterior, force_decode, pair_batches
from attnviz.corpora.row import AnalysedPair, merged_by_words, pieces_of
from attnviz.decoding import sentence_ids, target_ids
from attnviz.evaluation.forced import with_end
from attnviz.text_files import Pair
from attnviz.trace import Words
from attnviz.translator import Translator

_BATCH = 64
"""Largest number of pairs computed together."""


class PairLinker:
    """A translator that computes attention of given pairs; it stores nothing of them."""

    def __init__(self, translator: Translator[Any], *, after: bool) -> None:
        """Take a translator with attention; `after` selects posterior attention."""
        self._translator = translator
        self._posterior = BatchPosterior(translator, DEFAULT) if after else None

    def encode(self, source: str, target: str) -> tuple[list[int], list[int]]:
        """Return the ids of a pair; raise AttnvizError where a side is blank or too long."""
        tokenizer = self._translator.tokenizer
        return sentence_ids(tokenizer, source), target_ids(tokenizer, target)

    def __call__(self, pairs: Sequence[Pair], ids: Sequence[tuple[list[int], list[int]]]) -> list[Words]:
        """Return the words of each pair, with attention or posterior attention between them.

        `ids` are the pairs' ids, from `encode`.
        """
        words_by_index: dict[int, Words] = {}
        for indices in pair_batches([len(source) for source, _ in ids], [len(target) for _, target in ids], _BATCH):
            sources, targets = [ids[index][0] for index in indices], [ids[index][1] for index in indices]
            decoded = force_decode(self._translator, sources, targets)
            posteriors = self._posterior(decoded, sources, targets) if self._posterior else [None] * len(indices)
            for row, (index, shares) in enumerate(zip(indices, posteriors, strict=True)):
                alignment = decoded.alignment[row, : len(targets[row]), : len(sources[row])]
                analysed_pair = self._analysed_pair(
                    pairs[index], sources[row], targets[row], alignment, decoded.log_probabilities[row]
                )
                words = analysed_pair.words()
                if shares is not None:
                    posterior_words = merged_by_words(shares, words.source_groups, words.target_groups)
                    words = dataclasses.replace(words, alignment=posterior_words)
                words_by_index[index] = words
        return [words_by_index[index] for index in range(len(pairs))]

    def _analysed_pair(
        self, pair: Pair, source: list[int], target: list[int], alignment: Any, log_probabilities: Any
    ) -> AnalysedPair:
        translator = self._translator
        return AnalysedPair(
            *pieces_of(translator.tokenizer.source, source, pair[0]),
            *pieces_of(translator.tokenizer, target, pair[1]),
            with_end(alignment, source),
            log_probabilities[: len(target)],
            translator.network.attends,
            translator.network.attends_once,
        )
