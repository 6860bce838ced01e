"""Read tab-separated sentence pairs; report malformed lines, and guess what another format is."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from attnviz.errors import AttnvizError, user_error
from attnviz.file_kinds import shell_argument
from attnviz.languages import gettext, ngettext
from attnviz.reading import read_text_lines

Pair = tuple[str, str]

MOST_MALFORMED = 0.01
"""Share of the lines of a file that may be malformed."""
SAMPLE_LINES = 1000
"""Number of malformed lines from which the kind of file is guessed."""
_NEARLY_ALL = 0.9
"""Share of the lines that share a form from which the file is taken to have it."""
_PUNCTUATION = re.compile(r'^[^"]*([,;]\s[^"]*|\d[,;]\d[^"]*)$')
"""A line without quotation marks whose comma or semicolon belongs to a sentence or a number."""
_HEADERS = (
    {"source", "src", "en", "english", "sentence1", "source_text"},
    {"target", "tgt", "trg", "fr", "french", "sentence2", "translation", "reference", "target_text"},
)
"""Column names that mark a first line as a header."""


@dataclass(frozen=True)
class Skipped:
    """A skipped line."""

    number: int
    reason: str
    malformed: bool = True
    """False for a header, or a well-formed line that is too long."""


@dataclass(frozen=True)
class Pairs:
    """The sentence pairs of a file."""

    pairs: list[Pair]
    skipped: list[Skipped]
    """Lines without a pair, a header included."""


def read_pairs(path: Path, *, skip_malformed: bool = False) -> Pairs:
    """Return the pairs of a file of source<TAB>target lines, optionally compressed (.gz, .xz).

    A line is malformed unless it is UTF-8 and has exactly two columns, neither of them blank. Raise AttnvizError where
    the file cannot be read, is in another encoding or holds no pair. Raise it too where more than 1 % of the lines are
    malformed, unless `skip_malformed`.
    """
    return pairs_in(read_text_lines(path), path, skip_malformed=skip_malformed)


def pairs_in(lines: Iterable[str], path: Path, *, skip_malformed: bool = False) -> Pairs:
    """Return the pairs in the lines of the file `path`; raise AttnvizError as `read_pairs` does."""
    pairs: list[Pair] = []
    skipped: list[Skipped] = []
    samples: list[str] = []
    number = 0
    for number, line in enumerate(lines, 1):
        columns = line.split("\t")
        if number == 1 and is_header(columns):
            skipped.append(header())
        elif reason := malformed_reason(columns):
            skipped.append(Skipped(number, reason))
            if len(samples) < SAMPLE_LINES:
                samples.append(line)
        else:
            pairs.append((columns[0], columns[1]))
    check_share(path, number, skipped, samples, skip_malformed=skip_malformed and bool(pairs))
    if not pairs:
        raise user_error(
            "The file {path} holds no sentence pair. Write one pair per line: source<TAB>target.", path=path
        )
    return Pairs(pairs, skipped)


def malformed_reason(columns: Sequence[str]) -> str:
    """Return why the `columns` of a line are no pair; "" where they are one."""
    if any("\ufffd" in column for column in columns):
        return gettext("the line is not valid UTF-8")
    if len(columns) == 2:
        return "" if all(column.strip() for column in columns) else gettext("source or target is blank")
    if not any(column.strip() for column in columns):
        return gettext("it is blank")
    return ngettext("the line has {count} column", "the line has {count} columns", len(columns))


def is_header(columns: Sequence[str]) -> bool:
    """Return whether a first line has column names instead of sentences."""
    return len(columns) == 2 and all(
        column.strip().lower() in names for column, names in zip(columns, _HEADERS, strict=True)
    )


def header() -> Skipped:
    """Return the `Skipped` of a first line that is a header."""
    return Skipped(1, gettext("the line is a header with column names"), malformed=False)


def other_separator_text(line: str) -> str:
    """Return which other separator than a tab divides a line into two sides; "" where it seems to be one sentence."""
    if "|||" in line:
        return gettext("the two sentences of the line are separated by ||| instead of a tab")
    if line.startswith('"') and line.endswith('"') and line.count('","') == 1:
        return csv_reason()
    return ""


def csv_reason() -> str:
    """Return the reason why a line of CSV is malformed."""
    return gettext("the two sentences of the line are separated by a comma or semicolon (CSV) instead of a tab")


def is_csv_sample(lines: Sequence[str]) -> bool:
    """Return whether nearly all of several lines have two columns of CSV, quoted or not.

    In a sentence a comma is followed by a space, or by a digit after a digit.
    """
    filled = [line for line in lines if line.strip()]
    if len(filled) < 2:
        return False
    return sum(_is_csv(line) and not _PUNCTUATION.search(line) for line in filled) >= _NEARLY_ALL * len(filled)


def check_share(
    path: Path, lines: int, skipped: Sequence[Skipped], samples: Sequence[str], *, skip_malformed: bool
) -> None:
    """Raise AttnvizError where too many of the `lines` of a file were `skipped`, with a guess at its format."""
    skipped = [line for line in skipped if line.malformed]
    if skip_malformed or len(skipped) <= MOST_MALFORMED * lines:
        return
    raise AttnvizError(
        ngettext(
            "Of the {lines} lines of {path}, {count} is not of the form source<TAB>target. Line {number}: "
            "{reason}. {advice}",
            "Of the {lines} lines of {path}, {count} are not of the form source<TAB>target. Line {number}: "
            "{reason}. {advice}",
            len(skipped),
            lines=lines,
            path=path,
            number=skipped[0].number,
            reason=skipped[0].reason,
            advice=_advice(path, samples if 2 * len(skipped) > lines else ()),
        )
    )


def _advice(path: Path, samples: Sequence[str]) -> str:
    """Return a guess at the format of malformed lines, and what to do about it."""
    most = _NEARLY_ALL * len(samples)
    if not samples:
        return gettext("Use --skip-malformed to leave malformed lines out.")
    if sum("|||" in line for line in samples) >= most:
        return gettext(
            "The file separates source and target by |||. Use a tab instead, and keep only the first two columns: sed "
            "'s/ *||| */\\t/g' {path} | cut -f1,2",
            path=shell_argument(path),
        )
    counts = Counter(line.count("\t") + 1 for line in samples)
    columns, count = counts.most_common(1)[0]
    if count >= most and columns > 2:
        return gettext(
            "The file has {columns} columns. Keep only source and target, for example with: cut -f1,2 {path}.",
            columns=columns,
            path=shell_argument(path),
        )
    if sum(_is_csv(line) for line in samples) >= most:
        return gettext("The file looks like CSV. Save the file with tabs between the columns (TSV).")
    if count >= most and columns == 1:
        return gettext(
            "The file has one column. Join the source and target files, for example with: paste SOURCE TARGET."
        )
    return gettext("Use --skip-malformed to leave malformed lines out.")


def _is_csv(line: str) -> bool:
    """Return whether a line without tabs has two quoted columns, or two columns separated by a semicolon or comma."""
    if "\t" in line or "\r" in line:
        return False
    return any(
        len(next(csv.reader([line], delimiter=mark, skipinitialspace=True), [])) == 2
        and (line.count('"') >= 2 or line.count(mark) == 1)
        for mark in ",;"
    )
