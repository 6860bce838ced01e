"""Read tables as CSV, TSV or the like: source tokens in the first row, target tokens in the first column.

Columns are separated by commas, tabs, semicolons or spaces. A table may also hold weights alone, or links: S for sure
or P for possible in a cell. The tables exported by this program have numbered names; their margins are dropped.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from attnviz.importing.format import Format, is_number
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.reading import Content
from attnviz.trace import MOST_TOKENS
from attnviz.trace.link_text import Links

_OWN_CORNER = re.compile(r"\w+ \\ \w+")
"""Corner cell of an exported table: `target \\ source`, in any language."""


_KINDS = ("", "S", "P")
"""Cells of a table of links: none, sure, possible."""


class _Table(NamedTuple):
    source: list[str] | None
    target: list[str] | None
    rows: list[list[str]]
    remarks: tuple[str, ...] = ()
    linked: bool = False
    """Whether the cells are _KINDS instead of numbers."""


def read(content: Content, _: int | None) -> Sentences | None:
    """Return one sentence pair for each table; None for other text."""
    tables = _tables(content)
    if not tables:
        return None
    if tables[0].source is None and tables[0].target is None:
        reason = gettext("The file is a table of numbers.")
    elif tables[0].linked:
        reason = gettext(
            "The file is a table of links: S (sure) or P (possible) in the row of a target token and the column of a "
            "source token."
        )
    else:
        reason = gettext("The file is a table: source tokens in the first row, target tokens in the first column.")
    return Sentences(tables, _read, base=0, reason=reason)


def _tables(content: Content) -> list[_Table] | None:
    """Return the tables of a text, separated by blank lines; None where a block is no table."""
    text = content.text
    if not text.strip() or len(content.lines[0]) > 200 * MOST_TOKENS:
        return None
    for delimiter, quoted in ((",", True), ("\t", True), ("\t", False), (";", True), (" ", False)):
        blocks = _blocks(text, delimiter, quoted) if delimiter in content.filled[0][1] else None
        tables = [_table(block, delimiter) for block in blocks or []]
        if tables and None not in tables:
            return [table for table in tables if table]
    return None


def _blocks(text: str, delimiter: str, quoted: bool) -> list[list[list[str]]] | None:
    """Return the rows of each table, with stripped cells; None where the text is no valid CSV with this delimiter."""
    try:
        rows = list(
            csv.reader(
                text.split("\n"),
                delimiter=delimiter,
                quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
                strict=quoted,
            )
        )
    except csv.Error:
        return None
    blocks: list[list[list[str]]] = [[]]
    for row in rows:
        cells = [cell.strip("\r ") for cell in row]
        if delimiter == " ":
            cells = [cell for cell in cells if cell]
        if any(cells):
            blocks[-1].append(cells)
        elif blocks[-1]:
            blocks.append([])
    return [block for block in blocks if block]


def _table(rows: Sequence[Sequence[str]], delimiter: str) -> _Table | None:
    """Return a table; None where rows differ in length or cells are no numbers."""
    if len(rows) > MOST_TOKENS + 5 or max(map(len, rows)) > MOST_TOKENS + 5:
        return None

    def plain(cell: str) -> str:
        return cell.replace(",", ".") if delimiter in ";\t" else cell

    def number(cell: str) -> bool:
        return is_number(plain(cell)) or cell.lower() == "nan"

    width = len(rows[0])
    if width > 1 and all(len(row) == width and all(map(number, row)) for row in rows):
        numbers = [[plain(cell) for cell in row] for row in rows]
        if _is_index(numbers[0]) and any("." in cell for row in numbers for cell in row):
            return _Table(None, None, numbers[1:], ("index-dropped",))
        return _Table(None, None, numbers)
    header, body = list(rows[0]), [list(row) for row in rows[1:]]
    narrowest = 3 if delimiter == " " else 2
    if not body or any(len(row) != len(body[0]) for row in body) or len(body[0]) < narrowest:
        return None
    corner = header.pop(0) if len(header) == len(body[0]) else ""
    if len(header) != len(body[0]) - 1 or not all(header) or not all(row[0] for row in body):
        return None
    source, target = header, [row[0] for row in body]
    remarks = list[str]()
    if _OWN_CORNER.fullmatch(corner) and _numbered(source[:1]) is not None:
        source, target, body = _without_margins(source, target, body, remarks)
        source, target = _numbered(source) or source, _numbered(target) or target
    named = [None if _is_index(side) and not _OWN_CORNER.fullmatch(corner) else side for side in (source, target)]
    remarks += ["index-dropped"] if None in named else []
    cells = [cell for row in body for cell in row[1:]]
    if cells and all(cell.upper() in _KINDS for cell in cells) and (any(cells) or _OWN_CORNER.fullmatch(corner)):
        return _Table(
            named[0], named[1], [[cell.upper() for cell in row[1:]] for row in body], tuple(remarks), linked=True
        )
    if not all(map(number, cells)) or not body:
        return None
    return _Table(named[0], named[1], [[plain(cell) for cell in row[1:]] for row in body], tuple(remarks))


def _is_index(names: Sequence[str] | None) -> bool:
    """Return whether names are 0, 1, …, as pandas labels rows and columns that have no names."""
    return names is not None and len(names) > 1 and list(names) == [str(number) for number in range(len(names))]


def _numbered(names: Sequence[str]) -> list[str] | None:
    """Return names without their leading numbers 1, 2, …; None where they are not numbered so."""
    parts = [name.partition(" ") for name in names]
    if [part[0] for part in parts] != [str(number) for number, _ in enumerate(names, 1)]:
        return None
    return [part[2] or "␣" for part in parts]


def _without_margins(
    source: list[str], target: list[str], body: list[list[str]], remarks: list[str]
) -> tuple[list[str], list[str], list[list[str]]]:
    """Return the table without a last column of entropies and a last row of sums, whose names have no number."""
    columns = sum(name.partition(" ")[0].isdecimal() for name in source)
    rows = sum(name.partition(" ")[0].isdecimal() for name in target)
    if columns == len(source) and rows == len(target):
        return source, target, body
    remarks.append("margins-dropped")
    return source[:columns], target[:rows], [row[: columns + 1] for row in body[:rows]]


def _read(table: _Table) -> SentencePair:
    if table.linked:
        linked_as = {
            kind: frozenset((j, i) for i, row in enumerate(table.rows) for j, cell in enumerate(row) if cell == kind)
            for kind in _KINDS[1:]
        }
        links = Links(linked_as["S"] | linked_as["P"], linked_as["P"], annotated=True)
        return SentencePair(_tokens(table), links, table.remarks)
    return SentencePair({"matrix": np.array(table.rows, dtype=np.float64), **_tokens(table)}, remarks=table.remarks)


def _tokens(table: _Table) -> dict[str, list[str]]:
    return {side: names for side, names in (("source", table.source), ("target", table.target)) if names is not None}


def near_miss_message(content: Content) -> str | None:
    """Return the message for a table that does not hold weights, or for numbers alone; None for other content."""
    if content.filled and all(is_number(group) for _, line in content.filled for group in line.split()):
        return gettext(
            "The file has only numbers, and its lines have different lengths. Give a matrix with rows of equal "
            "length. If the numbers are the probabilities of links, write each probability after its link, as in "
            "0-0:0.9."
        )
    for delimiter in (",", "\t", ";"):
        blocks = _blocks(content.text, delimiter, quoted=True)
        if not blocks or len(blocks[0]) < 2 or len(blocks[0][0]) < 3:
            continue
        widths = [len(row) for row in blocks[0]]
        if all(abs(one - other) <= 1 for one, other in pairwise(widths)):
            return gettext(
                "The file looks like a table, but not like a table of weights. The first line must hold the source "
                "tokens. Each later line must hold a target token, then one number per source token."
            )
    return None


FORMAT = Format("csv", "CSV", read, near_miss_message, ("tsv", "table"))
