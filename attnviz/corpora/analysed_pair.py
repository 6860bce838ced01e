"""`AnalysedPair`: one analysed sentence pair of a batch, with the fields that findings and measures need."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from attnviz.text import BOS, EOS, SPECIAL_PIECES, UNK, Tokenizer, join_pieces, word_groups
from attnviz.trace import Words


@dataclass(frozen=True, eq=False)
class AnalysedPair:
    """The fields of a `Trace` that measures need, without states."""

    source_pieces: tuple[str, ...]
    source_surfaces: tuple[str, ...]
    target_pieces: tuple[str, ...]
    target_surfaces: tuple[str, ...]
    alignment: NDArray[Any]
    """Attention alpha, (Ty, Tx); the last column is 0 where the model does not read `</s>`."""
    log_probabilities: NDArray[Any]
    """Log probabilities log p(y_i), (Ty,), in nats."""
    attends: bool
    attends_once: bool
    translated: ClassVar[bool] = True
    imported: ClassVar[bool] = False

    @property
    def probabilities(self) -> NDArray[Any]:
        """Probabilities p(y_i), (Ty,)."""
        probabilities: NDArray[Any] = np.exp(self.log_probabilities)
        return probabilities

    def words(self) -> Words:
        """Return the alignment by words, as `Trace.words` does."""
        return self._words

    @cached_property
    def _words(self) -> Words:
        source, target = word_groups(self.source_surfaces), word_groups(self.target_surfaces)
        return Words(
            source=tuple(join_pieces(self.source_surfaces[i] for i in group) or "<unk>" for group in source),
            target=tuple(join_pieces(self.target_surfaces[i] for i in group) or "<unk>" for group in target),
            alignment=merged(self.alignment, source, target),
            source_groups=source,
            target_groups=target,
        )


def merged(
    shares: NDArray[Any], source: tuple[tuple[int, ...], ...], target: tuple[tuple[int, ...], ...]
) -> NDArray[np.float32]:
    """Return shares between pieces, (Ty, Tx), as shares between words, (target words, source words).

    It returns what `Words.merged` does, but needs groups of neighbouring pieces.
    """
    columns = np.add.reduceat(shares, [group[0] for group in source], axis=1)
    rows = np.add.reduceat(columns, [group[0] for group in target], axis=0)
    by_words: NDArray[np.float32] = (rows / [[len(group)] for group in target]).astype(np.float32)
    return by_words


def pieces_of(tokenizer: Tokenizer, ids: list[int], text: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the pieces of a sentence, `</s>` last, and the same with the typed characters in place of each `<unk>`.

    A leading `<s>`, which some imported models read, is left out: it is no word of the sentence.
    Both are equal where the `text` is None.
    """
    count = ids.index(EOS) if EOS in ids else len(ids)  # padding may follow, and some models do not read </s>
    first = int(ids[:1] == [BOS])
    pieces = (*tokenizer.pieces(ids[first:count]), SPECIAL_PIECES[EOS])
    if text is None or UNK not in ids:
        return pieces, pieces
    return pieces, (*tokenizer.sentence_surfaces(text)[first:count], SPECIAL_PIECES[EOS])
