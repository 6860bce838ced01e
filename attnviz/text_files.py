"""Read text files of sentences or tab-separated pairs, also .gz or .xz; report malformed lines and wrong encodings."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import itertools
import lzma
import re
import shlex
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from attnviz.errors import AttnvizError
from attnviz.languages import gettext, ngettext

Pair = tuple[str, str]

STANDARD_INPUT = "standard input"
"""Name of standard input in messages."""
MOST_MALFORMED = 0.01
"""Share of the lines of a file that may be malformed."""
_LONGEST = 1 << 20
"""Bytes read of a line, more than any sentence has."""
_SAMPLE_LINES = 1000
"""Number of malformed lines from which the kind of file is guessed."""
_NEARLY_ALL = 0.9
"""Share of the lines that share a form from which the file is taken to have it."""
_PUNCTUATION = re.compile(r'^[^"]*([,;]\s[^"]*|\d[,;]\d[^"]*)$')
"""A line without quotation marks whose comma or semicolon belongs to a sentence or a number."""
_PACKED = {".gz": gzip.open, ".xz": lzma.open}
_UTF_8_MARK = b"\xef\xbb\xbf"
_BYTE_ORDER_MARKS = {
    b"\xff\xfe\0\0": "UTF-32LE",
    b"\0\0\xfe\xff": "UTF-32BE",
    b"\xff\xfe": "UTF-16LE",
    b"\xfe\xff": "UTF-16BE",
}
"""Byte-order marks of other encodings, longer ones first."""
KINDS_OF_FILES = {
    b"\x1f\x8b": "gzip (.gz)",
    b"\xfd7zXZ\0": "xz (.xz)",
    b"BZh": "bzip2",
    b"\x28\xb5\x2f\xfd": "Zstandard",
    b"PK\x03\x04": "ZIP (.zip, .xlsx, .docx)",
    b"PAR1": "Parquet",
    b"%PDF": "PDF",
    b"\x89PNG": "PNG",
    b"\xff\xd8\xff": "JPEG",
    b"\x89HDF": "HDF5",
    b"\x93NUMPY": "NumPy (.npy)",
    **{b"\x80" + bytes([version]): "pickle" for version in range(2, 6)},
}
"""Signatures of binary files."""
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
            if len(samples) < _SAMPLE_LINES:
                samples.append(line)
        else:
            pairs.append((columns[0], columns[1]))
    check_share(path, number, skipped, samples, skip_malformed=skip_malformed and bool(pairs))
    if not pairs:
        raise AttnvizError(
            gettext("The file {path} holds no sentence pair. Write one pair per line: source<TAB>target.", path=path)
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
            path=_argument(path),
        )
    counts = Counter(line.count("\t") + 1 for line in samples)
    columns, count = counts.most_common(1)[0]
    if count >= most and columns > 2:
        return gettext(
            "The file has {columns} columns. Keep only source and target, for example with: cut -f1,2 {path}.",
            columns=columns,
            path=_argument(path),
        )
    if sum(_is_csv(line) for line in samples) >= most:
        return gettext("The file looks like CSV. Save the file with tabs between the columns (TSV).")
    if count >= most and columns == 1:
        return gettext(
            "The file has one column. Join the source and target files, for example with: paste SOURCE TARGET."
        )
    return gettext("Use --skip-malformed to leave malformed lines out.")


def _argument(path: Path | str) -> str:
    """Return a file as an argument of a command; "FILE" for standard input."""
    return "FILE" if str(path) == STANDARD_INPUT else shlex.quote(str(path))


def _is_csv(line: str) -> bool:
    """Return whether a line without tabs has two quoted columns, or two columns separated by a semicolon or comma."""
    if "\t" in line:
        return False
    return any(
        len(next(csv.reader([line], delimiter=mark, skipinitialspace=True), [])) == 2
        and (line.count('"') >= 2 or line.count(mark) == 1)
        for mark in ",;"
    )


def read_text_lines(path: Path, longest: int = _LONGEST) -> Iterator[str]:
    """Yield the lines of a file, compressed or not, as `strict_lines` does; raise AttnvizError on read errors."""
    with reading_errors(path), open_compressed(path) as file:
        yield from strict_lines(file, str(path), longest)


def strict_lines(file: Iterable[bytes] | IO[bytes], name: str, longest: int = _LONGEST) -> Iterator[str]:
    """Yield the lines of UTF-8 text without their ends, each cut to `longest` bytes.

    In rare lines with damaged bytes, these become U+FFFD. Raise AttnvizError, with the `name` of the file, the line and
    the likely encoding, where it is not UTF-8 or contains zero bytes.
    """
    good = bad = 0
    cut = _cut_lines(file, longest)
    for number, line in enumerate(cut, 1):
        if number == 1:
            _check_start(line, name)
            line = line.removeprefix(_UTF_8_MARK)
        if b"\0" in line:
            raise AttnvizError(_zero_bytes(name, number, line))
        if line.isascii():
            yield line.decode("ascii")
            continue
        try:
            text = line.decode("utf-8")
            good += 1
        except UnicodeDecodeError as error:
            bad += 1
            # In another encoding, hardly any line with such bytes is valid UTF-8 by chance.
            if bad > good:
                further = itertools.islice(cut, _SAMPLE_LINES)
                raise AttnvizError(_other_encoding(name, number, line, further)) from error
            text = line.decode("utf-8", "replace")
        yield text


def _cut_lines(file: Any, longest: int) -> Iterator[bytes]:
    """Yield lines without their ends. Only line feeds end a line, since sentences may contain other separators."""
    readline = getattr(file, "readline", None)
    if readline is None:
        yield from (line.rstrip(b"\r\n") for line in file)
        return
    while line := readline(longest):
        rest = line
        while not rest.endswith(b"\n") and (rest := readline(longest)):
            pass
        yield (line if rest is line else _without_partial_character(line)).rstrip(b"\r\n")


def _without_partial_character(line: bytes) -> bytes:
    """Return a cut line without an incomplete character at its end."""
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        return line[: error.start] if error.start >= len(line) - 3 else line
    return line


def _check_start(line: bytes, name: str) -> None:
    for start, encoding in _BYTE_ORDER_MARKS.items():
        if line.startswith(start):
            raise AttnvizError(_convert(name, encoding, 1, ""))
    for start, kind in KINDS_OF_FILES.items():
        if line.startswith(start):
            raise AttnvizError(gettext("The file {path} is not text: its format is {kind}.", path=name, kind=kind))


def _zero_bytes(name: str, number: int, line: bytes) -> str:
    half = max(4, len(line) // 2)  # in a short line, half of the bytes may be zero by chance
    for encoding, zeros in (("UTF-16LE", line[1::2]), ("UTF-16BE", line[::2])):
        if zeros.count(0) > 0.4 * half:
            return _convert(name, encoding, number, "")
    return gettext(
        "The file {path} is not text: line {number} contains NUL bytes. If the rest of the file is text, remove the "
        "NUL bytes: tr -d '\\000' < {file}",
        path=name,
        file=_argument(name),
        number=number,
    )


def _other_encoding(name: str, number: int, line: bytes, further: Iterable[bytes]) -> str:
    """Return the message about a line that is not UTF-8, from it and the lines after it."""
    if _is_of_another_script(line.decode("cp1252", "replace")):
        return gettext(
            "The file {path} is not UTF-8: see line {number}. The file seems to use an encoding for non-Latin "
            "scripts, such as GB18030, Shift_JIS or KOI8-R. Convert the file: iconv -f ENCODING -t UTF-8.",
            path=name,
            number=number,
        )
    # ISO-8859-1 has control characters where Windows-1252 has œ and typographic quotation marks.
    printed = any(0x80 <= byte < 0xA0 for other in (line, *further) for byte in other)
    encoding = "WINDOWS-1252" if printed else "ISO-8859-1"
    return _convert(name, encoding, number, line.decode(encoding, "replace"))


def _is_of_another_script(text: str) -> bool:
    """Return whether `text`, decoded as Windows-1252, is of an encoding for another script.

    Then most words outside ASCII have no ASCII letter, or a byte is not of Windows-1252.
    """
    words = [word for word in text.split() if not word.isascii()]
    foreign = sum(
        sum(map(str.isalpha, word)) > 1 and not any(one.isascii() and one.isalpha() for one in word) for word in words
    )
    return "\ufffd" in text or 2 * foreign > len(words)


def _convert(name: str, encoding: str, number: int, reads: str) -> str:
    message = gettext(
        "The file {path} is not UTF-8, but seems to be {encoding}: see line {number}. Convert the file: iconv -f "
        "{encoding} -t UTF-8 {file}.",
        path=name,
        file=_argument(name),
        encoding=encoding,
        number=number,
    )
    if not reads:
        return message
    return (
        message
        + " "
        + gettext("Once converted, the line reads: {line}", line=reads if len(reads) <= 80 else reads[:79] + "…")
    )


def open_compressed(path: Path) -> IO[bytes]:
    """Open a file, decompressed if its name ends in .gz or .xz."""
    openers: dict[str, Any] = _PACKED
    file: IO[bytes] = openers.get(path.suffix, open)(path, "rb")
    return file


def decompressed(content: bytes, name: str, most: int) -> tuple[bytes, str]:
    """Return the decompressed `content` of a file, and its name without .gz or .xz.

    Raise AttnvizError where it is damaged or unpacks to more than `most` bytes; no more is unpacked.
    """
    path = Path(name)
    if path.suffix not in _PACKED:
        return content, name
    openers: dict[str, Any] = _PACKED
    with reading_errors(path), openers[path.suffix](io.BytesIO(content), "rb") as file:
        data: bytes = file.read(most + 1)
    if len(data) > most:
        raise AttnvizError(gettext("{name} unpacks to more than {most} MB.", name=name, most=most // 10**6))
    return data, str(path.with_suffix(""))


@contextlib.contextmanager
def reading_errors(path: Path) -> Iterator[None]:
    """Turn errors of reading a file into an AttnvizError that names it."""
    try:
        yield
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise AttnvizError(gettext("The file {path} cannot be read: {reason}.", path=path, reason=reason)) from error
