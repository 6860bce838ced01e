"""Analyse a folder of files with actors of a Ray cluster, on one machine or many.

Ray Data streams the missing windows to actors, each of which holds the model and writes parts; it restarts actors that
die and reassigns their windows. Tables are byte for byte those of `analyse_file`, and a run that ended continues from
its parts, whichever of the two began it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from attnviz.corpora.analyser import Analyser
from attnviz.corpora.columns import Settings
from attnviz.corpora.corpus_lines import (
    extensions_text,
    name_without_extensions,
    readable,
)
from attnviz.corpora.job import WINDOW, Job, Progress, TableMetadata, write_part
from attnviz.errors import AttnvizError
from attnviz.memory import keep_few_shapes
from attnviz.model_folder import weights_digest

_READERS = 2
"""Number of files read at once; a reader waits while its windows are pending."""

Task = tuple[Job, frozenset[Path]]
"""A job, and the parts of it that existed before."""


@dataclass(frozen=True)
class Cluster:
    """Address of a Ray cluster, and resources of its actors."""

    address: str | None = None
    """Address of a running cluster, as for `ray.init`; None to start one on this machine for the run."""
    actors: int | None = None
    """Number of actors; None for all that the cluster has processors or GPUs for."""
    gpus_per_actor: float = 0
    """GPUs of an actor; 0.5: two actors share one; 0: actors run on CPU cores."""

    def check(self) -> None:
        """Raise AttnvizError unless the GPUs per actor are 0, a fraction of one, or a whole number."""
        if self.gpus_per_actor < 0 or (self.gpus_per_actor > 1 and self.gpus_per_actor % 1):
            raise AttnvizError(
                "The number of GPUs for each actor must be a fraction of one GPU or a whole number, not "
                f"{self.gpus_per_actor}."
            )


def analyse_folder(
    path: str | Path,
    output: str | Path,
    model: str | Path,
    settings: Settings | None = None,
    cluster: Cluster | None = None,
    *,
    limit: int | None = None,
    window: int = WINDOW,
    skip_malformed: bool = False,
    advance: Callable[[Progress], object] | None = None,
) -> dict[Path, TableMetadata]:
    """Write a table to the folder `output` for each file in the folder `path`, or for the one file `path`.

    Files are those that `read_lines` reads, and tables those of `analyse_file`; return their metadata. `limit` applies
    to each file. Files and model must have the same paths on all machines of the cluster. Raise AttnvizError where Ray
    is not installed, a file or the model cannot be read, a table cannot be written, or the cluster cannot be reached.
    """
    cluster, settings, digest = cluster or Cluster(), settings or Settings(), weights_digest(model)
    cluster.check()
    if not cluster.gpus_per_actor:
        settings = settings.with_precision_for(torch.device("cpu"))
    model = Path(model).resolve()
    tables = _tables(Path(path), Path(output))
    jobs = [
        Job(file.resolve(), table.resolve(), model.name, digest, settings, None, limit, window, skip_malformed)
        for file, table in tables
    ]
    for job in jobs:
        job.check()
    unfinished = [job for job in jobs if job.finished_table() is None]
    if unfinished:
        Analyser.load(model, settings, "cpu")  # report an invalid model once instead of from every actor
    for job in unfinished:
        job.begin()
    tasks = [(job, job.existing_parts()) for job in unfinished]
    progress = Progress.at_start(
        sum(job.total for job in unfinished), [part for _, existing in tasks for part in existing]
    )
    remaining = [job.total - Progress.at_start(job.total, existing).done for job, existing in tasks]
    report = advance or (lambda _: None)
    report(progress)
    for index, lines, skipped in _compute_windows(tasks, (model, settings), cluster) if any(remaining) else ():
        progress = progress.advanced_by(lines, skipped)
        report(progress)
        remaining[index] -= lines
        if not remaining[index]:
            tasks[index][0].finish()
    return {table: job.finished_table() or job.finish() for (_, table), job in zip(tables, jobs, strict=True)}


def _tables(path: Path, output: Path) -> list[tuple[Path, Path]]:
    """Return each file with its table, by name; raise AttnvizError without files, or where two share a table."""
    if output.is_file():
        raise AttnvizError(
            f"With --ray, the output must be a folder, but {output} is a file. Give the path of a folder."
        )
    files = sorted(file for file in path.iterdir() if readable(file)) if path.is_dir() else [path]
    if not files:
        raise AttnvizError(f"The folder {path} has no file whose name ends in {extensions_text()}.")
    tables: dict[Path, Path] = {}
    for file in files:
        table = output / f"{name_without_extensions(file)}.parquet"
        if table in tables:
            raise AttnvizError(
                f"The files {tables[table]} and {file} would be written to the same table. Rename one of the files."
            )
        if table.resolve() in {input_file.resolve() for input_file in files}:
            raise AttnvizError(
                f"The table of {file} would overwrite an input file. Choose an output folder other than {output}."
            )
        tables[table] = file
    return [(file, table) for table, file in tables.items()]


class _Actor:
    """A model in a process of its own, which computes the parts of windows."""

    def __init__(self, folder: Path, settings: Settings, device: str) -> None:
        keep_few_shapes()
        torch.set_num_threads(1)
        self._analyser = Analyser.load(folder, settings, device)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Compute one window; return its number of lines, and how many were skipped."""
        lines, skipped = write_part(self._analyser, Path(batch["part"][0]), batch["window"][0])
        return {"task": batch["task"], "lines": [lines], "skipped": [skipped]}


