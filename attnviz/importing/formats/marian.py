"""Read alignments after `|||`, as Marian, amun, OpenNMT-py and eole write them.

The options are `--alignment` of marian-decoder and marian-scorer, and `-report_align` of OpenNMT-py and eole. Lines
of n-best lists begin with the sentence number; scores may follow.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from attnviz.importing.format import (
    BAR,
    NUMBER,
    Format,
    are_weights,
    damaged_line,
    fields_of,
    is_number,
    linked,
    matrix_of_groups,
)
from attnviz.importing.link_text import are_links, parse_links
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.reading import Content

_SCORE = re.compile(r"-?[0-9]+\.[0-9]+(?:[eE][-+]?[0-9]+)?|-?(?:inf|nan)")
"""First field of `marian-scorer` output: a number by `std::to_string`, with six decimals."""
_FEATURES = re.compile(r"(?:^|\s)[A-Za-z_][\w.]*= ")
_N_BEST = re.compile(rf"\s*[0-9]{{1,9}} \|\|\| .* \|\|\| {NUMBER}\s*")
"""A line of an n-best list: sentence number, translation and score."""


class _Line(NamedTuple):
    number: int
    """Line number in the file, from 1."""
    target: str | None
    """Translation; None where the line has a score instead."""
    alignment: str
    pair: int | None
    """Sentence number in an n-best list, from 0; None for other files."""


def detect(content: Content) -> str | None:
    """Return why every line has an alignment after a translation or a score; None otherwise."""
    lines = [_parsed(number, line) for number, line in content.filled]
    if not lines or None in lines:
        return None
    parsed = [line for line in lines if line]
    if not any(line.alignment for line in parsed):
        return None
    if {line.pair is None for line in parsed} == {True, False}:
        return None
    if all(_SCORE.fullmatch(line.target or "") for line in parsed if line.alignment):
        return gettext("Every line has a score, ||| and an alignment, as marian-scorer prints them.")
    if parsed[0].pair is not None:
        return gettext("The file is an n-best list, with an alignment after each translation.")
    return gettext("Every line has a translation, ||| and an alignment.")


def _parsed(number: int, line: str) -> _Line | None:
    """Return the parts of a line; None where it has no alignment."""
    parts = fields_of(line)
    if len(parts) == 2 and not parts[1]:
        return _Line(number, parts[0], "", None)
    for column in (1, 2):
        if column >= len(parts) or not (are_links(parts[column]) or are_weights(parts[column])):
            continue
        if column == 2 and not (parts[0].isdecimal() and len(parts[0]) < 10):
            return None
        if column == 1 and len(parts) > 2 and (not parts[2].strip() or are_links(parts[2])):
            return None  # the second field is a target that looks like links
        if column == 2 and are_links(parts[2]) and len(parts) == 4 and is_number(parts[3]):
            return None  # four fields of fast_align whose source is a number
        return _Line(number, parts[column - 1], parts[column], int(parts[0]) if column == 2 else None)
    return None


def read(content: Content) -> Sentences:
    """Return one sentence pair for each line, or the best translation of each sentence of an n-best list."""
    lines = list(enumerate(content.lines, 1))
    if (_parsed(*content.filled[0]) or _raise_damaged(*content.filled[0])).pair is not None:
        lines = content.filled
    parsed = [
        (_parsed(number, line) or _raise_damaged(number, line)) if line.strip() else _Line(number, "", "", None)
        for number, line in lines
    ]
    if all(_SCORE.fullmatch(line.target or "") for line in parsed if line.alignment):
        return Sentences([line._replace(target=None) for line in parsed], _line, "marian-scorer", base=0)
    soft = any(are_weights(line.alignment) for line in parsed)
    remarks: tuple[str, ...] = ()
    if parsed[0].pair is not None:
        best = {line.pair: line for line in reversed(parsed)}
        remarks = ("best-only",) if len(best) < len(parsed) else ()
        parsed = [best[pair] for pair in sorted(best, key=lambda pair: pair or 0)]
    if not soft and _targets_first(parsed):
        return Sentences(parsed, _swapped, "amun", base=0, remarks=remarks)
    title = "Marian" if soft else "Marian, OpenNMT-py, eole"
    return Sentences(parsed, _line, title, base=0, remarks=remarks)


def _raise_damaged(number: int, line: str) -> _Line:
    raise damaged_line(number, line)


def _line(line: _Line) -> SentencePair:
    if not line.alignment or are_links(line.alignment):
        return linked(parse_links(line.alignment), target=line.target, line=line.pair)
    fields = {"matrix": matrix_of_groups(line.alignment), "origin": "Marian"}
    if line.target is not None:
        fields["target"] = line.target
    return SentencePair(fields, line=line.pair)


def _swapped(line: _Line) -> SentencePair:
    """Return a pair of amun, which writes the target index first."""
    return linked(parse_links(line.alignment).swapped(), ("target-first",), target=line.target, line=line.pair)


def _targets_first(lines: list[_Line]) -> bool:
    """Return whether links have the target index first, as in amun's output.

    Amun writes one link for each target token, in order. In some line the second indices must not be a permutation of
    the target indices, because otherwise they could be target indices themselves.
    """
    unclear = True
    for line in lines:
        links = [link.split("-") for link in line.alignment.split()]
        if any(len(link) != 2 for link in links) or [link[0] for link in links] != [*map(str, range(len(links)))]:
            return False
        if len(links) != len((line.target or "").split()):
            return False
        unclear &= sorted(int(link[1]) if link[1].isdecimal() else -1 for link in links) == [*range(len(links))]
    return not unclear


def near_miss_message(content: Content) -> str | None:
    """Return the message for lines with `|||` but without alignments; None for other content."""
    lines = [(_parsed(number, line), number, line) for number, line in content.filled]
    aligned = sum(bool(parsed and parsed.alignment) for parsed, _, _ in lines)
    if not lines or (2 * aligned < len(lines) and not all(BAR in line for _, _, line in lines)):
        return None
    if aligned:
        wrong = [(number, line) for parsed, number, line in lines if not parsed]
        if not wrong:
            return None
        number, line = wrong[0]
        return gettext(
            "The file looks like lines of the form “translation ||| alignment”, but line {number} has no "
            "alignment: “{line}”.",
            number=number,
            line=line.strip()[:60],
        )
    line = content.filled[0][1]
    if _FEATURES.search(line) or _N_BEST.fullmatch(line):
        return gettext(
            "The file looks like an n-best list without alignments. Run moses with "
            "-print-alignment-info-in-n-best, or marian-decoder with --n-best --alignment soft."
        )
    return gettext(
        "Each line of the file looks like two sentences with ||| between them, without links. Add the links at the "
        "end of each line: source ||| target ||| 0-0 1-2."
    )


FORMAT = Format("marian", "Marian", detect, read, near_miss_message, ("amun", "marian-scorer"))
