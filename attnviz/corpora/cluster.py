"""A folder of files to a folder of tables, by actors of a Ray cluster: on this machine or on many.

Ray Data streams the windows that are missing to actors, each of which holds the model and writes the parts; it starts
those that die anew and gives their windows again. Tables are therefore, byte for byte, those of `analyse_file`, and a
run that ended goes on from the parts, whichever of the two began it.
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

from attnviz.corpora.analyser import Analyser
from attnviz.corpora.job import WINDOW, Job, Progress
from attnviz.corpora.lines import bare_name, readable, spelt_endings
from attnviz.corpora.parts import About, write_part
from attnviz.corpora.settings import Settings
from attnviz.errors import AttnvizError
from attnviz.memory import keep_few_shapes
from attnviz.model_folder import weights_digest

_READERS = 2
"""Files that are read at once; a reader waits while its windows lie there."""

Task = tuple[Job, frozenset[Path]]
"""What is to be made, and the parts of it that were there."""


@dataclass(frozen=True)
class Cluster:
    """Where the actors are, and what each has."""

    address: str | None = None
    """Of a cluster that runs, as of `ray.init`; None for one of this machine, that ends with the run."""
    actors: int | None = None
    """None for as many as the cluster has processors or graphics cards for."""
    gpus_per_actor: float = 0
    """A half: two actors share one; 0: an actor computes on a processor core."""

    def check(self) -> None:
        """Raise AttnvizError where there is no such cluster."""
        if self.gpus_per_actor < 0 or (self.gpus_per_actor > 1 and self.gpus_per_actor % 1):
            raise AttnvizError(f"An actor has a share of a graphics card, or whole ones, not {self.gpus_per_actor}.")


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
) -> dict[Path, About]:
    """Write a table to the folder `output` for each file of the folder `path` that `read_lines` reads, or for the one
    file `path`, as `analyse_file` does of one, and return what they say of themselves; `limit` is of each.

    Files and the model have the same paths on all machines of the cluster. Raise AttnvizError where Ray is not
    installed, a file or the model cannot be read, a table cannot be written, or the cluster cannot be reached.
    """
    cluster, settings, digest = cluster or Cluster(), settings or Settings(), weights_digest(model)
    cluster.check()
    model = Path(model).resolve()
    tables = _tables(Path(path), Path(output))
    jobs = [
        Job(file.resolve(), table.resolve(), model.name, digest, settings, None, limit, window, skip_malformed)
        for file, table in tables
    ]
    for job in jobs:
        job.check()
    waiting = [job for job in jobs if job.made() is None]
    if waiting:
        Analyser.load(model, settings, "cpu")  # what is wrong with a model is said here rather than by every actor
    for job in waiting:
        job.begin()
    tasks = [(job, job.there()) for job in waiting]
    told = Progress.at_first(sum(job.total for job in waiting), [part for _, there in tasks for part in there])
    left = [job.total - Progress.at_first(job.total, there).done for job, there in tasks]
    tell = advance or (lambda _: None)
    tell(told)
    for place, lines, skipped in _computed(tasks, (model, settings), cluster) if any(left) else ():
        told = told.further(lines, skipped)
        tell(told)
        left[place] -= lines
        if not left[place]:
            tasks[place][0].finish()
    return {table: job.made() or job.finish() for (_, table), job in zip(tables, jobs, strict=True)}


def _tables(path: Path, output: Path) -> list[tuple[Path, Path]]:
    """Return each file with its table, by name; raise AttnvizError where there is none, or one for two."""
    if output.is_file():
        raise AttnvizError(f"With --ray the output is a folder, and {output} is a file.")
    files = sorted(file for file in path.iterdir() if readable(file)) if path.is_dir() else [path]
    if not files:
        raise AttnvizError(f"There is no file in {path} that ends in {spelt_endings()}.")
    tables: dict[Path, Path] = {}
    for file in files:
        table = output / f"{bare_name(file)}.parquet"
        if table in tables:
            raise AttnvizError(f"The files {tables[table]} and {file} would have the same table: name one otherwise.")
        if table.resolve() in {one.resolve() for one in files}:
            raise AttnvizError(f"The table of {file} would take its place: choose another folder than {output}.")
        tables[table] = file
    return [(file, table) for table, file in tables.items()]


class _Actor:
    """A model in a process of its own, which makes windows into parts."""

    def __init__(self, folder: Path, settings: Settings, device: str) -> None:
        keep_few_shapes()
        import torch

        torch.set_num_threads(1)
        self._analyser = Analyser.load(folder, settings, device)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Compute one window; return how many lines it has, and how many were skipped."""
        lines, skipped = write_part(self._analyser, Path(batch["part"][0]), batch["window"][0])
        return {"task": batch["task"], "lines": [lines], "skipped": [skipped]}