def _missing_windows(batch: dict[str, Any], tasks: Sequence[Task]) -> Iterator[dict[str, Any]]:
    """Yield the windows of a file that were missing when the run began.

    Repeated calls yield the same windows: Ray calls again where results were lost.
    """
    index = int(batch["task"][0])
    job, existing = tasks[index]
    for part, window in job.missing_windows(existing):
        cell = np.empty(1, object)
        cell[0] = window
        yield {"task": [index], "part": [str(part)], "window": cell}


def _compute_windows(
    tasks: Sequence[Task], analyser_arguments: tuple[Path, Settings], cluster: Cluster
) -> Iterator[tuple[int, int, int]]:
    """Compute missing windows; yield for each the index of its task, its number of lines, and how many were skipped."""
    with _connected(cluster) as ray:
        actors = cluster.actors or _actor_count(ray, cluster)
        device = "cuda" if cluster.gpus_per_actor else "cpu"
        files = ray.data.from_items([{"task": index} for index in range(len(tasks))], override_num_blocks=len(tasks))
        # Actors may occupy all processors, so readers reserve none.
        windows = files.map_batches(
            _missing_windows,
            fn_kwargs={"tasks": tasks},
            batch_size=1,
            num_cpus=0,
            compute=ray.data.TaskPoolStrategy(size=min(_READERS, len(tasks))),
        )
        done = windows.map_batches(
            _Actor,
            fn_constructor_args=(*analyser_arguments, device),
            batch_size=1,
            num_cpus=1,
            num_gpus=cluster.gpus_per_actor,
            compute=ray.data.ActorPoolStrategy(size=actors),
        )
        try:
            for row in done.iter_rows():
                yield row["task"], row["lines"], row["skipped"]
        except ray.exceptions.RayError as error:
            raise AttnvizError(_error_message(error)) from error


@contextlib.contextmanager
def _connected(cluster: Cluster) -> Iterator[Any]:
    """Connect to the cluster, or start one, and restore the previous state at the end; yield the module `ray`."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # no usage statistics
    # Otherwise Ray's core warns on standard error that arguments of actors may be lost; the run holds them itself.
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise AttnvizError(
            "Ray is not installed on this machine. Install it with: pip install 'attnviz[ray]'"
        ) from error
    starts_ray = not ray.is_initialized()
    if starts_ray:
        local: dict[str, Any] = {} if cluster.address else {"include_dashboard": False}
        try:
            with _silent_stderr():
                # Without an address, Ray would join any cluster that runs on this machine.
                ray.init(cluster.address or "local", log_to_driver=False, logging_level=logging.ERROR, **local)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise AttnvizError(f"No Ray cluster was found at {cluster.address}: {error}") from error
    # Hide Ray's progress and tracebacks among the command's output, but keep warnings about resources.
    for name, level in (("data", "WARNING"), ("data._internal.progress", "ERROR"), ("data.exceptions", "CRITICAL")):
        logging.getLogger(f"ray.{name}").setLevel(level)
    # The error of an actor is raised as well; this logger also warns about resources.
    logging.getLogger("ray.data._internal.execution.streaming_executor_state").addFilter(_has_no_traceback)
    context = ray.data.DataContext.get_current().copy()
    context.enable_progress_bars = context.print_on_execution_start = False
    context.raise_original_map_exception = True
    # Windows are large: each is a block, which an actor gets as soon as it was read.
    context.target_max_block_size = 1
    try:
        with ray.data.DataContext.current(context):
            yield ray
    finally:
        if starts_ray:
            ray.shutdown()


def _has_no_traceback(record: logging.LogRecord) -> bool:
    return not record.exc_info


@contextlib.contextmanager
def _silent_stderr() -> Iterator[None]:
    """Suppress output to standard error, also of compiled code that ignores Python's settings."""
    sys.stderr.flush()
    stderr_copy, devnull = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(devnull, 2)
        yield
    finally:
        os.dup2(stderr_copy, 2)
        os.close(stderr_copy)
        os.close(devnull)


def _actor_count(ray: Any, cluster: Cluster) -> int:
    """Return how many actors fit on the cluster; raise AttnvizError where none does."""
    resources = ray.cluster_resources()
    count = resources.get("GPU", 0) / cluster.gpus_per_actor if cluster.gpus_per_actor else resources.get("CPU", 0)
    if count < 1:
        raise AttnvizError(f"The cluster has {resources.get('GPU', 0):g} GPUs, which are too few for one actor.")
    return int(count)


def _error_message(error: Exception) -> str:
    """Return the AttnvizError message of an actor, or else Ray's."""
    cause = getattr(error, "cause", None)
    # Ray appends advice about retrying on further lines.
    return str(cause).splitlines()[0] if isinstance(cause, AttnvizError) else f"The cluster failed: {error}"
