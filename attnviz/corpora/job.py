"""Resumable analysis of one file: the finished parts of its table, the lines still missing, and the final merge.

Each window of lines becomes a part, a Parquet file written atomically in the folder `OUT.parts`. Progress is therefore
known from the parts, which are the same whoever computes them.
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
from attnviz.corpora.settings import Settings
from attnviz.corpora.table_parts import TableMetadata, line_count_of, merge_parts, skipped_lines_of, table_metadata
from attnviz.errors import AttnvizError
from attnviz.files import replace_text
from attnviz.text_files import Skipped

Window = list[Line | Skipped]
WINDOW = 1000
"""Lines of a part: sorted by length within it, and a row group of the table."""


@dataclass(frozen=True)
class Job:
    """A file, a model and settings, which determine the table, and its path."""

    file: Path
    output: Path
    model: str
    """Name of the model."""
    digest: str
    """SHA-256 of the weights."""
    settings: Settings
    gold: Path | None = None
    limit: int | None = None
    window: int = WINDOW
    skip_malformed: bool = False
    """Whether lines that cannot be used are left out however many they are."""

    def check(self) -> None:
        """Raise AttnvizError for errors that are visible before the run."""
        check_name(self.file)
        if not self.skip_malformed:
            check_lines(self.file, self.limit)
        self.settings.check()
        if self.gold is not None and self.settings.translate:
            raise AttnvizError(
                "Links marked by hand belong to the given translations, so they cannot be combined with "
                "--translate. Leave out --translate."
            )

    @property
    def parts(self) -> Path:
        """Folder of the parts."""
        return self.output.with_name(f"{self.output.name}.parts")

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of everything that the table depends on; raises AttnvizError where a file cannot be read."""
        files = [self.file, *([self.gold] if self.gold else [])]
        inputs = {
            "model": self.digest,
            "settings": dataclasses.asdict(self.settings),
            "limit": self.limit,
            "window": self.window,
            "schema": str(SCHEMA),
            "files": [_digest(file) for file in files],
        }
        return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()

    @cached_property
    def total(self) -> int:
        """Number of lines to process; raises AttnvizError where they cannot be read."""
        count = count_lines(self.file, self.limit)
        return min(count, self.limit or count)

    def finished_table(self) -> TableMetadata | None:
        """Return the metadata of a finished table of the same file, model and settings; None without one."""
        table = table_metadata(self.output) if self.output.exists() else None
        if table is None or table.fingerprint != self.fingerprint:
            return None
        shutil.rmtree(self.parts, ignore_errors=True)
        return table

    def begin(self) -> None:
        """Create the folder of the parts, or keep that of an unfinished run; delete parts of another run.

        Raise AttnvizError where it cannot be written.
        """
        fingerprint_file = self.parts / "run.txt"
        try:
            if fingerprint_file.is_file() and fingerprint_file.read_text() == self.fingerprint:
                return
            shutil.rmtree(self.parts, ignore_errors=True)
            self.parts.mkdir(parents=True)
        except OSError as error:
            raise AttnvizError(f"The folder {self.parts} cannot be written: {error.strerror or error}.") from error
        replace_text(fingerprint_file, self.fingerprint)

    def existing_parts(self) -> frozenset[Path]:
        """Return the existing parts."""
        return frozenset(self.parts.glob("*.parquet"))

    def missing_windows(self, existing: Collection[Path]) -> Iterator[tuple[Path, Window]]:
        """Yield path of the part and window, in order, for parts that are not in `existing`.

        Raise AttnvizError, naming the file, where it cannot be read.
        """
        lines = itertools.islice(read_lines(self.file, self.gold), self.limit)
        for index in itertools.count():
            window = list(itertools.islice(lines, self.window))
            if not window:
                return
            part = self.parts / f"{index:06}.parquet"
            if part not in existing:
                yield part, window

    def finish(self) -> TableMetadata:
        """Merge the parts into the table, and delete them; raise AttnvizError where it cannot be written."""
        metadata = TableMetadata(self.fingerprint, self.model, dataclasses.asdict(self.settings), self.total, 0, 0, [])
        merged = merge_parts(self.parts, self.output, metadata)
        shutil.rmtree(self.parts)
        return merged


@dataclass(frozen=True)
class Progress:
    """Progress of a run, in lines."""

    done: int
    total: int
    skipped: int
    before: int
    """Number of lines that were done when the run began."""

    @classmethod
    def at_start(cls, total: int, existing: Collection[Path]) -> Progress:
        """Return the progress of a run of `total` lines with the parts in `existing`."""
        done = sum(map(line_count_of, existing))
        return cls(done, total, sum(len(skipped_lines_of(part)) for part in existing), done)

    def advanced_by(self, lines: int, skipped: int) -> Progress:
        """Return the progress after that many more lines, of which some were skipped."""
        return dataclasses.replace(self, done=self.done + lines, skipped=self.skipped + skipped)


def _digest(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise AttnvizError(f"The file {file} cannot be read: {error.strerror or error}.") from error
