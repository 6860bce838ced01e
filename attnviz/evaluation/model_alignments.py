"""The attention of a model between the words of gold alignments, by each of its readings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attnviz.analysis.posterior import posterior
from attnviz.detector import Detector
from attnviz.evaluation.alignment import GoldAlignment, between_words
from attnviz.evaluation.forced import Advance, force_pairs
from attnviz.trace import Array
from attnviz.trace.parts import Heads
from attnviz.trace.tokens import detokenise
from attnviz.translator import Translator


def word_alignments(translator: Translator, gold: Sequence[GoldAlignment]) -> list[Array]:
    """Return the attention between the words of each pair under forced decoding, (target words, source words) each.

    `</s>` is left out. Pieces of the detokenised pair belong to words by character offsets, without spaces; alpha is
    summed over source pieces and averaged over target pieces.
    """
    forced = force_pairs(translator, [(detokenise(pair.source), detokenise(pair.target)) for pair in gold])
    return [
        between_words(pair, steps.source_surfaces[:-1], steps.target_surfaces[:-1], steps.alignment)
        for pair, steps in zip(gold, forced, strict=True)
    ]


def head_alignments(translator: Translator[Any], heads: Heads, gold: Sequence[GoldAlignment]) -> list[Array]:
    """Return the mean cross-attention of a transformer's `heads` between the words of each pair.

    Merged as by `word_alignments`.
    """
    alignments = []
    for pair in gold:
        source, target = detokenise(pair.source), detokenise(pair.target)
        trace = translator.translate(source, target=target)
        pieces = translator.tokenizer.surfaces
        alignments.append(
            between_words(pair, pieces(source), pieces(target), trace.cross_attention(heads.layer, heads.head))
        )
    return alignments


def detected_alignments(detector: Detector, gold: Sequence[GoldAlignment], both: bool) -> list[Array]:
    """Return a detector's attention between the words of each pair, (target words, source words) each.

    It is the attention of each target piece to the source or, if `both`, its product with the attention in the other
    direction. Merged as by `word_alignments`.
    """
    alignments = []
    for pair in gold:
        judged = detector.judge(detokenise(pair.source), detokenise(pair.target))
        shares = judged.target_alignment * judged.source_alignment.T if both else judged.target_alignment
        alignments.append(between_words(pair, judged.source_surfaces[:-1], judged.target_surfaces[:-1], shares))
    return alignments


def posterior_alignments(
    translator: Translator, gold: Sequence[GoldAlignment], progress: Advance = lambda _: None
) -> list[Array]:
    """Return the posterior attention between the words of each pair, (target words, source words) each.

    It is `analysis.posterior` under forced decoding, merged as by `word_alignments`.
    """
    state = translator.network.state_dict()
    weights = {name: tensor.cpu().double().numpy() for name, tensor in state.items()}
    alignments = []
    for pair in gold:
        source, target = detokenise(pair.source), detokenise(pair.target)
        shares = posterior(translator.translate(source, target=target), weights)
        pieces = translator.tokenizer.surfaces
        alignments.append(between_words(pair, pieces(source), pieces(target), shares))
        progress(1)
    return alignments
