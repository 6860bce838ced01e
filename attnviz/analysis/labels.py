"""Numbers and pieces in sentences, labels and equations, what a weight sums up, headings, and faces.

Numbers are shares, ratios, durations and the like; numbers, vectors and pieces are also written as LaTeX for KaTeX.
Machine-readable files (CSV, JSON, TikZ) do not use these.

A face is a matrix that the heatmap can show: attention before the word, posterior attention, or their difference.

A source word has the *sum* of the weights of its pieces, a target word the *mean* of its steps. One attention therefore
has three numbers; a text of this module beside each says which one it is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from attnviz.languages import decimal_mark, format_number, format_share, gettext, gettexts, ngettext
from attnviz.text import SPACE, isolated, piece_name, with_symbols, without_isolates
from attnviz.trace import Aligned, AttentionMatrix, By, Face, FloatArray, Record

Real = float | np.floating[Any]
"""A number of Python or of an array."""

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
NO_BREAK = "\u00a0"
"""Space between a number and its unit, which keeps them on one line."""


def decimal(value: Real, places: int = 2) -> str:
    """Return `value` with that many decimal places."""
    return format_number(float(value), f".{places}f")


def shown_difference(values: Iterable[Real]) -> float:
    """Return the difference of two numbers as shown with two decimal places, so that it agrees with them."""
    larger, smaller = (round(float(value), 2) for value in values)
    return round(larger - smaller, 2)


def significant(value: Real, digits: int = 2) -> str:
    """Return `value` to that many significant digits, without trailing zeros."""
    return "∞" if value == math.inf else format_number(float(value), f".{digits}g")


def small(value: Real) -> str:
    """Return a number from 0 to 1 with two decimal places, or with as many as show that it is not 0.

    Examples: 0.97, 0.004, 2·10⁻⁵.
    """
    value = float(value)  # a limit is not to be rounded to float32
    if value == 0 or value >= 0.0095:
        return decimal(value)
    if value >= 0.00095:
        return decimal(value, 3)
    return power_of_ten(value)


def power_of_ten(amount: float) -> str:
    """Return a number as in 3·10⁻⁷, with one digit before the power."""
    if not math.isfinite(amount):
        return "∞" if math.isinf(amount) else "?"
    if amount == 0:
        return "0"
    digit, exponent = f"{amount:.0e}".split("e")
    return f"{digit}·10" + str(int(exponent)).translate(_RAISED)


def power_name(exponent: int) -> str:
    """Return a power of ten as an axis label: 100, 1, 0.01, 10⁻⁴."""
    if exponent >= -3:
        return format_number(10.0**exponent, "g")
    return "10" + str(exponent).translate(_RAISED)


def signed(amount: Real, places: int = 2) -> str:
    """Return a number with its sign; numbers that round to 0 have none."""
    text = format_number(float(amount), f"+.{places}f")
    return text if any(digit in text for digit in "123456789") else text.lstrip("+")


def percent(share: Real) -> str:
    """Return a share as a whole percentage as `format_share` does, but with words instead of < and >."""
    text = format_share(float(share))
    if text.startswith("<"):
        return gettext("less than {share}", share=text[2:])
    if text.startswith(">"):
        return gettext("more than {share}", share=text[2:])
    return text


def fine_percent(share: Real) -> str:
    """Return a share as a percentage with three significant digits, at least one and at most four decimal places."""
    digits = 0 if share <= 0 else math.floor(math.log10(share))
    return format_share(float(share), min(max(-digits, 1), 4))


def times(ratio: Real) -> str:
    """Return a ratio as "… times"."""
    ratio = float(ratio)
    if ratio >= 1000:
        return gettext("more than 1,000 times")
    return gettext("{ratio} times", ratio=round(ratio) if ratio >= 9.95 else decimal(ratio, 1))


def duration(seconds: float) -> str:
    """Return a duration such as `4 h 05 min`, `5 min` or `40 s`."""
    minutes = round(seconds / 60)
    if minutes >= 60:
        return f"{minutes // 60:,} h {minutes % 60:02} min"
    return f"{minutes} min" if minutes else f"{seconds:.0f} s"


# Only Latin letters, digits and marks without a meaning in LaTeX: user text must not become LaTeX.
_SAFE = re.compile(r"[A-Za-z0-9\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017f'’.,;:!?()/-]{1,24}")


def number(value: Real) -> str:
    """Return `value` to three significant digits in LaTeX, with powers of ten where it is very large or small."""
    value = float(value)
    if not math.isfinite(value):
        return r"-\infty" if value < 0 else r"\infty" if value > 0 else rf"\text{{{gettext('undefined')}}}"
    exponent = math.floor(math.log10(abs(value))) if value else 0
    if value == 0:
        text = "0"
    elif -3 <= exponent < 4:
        text = f"{value:.{max(0, 2 - exponent)}f}"
    else:
        mantissa, _, power = f"{value:.2e}".partition("e")
        text = rf"{mantissa}\cdot 10^{{{int(power)}}}"
    # In braces: after a comma, TeX would set the space of a list.
    return text.replace(".", "." if decimal_mark() == "." else f"{{{decimal_mark()}}}")


def vector(values: Sequence[float] | FloatArray) -> str:
    """Return a vector (n,) as its first two numbers, dots, and its last.

    With powers of ten the second is left out, so that the line fits a phone.
    """
    count = len(values)
    shown = [number(values[k]) for k in (range(count) if count <= 4 else (0, 1, count - 1))]
    if count > 4:
        first = shown[:1] if any("10^" in text for text in shown) else shown[:2]
        shown = [*first, r"\ldots", shown[-1]]
    return r"\begin{bmatrix}" + r" & ".join(shown) + r"\end{bmatrix}^{\!\top}"


def safe_text(piece: str) -> str | None:
    """Return a piece as LaTeX text; None where it has a character that is unsafe in LaTeX."""
    special = {"</s>": "</s>", "<unk>": "<unk>", SPACE: gettext("(a space)")}.get(piece)
    if special:
        return rf"\text{{{special}}}"
    name = piece.removeprefix(SPACE)
    return rf"\text{{{name}}}" if _SAFE.fullmatch(name) else None


NEW_LINE = r" \\[2pt] "
"""Line break of `aligned`."""


def aligned(*lines: str) -> str:
    """Return lines below one another, aligned at their ampersands."""
    return r"\begin{aligned}" + NEW_LINE.join(lines) + r"\end{aligned}"


def coloured_latex(colour: str, body: str) -> str:
    """Return LaTeX in a colour, #rrggbb."""
    return rf"\textcolor{{{colour}}}{{{body}}}"


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


def punctuation_name(piece: str) -> str | None:
    """Return the name of a piece that quotation marks do not explain, such as a comma; None for others."""
    try:
        return gettext(
            {
                "": "a space",
                "'": "an apostrophe",
                '"': "a quotation mark",
                ",": "a comma",
                ".": "a full stop",
                "-": "a hyphen",
                "<s>": "the start mark <s>",
            }[piece.strip(SPACE)]
        )
    except KeyError:
        return None


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
