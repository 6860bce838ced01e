"""Read attention tables logged by OpenNMT-py and eole (`-attn_debug`, `-align_debug`).

Names of tokens are truncated in the first row and column; each weight has seven decimals.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from attnviz.importing.format import Format
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.reading import Content
from attnviz.trace import MOST_TOKENS

_STAMP = re.compile(r"^\[[^]]{10,60}\] ")
"""Prefix of a log line: `[2024-06-27 19:56:21,123 INFO] `."""
_ROW = re.compile(r"^ *(\S+) +((?:\*?-?[0-9]+\.[0-9]{7} *)+)$")
"""A name and numbers; versions up to 3.0 mark the largest number with an asterisk."""
_NUMBER = re.compile(r"-?[0-9]{1,20}\.[0-9]{7}")
"""A weight of a row; numbers may touch one another."""
LONGEST_SOURCE, LONGEST_TARGET = 7, 10
"""Number of characters that the programs print of a name."""


class _Table(NamedTuple):
    header: list[str]
    rows: list[tuple[str, str]]
    source: str
    """Source sentence that the log gives before the table with -verbose; empty where it gives none."""
    target: str


def read(content: Content, _: int | None) -> Sentences | None:
    """Return one sentence pair for each table of a log; None where it has none."""
    tables = list(_tables(content.lines))
    reason = gettext("The file has attention tables, as OpenNMT-py and eole log them.")
    return Sentences(tables, _read, reason=reason) if tables else None


def _tables(lines: Sequence[str]) -> Iterator[_Table]:
    header, rows = list[str](), list[tuple[str, str]]()
    logged = {"SENT": "", "PRED": ""}
    for raw in (*lines, ""):
        line = _STAMP.sub("", raw.rstrip("\r\n"))
        row = _ROW.match(line)
        if row and header and row[2].count(".") == len(header):
            rows.append((row[1], row[2]))
            continue
        if rows:
            yield _Table(header, rows, source=logged["SENT"], target=logged["PRED"])
            rows, logged = [], {"SENT": "", "PRED": ""}
        header = [name for name in line.split(" ") if name] if len(line) < 20 * MOST_TOKENS else []
        if match := re.match(r"^(SENT|PRED) [0-9]+: (.*)$", line):
            logged[match[1]] = match[2]


def _read(table: _Table) -> SentencePair:
    source = _full_names(table.header, _parse_token_list(table.source), LONGEST_SOURCE)
    names = [name for name, _ in table.rows]
    target = _full_names(names, table.target.split(), LONGEST_TARGET)
    cut = any(len(name) == LONGEST_SOURCE for name in table.header) and source == table.header
    cut |= any(len(name) == LONGEST_TARGET for name in names) and target == names
    numbers = np.array([_NUMBER.findall(row) for _, row in table.rows], dtype=np.float64)
    fields = {"source": source, "target": target, "matrix": numbers, "origin": "OpenNMT-py, eole"}
    return SentencePair(fields, remarks=("cut-names",) if cut else ())


def _full_names(names: list[str], tokens: Sequence[str], longest: int) -> list[str]:
    """Return the full names from the sentence in the log where they match the truncated `names`, else `names`.

    The sentence in the log lacks a final `</s>`.
    """
    full = [*tokens, *names[len(tokens) :]] if len(names) - len(tokens) in (0, 1) else []
    return full if [token[:longest] for token in full] == [name[:longest] for name in names] else names


def _parse_token_list(text: str) -> list[str]:
    """Return the tokens of a sentence printed as a Python list; empty where it is none."""
    try:
        value = ast.literal_eval(text) if len(text) < 100_000 else []
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return []
    return [str(token) for token in value] if isinstance(value, list) else []


def near_miss_message(content: Content) -> str | None:
    """Return the message for a log without tables; None for other content."""
    if not any(re.match(r"^(?:\[[^]]*\] )?(?:SENT|PRED) [0-9]+:", line) for line in content.lines):
        return None
    return gettext(
        "The file looks like a log of OpenNMT-py or eole without attention tables. Translate with -verbose -attn_debug."
    )


FORMAT = Format(
    "opennmt",
    "OpenNMT-py, eole",
    read,
    near_miss_message,
    ("eole", "opennmt-py"),
    example="a log with attention tables",
    written_by="`onmt_translate -verbose -attn_debug`, eole",
)
