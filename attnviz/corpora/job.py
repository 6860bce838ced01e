"""Analyse a corpus file in resumable parts, in one process or several; merge the parts into one table with metadata.

Each window of lines becomes a part, a Parquet file written atomically in the folder `OUT.parts`. Progress is therefore
known from the parts, which are the same whoever computes them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import itertools
import json
import multiprocessing
import os
import re
import signal
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cached_property
from multiprocessing import connection, resource_tracker
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from attnviz.corpora.analyser import Analyser
from attnviz.corpora.columns import SCHEMA, Settings
from attnviz.corpora.corpus_lines import (
    Line,
    check_lines,
    check_name,
    count_lines,
    read_lines,
    unescaped_line,
)
from attnviz.devices import resolve_device
from attnviz.errors import AttnvizError
from attnviz.files import check_regular, remove_abandoned, replace_text, replacing
from attnviz.model_folder import weights_digest
from attnviz.text_files import Skipped

Window = list[Line | Skipped]
WINDOW = 1000
"""Lines of a part: sorted by length within it, and a row group of the table."""
_RUN = "run.txt"
"""File in the folder of the parts with the fingerprint of their run."""
_PART = re.compile(r"[0-9]{6,}\.parquet")
"""Names of parts."""


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
        self._remove_parts()
        return table

    def begin(self) -> None:
        """Create the folder of the parts, or keep that of an unfinished run; delete parts of another run.

        Raise AttnvizError where it cannot be written, or has parts that no run wrote.
        """
        fingerprint_file = self.parts / _RUN
        try:
            if fingerprint_file.is_file() and fingerprint_file.read_text() == self.fingerprint:
                return
            self._remove_parts()
            self.parts.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise AttnvizError(f"The folder {self.parts} cannot be written: {error.strerror or error}.") from error
        if foreign := parts_in(self.parts):
            raise AttnvizError(f"No run of corpus wrote the file {foreign[0]}. Move it, or choose another output.")
        replace_text(fingerprint_file, self.fingerprint)

    def _remove_parts(self) -> None:
        """Remove what a run wrote to the folder of the parts, and the folder unless there is something else in it."""
        if not (self.parts / _RUN).is_file():
            return
        remove_abandoned(self.parts)
        for part in parts_in(self.parts):
            part.unlink()
        (self.parts / _RUN).unlink()  # last: without it, the parts would be taken for somebody else's
        with contextlib.suppress(OSError):
            self.parts.rmdir()

    def existing_parts(self) -> frozenset[Path]:
        """Return the existing parts."""
        return frozenset(parts_in(self.parts))

    def missing_windows(self, existing: Collection[Path]) -> Iterator[tuple[Path, Window]]:
        """Yield path of the part and window, in order, for parts that are not in `existing`.

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
            if part not in existing:
                yield part, window

    def finish(self) -> TableMetadata:
        """Merge the parts into the table, and delete them; raise AttnvizError where it cannot be written."""
        metadata = TableMetadata(self.fingerprint, self.model, dataclasses.asdict(self.settings), self.total, 0, 0, [])
        merged = merge_parts(self.parts, self.output, metadata)
        self._remove_parts()
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


_MOST_NAMED = 1000
"""Number of skipped lines that a table lists; further ones are only counted."""
_KEY = b"attnviz"
"""Key of our metadata in a part or table."""


@dataclass(frozen=True)
class TableMetadata:
    """Metadata of a table."""

    fingerprint: str
    """SHA-256 of file, model and settings, the same for equal tables."""
    model: str
    settings: dict[str, Any]
    lines: int
    rows: int
    skipped: int
    named: list[tuple[int, str]]
    """Number and reason of the first thousand skipped lines."""


def table_metadata(table: Path) -> TableMetadata | None:
    """Return the metadata of a table; None where it is not one of `analyse_file`."""
    try:
        check_regular(table)
        metadata = parquet.read_schema(table).metadata or {}
        fields = json.loads(metadata[_KEY])
        return TableMetadata(**{**fields, "named": [(number, reason) for number, reason in fields["named"]]})
    except (OSError, pa.ArrowException, ValueError, KeyError, TypeError, AttnvizError):
        return None


