"""Labels in figures, sentences and files: shortened or quoted pieces, what a weight sums up, headings, faces.

A face is a matrix that the heatmap can show: attention before the word, posterior attention, or their difference.

A source word has the *sum* of the weights of its pieces, a target word the *mean* of its steps. One attention therefore
has three numbers; a text of this module beside each says which one it is.
"""

from __future__ import annotations

import re

from attnviz.analysis.numbers import percent
from attnviz.languages import gettext, gettexts, ngettext
from attnviz.text import SPACE, isolated, piece_name, with_symbols, without_isolates
from attnviz.trace import Aligned, Record
from attnviz.trace.aligned import AttentionMatrix
from attnviz.trace.drawing import By, Face

LONGEST = 16
"""Characters of the longest axis label; hover texts are longer."""


def shorten(text: str, longest: int = LONGEST) -> str:
    """Return `text`, shortened to `longest` characters with an ellipsis.

    Right-to-left text stands in isolates, and control characters are symbols.
    """
    text = with_symbols(without_isolates(text).replace("\n", " "))
    return isolated(text if len(text) <= longest else text[: longest - 1] + "…")


def capitalised(text: str) -> str:
    """Return `text` with its first letter capitalised, which may follow the mark of a coloured part."""
    return re.sub("[^\x00-\x1f]", lambda first: first[0].upper(), text, count=1)


def quote(text: str, longest: int | None = None) -> str:
    """Return `text` in the quotation marks of the current language, shortened to `longest` characters, if given."""
    return gettext("“{text}”", text=isolated(text) if longest is None else isolated(shorten(text, longest)))


_NAMED = ("", "'", '"', ",", ".", "-", "<s>")
"""Pieces that are named instead of quoted."""


def punctuation_name(piece: str) -> str | None:
    """Return the name of a piece that quotation marks do not explain, such as a comma; None for others."""
    key = piece.strip(SPACE)
    if key not in _NAMED:
        return None
    return gettext(
        {
            "": "a space",
            "'": "an apostrophe",
            '"': "a quotation mark",
            ",": "a comma",
            ".": "a full stop",
            "-": "a hyphen",
            "<s>": "the start mark <s>",
        }[key]
    )


def quoted_name(piece: str) -> str:
    """Return the label of a piece in quotation marks; spaces, small marks and the start mark by name."""
    return punctuation_name(piece) or quote(piece_name(piece), 30)


def subscript(number: int) -> str:
    """Return `number` in subscript digits."""
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(number))


def size_text(by: By, rows: int, columns: int) -> str:
    """Return the size of an alignment in words or pieces."""
    if by == "words":
        target = ngettext("{count} target word", "{count} target words", rows)
        source = ngettext("{count} source word", "{count} source words", columns)
    else:
        target = ngettext("{count} target piece", "{count} target pieces", rows)
        source = ngettext("{count} source piece", "{count} source pieces", columns)
    return gettext("{target} and {source}", target=target, source=source)


def merged_cell_text(steps: int, pieces: int) -> str:
    """Return how a cell's weight was merged from steps and source pieces; empty for one of each."""
    if steps > 1 and pieces > 1:
        return gettext("mean of {steps} steps, sum of {pieces} pieces", steps=steps, pieces=pieces)
    if steps > 1:
        return gettext("mean of {steps} steps", steps=steps)
    return gettext("sum of {pieces} pieces", pieces=pieces) if pieces > 1 else ""


def merging_text() -> str:
    """Return how the weights between words are made of those of steps and source pieces."""
    return gettext("mean over steps, sum over source pieces")


def merged_words_sentence() -> str:
    """Return what the number of a cell is where rows and columns are words of several pieces."""
    return gettext(
        "The number of a cell is the mean over the steps that write the target word, and the sum over the pieces of "
        "the source word."
    )


def bracket_sentence() -> str:
    """Return what a bracket beside the rows or above the columns of a heatmap means."""
    return gettext("A bracket joins the pieces of one word.")


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
            share = percent(trace.alignment[step, list(group)].sum())
            return gettext(
                ", {pieces} of {word} {share}",
                pieces=summed_pieces_text(len(group)),
                word=quote(word, 30),
                share=share,
            )
    return ""


def search_name(trace: Record, forced_name: str) -> str:
    """Return the name of the decoding method; `forced_name` is that of forced decoding."""
    return {
        "greedy": gettext("greedy search"),
        "beam": gettext("beam search, width {width}", width=trace.search.beam),
        "forced": forced_name,
    }[trace.search.method]


def heatmap_heading(by: By, root: bool, face: Face = "before") -> str:
    """Return the title of the heatmap."""
    symbol = f"√{SYMBOLS[face]}" if root else SYMBOLS[face]
    return gettext(
        {
            "before words": "Alignment: attention weights {weight}, word by word",
            "before steps": "Alignment: attention weights {weight}, step by step",
            "after words": "Alignment: posterior attention {share}, word by word",
            "after steps": "Alignment: posterior attention {share}, step by step",
            "difference words": "How knowing the written word changes the alignment: α′ − α, word by word",
            "difference steps": "How knowing the written word changes the alignment: α′ − α, step by step",
        }[f"{face} {by}"],
        weight=symbol,
        share=symbol,
    )


def step_heading(trace: Aligned, step: int, picture: str, source: int | None = None) -> str:
    """Return the title of the figure `picture` of 0-based `step`, and of 0-based source piece `source` if given."""
    piece = quote(piece_name(trace.target_pieces[step]), 24)
    if source is not None:
        source_name = quote(piece_name(trace.source_surfaces[source]), 24)
        piece = gettext("{piece} looking at {source}", piece=piece, source=source_name)
    count = len(trace.target_pieces)
    return gettext("{picture}: step {i} of {n}, {piece}", picture=picture, i=step + 1, n=count, piece=piece)


SYMBOLS: dict[Face, str] = {"before": "α", "after": "α′", "difference": "α′ − α"}
"""Symbol of each face's values."""


def face_names() -> dict[str, str]:
    """Return the name of each `Face`."""
    return gettexts(
        {
            "before": "Before the word",
            "after": "After the word",
            "difference": "Difference",
        }
    )


def face_explanation(face: Face) -> str:
    """Return what a face shows and how it differs from the others."""
    return gettext(
        "Before the word: α, the attention weights of each step. Each step computes its weights before it knows the "
        "word that it will write."
        if face == "before"
        else "After the word: α′, the posterior attention, computed once the word is known. For each column, Bayes’ "
        "rule multiplies α by the probability that the word would have if the step looked only at that column. "
        "Where α misses the right word, a common reason is that the step computes α before it knows the word. "
        "Neither α nor α′ is the cause of the word. The stage “After the word” below uses only one step, but α′ "
        "also uses the other steps of the translation."
        if face == "after"
        else "The difference, α′ − α: blue where the word raises the weight of the column, red where the word lowers "
        "this weight. Where α misses the right word, a common reason is that the step computes α before it knows "
        "the word. Neither α nor α′ is the cause of the word."
    )
