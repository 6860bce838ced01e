"""Read text, JSON and Parquet from outside within `Limits`: streamed lines, or the whole `Content` of a file.

Readers call `pause` between lines and values, so that their caller can cancel them and let others work.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gzip
import io
import json
import lzma
import os
import re
import sys
import zlib
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any, TypeVar

from attnviz.errors import AttnvizError, user_error
from attnviz.file_kinds import GZIP, NPY, PARQUET, UTF_8_MARK, XZ, ZIP, check_start, encoding_message
from attnviz.languages import gettext

_Item = TypeVar("_Item")

_BLOCK = 1 << 20
"""Bytes that are read and unpacked at once."""
_MOST_PARTS = 1000
"""Largest number of columns, and of row groups, of a Parquet file."""


@dataclass(frozen=True)
class Limits:
    """The most that is read of a file, checked before it is converted."""

    bytes: int = 64 * 10**6
    """Size after decompression."""
    lines: int = 1_000_000
    pairs: int = 100_000
    """Sentence pairs of JSON or Parquet."""
    values: int = 1 << 24
    """Numbers and texts; a list or an object of JSON takes as much memory as eight numbers."""
    cell: int = 1 << 20
    """Length of a streamed line, in bytes, or of a text of a table, in characters; longer ones are cut."""

    def check(self, *, bytes: int = 0, lines: int = 0, pairs: int = 0, values: int = 0) -> None:  # noqa: A002
        """Raise AttnvizError where a count exceeds its limit."""
        if bytes > self.bytes:
            most = self.bytes / 10**6 if self.bytes % 10**6 else self.bytes // 10**6
            raise user_error("The file is larger than {most} MB.", most=most)
        if lines > self.lines:
            raise user_error("The file has more than {most} lines. Divide the file.", most=self.lines)
        if pairs > self.pairs:
            raise user_error("The file has more than {most} sentence pairs. Divide the file.", most=self.pairs)
        if values > self.values:
            raise user_error("The file has more than {most} numbers and texts. Divide the file.", most=self.values)


LIMITS = Limits()
"""Limits of a file that is held in memory."""
UPLOADED = Limits(lines=100_000, pairs=10_000, values=1 << 22)
"""Limits of a file that a visitor uploads, which others wait for."""
STREAMED = Limits(sys.maxsize, sys.maxsize, sys.maxsize, sys.maxsize)
"""Limits of a file that is read line by line: only lines are cut."""

_PAUSE: ContextVar[Callable[[], None]] = ContextVar("pause", default=lambda: None)
_LIMITS: ContextVar[Limits] = ContextVar("limits", default=LIMITS)


@contextlib.contextmanager
def reading_for(hook: Callable[[], None], limits: Limits = LIMITS) -> Iterator[None]:
    """Let readers within keep to `limits` and call `hook` often: it may let another thread work, or raise to cancel."""
    tokens = _PAUSE.set(hook), _LIMITS.set(limits)
    try:
        yield
    finally:
        _PAUSE.reset(tokens[0])
        _LIMITS.reset(tokens[1])


def pause() -> None:
    """Call the hook of `reading_for`; readers do so for every line, value or row."""
    _PAUSE.get()()


def paced(items: Iterable[_Item]) -> Iterator[_Item]:
    """Yield the items with a pause before each."""
    for item in items:
        pause()
        yield item


@contextlib.contextmanager
def reading_errors(path: Path | str) -> Iterator[None]:
    """Turn errors of reading a file into an AttnvizError, and begin its message with the path, unless it is empty."""
    try:
        yield
    except (AttnvizError, OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
        message = str(error)
        if not isinstance(error, AttnvizError):
            reason = getattr(error, "strerror", None) or " ".join(message[:80].split())  # Arrow's has several lines
            message = gettext("The file cannot be read: {reason}.", reason=reason)
        if isinstance(error, EOFError):
            message = gettext("The compressed file is cut short: copy it again.")
        raise AttnvizError(gettext("{path}: {error}", path=path, error=message) if str(path) else message) from error


def _unpacked(file: IO[bytes]) -> IO[bytes]:
    """Return the decompressed content of a file, which its first bytes show to be gzip or xz; else the file."""
    buffered = file if isinstance(file, io.BufferedReader) else io.BufferedReader(file)  # type: ignore[type-var]
    start = buffered.peek(len(XZ))
    if start.startswith(GZIP):
        return gzip.GzipFile(fileobj=buffered)  # type: ignore[return-value]
    return lzma.LZMAFile(buffered) if start.startswith(XZ) else buffered


@contextlib.contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, decompressed where it is gzip or xz; raise AttnvizError where it cannot be read."""
    with reading_errors(path), path.open("rb") as file, _unpacked(file) as unpacked:
        yield unpacked