def with_metadata(table: Any, metadata: TableMetadata) -> Any:
    """Return a table (pyarrow.Table) with `metadata`, which names at most the first thousand skipped lines."""
    metadata = dataclasses.replace(metadata, named=metadata.named[:_MOST_NAMED])
    return table.replace_schema_metadata(_encoded(metadata))


def _encoded(metadata: TableMetadata) -> dict[bytes, str]:
    return {_KEY: json.dumps(dataclasses.asdict(metadata))}


def write_part(analyser: Analyser, part: Path, window: list[Line | Skipped]) -> tuple[int, int]:
    """Compute a window and write its part; return its number of lines, and how many were skipped."""
    table, skipped_by_tokenizer = analyser([line for line in window if isinstance(line, Line)])
    skipped = sorted(
        [line for line in window if isinstance(line, Skipped)] + skipped_by_tokenizer, key=lambda line: line.number
    )
    named = json.dumps([[line.number, line.reason] for line in skipped])
    with replacing(part) as temporary:
        parquet.write_table(table.replace_schema_metadata({_KEY: named}), temporary, compression="zstd")
    return len(window), len(skipped)


def parts_in(folder: Path) -> list[Path]:
    """Return the parts in a folder, in order; files of other names are not those of a run."""
    return sorted(path for path in folder.glob("*.parquet") if _PART.fullmatch(path.name))


def skipped_lines_of(part: Path) -> list[tuple[int, str]]:
    """Return number and reason of the skipped lines of a part."""
    return [(number, reason) for number, reason in json.loads(parquet.read_schema(part).metadata[_KEY])]


def line_count_of(part: Path) -> int:
    """Return the number of lines of a part, skipped ones included."""
    return int(parquet.read_metadata(part).num_rows) + len(skipped_lines_of(part))


def merge_parts(parts: Path, output: Path, metadata: TableMetadata) -> TableMetadata:
    """Merge the parts, in order, into one table with `metadata`, to which the skipped lines are added."""
    files = parts_in(parts)
    count, named = 0, list[tuple[int, str]]()
    for part in files:
        skipped = skipped_lines_of(part)
        count += len(skipped)
        named += skipped[: _MOST_NAMED - len(named)]
    rows = sum(parquet.read_metadata(part).num_rows for part in files)
    metadata = dataclasses.replace(metadata, rows=rows, skipped=count, named=named)
    schema = SCHEMA.with_metadata(_encoded(metadata))
    with replacing(output) as temporary, parquet.ParquetWriter(temporary, schema, compression="zstd") as writer:
        for part in files:
            table = parquet.read_table(part).replace_schema_metadata(schema.metadata)
            if len(table):
                writer.write_table(table.cast(schema))
    return metadata


PartWindow = tuple[Path, list[Any]]
Compute = Callable[[Iterable[PartWindow]], Iterator[tuple[int, int]]]
"""Computes windows into their parts; yields, for each finished window, its number of lines and of skipped lines."""

_analyser: Analyser | None = None
"""The analyser of a worker process."""


def sequential_compute(analyser: Analyser) -> Compute:
    """Return a function that computes windows one after another in this thread."""
    return lambda windows: (write_part(analyser, *window) for window in windows)


def parallel_compute(folder: str | Path, settings: Settings, device: str, workers: int) -> Compute:
    """Return a function that computes windows in `workers` processes; a single one is this process."""
    if workers == 1:
        return lambda windows: sequential_compute(Analyser.load(folder, settings, device))(windows)
    return lambda windows: _compute_in_pool(windows, (folder, settings, device), workers)


