"""Write the table of a whole file, in one process or several; a killed run can be resumed and gives the same bytes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection
from pathlib import Path
from typing import Any

from attnviz.corpora.analyser import Analyser
from attnviz.corpora.columns import Settings
from attnviz.corpora.job import WINDOW, Job, Progress, TableMetadata, write_part
from attnviz.devices import resolve_device
from attnviz.errors import AttnvizError
from attnviz.model_folder import weights_digest

Window = tuple[Path, list[Any]]
Compute = Callable[[Iterable[Window]], Iterator[tuple[int, int]]]
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
    windows: Iterable[Window], analyser_arguments: tuple[Any, ...], workers: int
) -> Iterator[tuple[int, int]]:
    """Let processes compute the windows; read no more than they can process."""
    context = multiprocessing.get_context("spawn")
    running: set[Future[tuple[int, int]]] = set()
    pool = ProcessPoolExecutor(workers, context, _initialise_worker)
    try:
        for part, window in windows:
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
        pool.shutdown(cancel_futures=True)


def _initialise_worker() -> None:
    """Initialise a worker: one thread, no handling of interrupts, exit with the parent process."""
    import torch

    torch.set_num_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
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
