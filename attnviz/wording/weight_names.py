"""Texts that say what a weight belongs to: a step or a word, a source piece or a word; and the size of an alignment.

A source word has the *sum* of the weights of its pieces, a target word the *mean* of its steps. One attention therefore
has three numbers; a text of this module beside each says which one it is.
"""

from __future__ import annotations

from attnviz.analysis.grid import By
from attnviz.languages import gettext, ngettext
from attnviz.trace.attention_matrix import AttentionMatrix
from attnviz.wording.labels import quote, shorten
from attnviz.wording.numbers import percent


def size_text(by: By, rows: int, columns: int) -> str:
    """Return the size of an alignment in words or pieces."""
    if by == "words":
        target = ngettext("{count} target word", "{count} target words", rows)
        source = ngettext("{count} source word", "{count} source words", columns)
    else:
        target = ngettext("{count} target piece", "{count} target pieces", rows)
        source = ngettext("{count} source piece", "{count} source pieces", columns)
    return gettext("{target} and {source}", target=target, source=source)


def merged(steps: int, pieces: int) -> str:
    """Return how a cell's weight was merged from steps and source pieces; empty for one of each."""
    if steps > 1 and pieces > 1:
        return gettext("mean of {steps} steps, sum of {pieces} pieces", steps=steps, pieces=pieces)
    if steps > 1:
        return gettext("mean of {steps} steps", steps=steps)
    return gettext("sum of {pieces} pieces", pieces=pieces) if pieces > 1 else ""


def summed_pieces_text(pieces: int) -> str:
    """Return which pieces the weight of a source word at one step sums; empty for a word of one piece."""
    if pieces < 2:
        return ""
    return gettext("both pieces") if pieces == 2 else gettext("all {count} pieces", count=pieces)


def word_share_text(trace: AttentionMatrix, step: int, piece: int) -> str:
    """Return, for 0-based `piece` of a longer source word, the share of the whole word at 0-based `step`."""
    words = trace.words()
    for word, group in zip(words.source, words.source_groups, strict=True):
        if piece in group and len(group) > 1:
            share = percent(float(trace.alignment[step, list(group)].sum()))
            return gettext(
                ", {pieces} of {word} {share}",
                pieces=summed_pieces_text(len(group)),
                word=quote(shorten(word, 30)),
                share=share,
            )
    return ""
