"""Read matrices of Nematus, amun and Sockeye: a header line before each matrix, then one line for each matrix row.

Nematus and amun write the header `id ||| target ||| score ||| source ||| Tx Ty`. Sockeye writes `||| Tx ||| Ty` and
the transposed matrix, one row for each source token.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from attnviz.errors import AttnvizError
from attnviz.importing.format import BAR, NUMBER, Format, fields_of
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.reading import Content
from attnviz.trace import MOST_TOKENS

_ROW = re.compile(rf"\s*(?:{NUMBER}|[-+]?nan|[-+]?inf)(?:\s+(?:{NUMBER}|[-+]?nan|[-+]?inf))*\s*")
_SIZES = re.compile(r"([0-9]{1,6})\s+([0-9]{1,6})")


class _Block(NamedTuple):
    line_number: int
    """Line number of the header, from 1."""
    sentence_id: str
    source: str
    target: str
    rows: list[str]
    sizes: tuple[int, int]
    """Numbers of source and target positions, as in the header."""


def _header(line: str, sockeye: bool) -> list[str] | None:
    """Return the fields of a header line; None where the line is no header."""
    fields = fields_of(line)
    if len(fields) != (6 if sockeye else 5) or not fields[0] or not fields[1] or not fields[3]:
        return None
    is_valid = all(size.isdecimal() for size in fields[4:]) if sockeye else bool(_SIZES.fullmatch(fields[4]))
    return fields if is_valid else None


def _detects(content: Content, sockeye: bool) -> bool:
    if len(content.filled) < 2:
        return False
    first, second = content.filled[0][1], content.filled[1][1]
    return _header(first, sockeye) is not None and BAR not in second and _ROW.fullmatch(second) is not None


def _detect_nematus(content: Content) -> str | None:
    if not _detects(content, sockeye=False):
        return None
    return gettext("A header of five fields precedes each matrix, as in the output of Nematus and amun.")


def _detect_sockeye(content: Content) -> str | None:
    if not _detects(content, sockeye=True):
        return None
    return gettext("A header of six fields precedes each matrix, as in the output of Sockeye.")


def _blocks(content: Content, sockeye: bool) -> list[_Block]:
    """Return the first block of each id; raise AttnvizError for a line that is neither header nor row."""
    blocks = list[_Block]()
    for line_number, line in content.filled:
        if BAR in line:
            fields = _header(line, sockeye)
            if fields is None:
                raise AttnvizError(
                    gettext(
                        "The header in line {number} does not have the same fields as the first header.",
                        number=line_number,
                    )
                )
            sizes = [int(size) for size in " ".join(fields[4:]).split()]
            blocks.append(_Block(line_number, fields[0], fields[3], fields[1], [], (sizes[0], sizes[1])))
        elif _ROW.fullmatch(line):
            blocks[-1].rows.append(line)
        else:
            raise AttnvizError(
                gettext("Line {number} is not a row of weights: “{line}”.", number=line_number, line=line.strip()[:60])
            )
    first = {block.sentence_id: block for block in reversed(blocks)}
    return [block for block in blocks if first[block.sentence_id] is block]


def _read_nematus(content: Content) -> Sentences:
    blocks = _blocks(content, sockeye=False)
    left_out = sum(_header(line, sockeye=False) is not None for _, line in content.filled) - len(blocks)
    return Sentences(blocks, _nematus, remarks=("best-only",) if left_out else ())


def _read_sockeye(content: Content) -> Sentences:
    return Sentences(_blocks(content, sockeye=True), _sockeye)


def _nematus(block: _Block) -> SentencePair:
    return SentencePair(_fields(block, "Nematus"))


def _sockeye(block: _Block) -> SentencePair:
    return SentencePair(_fields(block, "Sockeye"), rows="either")


def _fields(block: _Block, origin: str) -> dict[str, object]:
    rows = [row.split() for row in block.rows]
    if not rows or len({*map(len, rows)}) > 1 or max(len(rows), len(rows[0])) > MOST_TOKENS + 1:
        raise AttnvizError(
            gettext(
                "After line {number} there must be a matrix with rows of equal length, at most {most} rows and {most} "
                "columns.",
                number=block.line_number,
                most=MOST_TOKENS + 1,
            )
        )
    matrix = np.array(rows, dtype=np.float64)
    if not any(_has_sizes(matrix.shape, sizes) for sizes in (block.sizes, block.sizes[::-1])):
        raise AttnvizError(
            gettext(
                "The matrix after line {number} has {rows} rows and {columns} columns, but its header gives "
                "another size.",
                number=block.line_number,
                rows=matrix.shape[0],
                columns=matrix.shape[1],
            )
        )
    return {"source": block.source, "target": block.target, "matrix": matrix, "origin": origin}


def _has_sizes(shape: tuple[int, ...], sizes: tuple[int, ...]) -> bool:
    """Return whether a matrix has these sizes, or one more for `</s>`."""
    return all(size <= actual <= size + 1 for actual, size in zip(shape, sizes, strict=True))


def near_miss_message(content: Content) -> str | None:
    """Return the message for headers without matrices; None for other content."""
    if not content.filled or _header(content.filled[0][1], sockeye=False) is None:
        return None
    return gettext(
        "The file resembles the output of Nematus, with a header before each matrix. But no row of weights "
        "follows the first header."
    )


NEMATUS = Format("nematus", "Nematus, amun", _detect_nematus, _read_nematus, near_miss_message)
SOCKEYE = Format("sockeye", "Sockeye", _detect_sockeye, _read_sockeye)
