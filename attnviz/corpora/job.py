"""A file and the table that is to be made of it: what of it is there, what is missing, and how it is put together.

Each window of lines becomes a part, a Parquet file that is there as a whole or not at all, in the folder `OUT.parts`.
What was begun is therefore known from the parts, and parts are the same whoever computes them.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import shutil
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from attnviz.corpora.columns import SCHEMA
from attnviz.corpora.lines import Line, check_lines, check_name, count_lines, read_lines
from attnviz.corpora.parts import About, about, lines_of, put_together, skipped_of
from attnviz.corpora.settings import Settings
from attnviz.errors import AttnvizError
from attnviz.files import replace_text
from attnviz.text_files import Skipped

Window = list[Line | Skipped]
WINDOW = 1000
"""Lines of a part: sorted by length among themselves, and a row group of the table."""


@dataclass(frozen=True)
class Job:
    """A file, a model and what is asked, which say what the table is; and where it goes."""

    file: Path
    output: Path
    model: str
    """Its name."""
    digest: str
    """SHA-256 of its weights."""
    settings: Settings
    gold: Path | None = None
    limit: int | None = None
    window: int = WINDOW
    skip_malformed: bool = False
    """Whether lines that cannot be used are left out however many they are."""

    def check(self) -> None:
        """Raise AttnvizError where it can be seen beforehand that no table will come of it."""
        check_name(self.file)
        if not self.skip_malformed:
            check_lines(self.file, self.limit)
        self.settings.check()
        if self.gold is not None and self.settings.translate:
            raise AttnvizError(
                "Links that people drew are those of the translation that is given: leave out --translate."
            )

    @property
    def parts(self) -> Path:
        """The folder of the parts."""
        return self.output.with_name(f"{self.output.name}.parts")

    @cached_property
    def fingerprint(self) -> str:
        """A SHA-256 of all that the table depends on; raise AttnvizError where a file cannot be read."""
        files = [self.file, *([self.gold] if self.gold else [])]
        told = {
            "model": self.digest,
            "settings": dataclasses.asdict(self.settings),
            "limit": self.limit,
            "window": self.window,
            "schema": str(SCHEMA),
            "files": [_digest(file) for file in files],
        }
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()

    @cached_property
    def total(self) -> int:
        """How many lines it takes; raise AttnvizError where they cannot be read."""
        count = count_lines(self.file)
        return min(count, self.limit or count)

    def made(self) -> About | None:
        """Return what the table says of itself where it is there already, of the same file, model and settings."""
        known = about(self.output) if self.output.exists() else None
        if known is None or known.fingerprint != self.fingerprint:
            return None
        shutil.rmtree(self.parts, ignore_errors=True)
        return known

    def begin(self) -> None:
        """Make a folder for the parts, or leave that which was begun; those of another run go. Raise AttnvizError where
        it cannot be written."""
        mark = self.parts / "run.txt"
        try:
            if mark.is_file() and mark.read_text() == self.fingerprint:
                return
            shutil.rmtree(self.parts, ignore_errors=True)
            self.parts.mkdir(parents=True)
        except OSError as error:
            raise AttnvizError(f"The folder {self.parts} cannot be written: {error.strerror or error}.") from error
        replace_text(mark, self.fingerprint)

    def there(self) -> frozenset[Path]:
        """Return the parts that were computed."""
        return frozenset(self.parts.glob("*.parquet"))

    def missing(self, there: Collection[Path]) -> Iterator[tuple[Path, Window]]:
        """Yield the windows whose parts are not `there`, with those, in order; raise AttnvizError as `read_lines`."""
        lines = itertools.islice(read_lines(self.file, self.gold), self.limit)
        for index in itertools.count():
            window = list(itertools.islice(lines, self.window))
            if not window:
                return
            part = self.parts / f"{index:06}.parquet"
            if part not in there:
                yield part, window

    def finish(self) -> About:
        """Put the parts together into the table, and let them go; raise AttnvizError where it cannot be written."""
        told = About(self.fingerprint, self.model, dataclasses.asdict(self.settings), self.total, 0, 0, [])
        found = put_together(self.parts, self.output, told)
        shutil.rmtree(self.parts)
        return found


@dataclass(frozen=True)
class Progress:
    """How far a run is, in lines."""

    done: int
    total: int
    skipped: int
    before: int
    """Of those done, how many were done when the run began."""

    @classmethod
    def at_first(cls, total: int, there: Collection[Path]) -> Progress:
        """Return how far a run of `total` lines is when so many parts are there."""
        done = sum(map(lines_of, there))
        return cls(done, total, sum(len(skipped_of(part)) for part in there), done)

    def further(self, lines: int, skipped: int) -> Progress:
        """Return how far it is with so many lines more, and of them so many skipped."""
        return dataclasses.replace(self, done=self.done + lines, skipped=self.skipped + skipped)


def _digest(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise AttnvizError(f"The file {file} cannot be read: {error.strerror or error}.") from error