def _windows(batch: dict[str, Any], tasks: Sequence[Task]) -> Iterator[dict[str, Any]]:
    """Yield the windows of a file that were missing when the run began: the same ones however often it is asked, for
    Ray asks again where they were lost."""
    place = int(batch["task"][0])
    job, there = tasks[place]
    for part, window in job.missing(there):
        cell = np.empty(1, object)
        cell[0] = window
        yield {"task": [place], "part": [str(part)], "window": cell}


def _computed(
    tasks: Sequence[Task], loading: tuple[Path, Settings], cluster: Cluster
) -> Iterator[tuple[int, int, int]]:
    """Compute what is missing; of each window yield the place of its task, its lines, and how many were skipped."""
    with _connected(cluster) as ray:
        actors = cluster.actors or _room(ray, cluster)
        device = "cuda" if cluster.gpus_per_actor else "cpu"
        files = ray.data.from_items([{"task": place} for place in range(len(tasks))], override_num_blocks=len(tasks))
        # Actors may have all the processors there are: what reads takes none of its own.
        windows = files.map_batches(
            _windows,
            fn_kwargs={"tasks": tasks},
            batch_size=1,
            num_cpus=0,
            compute=ray.data.TaskPoolStrategy(size=min(_READERS, len(tasks))),
        )
        done = windows.map_batches(
            _Actor,
            fn_constructor_args=(*loading, device),
            batch_size=1,
            num_cpus=1,
            num_gpus=cluster.gpus_per_actor,
            compute=ray.data.ActorPoolStrategy(size=actors),
        )
        try:
            for row in done.iter_rows():
                yield row["task"], row["lines"], row["skipped"]
        except ray.exceptions.RayError as error:
            raise AttnvizError(_reason(error)) from error


@contextlib.contextmanager
def _connected(cluster: Cluster) -> Iterator[Any]:
    """Reach the cluster, or start one, and leave it as it was; yield the module `ray`."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # nothing is told to anybody
    # Otherwise its core warns on standard error that the arguments of actors could be lost: the run itself holds them.
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise AttnvizError("Ray is not installed here. Install it with: pip install 'attnviz[ray]'") from error
    begun = not ray.is_initialized()
    if begun:
        local: dict[str, Any] = {} if cluster.address else {"include_dashboard": False}
        try:
            with _silence():
                # Without an address, Ray would take a cluster that happens to run on this machine.
                ray.init(cluster.address or "local", log_to_driver=False, logging_level=logging.ERROR, **local)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise AttnvizError(f"There is no Ray cluster at {cluster.address}: {error}") from error
    # Ray's own progress and traces would stand among the command's; its warnings of a cluster too small stay.
    for name, level in (("data", "WARNING"), ("data._internal.progress", "ERROR"), ("data.exceptions", "CRITICAL")):
        logging.getLogger(f"ray.{name}").setLevel(level)
    context = ray.data.DataContext.get_current().copy()
    context.enable_progress_bars = context.print_on_execution_start = False
    context.raise_original_map_exception = True
    # A window is large: each is a block by itself, which an actor gets as soon as it was read.
    context.target_max_block_size = 1
    try:
        with ray.data.DataContext.current(context):
            yield ray
    finally:
        if begun:
            ray.shutdown()


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Have nothing printed on standard error, by compiled code either, which says how it was told to be silent."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _room(ray: Any, cluster: Cluster) -> int:
    """Return how many actors there is room for; raise AttnvizError where there is none for one."""
    has = ray.cluster_resources()
    room = has.get("GPU", 0) / cluster.gpus_per_actor if cluster.gpus_per_actor else has.get("CPU", 0)
    if room < 1:
        raise AttnvizError(f"The cluster has {has.get('GPU', 0):g} graphics cards: too few for an actor.")
    return int(room)


def _reason(error: Exception) -> str:
    """Return the sentence of the program that an actor failed with, or what Ray says of it."""
    cause = getattr(error, "cause", None)
    # Ray adds advice about retrying to what was raised, on lines of its own.
    return str(cause).splitlines()[0] if isinstance(cause, AttnvizError) else f"The cluster failed: {error}"
