"""Syrupy extension: one snapshot file for each test module and language, `__snapshots__/<module>/<language>.ambr`."""

import errno
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.extensions.amber import AmberSnapshotExtension
from syrupy.location import PyTestLocation
from syrupy.types import SnapshotIndex

from attnviz import AttnvizError
from attnviz.languages import LANGUAGES, language


def without_numbers(text: str) -> str:
    """Return `text` with `#` for each number but its sign: the last digits of computed numbers differ between CPUs."""
    return re.sub(r"[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|\d+(?:[.,\u202f]\d+)*[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]*", "#", text)


class SentenceSnapshot(AmberSnapshotExtension):
    """Amber snapshots kept apart by language, so that a translator can review one language's diff alone."""

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        """Return the folder of the snapshots of a test module."""
        path = Path(test_location.filepath)
        return str(path.parent / cls.snapshot_dirname / path.stem)

    @classmethod
    def get_file_basename(cls, *, test_location: PyTestLocation, index: SnapshotIndex) -> str:  # noqa: ARG003
        """Return the language of an assertion: the one the test is parametrized with, or the one in use."""
        callspec = getattr(test_location.item, "callspec", None)
        named = [value for value in callspec.params.values() if value in (*LANGUAGES,)] if callspec else []
        return named[0] if named else language()

    @classmethod
    def matches_test_location(cls, *, test_location: PyTestLocation, snapshot_location: str) -> bool:
        """Return whether the snapshots at `snapshot_location` belong to a test's module."""
        return Path(snapshot_location).parent == Path(cls.dirname(test_location=test_location))


# Errors of the operating system or a library, quoted in parentheses or at the end of our own message.
_CAUSE = re.compile(r"\((?:\w+(?:Error|Warning)|'utf-8' codec [^()]*|EOF: [^()]*|File is not a zip file)\)")
_OS_ERRORS = [os.strerror(code) for code in errno.errorcode]


def plain(text: object, *folders: Path) -> str:
    """Return a message or output without the parts that differ by run, system or library version.

    `<tmp>` is a temporary folder, `<cause>` an error of the system or a library, `<figures>` the figures of a step.
    """
    found = re.sub("(There is no figure .* Choose from: )[a-z, -]+", r"\1<figures>", str(text))
    for folder in folders:
        found = found.replace(str(folder), "<tmp>")
    for cause in _OS_ERRORS:
        found = found.replace(f": {cause}", ": <cause>")
    return _CAUSE.sub("(<cause>)", found)


def refusal(call: Callable[[], object], *folders: Path) -> str:
    """Return the plain message of the AttnvizError that a call raises."""
    with pytest.raises(AttnvizError) as error:
        call()
    return plain(error.value, *folders)
