"""Replace files atomically, refuse pipes and devices, name damaged files, read ZIP archives within a size limit.

`DAMAGED` lists the exceptions of reading a damaged file.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
import struct
import sys
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from attnviz.errors import AttnvizError, user_error
from attnviz.languages import gettext

if sys.platform != "win32":
    import fcntl

DAMAGED: tuple[type[Exception], ...] = (
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
    tokenize.TokenError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
"""The exceptions that NumPy raises on loading an invalid array file, and others on decoding a damaged one."""


_CHUNK = 1 << 20
"""Bytes that are unpacked at once."""
_TEMPORARY = ".attnviz-"
"""Begins the names of temporary files."""


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path` to write to, and move it to `path` when the block ends.

    The content is on disk (fsync) before the move, which is atomic. Where the block fails or the process is killed,
    `path` is unchanged; the next write in the folder removes what the killed process left. A symbolic link keeps its
    target, whose permissions stay; pipes and devices, such as /dev/stdout, are written directly. Raise AttnvizError,
    naming the file, where it cannot be written.
    """
    try:
        if "\0" in str(path):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        if path.exists() and not path.is_file():
            yield path
            return
        path = path.resolve()
        remove_abandoned(path.parent)
        temporary, file = _locked_file(path.parent)
        with file:
            try:
                yield temporary
                os.fsync(file.fileno())
                if path.exists():
                    shutil.copymode(path, temporary)
                temporary.replace(path)
                _sync_folder(path.parent)
            finally:
                temporary.unlink(missing_ok=True)
    except OSError as error:
        raise AttnvizError(f"The file {path} cannot be written: {error.strerror or error}.") from error


def _locked_file(folder: Path) -> tuple[Path, IO[bytes]]:
    """Create an empty file in `folder`, which this process has locked until it closes it or ends."""
    while True:
        path = folder / f"{_TEMPORARY}{secrets.token_hex(8)}.tmp"
        file = path.open("xb")
        if sys.platform != "win32":
            fcntl.flock(file, fcntl.LOCK_EX)
        if path.exists():  # `remove_abandoned` of another process may have come first
            return path, file
        file.close()


def remove_abandoned(folder: Path) -> None:
    """Remove the temporary files in `folder` that no running process has locked."""
    if sys.platform == "win32":
        return
    for path in folder.glob(f"{_TEMPORARY}*.tmp"):
        with contextlib.suppress(OSError):
            check = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            try:
                fcntl.flock(check, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
            finally:
                os.close(check)


def check_regular(path: str | Path) -> None:
    """Raise AttnvizError where `path` is a pipe, socket or device, which may never end or never begin.

    Call it for files that were found in a folder. A file that the user names may be a pipe, such as `<(command)`. A
    missing file and a folder pass, since opening them fails at once.
    """
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError):
        return
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise user_error("{path} is a pipe or a device. Replace it by a regular file, or remove it.", path=path)


@contextlib.contextmanager
def file_errors(path: str | Path, *further: type[Exception]) -> Iterator[None]:
    """Turn the exceptions of reading a file, DAMAGED and `further` ones, into an AttnvizError that names the file.

    Raise it too where `path` is no regular file (`check_regular`).
    """
    check_regular(path)
    damage: tuple[type[Exception], ...] = (*DAMAGED, *further)
    try:
        yield
    except OSError as error:
        raise user_error(
            "The file {path} cannot be read: {error}.", path=path, error=error.strerror or error
        ) from error
    except damage as error:
        reason = gettext("{name} is missing", name=error) if isinstance(error, KeyError) else str(error)[:300]
        raise user_error("The file {path} is damaged ({error}). Restore the file.", path=path, error=reason) from error


class ArchiveReader:
    """Reads members of a ZIP archive, at most so many bytes in all, whatever their headers claim."""

    def __init__(self, archive: zipfile.ZipFile, most: int) -> None:
        """Read at most `most` bytes of the `archive`."""
        self._archive, self._remaining = archive, most

    def read(self, name: str) -> bytes:
        """Return the content of a member; raise ValueError where it is too large, BadZipFile where it is damaged."""
        content = bytearray()
        # ZipFile.read unpacks a member as a whole before it compares the size with the one that is claimed.
        with self._archive.open(name) as member:
            while part := member.read(min(_CHUNK, self._remaining + 1)):
                self._remaining -= len(part)
                if self._remaining < 0:
                    raise ValueError("it unpacks to more than is read of a file")
                content += part
        return bytes(content)


def replace_bytes(path: Path, content: bytes) -> None:
    """Replace the content of `path` by `content`, atomically."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def replace_text(path: Path, text: str) -> None:
    """Replace the content of `path` by `text` in UTF-8, atomically."""
    replace_bytes(path, text.encode("utf-8"))


def _sync_folder(folder: Path) -> None:
    """Sync the directory, so that a power cut never undoes an earlier replacement but keeps a later one."""
    with contextlib.suppress(OSError):  # Windows cannot open folders
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
