"""`Content`: bytes of an attention file, decompressed, and its decoded text, lines and JSON values."""

from __future__ import annotations

import codecs
import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from attnviz.errors import AttnvizError
from attnviz.languages import gettext

LARGEST_FILE = 64 * 10**6
"""Largest file that is read, in bytes after decompression."""
NPY, ZIP, GZIP, PARQUET = b"\x93NUMPY", b"PK\x03\x04", b"\x1f\x8b", b"PAR1"
"""First bytes of the files of each kind."""
_OTHER_KINDS = {
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"%PDF": "PDF",
    b"\x89PNG": "PNG",
    b"\x89HDF": "HDF5",
    b"\x80\x02": "pickle",
    b"\x80\x03": "pickle",
    b"\x80\x04": "pickle",
    b"\x80\x05": "pickle",
}
"""First bytes of binary files that cannot be read, and the names of their kinds."""
_WINDOWS = re.compile(rb"[\x80-\x9f]")


@dataclass(frozen=True)
class Content:
    """Content of a file."""

    data: bytes
    """Bytes of the file, decompressed where it was gzip."""
    name: str = ""
    """Path of the file; empty for bytes from memory."""
    encoding: str | None = None
    """Encoding of the text; None for UTF-8."""

    @cached_property
    def text(self) -> str:
        """Decoded text; empty for a NumPy, zip or Parquet file. Raise AttnvizError where it cannot be decoded."""
        return "" if self.data.startswith((NPY, ZIP, PARQUET)) else decoded(self.data, self.encoding)

    @cached_property
    def lines(self) -> list[str]:
        """Lines of the text, without line breaks; a final line break adds no empty line."""
        return text_lines(self.text)

    @cached_property
    def filled(self) -> list[tuple[int, str]]:
        """Lines that are not blank, with their numbers from 1."""
        return [(number, line) for number, line in enumerate(self.lines, 1) if line.strip()]