def blocks(file: IO[bytes], limits: Limits = STREAMED) -> Iterator[bytes]:
    """Yield the bytes of an open file; raise AttnvizError where they are too many."""
    size = 0
    while block := file.read(_BLOCK):
        size += len(block)
        limits.check(bytes=size)
        pause()
        yield block


def read_text_lines(path: Path, limits: Limits = STREAMED) -> Iterator[str]:
    """Yield the lines of a file, compressed or not, as `strict_lines` does; raise AttnvizError on read errors."""
    with opened(path) as file:
        yield from strict_lines(file, str(path), limits)


def strict_lines(file: IO[bytes], name: str = "", limits: Limits = STREAMED) -> Iterator[str]:
    """Yield the lines of UTF-8 text without their ends, each cut to `limits.cell` bytes.

    In rare lines with damaged bytes, these become U+FFFD. Raise AttnvizError, with the line and the likely encoding,
    where it is not UTF-8 or contains zero bytes; `name` is that of the file in the advice to convert it.
    """
    good = bad = 0
    cut = _cut_lines(file, limits.cell)
    for number, line in enumerate(paced(cut), 1):
        limits.check(lines=number)
        if number == 1:
            check_start(line, name)
            line = line.removeprefix(UTF_8_MARK)
        if b"\0" in line:
            raise AttnvizError(encoding_message(name, number, line, cut))
        try:
            text = line.decode("utf-8")
            good += not line.isascii()
        except UnicodeDecodeError as error:
            bad += 1
            # In another encoding, hardly any line with such bytes is valid UTF-8 by chance.
            if bad > good:
                raise AttnvizError(encoding_message(name, number, line, cut)) from error
            text = line.decode("utf-8", "replace")
        yield text


def _cut_lines(file: IO[bytes], longest: int) -> Iterator[bytes]:
    """Yield lines without their ends. Only line feeds end a line, since sentences may contain other separators."""
    while line := file.readline(longest):
        rest = line
        while not rest.endswith(b"\n") and (rest := file.readline(longest)):
            pause()
        yield _without_line_end(line if rest is line else _without_partial_character(line))


def _without_line_end(line: bytes) -> bytes:
    return line.removesuffix(b"\n").removesuffix(b"\r")


def _without_partial_character(line: bytes) -> bytes:
    """Return a cut line without an incomplete character at its end."""
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        return line[: error.start] if error.start >= len(line) - 3 else line
    return line


