"""Compute the windows (runs of lines) of a corpus in this process or in several, each with the model and one thread."""

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
from attnviz.corpora.settings import Settings
from attnviz.corpora.table_parts import write_part
from attnviz.errors import AttnvizError

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
