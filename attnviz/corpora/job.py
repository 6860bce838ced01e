"""Analyse corpus files in resumable parts; merge the parts of a file into one table with metadata.

Each window of lines becomes a part, a Parquet file written atomically in the folder `OUT.parts`. Progress is therefore
known from the parts, which are the same whoever computes them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import itertools
import json
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple, TypedDict, Unpack

import torch
from pyarrow import parquet

from attnviz.corpora.analyser import Analyser
from attnviz.corpora.columns import SCHEMA, Settings
from attnviz.corpora.corpus_lines import Line, check_lines, check_name, count_lines, read_lines, unescaped_line
from attnviz.corpora.executors import Cluster, imap
from attnviz.corpora.table_metadata import TableMetadata, table_metadata
from attnviz.devices import resolve_device
from attnviz.errors import AttnvizError
from attnviz.files import remove_abandoned, replacing
from attnviz.installed_models import find_model
from attnviz.model_folder import weights_digest
from attnviz.pair_files import Skipped
from attnviz.reading import reading_errors

_Window = list[Line | Skipped]
WINDOW = 1000
"""Lines of a part: sorted by length within it, and a row group of the table."""
_PART = re.compile(r"[0-9]{6,}\.parquet")
"""Names of parts."""


@dataclass(frozen=True, eq=False)
class Job:
    """A file, a model and settings, which determine the table, and its path."""

    file: Path
    output: Path
    model: str
    """Name of the model."""
    digest: str
    """SHA-256 of the weights."""
    settings: Settings
    gold: Path | None
    limit: int | None
    window: int
    skip_malformed: bool
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
    def metadata(self) -> TableMetadata:
        """Metadata of the table before its lines are counted; raises AttnvizError where a file cannot be read."""
        settings = dataclasses.asdict(self.settings)
        files = [self.file, *([self.gold] if self.gold else [])]
        inputs = {
            "model": self.digest,
            "settings": settings,
            "limit": self.limit,
            "window": self.window,
            "schema": str(SCHEMA),
            "files": [_digest(file) for file in files],
        }
        fingerprint = hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()
        return TableMetadata(fingerprint, self.model, settings)

    @cached_property
    def total(self) -> int:
        """Number of lines to process; raises AttnvizError where they cannot be read."""
        count = count_lines(self.file, self.limit)
        return min(count, self.limit or count)

    def finished_table(self) -> TableMetadata | None:
        """Return the metadata of a finished table of the same file, model and settings; None without one."""
        table = table_metadata(self.output) if self.output.exists() else None
        if table is None or table.fingerprint != self.metadata.fingerprint:
            return None
        self._remove(self._existing_parts())
        return table

    def begin(self) -> dict[Path, TableMetadata]:
        """Create the folder of the parts, and return the finished parts; delete those of another run.

        Raise AttnvizError where it cannot be written, or has parts that no run wrote.
        """
        try:
            self.parts.mkdir(parents=True, exist_ok=True)
            remove_abandoned(self.parts)
            finished = {}
            for part in self._existing_parts():
                found = table_metadata(part)
                if found is None:
                    raise AttnvizError(f"No run of corpus wrote the file {part}. Move it, or choose another output.")
                if found.fingerprint == self.metadata.fingerprint:
                    finished[part] = found
                else:
                    part.unlink()
        except OSError as error:
            raise AttnvizError(f"The folder {self.parts} cannot be written: {error.strerror or error}.") from error
        return finished

    def _existing_parts(self) -> list[Path]:
        """Return the parts in order; files of other names are not those of a run."""
        return sorted(path for path in self.parts.glob("*.parquet") if _PART.fullmatch(path.name))

    def missing_windows(self, finished: Container[Path]) -> Iterator[tuple[Path, _Window]]:
        """Yield path of the part and window, in order, for parts that are not `finished`.

        Raise AttnvizError, naming the file, where it cannot be read.
        """
        lines: Iterator[Line | Skipped] = itertools.islice(read_lines(self.file, self.gold), self.limit)
        if self.settings.unescape:
            lines = map(unescaped_line, lines)
        for index in itertools.count():
            window = list(itertools.islice(lines, self.window))
            if not window:
                return
            part = self.parts / f"{index:06}.parquet"
            if part not in finished:
                yield part, window

    def finish(self) -> TableMetadata:
        """Merge the parts into the table, and delete them; raise AttnvizError where it cannot be written."""
        parts = self._existing_parts()
        metadata = self.metadata
        for part in parts:
            metadata = metadata.extended_by(table_metadata(part) or metadata)
        schema = SCHEMA.with_metadata(metadata.encoded())
        with (
            replacing(self.output) as temporary,
            parquet.ParquetWriter(temporary, schema, compression="zstd") as writer,
        ):
            for part in parts:
                table = parquet.read_table(part).replace_schema_metadata(schema.metadata)
                if len(table):
                    writer.write_table(table.cast(schema))
        self._remove(parts)
        return metadata

    def _remove(self, parts: Iterable[Path]) -> None:
        """Remove these parts, and their folder unless there is something else in it."""
        for part in parts:
            if table_metadata(part):
                part.unlink()
        with contextlib.suppress(OSError):
            self.parts.rmdir()


@dataclass(frozen=True)
class Progress:
    """Progress of a run, in lines."""

    done: int
    total: int
    skipped: int
    before: int
    """Number of lines that were done when the run began."""


def _digest(file: Path) -> str:
    with reading_errors(file), file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


class _Task(NamedTuple):
    """A window to compute, and the part to write."""

    job: int
    part: Path
    window: _Window
    metadata: TableMetadata


def _part_writer(
    model: Path | Analyser, settings: Settings, device: str | torch.device
) -> Callable[[_Task], tuple[int, TableMetadata]]:
    """Load the model; return a function that computes a window, and writes its part."""
    return partial(_write_part, model if isinstance(model, Analyser) else Analyser.load(model, settings, device))


def _write_part(analyser: Analyser, task: _Task) -> tuple[int, TableMetadata]:
    """Return the number of the task's job, and the metadata of the part."""
    table, skipped_by_tokenizer = analyser([line for line in task.window if isinstance(line, Line)])
    skipped = [line for line in task.window if isinstance(line, Skipped)] + skipped_by_tokenizer
    metadata = dataclasses.replace(
        task.metadata,
        lines=len(task.window),
        rows=len(table),
        skipped=len(skipped),
        named=sorted((line.number, line.reason) for line in skipped),
    )
    with replacing(task.part) as temporary:
        parquet.write_table(table.replace_schema_metadata(metadata.encoded()), temporary, compression="zstd")
    return task.job, metadata


