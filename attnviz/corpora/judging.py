"""Judge translations with another model: word probabilities under forced decoding, and source words left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.posterior import DEFAULT
from attnviz.analysis.prefixes import JudgedTranslation, largest_shares
from attnviz.corpora.forced_decoding import BatchPosterior, force_decode, pair_batches
from attnviz.corpora.row import AnalysedPair, merged_by_words, pieces_of
from attnviz.decoding import sentence_ids, target_ids
from attnviz.text import SPACE, join_pieces
from attnviz.translator import Translator

_BATCH = 64
"""Most pairs of a batch."""


def judge(translator: Translator[Any], pairs: Sequence[tuple[str, str]]) -> list[JudgedTranslation]:
    """Return the judgement of `translator` on each (source, translation), computed in batches of similar length.

    A blank translation has no words. Raise AttnvizError where a text is too long, ValueError where the translator has
    more than one attention distribution a step.
    """
    if not translator.network.attends_once:
        raise ValueError(
            f"{translator.name} has no posterior attention: a step has not exactly one attention distribution"
        )
    tokenizer, posterior = translator.tokenizer, BatchPosterior(translator, DEFAULT)
    sources = [sentence_ids(tokenizer, source) for source, _ in pairs]
    targets = [target_ids(tokenizer, text) if text.strip() else tokenizer.sentence([]) for _, text in pairs]
    judged: dict[int, JudgedTranslation] = {}
    lengths = [len(source) for source in sources], [len(target) for target in targets]
    for batch in pair_batches(*lengths, _BATCH) if pairs else ():
        ids = [sources[k] for k in batch], [targets[k] for k in batch]
        decoded = force_decode(translator, *ids)
        shares = posterior(decoded, *ids)
        for row, (k, source, target) in enumerate(zip(batch, *ids, strict=True)):
            pair = AnalysedPair(
                *pieces_of(tokenizer.source, source, pairs[k][0]),
                *pieces_of(tokenizer, target, pairs[k][1]),
                decoded.alignment[row, : len(target), : len(source)],
                decoded.log_probabilities[row, : len(target)],
                attends=True,
                attends_once=True,
            )
            judged[k] = _judged(pairs[k][1], pair, shares[row])
    return [judged[k] for k in range(len(pairs))]


def _judged(text: str, pair: AnalysedPair, shares: NDArray[np.float64]) -> JudgedTranslation:
    """Return the judgement on a pair, given its posterior attention, (Ty, Tx)."""
    words, piece_logs = pair.words(), pair.log_probabilities.astype(np.float64)
    logs = np.array([piece_logs[list(group)].sum() for group in words.target_groups[:-1]])
    word_shares = merged_by_words(shares, words.source_groups, words.target_groups)[:-1, :-1]
    return JudgedTranslation(
        text,
        _spaced(pair.target_surfaces, words.target_groups[:-1]),
        logs,
        _spaced(pair.source_surfaces, words.source_groups[:-1]),
        largest_shares(word_shares.astype(np.float64), logs),
    )


def _spaced(pieces: Sequence[str], groups: Sequence[Sequence[int]]) -> tuple[str, ...]:
    """Return the text of each word, with the blank before it."""
    return tuple(
        (" " if place and pieces[group[0]].startswith(SPACE) else "")
        + (join_pieces(pieces[index] for index in group) or "<unk>")
        for place, group in enumerate(groups)
    )
