"""Find the files of a corpus: by path, folder, pattern or fsspec address such as s3://bucket/pairs-*.tsv."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attnviz.corpora.lines import readable
from attnviz.errors import AttnvizError
from attnviz.languages import gettext

_SIGNS = "*?["
"""Characters that make a name a pattern."""


def source_files(names: Iterable[str], accepted: Callable[[Path], bool] = readable) -> list[str]:
    """Return the files that the names stand for, in order; a folder stands for its `accepted` files.

    A name may be a path, a pattern, or the address of a file system that fsspec knows. Raise AttnvizError where a
    pattern or folder has no file, or an address cannot be read.
    """
    return [file for name in names for file in _files_of(name, accepted)]


def table_files(files: list[str], folder: Path) -> dict[str, Path]:
    """Return the path of the table of each file, in `folder`; raise AttnvizError where two would be the same."""
    tables: dict[str, Path] = {}
    for file in files:
        table = folder / f"{Path(file).name.split('.')[0]}.parquet"
        if table in tables.values():
            raise AttnvizError(
                gettext(
                    "The tables of two files would both be {table}. Measure files of the same name one by one.",
                    table=table,
                )
            )
        tables[file] = table
    return tables


def local_file(file: str, folder: Path) -> Path:
    """Return the path of a file; copy that of another file system into `folder` first.

    Raise AttnvizError where it cannot be read.
    """
    if "://" not in file:
        return Path(file)
    copy = folder / Path(file).name
    with _reading(file):
        system, path = _system(file)
        system.get_file(path, str(copy))
    return copy


def _files_of(name: str, accepted: Callable[[Path], bool]) -> list[str]:
    with _reading(name):
        (system, path), is_local = _system(name), "://" not in name
        if any(sign in name for sign in _SIGNS) and not (is_local and Path(name).exists()):
            files = sorted(system.glob(path))
        elif system.isdir(path):
            files = sorted(file for file in system.ls(path, detail=False) if accepted(Path(file)))
        else:
            return [name]
        if not files:
            raise AttnvizError(gettext("{name} has no file that can be read.", name=name))
        return files if is_local else [system.unstrip_protocol(file) for file in files]


def _system(name: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path in it."""
    import fsspec

    found: tuple[Any, str] = fsspec.core.url_to_fs(name)
    return found


@contextmanager
def _reading(name: str) -> Iterator[None]:
    """Turn the errors of a file system into sentences."""
    try:
        yield
    except AttnvizError:
        raise
    except ImportError as error:
        raise AttnvizError(
            gettext("To read {name}, install the package of its file system. {reason}.", name=name, reason=error)
        ) from error
    except FileNotFoundError as error:
        raise AttnvizError(gettext("There is no file {name}.", name=name)) from error
    except Exception as error:
        reason = str(error).strip().rstrip(".") or type(error).__name__
        raise AttnvizError(gettext("{name} cannot be read: {reason}.", name=name, reason=reason[:200])) from error