class JobOptions(TypedDict, total=False):
    """Options of `analyse_files`, with its defaults."""

    gold: str | Path | None
    limit: int | None
    device: str | torch.device
    workers: int
    cluster: Cluster | None
    window: int
    skip_malformed: bool
    advance: Callable[[Progress], object] | None


def analyse_files(
    tables: Mapping[Path, Path],
    model: str | Path | Analyser,
    settings: Settings | None = None,
    *,
    gold: str | Path | None = None,
    limit: int | None = None,
    device: str | torch.device = "auto",
    workers: int = 1,
    cluster: Cluster | None = None,
    window: int = WINDOW,
    skip_malformed: bool = False,
    advance: Callable[[Progress], object] | None = None,
) -> dict[Path, TableMetadata]:
    """Read sentences or pairs from files, as `read_lines` does, and write a table (Parquet) of each.

    However a run ends, the same call continues after the finished windows; a finished table of the same file, model and
    settings stays unchanged.

    Args:
        tables: The path of the table of each file.
        model: A name or folder of a model, or an `Analyser` with settings of its own, which computes in this thread.
        settings: What is computed; by default `Settings()`.
        gold: Gold links of the pairs, as in `read_lines`.
        limit: Number of lines of each file to take, from the first; None is all.
        device: "auto", "cpu", "cuda", "cuda:1" or "mps".
        workers: Number of processes of one thread each that share the work, unless `model` is an `Analyser`. The tables
            are byte for byte the same.
        cluster: A Ray cluster whose actors share the work. Its machines must see the folders of the tables and the
            model under the same paths.
        window: Number of lines that are written at once.
        skip_malformed: Whether to skip malformed lines instead of raising an error.
        advance: Called with the progress at the start and after each `window` of lines; an exception from it ends the
            run.

    Returns:
        The metadata of each table.

    Raises:
        AttnvizError: A file or the model cannot be read, a table cannot be written, Ray is not installed, or the
            cluster cannot be reached.
    """
    if cluster:
        cluster.check()
        device = cluster.device
    if isinstance(model, Analyser):
        settings, name, digest = model.settings, model.name, model.weights_digest
    else:
        model = find_model(model).resolve()
        settings, name, digest = settings or Settings(), model.name, weights_digest(model)
        settings = settings.with_precision_for(resolve_device(device) if not cluster else torch.device(device))
    gold = None if gold is None else Path(gold)
    jobs = [
        Job(file, table, name, digest, settings, gold, limit, window, skip_malformed) for file, table in tables.items()
    ]
    inputs = {file.resolve() for file in tables}
    for job in jobs:
        if job.output.resolve() in inputs:
            raise AttnvizError(
                f"The table {job.output} would overwrite a file that is read. Choose another folder for the output."
            )
        job.check()
    unfinished = [job for job in jobs if job.finished_table() is None]
    finished_parts = [job.begin() for job in unfinished]
    parts = [part for found in finished_parts for part in found.values()]
    done, skipped = sum(part.lines for part in parts), sum(part.skipped for part in parts)
    progress = Progress(done, sum(job.total for job in unfinished), skipped, done)
    left = [
        job.total - sum(part.lines for part in found.values())
        for job, found in zip(unfinished, finished_parts, strict=True)
    ]
    report = advance or (lambda _: None)
    report(progress)
    tasks = (
        _Task(number, part.absolute(), lines, job.metadata)
        for number, (job, found) in enumerate(zip(unfinished, finished_parts, strict=True))
        for part, lines in job.missing_windows(found)
    )
    workers = min(workers, sum(-(-lines // window) for lines in left))
    load = partial(_part_writer, model, settings, device)
    for number, part in imap(load, tasks, workers, cluster) if any(left) else ():
        progress = dataclasses.replace(
            progress, done=progress.done + part.lines, skipped=progress.skipped + part.skipped
        )
        report(progress)
        left[number] -= part.lines
        if not left[number]:
            unfinished[number].finish()
    return {job.output: job.finished_table() or job.finish() for job in jobs}


def analyse_file(
    path: str | Path,
    output: str | Path,
    model: str | Path | Analyser,
    settings: Settings | None = None,
    **options: Unpack[JobOptions],
) -> TableMetadata:
    """Write the table of one file.

    Args:
        path: The file.
        output: The table.
        model: As in `analyse_files`.
        settings: As in `analyse_files`.
        **options: Further options of `analyse_files`.

    Returns:
        The metadata of the table.
    """
    return analyse_files({Path(path): Path(output)}, model, settings, **options)[Path(output)]
