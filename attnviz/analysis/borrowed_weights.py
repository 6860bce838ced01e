"""Attention weights to force on a step, taken from gold links or from another model's attention."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.text import SPACE
from attnviz.trace import Trace

Array = NDArray[np.float64]


def weights_from_links(trace: Trace, step: int, links: Collection[tuple[int, int]]) -> Array:
    """Return uniform weights (Tx,) over the source words linked to the word of 0-based `step`; they sum to 1.

    Words share the weight equally, and so do the pieces of a word. `links` are (source word, target word), both from 0,
    as `pharaoh` writes them. Raise AttnvizError where a link names a word that does not exist, or the word has no link.
    """
    words = trace.words()
    # </s>, the last word of both sides, has no links.
    ends = len(words.source) - 1, len(words.target) - 1
    word = words.word_at(step)
    if word == ends[1]:
        raise AttnvizError(gettext("This step writes the end mark </s>, which has no word links. Choose another step."))
    for j, i in links:
        if not (0 <= j < ends[0] and 0 <= i < ends[1]):
            raise AttnvizError(
                gettext(
                    "The link {link} names a word that does not exist. Words are counted from 0; there are "
                    "{source} source words and {target} target words.",
                    link=f"{j}-{i}",
                    source=ends[0],
                    target=ends[1],
                )
            )
    linked = sorted({j for j, i in links if i == word})
    if not linked:
        raise AttnvizError(
            gettext(
                "None of the links given ends at the target word “{name}”, so the links give no weights for this "
                "word. Add a link to this word.",
                name=words.target[word],
            )
        )
    weights = np.zeros(len(trace.source_pieces))
    for j in linked:
        group = list(words.source_groups[j])
        weights[group] = 1 / len(linked) / len(group)
    return weights


def weights_from_trace(trace: Trace, step: int, other: Trace) -> Array:
    """Return the attention of `other` for the text of 0-based `step`, as weights over the pieces of `trace`, (Tx,).

    `other` is the same translation of the same sentence by another model. A piece of one model shares its weight among
    those of the other by characters, spaces not counted; weights sum to 1. Raise AttnvizError where the texts differ.
    """
    rows = _overlaps(other.target_pieces, trace.target_pieces)
    if rows is None:
        raise AttnvizError(
            gettext(
                "The two models split the translation into pieces. When joined, the pieces of the two models "
                "give two different texts. So this model cannot use the attention of the other model."
            )
        )
    columns = _overlaps(trace.source_surfaces, other.source_surfaces)
    if columns is None:
        raise AttnvizError(
            gettext(
                "The two models split the sentence into pieces that do not spell the same text. So this model "
                "cannot use the attention of the other model."
            )
        )
    shares = columns @ (rows[:, step] @ other.alignment.astype(np.float64))
    weights: Array = shares / shares.sum()
    return weights


def _overlaps(pieces: Sequence[str], other_pieces: Sequence[str]) -> Array | None:
    """Return the share of each of `other_pieces` in each of `pieces`, (pieces, other pieces); columns sum to 1.

    It is None where the pieces do not spell the same text.

    The last piece of both is `</s>`. A piece that is only a space belongs to the next.
    """
    texts = [[piece.replace(SPACE, "") for piece in side[:-1]] + ["\0"] for side in (pieces, other_pieces)]
    if "".join(texts[0]) != "".join(texts[1]):
        return None
    owners = [index for index, text in enumerate(texts[0]) for _ in text]
    shares, offset = np.zeros((len(pieces), len(other_pieces))), 0
    for column, text in enumerate(texts[1]):
        covered = owners[offset : offset + max(1, len(text))]
        np.add.at(shares[:, column], covered, 1 / len(covered))
        offset += len(text)
    return shares
