"""Read tables as CSV, TSV or the like: source tokens in the first row, target tokens in the first column.

Columns are separated by commas, tabs, semicolons or spaces. A table may also hold weights alone, or links: S for sure
or P for possible in a cell. The tables exported by this program have numbered names; their margins are dropped.
"""

from __future__ import annotations

import csv
import re
from itertools import pairwise, takewhile
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from attnviz.importing.format import Format, are_weights, is_number
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.reading import Content
from attnviz.trace import MOST_TOKENS
from attnviz.trace.link_text import Links

_OWN_CORNER = re.compile(r"\w+ \\ \w+")
"""Corner cell of an exported table: `target \\ source`, in any language."""
_DIALECTS = ((",", True), ("\t", True), ("\t", False), (";", True), (" ", False))
"""Delimiters, and whether cells may be quoted."""
_LARGEST = MOST_TOKENS + 5


def read(content: Content, _: int | None) -> Sentences | None:
    """Return one sentence pair for each table, which blank lines separate; None where a block of lines is no table."""
    first = content.filled[0][1] if content.filled else ""
    if len(first) > 200 * MOST_TOKENS:
        return None
    for delimiter, quoted in _DIALECTS:
        if delimiter not in first:
            continue
        found = [_pair(rows, delimiter) for rows in _blocks(content, delimiter, quoted=quoted)]
        pairs = [pair for pair in found if pair]
        if pairs and len(pairs) == len(found):
            return Sentences(pairs, lambda pair: pair, base=0, reason=_reason(pairs[0]))
    return None


def _reason(pair: SentencePair) -> str:
    if not {"source", "target"} & {*pair.fields}:
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
    plain = [[cell.replace(",", ".") if delimiter in ";\t" else cell for cell in row] for row in rows]
    is_matrix = len({*map(len, rows)}) == 1 and all(are_weights([cell.lower() for cell in row]) for row in plain)
    return np.array(plain, dtype=np.float64) if is_matrix else None


def _named_pair(rows: list[list[str]], delimiter: str) -> SentencePair | None:
    """Return the pair of a table whose first row and column are tokens, or 0, 1, … as pandas writes without names."""
    header, body = rows[0], rows[1:]
    corner = header.pop(0) if len(header) == max(map(len, body), default=0) else ""
    columns, lines = names = [header, [row[0] for row in body]]
    if len(columns) < (2 if delimiter == " " else 1) or not lines or not all(map(all, names)):
        return None
    if {*map(len, body)} != {len(columns) + 1}:
        return None
    remarks = list[str]()
    if is_own := _OWN_CORNER.fullmatch(corner) is not None:
        names = [_numbered(columns) or columns, _numbered(lines) or lines]
        remarks += ["margins-dropped"] * ([*map(len, names)] != [len(columns), len(lines)])
    cells = [row[1 : len(names[0]) + 1] for row in body[: len(names[1])]]
    sides = zip(("source", "target"), names, strict=True)
    tokens = {side: found for side, found in sides if is_own or not _is_index(found)}
    remarks += ["index-dropped"] * (len(tokens) < 2)
    marks = [[cell.upper() for cell in row] for row in cells]
    kinds = {mark for row in marks for mark in row}
    if kinds <= {"", "S", "P"} and (is_own or kinds != {""}):
        sure, possible = (
            frozenset((j, i) for i, row in enumerate(marks) for j, mark in enumerate(row) if mark == kind)
            for kind in ("S", "P")
        )
        return SentencePair(tokens, Links(sure | possible, possible, annotated=True), tuple(remarks))
    weights = _weights(cells, delimiter)
    return None if weights is None else SentencePair({**tokens, "matrix": weights}, remarks=tuple(remarks))


def _is_index(names: list[str]) -> bool:
    """Return whether names are 0, 1, …, as pandas labels rows and columns that have no names."""
    return len(names) > 1 and names == [str(number) for number, _ in enumerate(names)]


def _numbered(names: list[str]) -> list[str]:
    """Return the names with the numbers 1, 2, …, without these; the last may be that of entropies or sums.

    None fit where another number is missing, as in a table from which a person took a row or a column.
    """
    parts = [name.partition(" ") for name in names]
    fitting = takewhile(lambda part: part[1][0] == str(part[0]), enumerate(parts, 1))
    found = [rest or "␣" for _, (_, _, rest) in fitting]
    margins = [number for number, _, _ in parts[len(found) :]]
    return [] if len(margins) > 1 or any(map(str.isdecimal, margins)) else found


def near_miss_message(content: Content) -> str | None:
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


FORMAT = Format(
    "csv",
    "CSV",
    read,
    near_miss_message,
    ("tsv", "table"),
    example=(
        "a table with the source tokens in the first row and the target tokens in the first column, or only numbers; "
        "instead of numbers, `S` for a sure link, `P` for a possible link and nothing for no link; the separator is "
        "`,`, `;`, a tab or spaces"
    ),
    written_by="`attnviz figure … -o a.csv`, pandas, `numpy.savetxt`",
)