@dataclass(frozen=True)
class Content:
    """Content of a file."""

    data: bytes
    """Bytes of the file, decompressed where it was gzip or xz."""
    name: str = ""
    """Path of the file; empty for bytes from memory."""
    encoding: str | None = None
    """Encoding of the text; None for UTF-8."""
    limits: Limits = LIMITS

    @cached_property
    def text(self) -> str:
        """Decoded text; empty for a NumPy, zip or Parquet file.

        Raise AttnvizError where it cannot be decoded or has too many lines.
        """
        if self.data.startswith((NPY, ZIP, PARQUET)):
            return ""
        if self.encoding is not None:
            text = _decoded_as(self.data, self.encoding)
            self.limits.check(lines=text.count("\n"))
            return text
        self.limits.check(lines=self.data.count(b"\n"))
        check_start(self.data, self.name)
        wrong, reason = self.data.find(b"\0"), None
        try:
            text = self.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            wrong, reason = (error.start if wrong < 0 else min(wrong, error.start)), error
        if wrong < 0:
            return text
        begin = self.data.rfind(b"\n", 0, wrong) + 1
        line, *further = map(_without_line_end, io.BytesIO(self.data[begin : begin + _BLOCK]))
        number = self.data.count(b"\n", 0, begin) + 1
        raise AttnvizError(encoding_message(self.name, number, line, further)) from reason

    @cached_property
    def lines(self) -> list[str]:
        """Lines of the text, without line breaks; a final line break adds no empty line.

        JSON with a longer line than `limits.cell` counts as a blank line; raise AttnvizError for such a line of other
        text.
        """
        lines = text_lines(self.text)
        if (length := max(map(len, lines), default=0)) <= self.limits.cell:
            return lines
        if self.text.lstrip()[:1] in ("{", "["):
            return [""]
        raise user_error(
            "A line of the file has {count} characters; at most {most} can be read.",
            count=length,
            most=self.limits.cell,
        )

    @cached_property
    def filled(self) -> list[tuple[int, str]]:
        """Lines that are not blank, with their numbers from 1."""
        return [(number, line) for number, line in enumerate(paced(self.lines), 1) if line.strip()]

    @cached_property
    def _json(self) -> tuple[list[Any] | None, str]:
        """The values in JSON text and "", or None and why it is invalid; None and "" for other text."""
        text = self.text.strip()
        if text[:1] not in ("{", "["):
            return None, ""
        self.limits.check(values=text.count(",") + 8 * (text.count("[") + text.count("{")))
        decoder, values, position = json.JSONDecoder(object_pairs_hook=unique_fields), list[Any](), 0
        try:
            while position < len(text):
                value, position = decoder.raw_decode(text, position)
                values.append(value)
                self.limits.check(pairs=len(values))
                pause()
                position = _BETWEEN_VALUES.match(text, position).end()  # type: ignore[union-attr]  # it may be empty
        except JSON_ERRORS as error:
            return None, str(error)[:80]
        if len(values) == 1 and isinstance(values[0], list) and any(isinstance(one, Mapping) for one in values[0]):
            values = values[0]
            self.limits.check(pairs=len(values))
        return values, ""


def text_lines(text: str) -> list[str]:
    """Return the lines of `text`, without line breaks; a final line break adds no empty line."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines[:-1] if not lines[-1] else lines


def open_content(path: str | Path, encoding: str | None = None, limits: Limits | None = None) -> Content:
    """Return the content of the file at `path`; raise AttnvizError where it cannot be read or is too large.

    The limits are those of `reading_for`, unless others are given.
    """
    limits = limits or _LIMITS.get()
    with opened(Path(path)) as file:
        return Content(b"".join(blocks(file, limits)), str(path), encoding, limits)


def content_of(data: bytes, name: str = "", limits: Limits | None = None) -> Content:
    """Return the content of `data`, decompressed where it is gzip or xz; raise AttnvizError as `open_content` does."""
    limits = limits or _LIMITS.get()
    if data.startswith((GZIP, XZ)):
        with reading_errors(""), _unpacked(io.BytesIO(data)) as file:
            data = b"".join(blocks(file, limits))
    limits.check(bytes=len(data))
    return Content(data, name, limits=limits)


def _decoded_as(data: bytes, encoding: str) -> str:
    try:
        text = data.decode(encoding)
    except LookupError as error:  # no codec of this name, or one that makes no text, such as hex
        raise user_error("{encoding} is not a text encoding.", encoding=encoding[:40]) from error
    except ValueError as error:
        raise user_error(
            "The file cannot be read as {encoding}: {error}.", encoding=encoding[:40], error=str(error)[:80]
        ) from error
    return text.removeprefix("\ufeff")


JSON_ERRORS = (ValueError, RecursionError)
"""The exceptions of invalid or too deeply nested JSON."""
_BETWEEN_VALUES = re.compile(r"[\s,]*")


def unique_fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the fields of a JSON object, after a pause; raise ValueError for two fields of one name."""
    pause()
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in fields if names.count(name) > 1)
        raise ValueError(gettext("an object has the field “{name}” twice", name=twice[:30]))
    return fields


def json_values(content: Content) -> list[Any] | None:
    """Return the values in JSON text; None for other text.

    A single list with objects is returned as its values. Values may follow one another with or without line breaks.
    """
    return content._json[0]