def _compute_in_pool(
    windows: Iterable[PartWindow], analyser_arguments: tuple[Any, ...], workers: int
) -> Iterator[tuple[int, int]]:
    """Let processes compute the windows; read no more than they can process."""
    context = multiprocessing.get_context("spawn")
    running: set[Future[tuple[int, int]]] = set()
    stop, ours = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(workers, context, _initialise_worker, (stop,))
    try:
        for part, window in windows:
            with _deferring_interrupts():  # a worker may start here
                running.add(pool.submit(_compute_window, analyser_arguments, part, window))
            if len(running) > workers:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    except BrokenProcessPool as error:
        raise AttnvizError(
            "A worker process was ended from outside, perhaps because the memory was full. Give the same command "
            "again with fewer --workers: it continues where the run stopped."
        ) from error
    finally:
        ours.close()  # ends the workers, also within a window
        pool.shutdown(cancel_futures=True)
        stop.close()


@contextlib.contextmanager
def _deferring_interrupts() -> Iterator[None]:
    """Defer an interrupt until the block ends, and keep it from processes that start in the block.

    Ctrl-C reaches all processes of a terminal. A new one inherits the blocked signal, so it cannot be interrupted while
    it imports its modules.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # its start unblocks the signal
    interrupts = list[int]()
    # Another thread may get the signal, and Python then interrupts this one.
    handler = signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number))
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        signal.signal(signal.SIGINT, handler)
        if interrupts:
            signal.raise_signal(signal.SIGINT)


def _initialise_worker(stop: connection.Connection) -> None:
    """Initialise a worker: one thread, no interrupts, exit when the other end of `stop` closes or the parent ends."""
    import torch

    torch.set_num_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_at_end, args=(stop,), daemon=True).start()


def _exit_at_end(stop: connection.Connection) -> None:
    connection.wait([stop])
    os._exit(1)


def _compute_window(analyser_arguments: tuple[Any, ...], part: Path, window: list[Any]) -> tuple[int, int]:
    global _analyser
    if _analyser is None:
        _analyser = Analyser.load(*analyser_arguments)
    return write_part(_analyser, part, window)


def analyse_file(
    path: str | Path,
    output: str | Path,
    model: str | Path | Analyser,
    settings: Settings | None = None,
    *,
    gold: str | Path | None = None,
    limit: int | None = None,
    device: str = "auto",
    workers: int = 1,
    window: int = WINDOW,
    skip_malformed: bool = False,
    advance: Callable[[Progress], object] | None = None,
) -> TableMetadata:
    """Read sentences or pairs from `path`, as `read_lines` does, and write their table to `output` (Parquet).

    `model` is a folder, or an `Analyser` with settings of its own. With a folder, `workers` processes of one thread
    each share the work. `limit` takes only the first lines. `advance` is called with the progress at the start and
    after each `window` of lines; an exception from it ends the run. However a run ends, the same call continues after
    the finished windows; a finished table of the same file, model and settings stays unchanged. Raise AttnvizError
    where a file or the model cannot be read, or the table cannot be written.
    """
    if isinstance(model, Analyser):
        settings, name, digest = model.settings, model.name, model.weights_digest
    else:
        settings, name, digest = settings or Settings(), Path(model).resolve().name, weights_digest(model)
        settings = settings.with_precision_for(resolve_device(device))
    job = Job(
        Path(path),
        Path(output),
        name,
        digest,
        settings,
        None if gold is None else Path(gold),
        limit,
        window,
        skip_malformed,
    )
    job.check()
    if finished := job.finished_table():
        return finished
    job.begin()
    existing = job.existing_parts()
    progress = Progress.at_start(job.total, existing)
    # Do not start processes that have no work.
    processes = max(1, min(workers, -(-progress.total // window)))
    compute = (
        sequential_compute(model)
        if isinstance(model, Analyser)
        else parallel_compute(model, settings, device, processes)
    )
    report = advance or (lambda _: None)
    report(progress)
    for lines, skipped in compute(job.missing_windows(existing)):
        progress = progress.advanced_by(lines, skipped)
        report(progress)
    return job.finish()
