"""Titles of the heatmap and of figures of a step in exported files, and the name of the search."""

from __future__ import annotations

from attnviz.analysis.grid import By, Face
from attnviz.languages import gettext
from attnviz.text import piece_name
from attnviz.trace import Aligned, Record
from attnviz.wording.labels import quote, shorten


def search_name(trace: Record, forced_name: str) -> str:
    """Return the name of the decoding method; `forced_name` is that of forced decoding."""
    return {
        "greedy": gettext("greedy search"),
        "beam": gettext("beam search, width {width}", width=trace.search.beam),
        "forced": forced_name,
    }[trace.search.method]


def heatmap_heading(by: By, root: bool, face: Face = "before") -> str:
    """Return the title of the heatmap."""
    if face == "after":
        share = "√α′" if root else "α′"
        if by == "words":
            return gettext("Alignment after the word: posterior {share}, word by word", share=share)
        return gettext("Alignment after the word: posterior attention {share}, piece by piece", share=share)
    if face == "difference":
        if by == "words":
            return gettext("How knowing the written word changes the alignment: α′ − α, word by word")
        return gettext("How knowing the written word changes the alignment: α′ − α, piece by piece")
    weight = "√α" if root else "α"
    if by == "words":
        return gettext("Alignment: attention weights {weight}, word by word", weight=weight)
    return gettext("Alignment: attention weights {weight}, piece by piece", weight=weight)


def step_heading(trace: Aligned, step: int, picture: str, source: int | None = None) -> str:
    """Return the title of the figure `picture` of 0-based `step`, and of 0-based source piece `source` if given."""
    piece = quote(shorten(piece_name(trace.target_pieces[step]), 24))
    if source is not None:
        source_name = quote(shorten(piece_name(trace.source_pieces[source]), 24))
        piece = gettext("{piece} looking at {source}", piece=piece, source=source_name)
    count = len(trace.target_pieces)
    return gettext("{picture}: step {i} of {n}, {piece}", picture=picture, i=step + 1, n=count, piece=piece)
