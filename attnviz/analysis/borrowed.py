"""Looks that a step can borrow: where word links that people drew, or another model, would have it look."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.text import SPACE
from attnviz.trace import Trace

Array = NDArray[np.float64]


def linked_look(trace: Trace, step: int, links: Collection[tuple[int, int]]) -> Array:
    """Return the weights (Tx,), from 0, sum 1, that look at the source words linked to the word of 0-based `step`, all
    alike, and alike at the pieces of each.

    `links` are (source word, target word), both from 0, as `pharaoh` writes them. Raise AttnvizError where one names a
    word that there is not, or the word of the step has none.
    """
    words = trace.words()
    # </s>, the last word of both, has no links.
    ends = len(words.source) - 1, len(words.target) - 1
    for j, i in links:
        if not (0 <= j < ends[0] and 0 <= i < ends[1]):
            raise AttnvizError(
                gettext(
                    "The link {link} names a word that is not there: words are counted from 0, and there are {source} "
                    "and {target}.",
                    link=f"{j}-{i}",
                    source=ends[0],
                    target=ends[1],
                )
            )
    word = next(i for i, group in enumerate(words.target_groups) if step in group)
    linked = sorted({j for j, i in links if i == word})
    if not linked:
        raise AttnvizError(
            gettext("None of these links is of the word “{name}”: there is no look to borrow.", name=words.target[word])
        )
    weights = np.zeros(len(trace.source_pieces))
    for j in linked:
        group = list(words.source_groups[j])
        weights[group] = 1 / len(linked) / len(group)
    return weights


def look_of(trace: Trace, step: int, other: Trace) -> Array:
    """Return where `other`, the same translation of the same sentence by another model, looked for the characters that
    0-based `step` wrote, as weights over the source pieces of `trace`, (Tx,), from 0, sum 1.

    A piece of one model shares its weight among those of the other by its characters, blanks not counted. Raise
    AttnvizError where the two are not of the same text.
    """
    rows = _overlaps(other.target_pieces, trace.target_pieces)[:, step]
    columns = _overlaps(trace.source_surfaces, other.source_surfaces)
    shares = columns @ (rows @ other.alignment.astype(np.float64))
    weights: Array = shares / shares.sum()
    return weights


def _overlaps(ours: Sequence[str], theirs: Sequence[str]) -> Array:
    """Return which share of each of their pieces lies in each of ours, (ours, theirs); columns sum to 1.

    The last of both is `</s>`. A piece that is a mere blank belongs to what follows it.
    """
    texts = [[piece.replace(SPACE, "") for piece in side[:-1]] + ["\0"] for side in (ours, theirs)]
    if "".join(texts[0]) != "".join(texts[1]):
        raise AttnvizError(
            gettext(
                "The two models do not have the same text in their pieces, so that the look of one is "
                "none of the other’s."
            )
        )
    owners = [index for index, text in enumerate(texts[0]) for _ in text]
    shares, place = np.zeros((len(ours), len(theirs))), 0
    for column, text in enumerate(texts[1]):
        covered = owners[place : place + max(1, len(text))]
        np.add.at(shares[:, column], covered, 1 / len(covered))
        place += len(text)
    return shares
