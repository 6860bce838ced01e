"""Find and load the training runs of *How it learns*: in the model folders, and in the server's folder of runs."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path

from attnviz.installed_models import model_roots
from attnviz.lru_cache import LRUCache, cached_in
from attnviz.trace.snapshots import FOLDER, Snapshots, load_folder
from attnviz.training.log import read_curves

RUNS_VARIABLE = "ATTNVIZ_RUNS"
"""Environment variable of the folder of runs that the page shows while they are in progress; unset, it shows none."""

FolderVersion = tuple[tuple[str, int, int], ...]
"""Names, modification times (ns) and sizes of the files in a folder."""


def snapshot_folders() -> dict[str, Path]:
    """Return the snapshot folders in model folders, by model name, without those of former versions."""
    paths = (path for root in reversed(model_roots()) for path in root.glob(f"*/{FOLDER}"))
    folders = {path.parent.name: path for path in paths if load_runs(path)}
    return dict(sorted(folders.items()))


def watched_run_folders() -> dict[str, Path]:
    """Return the folders with snapshots in the server's folder of runs, by name, the last modified first."""
    root = os.environ.get(RUNS_VARIABLE)
    if not root:
        return {}
    folders = [path for path in Path(root).glob("*") if load_runs(path / "model" / FOLDER)]
    return {path.name: path for path in sorted(folders, key=_modification_time, reverse=True)}


def load_runs(folder: Path) -> list[Snapshots]:
    """Return the runs with snapshots in `folder`, those trained without guidance first."""
    return sorted(_read(folder, folder_version(folder)), key=lambda run: (run.guidance, run.name))


def load_watched_run(folder: Path) -> list[Snapshots]:
    """Return the snapshots so far of the run in `folder`, with the curves of its log, in a list of at most one."""
    runs = _read(folder / "model" / FOLDER, folder_version(folder / "model" / FOLDER))
    curves = read_curves(folder / "log.csv")
    return [replace(run, name=folder.name, curves={**curves, **run.curves}) for run in runs[-1:]]


def folder_version(folder: Path) -> FolderVersion:
    """Return the version of the files of `folder`, which changes when one of them does."""
    files = []
    for path in sorted(folder.glob("*.json")):
        try:
            status = path.stat()
        except OSError:  # it has just been deleted
            continue
        files.append((path.name, status.st_mtime_ns, status.st_size))
    return tuple(files)


def identity_of(runs: list[Snapshots]) -> str:
    """Return a digest of the content of `runs`, for use in cache keys."""
    digest = hashlib.sha256()
    for run in runs:
        digest.update(repr((run.name, run.guidance, run.updates, run.sentences, sorted(run.curves.items()))).encode())
        for alignment in run.alignments:
            digest.update(alignment.tobytes())
    return digest.hexdigest()[:20]


@cached_in(LRUCache(16 << 20, size=lambda runs: sum(a.nbytes for run in runs for a in run.alignments) + 50_000))
def _read(folder: Path, version: FolderVersion) -> list[Snapshots]:  # noqa: ARG001  part of the cache key
    return load_folder(folder)


def _modification_time(folder: Path) -> float:
    return max((path.stat().st_mtime for path in (folder / "log.csv", folder) if path.exists()), default=0.0)
