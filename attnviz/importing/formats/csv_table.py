"""Read tables as CSV, TSV or the like: source tokens in the first row, target tokens in the first column.

Columns are separated by commas, tabs, semicolons or spaces. A table may also hold weights alone, or links: S for sure
or P for possible in a cell. The tables exported by this program have numbered names; their margins are dropped.
"""

from __future__ import annotations

import csv
import re
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.importing.format import Format, is_number, matrix_of
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.reading import Content
from attnviz.text import CONTINUES
from attnviz.trace import MOST_TOKENS
from attnviz.trace.word_link_text import Links

_OWN_CORNER = re.compile(r"\w+ \\ \w+( \(.*\))?")
"""Corner cell of an exported table: `target \\ source`, in any language, and what weights of words are, in brackets."""
_DIALECTS = ((",", True), ("\t", True), ("\t", False), (";", True), (" ", False))
"""Delimiters, and whether cells may be quoted."""
_LARGEST = MOST_TOKENS + 5


def _read(content: Content, _: int | None) -> Sentences | None:
    """Return one sentence pair for each table, which blank lines separate; None where a block of lines is no table."""
    first = content.filled[0][1] if content.filled else ""
    for delimiter, quoted in _DIALECTS:
        blocks = _blocks(content, delimiter, quoted=quoted) if delimiter in first else []
        pairs = [pair for rows in blocks if (pair := _pair(rows, delimiter))]
        if pairs and len(pairs) == len(blocks):
            return Sentences(pairs, base=0, reason=_reason(pairs[0]))
    return None


def _reason(pair: SentencePair) -> str:
    if pair.fields.keys() == {"matrix"}:
        return gettext("The file is a table of numbers.")
    if pair.links is not None:
        return gettext(
            "The file is a table of links: S (sure) or P (possible) in the row of a target token and the column of a "
            "source token."
        )
    return gettext("The file is a table: source tokens in the first row, target tokens in the first column.")


def _blocks(content: Content, delimiter: str, *, quoted: bool) -> list[list[list[str]]]:
    """Return the rows of each table, with stripped cells; none where the text is no valid CSV with this delimiter."""
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    blocks: list[list[list[str]]] = [[]]
    try:
        for row in csv.reader(content.lines, delimiter=delimiter, quoting=quoting, strict=quoted):
            cells = [cell.strip(" ") for cell in row if delimiter != " " or cell]
            if any(cells):
                blocks[-1].append(cells)
            elif blocks[-1]:
                blocks.append([])
    except csv.Error:
        return []
    return [block for block in blocks if block]


def _pair(rows: list[list[str]], delimiter: str) -> SentencePair | None:
    """Return the pair of a table; None where its rows differ in length or its cells are neither weights nor links."""
    if max(len(rows), *map(len, rows)) > _LARGEST:
        return None
    weights = _weights(rows, delimiter)
    if weights is None or len(rows[0]) < 2:
        return _named_pair(rows, delimiter)
    if _is_index(rows[0]) and (weights != np.round(weights)).any():
        return SentencePair({"matrix": weights[1:]}, remarks=("index-dropped",))
    return SentencePair({"matrix": weights})


def _weights(rows: list[list[str]], delimiter: str) -> NDArray[np.float64] | None:
    """Return a table of weights; None where a cell is no weight, or rows differ in length."""
    comma = "," if delimiter in ";\t" else "."  # of decimal numbers
    try:
        return matrix_of([[cell.lower().replace(comma, ".") for cell in row] for row in rows])
    except AttnvizError:
        return None


def _named_pair(rows: list[list[str]], delimiter: str) -> SentencePair | None:
    """Return the pair of a table whose first row and column are tokens, or 0, 1, … as pandas writes without names."""
    header, body = rows[0], rows[1:]
    corner = header.pop(0) if len(header) == max(map(len, body), default=0) else ""
    sides = {"source": header, "target": [row[0] for row in body]}
    fits = {*map(len, body)} == {len(header) + 1} and len(header) >= (2 if delimiter == " " else 1)
    if not fits or not all(map(all, sides.values())):
        return None
    cells, is_own = [row[1:] for row in body], _OWN_CORNER.fullmatch(corner) is not None
    if is_own:
        tokens = {side: _marked(_numbered(names) or names) for side, names in sides.items()}
        cells = [row[: len(tokens["source"])] for row in cells[: len(tokens["target"])]]
    else:
        tokens = {side: names for side, names in sides.items() if not _is_index(names)}
    is_whole = [*map(len, tokens.values())] == [*map(len, sides.values())]
    remarks = () if is_whole else ("margins-dropped" if is_own else "index-dropped",)
    kinds = {cell.upper() for row in cells for cell in row}
    if kinds <= {"", "S", "P"} and (is_own or kinds != {""}):
        marks = {(j, i): cell.upper() for i, row in enumerate(cells) for j, cell in enumerate(row) if cell}
        possible = frozenset(link for link, mark in marks.items() if mark == "P")
        return SentencePair(tokens, Links(frozenset(marks), possible, annotated=True), remarks)
    weights = _weights(cells, delimiter)
    return None if weights is None else SentencePair({**tokens, "matrix": weights}, remarks=remarks)


def _is_index(names: list[str]) -> bool:
    """Return whether names are 0, 1, …, as pandas labels rows and columns that have no names."""
    return len(names) > 1 and names == [str(number) for number, _ in enumerate(names)]


def _numbered(names: list[str]) -> list[str]:
    """Return the names with the numbers 1, 2, …, without these; the last may be that of entropies or sums.

    None fit where another number is missing, as in a table from which a person took a row or a column.
    """
    found = list[str]()
    for name in names:
        number, _, rest = name.partition(" ")
        if number != str(len(found) + 1):
            break
        found.append(rest or "␣")
    margins = [name.partition(" ")[0] for name in names[len(found) :]]
    return [] if len(margins) > 1 or any(map(str.isdecimal, margins)) else found


def _marked(names: list[str]) -> list[str]:
    """Return names of pieces, such as `bi` and `·cycle`, as tokens with a joining mark, `bi@@` and `cycle`."""
    continues = [len(name) > 1 and name.startswith(CONTINUES) for name in [*names, ""]]
    return [name[own:] + "@@" * after for name, (own, after) in zip(names, pairwise(continues), strict=True)]


def _near_miss_message(content: Content) -> str | None:
    """Return the message for a table that does not hold weights, or for numbers alone; None for other content."""
    if content.filled and all(is_number(group) for _, line in content.filled for group in line.split()):
        return gettext(
            "The file has only numbers, and its lines have different lengths. Give a matrix with rows of equal "
            "length. If the numbers are the probabilities of links, write each probability after its link, as in "
            "0-0:0.9."
        )
    for delimiter in (",", "\t", ";"):
        rows = [*_blocks(content, delimiter, quoted=True), []][0]
        widths = [len(row) for row in rows]
        if len(rows) > 1 and widths[0] > 2 and all(abs(one - other) <= 1 for one, other in pairwise(widths)):
            return gettext(
                "The file looks like a table, but not like a table of weights. The first line must hold the source "
                "tokens. Each later line must hold a target token, then one number per source token."
            )
    return None


CSV_TABLE = Format(
    "csv",
    "CSV",
    _read,
    _near_miss_message,
    ("tsv", "table"),
    example=(
        "a table with the source tokens in the first row and the target tokens in the first column, or only numbers; "
        "instead of numbers, `S` for a sure link, `P` for a possible link and nothing for no link; the separator is "
        "`,`, `;`, a tab or spaces"
    ),
    written_by="`attnviz figure … -o a.csv`, pandas, `numpy.savetxt`",
)
