"""Judge translations with another model: word probabilities under forced decoding, and source words left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attnviz.analysis.posterior import DEFAULT
from attnviz.analysis.why_attention import JudgedTranslation, largest_shares
from attnviz.corpora.batch_posterior import BatchPosterior
from attnviz.decoding import sentence_ids, target_ids
from attnviz.evaluation.forced import EncodedPair, ForcedPair, force_encoded
from attnviz.text import SPACE, join_pieces
from attnviz.translator import Translator


def judge(translator: Translator[Any], pairs: Sequence[tuple[str, str]]) -> list[JudgedTranslation]:
    """Return the judgement of `translator` on each (source, translation), computed in batches of similar length.

    A blank translation has no words. Raise AttnvizError where a text is too long, ValueError where the translator has
    more than one attention distribution a step.
    """
    if not translator.network.attends_once:
        raise ValueError(
            f"{translator.name} has no posterior attention: a step has not exactly one attention distribution"
        )
    tokenizer = translator.tokenizer
    encoded = [
        EncodedPair(
            sentence_ids(tokenizer, source),
            target_ids(tokenizer, text) if text.strip() else tokenizer.sentence([]),
            source,
            text,
        )
        for source, text in pairs
    ]
    forced = force_encoded(translator, encoded, BatchPosterior(translator, DEFAULT))
    return [_judged(text, pair) for (_, text), pair in zip(pairs, forced, strict=True)]


def _judged(text: str, pair: ForcedPair) -> JudgedTranslation:
    assert pair.posterior is not None  # `judge` computes it
    words, piece_logs = pair.words(), pair.log_probabilities.astype(np.float64)
    logs = np.array([piece_logs[list(group)].sum() for group in words.target_groups[:-1]])
    word_shares = words.merged(pair.posterior)[:-1, :-1]
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
