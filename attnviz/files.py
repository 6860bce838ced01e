"""Writing a file so that nobody, and no run that goes on after a power cut, ever meets half of it; and what reading a
damaged one raises."""

from __future__ import annotations

import contextlib
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from attnviz.errors import AttnvizError

DAMAGED = (
    OSError,
    EOFError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RuntimeError,
    MemoryError,
    OverflowError,
    SyntaxError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
"""What NumPy raises on reading a file of arrays that is none."""


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a path beside `path` to write to. When the block ends, what was written there is on the disk and takes the
    place of `path` in one step; when it fails, or the process is killed, `path` is what it was.

    Raise AttnvizError, naming the file, where it cannot be written.
    """
    beside = path.with_name(f"{path.name}.tmp")
    try:
        try:
            yield beside
            with beside.open("rb+") as file:
                os.fsync(file.fileno())
            beside.replace(path)
            _keep_names(path.parent)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise AttnvizError(f"The file {path} cannot be written: {error.strerror or error}.") from error


def replace_bytes(path: Path, content: bytes) -> None:
    """Let `path` hold `content`, by `replacing`."""
    with replacing(path) as beside:
        beside.write_bytes(content)


def replace_text(path: Path, text: str) -> None:
    """Let `path` hold `text` in UTF-8, by `replacing`."""
    replace_bytes(path, text.encode("utf-8"))


def _keep_names(folder: Path) -> None:
    """Put the names in `folder` on the disk, so that of two files the first replaced is not the one that is lost."""
    with contextlib.suppress(OSError):  # some systems do not open folders
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