def json_error(content: Content) -> str | None:
    """Return the error message for text that begins like JSON but is invalid; None for other text or valid JSON."""
    return content._json[1] or None


def objects(content: Content) -> list[Mapping[str, Any]] | None:
    """Return the objects in JSON text; None where a value is no object, or there is none."""
    values = json_values(content)
    if not values or not all(isinstance(value, Mapping) for value in values):
        return None
    return values


@contextlib.contextmanager
def opened_parquet(file: Path | IO[bytes], wanted: Container[str], limits: Limits) -> Iterator[tuple[Any, int]]:
    """Open a Parquet file, and yield it with the size of its largest column of texts that repeat the text before.

    In such a column (DELTA_BYTE_ARRAY), each text may be as long as the whole; the size is 0 where there is none.
    Texts stay dictionaries, which may repeat a long one millions of times; `cut_texts` reads them. Raise AttnvizError
    where the `wanted` columns are too large, and ValueError for too many columns or row groups.
    """
    from pyarrow import parquet

    with parquet.ParquetFile(file, page_checksum_verification=True) as found:
        metadata = found.metadata
        if max(metadata.num_columns, metadata.num_row_groups) > _MOST_PARTS:
            raise ValueError(f"{metadata.num_columns:,} columns, {metadata.num_row_groups:,} row groups")
        leaves = [found.schema.column(place) for place in range(metadata.num_columns)]
        places = [place for place, leaf in enumerate(leaves) if leaf.path.partition(".")[0] in wanted]
        texts = {leaves[place].path for place in places if leaves[place].physical_type == "BYTE_ARRAY"}
        _check_chunks(metadata, places)
        chunks = [metadata.row_group(group).column(k) for group in range(metadata.num_row_groups) for k in places]
    limits.check(
        bytes=sum(chunk.total_uncompressed_size for chunk in chunks),
        pairs=metadata.num_rows,
        values=sum(chunk.num_values for chunk in chunks),
    )
    # Arrow cannot read these encodings as dictionaries.
    texts -= {chunk.path_in_schema for chunk in chunks if any(one.startswith("DELTA") for one in chunk.encodings)}
    repeating = (chunk.total_uncompressed_size for chunk in chunks if "DELTA_BYTE_ARRAY" in chunk.encodings)
    with parquet.ParquetFile(file, page_checksum_verification=True, read_dictionary=[*texts]) as found:
        yield found, max(repeating, default=0)


def _check_chunks(metadata: Any, places: Sequence[int]) -> None:
    """Raise ValueError where the description of a column chunk is damaged.

    pyarrow lets C++'s exception about it end the whole process, so that a child looks first. Where there is no fork, as
    on Windows, nothing is checked.
    """
    if not hasattr(os, "fork"):
        return
    import resource  # there is none on Windows

    child = os.fork()
    if not child:
        status = 1
        try:
            faulthandler.disable()  # what it would print looks like the end of this process
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a damaged file must not leave a dump of the memory
            os.close(2)  # C++ would write why it ends
            for group in range(metadata.num_row_groups):
                for place in places:
                    metadata.row_group(group).column(place)
            status = 0
        finally:
            os._exit(status)
    if os.waitpid(child, 0)[1]:
        raise ValueError("the description of a column is damaged")


def cut_texts(values: Any, longest: int, errors: str = "replace") -> list[str | None]:
    """Return the texts of an Arrow array, each cut to `longest` bytes; those of a dictionary take memory once.

    `errors` says what becomes of invalid UTF-8, as in `bytes.decode`. A null is None. Raise ValueError for a dictionary
    that lacks a text.
    """
    from pyarrow import types

    places, used = list[int | None](range(len(values))), values
    if types.is_dictionary(values.type):
        places, used = values.indices.to_pylist(), values.dictionary
    known = {place for place in places if place is not None}
    if known and not 0 <= min(known) <= max(known) < len(used):  # without a checksum, a damaged page is not noticed
        raise ValueError("a cell names a text that its dictionary does not have")
    buffers = {place: used[place].as_buffer() for place in known}
    texts = {
        place: _without_partial_character(bytes(buffer[:longest])).decode("utf-8", errors)
        for place, buffer in buffers.items()
        if buffer is not None
    }
    return [None if place is None else texts.get(place) for place in places]
