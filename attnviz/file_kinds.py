"""Tell from its bytes what a file is: binary formats, and the encoding of text that is not UTF-8, with advice."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterable
from pathlib import Path

from attnviz.errors import AttnvizError, user_error
from attnviz.languages import gettext

STANDARD_INPUT = "standard input"
"""Name of standard input in messages."""
NPY, ZIP, GZIP, XZ, PARQUET = b"\x93NUMPY", b"PK\x03\x04", b"\x1f\x8b", b"\xfd7zXZ\0", b"PAR1"
"""First bytes of the files of each kind."""
KINDS_OF_FILES = {
    GZIP: "gzip (.gz)",
    XZ: "xz (.xz)",
    b"BZh": "bzip2",
    b"\x28\xb5\x2f\xfd": "Zstandard",
    ZIP: "ZIP (.zip, .xlsx, .docx)",
    PARQUET: "Parquet",
    b"%PDF": "PDF",
    b"\x89PNG": "PNG",
    b"\xff\xd8\xff": "JPEG",
    b"\x89HDF": "HDF5",
    NPY: "NumPy (.npy)",
    **{b"\x80" + bytes([version]): "pickle" for version in range(2, 6)},
}
"""Signatures of binary files."""
_BYTE_ORDER_MARKS = {
    b"\xff\xfe\0\0": "UTF-32",
    b"\0\0\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
"""Byte-order marks of other encodings, longer ones first."""
UTF_8_MARK = b"\xef\xbb\xbf"
_SAMPLE_LINES = 1000
"""Number of lines from which the encoding is guessed."""


def check_start(start: bytes, name: str) -> None:
    """Raise AttnvizError where the first bytes of a file are those of another encoding, or of no text."""
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if start.startswith(mark):
            raise AttnvizError(_convert(name, encoding, 1, ""))
    for signature, kind in KINDS_OF_FILES.items():
        if start.startswith(signature):
            raise user_error(
                "The file is not text: its format is {kind}. Unpack the file, or export it as text.", kind=kind
            )


def encoding_message(name: str, number: int, line: bytes, further: Iterable[bytes]) -> str:
    """Return the message about a line that is not UTF-8 or has zero bytes, guessing from it and the lines after it."""
    lines = [line, *itertools.islice(further, _SAMPLE_LINES)]
    if b"\0" in line:
        sample = b"\n".join(lines)[: 2 * _SAMPLE_LINES]
        for encoding, zeros in (("UTF-16LE", sample[1::2]), ("UTF-16BE", sample[::2])):
            # In a short line, half of the bytes may be zero by chance.
            if zeros.count(0) > 0.4 * max(4, len(sample) // 2):
                return _convert(name, encoding, number, "")
        return gettext(
            "The file is not text: line {number} contains NUL bytes. If the rest of the file is text, remove the NUL "
            "bytes: tr -d '\\000' < {file}",
            file=shell_argument(name),
            number=number,
        )
    # charset-normalizer 3.5.3 takes short French lines for Cyrillic or Arabic ("L'été est là." is cp1006 to it).
    if _is_of_another_script(line.decode("cp1252", "replace")):
        return gettext(
            "The file is not UTF-8: see line {number}. The file seems to use an encoding for non-Latin scripts, such "
            "as GB18030, Shift_JIS or KOI8-R. Convert the file: iconv -f ENCODING -t UTF-8.",
            number=number,
        )
    # ISO-8859-1 has control characters where Windows-1252 has œ and typographic quotation marks.
    encoding = "WINDOWS-1252" if re.search(rb"[\x80-\x9f]", b"".join(lines)) else "ISO-8859-1"
    return _convert(name, encoding, number, line.decode(encoding, "replace").strip())


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
        "The text is not UTF-8, but seems to be {encoding}: see line {number}. Convert the file: iconv -f {encoding} "
        "-t UTF-8 {file}.",
        file=shell_argument(name),
        encoding=encoding,
        number=number,
    )
    if not reads:
        return message
    return f"{message} " + gettext(
        "Once converted, the line reads: {line}", line=reads if len(reads) <= 80 else reads[:79] + "…"
    )


def shell_argument(path: Path | str) -> str:
    """Return a file as an argument of a command; "FILE" for standard input and bytes from memory."""
    return "FILE" if str(path) in ("", STANDARD_INPUT) else shlex.quote(str(path))
