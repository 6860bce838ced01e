"""Apply a function to many tasks: in this process, in a pool of processes, or in actors of a Ray cluster."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, as_completed, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import connection, resource_tracker
from typing import Any, TypeVar

from attnviz.errors import AttnvizError
from attnviz.extras import naming_extra
from attnviz.memory import keep_few_shapes

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")
Load = Callable[[], Callable[[_Task], _Result]]
"""Called once in each process; returns the function that computes a task."""
Submit = Callable[[_Task], Future[_Result]]


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

    @property
    def device(self) -> str:
        """The device of an actor."""
        return "cuda" if self.gpus_per_actor else "cpu"


def imap(
    load: Load[_Task, _Result], tasks: Iterable[_Task], workers: int = 1, cluster: Cluster | None = None
) -> Iterator[_Result]:
    """Yield the result of each task as soon as it is known, in any order; read no more tasks than can be computed.

    Tasks are computed by `workers` processes of one thread each, of which a single one is this process, or by the
    actors of a `cluster`, which Ray restarts if they die. Raise AttnvizError where a worker was ended from outside, Ray
    is not installed, or the cluster cannot be reached.
    """
    if cluster:
        return _imap_on_cluster(load, tasks, cluster)
    return _imap_in_pool(load, tasks, workers) if workers > 1 else map(load(), tasks)


def _imap(tasks: Iterable[_Task], places: Iterable[tuple[Future[Any], Submit[_Task, _Result]]]) -> Iterator[_Result]:
    """Yield the results of tasks in any order. Each place gets a task once its future is done, then one after another.

    A place whose future is never done gets no task.
    """
    idle, busy = dict(places), dict[Future[_Result], Submit[_Task, _Result]]()
    for task in tasks:
        done = wait([*idle, *busy], return_when=FIRST_COMPLETED).done.pop()
        if done in idle:
            submit = idle.pop(done)
        else:
            submit = busy.pop(done)
            yield done.result()
        busy[submit(task)] = submit
    yield from (done.result() for done in as_completed(busy))


def _imap_in_pool(load: Load[_Task, _Result], tasks: Iterable[_Task], workers: int) -> Iterator[_Result]:
    context = multiprocessing.get_context("spawn")
    stop, ours = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(workers, context, _initialise_worker, (load, stop))

    def submit(task: _Task) -> Future[_Result]:
        with _deferring_interrupts():  # a worker may start here
            return pool.submit(_compute, task)

    places = [(Future[None](), submit) for _ in range(workers + 1)]  # one task waits for the next worker
    for ready, _ in places:
        ready.set_result(None)
    try:
        yield from _imap(tasks, places)
    except BrokenProcessPool as error:
        raise AttnvizError(
            "A worker process was ended from outside, perhaps because the memory was full. Give the same command "
            "again with fewer --workers: it continues where the run stopped."
        ) from error
    finally:
        ours.close()  # ends the workers, also within a task
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


_load: Any = None
"""Of a worker process: loads its function."""
_function: Any = None
"""Of a worker process: computes a task."""


def _initialise_worker(load: Load[Any, Any], stop: connection.Connection | None = None) -> None:
    """Initialise a worker: one thread, no interrupts, exit when the other end of `stop` closes or the parent ends."""
    import torch

    global _load
    _load = load
    keep_few_shapes()
    torch.set_num_threads(1)
    if stop is not None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        threading.Thread(target=_exit_at_end, args=(stop,), daemon=True).start()


def _exit_at_end(stop: connection.Connection) -> None:
    connection.wait([stop])
    os._exit(1)


def _compute(task: Any) -> Any:
    global _function
    if _function is None:
        _function = _load()
    return _function(task)


class _Actor:
    """A worker process of Ray."""

    def __init__(self, load: Load[Any, Any]) -> None:
        _initialise_worker(load)

    def compute(self, task: Any) -> Any:
        return _compute(task)


def _imap_on_cluster(load: Load[_Task, _Result], tasks: Iterable[_Task], cluster: Cluster) -> Iterator[_Result]:
    with _connected(cluster) as ray:
        restarting = ray.remote(num_cpus=1, num_gpus=cluster.gpus_per_actor, max_restarts=-1, max_task_retries=-1)
        actors = [restarting(_Actor).remote(load) for _ in range(_actor_count(ray, cluster))]

        def submit_to(actor: Any) -> Submit[_Task, _Result]:
            return lambda task: actor.compute.remote(task).future()

        try:
            # An actor that the cluster has no room for yet is not ready.
            yield from _imap(tasks, [(actor.__ray_ready__.remote().future(), submit_to(actor)) for actor in actors])
        except ray.exceptions.RayError as error:
            raise AttnvizError(_error_message(error)) from error
        finally:
            for actor in actors:
                ray.kill(actor)


@contextlib.contextmanager
def _connected(cluster: Cluster) -> Iterator[Any]:
    """Connect to the cluster, or start one; yield the module `ray`, and disconnect unless it was connected before."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # no usage statistics
    # Otherwise Ray's core warns on standard error that arguments of actors may be lost; the run holds them itself.
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    with naming_extra():
        import ray
    starts_ray = not ray.is_initialized()
    if starts_ray:
        local: dict[str, Any] = {} if cluster.address else {"include_dashboard": False}
        try:
            with _silent_stderr():
                # Without an address, Ray would join any cluster that runs on this machine.
                ray.init(cluster.address or "local", log_to_driver=False, logging_level=logging.ERROR, **local)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise AttnvizError(f"No Ray cluster was found at {cluster.address}: {error}") from error
    try:
        yield ray
    finally:
        if starts_ray:
            ray.shutdown()


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
    """Return the number of actors; raise AttnvizError where the cluster has room for none, and cannot grow."""
    resources = ray.cluster_resources()
    count = resources.get("GPU", 0) / cluster.gpus_per_actor if cluster.gpus_per_actor else resources.get("CPU", 0)
    if count < 1 and not (cluster.actors and cluster.address):
        raise AttnvizError(f"The cluster has {resources.get('GPU', 0):g} GPUs, which are too few for one actor.")
    return cluster.actors or int(count)


def _error_message(error: Exception) -> str:
    """Return the AttnvizError message of an actor, or else Ray's."""
    cause = getattr(error, "cause", None)
    # Ray appends advice about retrying on further lines.
    return str(cause).splitlines()[0] if isinstance(cause, AttnvizError) else f"The cluster failed: {error}"
