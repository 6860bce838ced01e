"""Find the training runs to show: snapshots beside models, and the runs folder of the server's owner."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path

from attnviz.lru_cache import LRUCache, cached_in
from attnviz.trace.snapshots import FOLDER, Snapshots, load_folder
from attnviz.training.log import read_curves
from attnviz.ui.resources import MODELS_VARIABLE

RUNS_VARIABLE = "ATTNVIZ_RUNS"
"""Environment variable with the folder of the runs that visitors may watch; without it they see none."""

Stamp = tuple[tuple[str, int, int], ...]
"""Names, modification times (ns) and sizes of the files that something was read from."""


def shipped() -> dict[str, Path]:
    """Return the snapshot folders beside models, by model name; those of former versions are left out."""
    root = Path(os.environ.get(MODELS_VARIABLE, "models"))
    return {path.parent.name: path for path in sorted(root.glob(f"*/{FOLDER}")) if runs_beside(path)}


def watched() -> dict[str, Path]:
    """Return the folders of runs with a snapshot that may be watched, by name, the last modified first."""
    named = os.environ.get(RUNS_VARIABLE)
    if not named:
        return {}
    folders = [path for path in Path(named).glob("*") if runs_beside(path / "model" / FOLDER)]
    return {path.name: path for path in sorted(folders, key=_written, reverse=True)}


def runs_beside(folder: Path) -> list[Snapshots]:
    """Return the runs with snapshots in `folder`, those trained without guidance first."""
    return sorted(_read(folder, stamp_of(folder)), key=lambda run: (run.guidance, run.name))


def watched_run(folder: Path) -> list[Snapshots]:
    """Return the snapshots of the run in `folder` so far, with the curves of its log."""
    runs = _read(folder / "model" / FOLDER, stamp_of(folder / "model" / FOLDER))
    curves = read_curves(folder / "log.csv")
    return [replace(run, name=folder.name, curves={**curves, **run.curves}) for run in runs[-1:]]


def stamp_of(folder: Path) -> Stamp:
    """Return the version of the files of `folder`, which changes when one of them does."""
    files = []
    for path in sorted(folder.glob("*.json")):
        try:
            state = path.stat()
        except OSError:  # it has just been deleted
            continue
        files.append((path.name, state.st_mtime_ns, state.st_size))
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
def _read(folder: Path, stamp: Stamp) -> list[Snapshots]:  # noqa: ARG001  part of the key
    return load_folder(folder)


def _written(folder: Path) -> float:
    return max((path.stat().st_mtime for path in (folder / "log.csv", folder) if path.exists()), default=0.0)
