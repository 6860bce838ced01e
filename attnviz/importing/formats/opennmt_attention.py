"""Read attention tables logged by OpenNMT-py and eole (`-attn_debug`, `-align_debug`).

Names of tokens are truncated in the first row and column; each weight has seven decimals. With -verbose the log has the
sentences before each table.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from attnviz.importing.format import Format
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.reading import Content

_STAMP = re.compile(r"^\[[^]]{10,60}\] ")
"""Prefix of a log line: `[2024-06-27 19:56:21,123 INFO] `."""
_SENTENCE = re.compile(r"(SENT|PRED) [0-9]+:(.*)")
"""Source tokens as a Python list, or target tokens."""
_ROW = re.compile(r"^ *(\S+) +((?:\*?-?[0-9]+\.[0-9]{7} *)+)$")
"""A name and numbers; versions up to 3.0 mark the largest number with an asterisk."""
_NUMBER = re.compile(r"-?[0-9]{1,20}\.[0-9]{7}")
"""A weight of a row; numbers may touch one another."""
_LONGEST_SOURCE, _LONGEST_TARGET = 7, 10
"""Number of characters that the programs print of a name."""


def _read(content: Content, _: int | None) -> Sentences | None:
    """Return one sentence pair for each table of a log; None where it has none."""
    pairs = list(_pairs(content.lines))
    reason = gettext("The file has attention tables, as OpenNMT-py and eole log them.")
    return Sentences(pairs, reason=reason) if pairs else None


def _pairs(lines: Sequence[str]) -> Iterator[SentencePair]:
    header, rows, logged = list[str](), list[tuple[str, list[str]]](), dict[str, str]()
    for raw in (*lines, ""):
        line = _STAMP.sub("", raw)
        row = _ROW.match(line)
        if row and header and len(weights := _NUMBER.findall(row[2])) == len(header):
            rows.append((row[1], weights))
            continue
        if rows:
            yield _pair(header, rows, logged)
            rows, logged = [], {}
        header = [name for name in line.split(" ") if name]
        if sentence := _SENTENCE.match(line):
            logged[sentence[1]] = sentence[2].strip()


def _pair(header: list[str], rows: list[tuple[str, list[str]]], logged: Mapping[str, str]) -> SentencePair:
    """Return the pair of a table, with the full tokens of the sentences in the log where they fit its names."""
    matrix = np.array([weights for _, weights in rows], dtype=np.float64)
    fields: dict[str, Any] = {"matrix": matrix, "origin": "OpenNMT-py, eole"}
    is_cut = False
    for side, names, tokens, longest in (
        ("source", header, _parsed(logged.get("SENT", "")), _LONGEST_SOURCE),
        ("target", [name for name, _ in rows], logged.get("PRED", "").split(), _LONGEST_TARGET),
    ):
        full = [*tokens, *names[len(tokens) :]]  # the log leaves out a final </s>
        shown = [[name[:longest] for name in some] for some in (names, full)]
        fits = len(names) - len(tokens) in (0, 1) and shown[0] == shown[1]
        fields[side] = full if fits else names
        is_cut |= not fits and any(len(name) == longest for name in names)
    return SentencePair(fields, remarks=("cut-names",) if is_cut else ())


def _parsed(text: str) -> list[str]:
    """Return the tokens of a sentence printed as a Python list; empty where it is none."""
    try:
        value = ast.literal_eval(text) if len(text) < 100_000 else []
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return []
    return [str(token) for token in value] if isinstance(value, list) else []


def _near_miss_message(content: Content) -> str | None:
    """Return the message for a log without tables; None for other content."""
    if not any(_SENTENCE.match(_STAMP.sub("", line)) for line in content.lines):
        return None
    return gettext(
        "The file looks like a log of OpenNMT-py or eole without attention tables. Translate with -verbose -attn_debug."
    )


OPENNMT_ATTENTION = Format(
    "opennmt",
    "OpenNMT-py, eole",
    _read,
    _near_miss_message,
    ("eole", "opennmt-py"),
    example="a log with attention tables",
    written_by="`onmt_translate -verbose -attn_debug`, eole",
)
