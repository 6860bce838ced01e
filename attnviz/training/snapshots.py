"""Take snapshots of a translator: its attention in fixed sentence pairs, and its own translations of their sources."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attnviz.errors import AttnvizError
from attnviz.text_files import Pair
from attnviz.trace.snapshots import Sentence, Snapshots
from attnviz.training.config import TrainingConfig
from attnviz.translator import Translator

_COUNT, _WORDS = 10, range(5, 15)
"""Number of validation pairs used where no sentences are given, and the preferred numbers of words of both sides."""


def fixed_pairs(config: TrainingConfig, validation: Sequence[Pair]) -> list[Pair]:
    """Return the pairs of a run's snapshots: the configured ones, or a fixed draw of short ones from `validation`.

    Raise AttnvizError where a configured one has no translation.
    """
    named = [tuple(entry.split("\t")) for entry in config.snapshot_sentences]
    for entry, sides in zip(config.snapshot_sentences, named, strict=True):
        if len(sides) != 2 or not all(side.strip() for side in sides):
            raise AttnvizError(f"The snapshot sentence {entry!r} does not have the form source<TAB>translation.")
    if named:
        return [(source, target) for source, target in named]
    drawn = [validation[i] for i in np.random.default_rng(0).permutation(len(validation))]
    # Pairs of suitable length come first, then the others by length.
    drawn.sort(key=lambda pair: 0 if all(len(side.split()) in _WORDS for side in pair) else len(" ".join(pair)))
    return drawn[:_COUNT]


def moment(translator: Translator, pairs: Sequence[Pair], update: int, name: str, guidance: float) -> Snapshots:
    """Return the snapshot after `update` updates of the run `name`.

    It has alpha for each of `pairs` by forced decoding, and translations of their sources by greedy search.
    """
    traces = [translator.translate(source, target=target) for source, target in pairs]
    sentences = tuple(
        Sentence(source, target, trace.source_pieces, trace.target_pieces)
        for (source, target), trace in zip(pairs, traces, strict=True)
    )
    translations = tuple(translator.translate_batch([source for source, _ in pairs]))
    alignments = tuple(trace.alignment[None] for trace in traces)
    return Snapshots(name, guidance, (update,), sentences, alignments, (translations,), {}, {}, {})
