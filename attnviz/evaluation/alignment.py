"""Read gold alignments, detokenise their words, merge attention to these, and choose a link threshold."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.measures import error_rate, links
from attnviz.errors import AttnvizError
from attnviz.reading import JSON_ERRORS, open_content, unique_fields
from attnviz.text import SPACE, normalise
from attnviz.trace import Array, Link, Words


@dataclass(frozen=True)
class GoldAlignment:
    """A tokenised sentence pair with its links."""

    identity: str
    source: tuple[str, ...]
    target: tuple[str, ...]
    sure: frozenset[Link]
    possible: frozenset[Link]
    """Links that are only possible; sure links are not repeated here."""


def read_gold(path: Path) -> list[GoldAlignment]:
    """Read a JSON-lines file of `{"id", "en", "fr", "S", "P"}`; links counted from 1 are shifted to count from 0.

    Raise AttnvizError, naming file and line, where it cannot be read, or where the base of the links is ambiguous.
    """
    pairs = []
    for number, line in open_content(path).filled:
        try:
            pairs.append(parse_gold(line))
        except ValueError as error:
            raise AttnvizError(f"Line {number} of {path} is not a gold alignment ({error}).") from error
    if not pairs:
        raise AttnvizError(f"The file {path} holds no gold alignment.")
    base = _base(path, pairs)
    return [
        dataclasses.replace(pair, sure=_counted_from_0(pair.sure, base), possible=_counted_from_0(pair.possible, base))
        for pair in pairs
    ]


def parse_gold(line: str) -> GoldAlignment:
    """Return the pair in a line of JSON, `{"id", "en", "fr", "S", "P"}`, with its links counted as they are.

    Raise ValueError for anything else.
    """
    try:
        fields = json.loads(line, object_pairs_hook=unique_fields)
        sure, possible = (frozenset((j, i) for j, i in fields[kind]) for kind in ("S", "P"))
        source, target = fields["en"], fields["fr"]
        if any(type(place) is not int for link in sure | possible for place in link):
            raise ValueError("the places of a link are whole numbers")
        if not all(isinstance(side, list) and all(isinstance(word, str) for word in side) for side in (source, target)):
            raise ValueError("en and fr are lists of words")
        return GoldAlignment(str(fields["id"]), tuple(source), tuple(target), sure, possible - sure)
    except (*JSON_ERRORS, LookupError, TypeError, ArithmeticError) as error:
        raise ValueError(str(error)) from error


def _counted_from_0(links: frozenset[Link], base: int) -> frozenset[Link]:
    return frozenset((j - base, i - base) for j, i in links)


def _base(path: Path, pairs: Sequence[GoldAlignment]) -> int:
    """Return whether the links of a file count from 0 or from 1, judging by their bounds."""
    from_zero = from_one = True
    for pair in pairs:
        for j, i in pair.sure | pair.possible:
            from_zero &= 0 <= j < len(pair.source) and 0 <= i < len(pair.target)
            from_one &= 1 <= j <= len(pair.source) and 1 <= i <= len(pair.target)
    if from_zero == from_one:
        reason = "can be counted from 0 as well as from 1" if from_zero else "name words outside their sentences"
        raise AttnvizError(f"The alignment error rate cannot be computed: the links of {path} {reason}.")
    return 0 if from_zero else 1


def between_words(
    gold: GoldAlignment, source_pieces: Sequence[str], target_pieces: Sequence[str], shares: NDArray[Any]
) -> Array:
    """Return `shares` (Ty, Tx) between pieces as shares between the words of a gold pair, (target words, source words).

    The last row and column are `</s>`; the pieces, of the detokenised text, are given without it. Pieces belong to
    words by character offsets, without spaces; shares are summed over source pieces and averaged over target pieces.
    """
    columns = memberships(source_pieces, gold.source)
    rows = _averaged(memberships(target_pieces, gold.target))
    merged: Array = rows @ shares[:-1, :-1].astype(np.float64) @ columns.T
    return merged


def between_tokens(words: Words, source: Sequence[str], target: Sequence[str]) -> Words:
    """Return the attention between the words of a detokenised pair as attention between its tokens.

    The last row and column are `</s>`. Shares are summed over the words of a source token and averaged over those of a
    target token.
    """
    columns, rows = (
        np.pad(memberships(names[:-1], tokens), ((0, 1), (0, 1)))
        for names, tokens in ((words.source, source), (words.target, target))
    )
    columns[-1, -1] = rows[-1, -1] = 1
    alignment = (_averaged(rows) @ np.asarray(words.alignment, np.float64) @ columns.T).astype(np.float32)
    return dataclasses.replace(words, source=(*source, "</s>"), target=(*target, "</s>"), alignment=alignment)


def _averaged(shares: Array) -> Array:
    """Return `memberships` whose rows sum to 1, also for a word that is a part of a piece; empty rows stay."""
    return shares / np.where(shares.any(axis=1, keepdims=True), shares.sum(axis=1, keepdims=True), 1)


def memberships(pieces: Sequence[str], words: Sequence[str]) -> Array:
    """Return the share of each piece that lies in each word, (words, pieces); columns sum to 1.

    A piece that is only a space belongs to the next word.
    """
    owners = [index for index, word in enumerate(words) for _ in normalise(word).replace(" ", "")]
    shares, offset = np.zeros((len(words), len(pieces))), 0
    for column, piece in enumerate(pieces):
        length = len(piece.replace(SPACE, ""))
        covered = owners[offset : offset + max(1, length)]
        offset += length
        for owner in covered:
            shares[owner, column] += 1 / len(covered)
    return shares


def best_threshold(alignments: Sequence[Array], gold: Sequence[GoldAlignment]) -> float:
    """Return the threshold, a multiple of 0.01 below 1, whose links have the lowest error rate on `gold`.

    `alignments` has an (N, M) matrix, target by source words, for each sentence.
    """
    candidates = [step / 100 for step in range(1, 100)]
    return min(candidates, key=lambda share: error_rate((links(each, share) for each in alignments), gold).aer)