def text_lines(text: str) -> list[str]:
    """Return the lines of `text`, without line breaks; a final line break adds no empty line."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines[:-1] if not lines[-1] else lines


def open_content(path: str | Path, encoding: str | None = None) -> Content:
    """Return the content of the file at `path`; raise AttnvizError where it cannot be read or is too large."""
    path = Path(path)
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise _too_large()
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise AttnvizError(gettext("{path} cannot be read: {error}.", path=str(path), error=reason)) from error
    return content_of(data, str(path), encoding)


def content_of(data: bytes, name: str = "", encoding: str | None = None) -> Content:
    """Return the content of `data`, decompressed where it is gzip; raise AttnvizError where that fails."""
    return Content(_unpacked(data) if data.startswith(GZIP) else data, name, encoding)


def _unpacked(data: bytes) -> bytes:
    """Return the decompressed bytes of all gzip members in `data`.

    Raise AttnvizError where they are damaged, cut short or larger than `LARGEST_FILE`.
    """
    unpacked = bytearray()
    try:
        while data:
            unpacker = zlib.decompressobj(wbits=31)
            unpacked += unpacker.decompress(data, LARGEST_FILE + 1 - len(unpacked))
            if len(unpacked) > LARGEST_FILE:
                raise _too_large()
            if not unpacker.eof:
                raise AttnvizError(gettext("This .gz file is cut short: copy it again."))
            data = unpacker.unused_data.lstrip(b"\0")
    except zlib.error as error:
        raise AttnvizError(gettext("This .gz file is damaged: {error}.", error=str(error)[:80])) from error
    return bytes(unpacked)


def _too_large() -> AttnvizError:
    return AttnvizError(gettext("The file is larger than {most} MB.", most=LARGEST_FILE // 10**6))


def decoded(data: bytes, encoding: str | None = None) -> str:
    """Return `data` as text in `encoding`, by default UTF-8.

    Raise AttnvizError, naming the probable encoding or kind of file, where the bytes cannot be decoded.
    """
    for start, kind in _OTHER_KINDS.items():
        if data.startswith(start):
            raise AttnvizError(
                gettext(
                    "This is a {kind} file, not text. Unpack the file, or export it as text, .npy, .npz or JSON.",
                    kind=kind,
                )
            )
    if encoding is not None:
        return _decoded_as(data, encoding)
    if wide := _wide_encoding(data):
        raise AttnvizError(_encoding_message(wide, 1, ""))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return _raise_not_utf8(data, error.start)
    if "\0" in text:
        raise AttnvizError(gettext("The text contains NUL characters: the file is damaged, or it is not text."))
    return text


def _decoded_as(data: bytes, encoding: str) -> str:
    try:
        text = data.decode(encoding)
    except LookupError as error:  # no codec of this name, or one that makes no text, such as hex
        raise AttnvizError(gettext("{encoding} is not a text encoding.", encoding=encoding[:40])) from error
    except ValueError as error:
        raise AttnvizError(
            gettext("The file cannot be read as {encoding}: {error}.", encoding=encoding[:40], error=str(error)[:80])
        ) from error
    return text.removeprefix("\ufeff")


def _wide_encoding(data: bytes) -> str | None:
    """Return the name of a UTF-16 or UTF-32 encoding that `data` seems to be in; None otherwise."""
    for mark, name in (
        (codecs.BOM_UTF32_LE, "UTF-32"),
        (codecs.BOM_UTF32_BE, "UTF-32"),
        (codecs.BOM_UTF16_LE, "UTF-16"),
        (codecs.BOM_UTF16_BE, "UTF-16"),
    ):
        if data.startswith(mark):
            return name
    head = data[:2000]
    zeros = [head[offset::2].count(0) for offset in (0, 1)]
    if len(head) >= 4 and max(zeros) > 0.4 * len(head) / 2 and min(zeros) < 0.05 * len(head):
        return "UTF-16-BE" if zeros[0] > zeros[1] else "UTF-16-LE"
    return None


def _raise_not_utf8(data: bytes, start: int) -> str:
    """Raise AttnvizError for bytes that are not UTF-8 from offset `start`, naming the probable encoding."""
    number = data.count(b"\n", 0, start) + 1
    begin = data.rfind(b"\n", 0, start) + 1
    end = data.find(b"\n", start)
    line = data[begin : end if end >= 0 else len(data)]
    letters = sum(byte >= 0x80 for byte in data[:100_000])
    if letters > 0.3 * min(len(data), 100_000) or any(byte < 9 for byte in line[:1000]):
        raise AttnvizError(gettext("This file contains neither text nor arrays, so no attention can be read from it."))
    encoding = "Windows-1252" if _WINDOWS.search(data) else "Latin-1"
    raise AttnvizError(_encoding_message(encoding, number, line.decode("cp1252", "replace").strip()[:60]))


def _encoding_message(encoding: str, number: int, line: str) -> str:
    if not line:
        return gettext(
            "The text is not in UTF-8; it seems to be {encoding}. Read the file with --encoding {encoding}, or "
            "convert the file.",
            encoding=encoding,
        )
    return gettext(
        "The text is not in UTF-8; it seems to be {encoding}. In {encoding}, line {number} is “{line}”. Read the file "
        "with --encoding {encoding}, or convert it.",
        encoding=encoding,
        number=number,
        line=line,
    )


_FAILURES = (ValueError, RecursionError)


def json_values(content: Content) -> list[Any] | None:
    """Return the values in JSON text; None for other text.

    A single list of objects is returned as its objects. Values may follow one another with or without line breaks.
    """
    text = content.text.strip()
    if text[:1] not in ("{", "["):
        return None
    return _values(text)


@lru_cache(maxsize=1)
def _values(text: str) -> list[Any] | None:
    # Cached because every JSON detector parses the same file.
    decoder, values, position = json.JSONDecoder(), list[Any](), 0
    try:
        while position < len(text):
            value, position = decoder.raw_decode(text, position)
            values.append(value)
            while position < len(text) and (text[position].isspace() or text[position] == ","):
                position += 1
    except _FAILURES:
        return None
    if len(values) == 1 and isinstance(values[0], list) and all(isinstance(one, Mapping) for one in values[0]):
        return values[0]
    return values


def json_error(content: Content) -> str | None:
    """Return the error message for text that begins like JSON but is invalid; None for other text or valid JSON."""
    text = content.text.strip()
    if text[:1] not in ("{", "["):
        return None
    try:
        json.loads(text)
    except _FAILURES as error:
        return str(error)[:80]
    return None


def objects(content: Content) -> list[Mapping[str, Any]] | None:
    """Return the objects in JSON text; None where a value is no object, or there is none."""
    values = json_values(content)
    if not values or not all(isinstance(value, Mapping) for value in values):
        return None
    return values
