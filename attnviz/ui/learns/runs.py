"""Load the training runs of *How it learns*, draw the fields that choose among them, and return the choices.

The choices are the training, the shown runs and the sentence, in session state and address; the browser alone stores
the current checkpoint. A training is a model with snapshots, or a run on this server that may be in progress.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from attnviz.analysis.labels import shorten
from attnviz.analysis.learning import run_name
from attnviz.environment import ATTNVIZ_RUNS
from attnviz.installed_models import model_roots
from attnviz.languages import gettext
from attnviz.lru_cache import LRUCache, cached_in
from attnviz.model_folder import TRAINING_LOG
from attnviz.trace.snapshots import FOLDER, Snapshots, load_folder
from attnviz.training.log import read_curves
from attnviz.ui.embedding import page_session
from attnviz.ui.fields import segmented_control, select_box

FolderVersion = tuple[tuple[str, int, int], ...]
"""Names, modification times (ns) and sizes of the files in a folder."""


def snapshot_folders() -> dict[str, Path]:
    """Return the snapshot folders in model folders, by model name, where they can be read."""
    paths = (path for root in reversed(model_roots()) for path in root.glob(f"*/{FOLDER}"))
    folders = {path.parent.name: path for path in paths if load_runs(path)}
    return dict(sorted(folders.items()))


def watched_run_folders() -> dict[str, Path]:
    """Return the folders with snapshots in the server's folder of runs, by name, the last modified first."""
    root = os.environ.get(ATTNVIZ_RUNS)
    if not root:
        return {}
    folders = [path for path in Path(root).glob("*") if load_runs(path / "model" / FOLDER)]
    return {path.name: path for path in sorted(folders, key=_modification_time, reverse=True)}


def load_runs(folder: Path) -> list[Snapshots]:
    """Return the runs with snapshots in a model's `folder`, those trained without guidance first.

    A run without measurements has the curves of the model's log.
    """
    runs = sorted(_read(folder, folder_version(folder)), key=lambda run: (run.guidance, run.name))
    return [run if run.curves else replace(run, curves=read_curves(folder.parent / TRAINING_LOG)) for run in runs]


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


@cached_in(LRUCache(16 << 20, size=lambda runs: sum(a.nbytes for run in runs for a in run.alignments) + 50_000))
def _read(folder: Path, version: FolderVersion) -> list[Snapshots]:  # noqa: ARG001  part of the cache key
    return load_folder(folder)


def _modification_time(folder: Path) -> float:
    return max((path.stat().st_mtime for path in (folder / "log.csv", folder) if path.exists()), default=0.0)


TRAINING, SHOWN_RUNS, _SENTENCE = "training", "runs", "pair"
"""Names of the choices in the address; in the session state with the prefix `learns_`."""
ALL_RUNS = "all"
_WATCHED_PREFIX = "run:"
"""Before the name of a run that may be in progress."""


@dataclass(frozen=True)
class LearningView:
    """Makes the keys of the components of this page, as a `View` does on other pages."""

    def key(self, name: str) -> str:
        """Return the key of a component of the page."""
        return f"{name}-learns"


@dataclass(frozen=True)
class LearningChoices:
    """The current choices."""

    runs: list[Snapshots]
    """At least one; if there are several, they have the same sentences."""
    sentence: int
    """0-based index."""
    training: str
    """Name of the training."""
    shown: str
    """Which of its runs are shown: the number of one, from 1, or `ALL_RUNS`."""

    @property
    def watching(self) -> bool:
        """Whether the training is a run that may be in progress."""
        return self.training.startswith(_WATCHED_PREFIX)

    @property
    def identity(self) -> str:
        """Text that differs when there are other checkpoints."""
        return repr([(run.name, run.updates[-1]) for run in self.runs])


def trainings() -> dict[str, Path]:
    """Return the folders of the trainings that can be shown, by name in the address.

    The name is that of a model with snapshots, or `run:` and the name of a run in the server's folder of runs.
    """
    return snapshot_folders() | {_WATCHED_PREFIX + name: path for name, path in watched_run_folders().items()}


def watches_run(offered: Mapping[str, Path]) -> bool:
    """Return whether the current choice among the trainings `offered` is a run that may be in progress."""
    stored = page_session().get(f"learns_{TRAINING}")
    return str(stored if stored in offered else next(iter(offered), "")).startswith(_WATCHED_PREFIX)


def choose_runs(offered: Mapping[str, Path]) -> LearningChoices | None:
    """Draw the choices and return the current ones; None where their files cannot be read."""
    training = _choose_training(offered)
    available = _load_runs(offered[training], training)
    if not available:
        return None
    sentence = _choose_sentence(available[0])
    return learning_choices(training, _choose_runs(available), sentence)


def learning_choices(training: str, shown: str, sentence: int) -> LearningChoices | None:
    """Return these choices; None where their files cannot be read, or not any more."""
    folder = trainings().get(training)
    runs = _load_runs(folder, training) if folder else []
    if shown != ALL_RUNS:
        runs = runs[int(shown) - 1 : int(shown)]
    return LearningChoices(runs, sentence, training, shown) if runs else None


def _load_runs(folder: Path, training: str) -> list[Snapshots]:
    """Return the runs in `folder` that can be compared: those with the same sentences as the first."""
    runs = load_watched_run(folder) if training.startswith(_WATCHED_PREFIX) else load_runs(folder)
    return [run for run in runs if run.sentences == runs[0].sentences]


def _choose_training(offered: Mapping[str, Path]) -> str:
    names = {
        name: gettext("run {name}", name=name.removeprefix(_WATCHED_PREFIX))
        if name.startswith(_WATCHED_PREFIX)
        else name
        for name in offered
    }
    if len(names) == 1:
        return next(iter(names))
    return select_box(
        gettext("Training"), names, key=f"learns_{TRAINING}", default=next(iter(names)), width=260, parameter=TRAINING
    )


def _choose_sentence(run: Snapshots) -> int:
    names = {str(k + 1): shorten(sentence.source, 90) for k, sentence in enumerate(run.sentences)}
    return (
        int(
            select_box(
                gettext("Sentence"), names, key=f"learns_{_SENTENCE}", default="1", width=560, parameter=_SENTENCE
            )
        )
        - 1
    )


def _choose_runs(runs: list[Snapshots]) -> str:
    if len(runs) == 1:
        return ALL_RUNS
    names = {ALL_RUNS: gettext("Side by side")} | {str(k + 1): run_name(run) for k, run in enumerate(runs)}
    return segmented_control(
        gettext("Runs"),
        names,
        key=f"learns_{SHOWN_RUNS}",
        default=ALL_RUNS,
        parameter=SHOWN_RUNS,
    )
