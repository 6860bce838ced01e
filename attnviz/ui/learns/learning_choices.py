"""Store the visitor's choices on *How it learns* in session state and address: training, run and sentence.

The current checkpoint is stored in the browser and its address only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from attnviz.languages import gettext
from attnviz.trace.snapshots import Snapshots
from attnviz.ui.fields import segmented_control, select_box
from attnviz.ui.language import language_address
from attnviz.ui.learns.runs import runs_beside, shipped, watched, watched_run
from attnviz.ui.link import link
from attnviz.wording.labels import shorten
from attnviz.wording.learning import run_name

TRAINING, SHOWN, SENTENCE, UPDATE = "training", "runs", "pair", "update"
"""Names of the choices in the address; in the session state with the prefix `learns_`."""
BOTH = "all"
_WATCHED = "run:"


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
    watching: bool
    """Whether it is a run that may be in progress."""
    parameters: dict[str, str | None]
    """Address parameters."""


def trainings() -> dict[str, Path]:
    """Return what can be shown, by its name in the address.

    That is a model's folder of snapshots, or `run:` and the name of a run that may be watched.
    """
    return shipped() | {_WATCHED + name: path for name, path in watched().items()}


def watches_run(offered: Mapping[str, Path]) -> bool:
    """Return whether the current choice of `offered` is a run that may be in progress."""
    stored = st.session_state.get(f"learns_{TRAINING}")
    return str(stored if stored in offered else next(iter(offered), "")).startswith(_WATCHED)


def open_choices() -> None:
    """Read the choices from the link, where nothing has been chosen yet."""
    for name in (TRAINING, SHOWN, SENTENCE):
        if name in link():
            st.session_state.setdefault(f"learns_{name}", link()[name])


def forget_choices() -> None:
    """Clear the choices, before another link is followed."""
    for name in (TRAINING, SHOWN, SENTENCE):
        st.session_state.pop(f"learns_{name}", None)


def linked_update() -> int | None:
    """Return the update in the address, None where there is none."""
    text = link().get(UPDATE, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def choices(offered: Mapping[str, Path]) -> LearningChoices | None:
    """Draw the choices and return the current ones; None where their files cannot be read."""
    training = _training(offered)
    available = _runs(offered[training], training)
    if not available:
        return None
    sentence = _sentence(available[0])
    shown = _shown(available)
    runs = available if shown == BOTH else [available[int(shown) - 1]]
    parameters = {
        TRAINING: None if training == next(iter(offered)) else training,
        SHOWN: None if shown == BOTH else shown,
        SENTENCE: str(sentence + 1) if sentence else None,
    }
    return LearningChoices(runs, sentence, training.startswith(_WATCHED), parameters | language_address())


def _runs(folder: Path, training: str) -> list[Snapshots]:
    """Return the runs in `folder` that can be compared: those with the same sentences as the first."""
    runs = watched_run(folder) if training.startswith(_WATCHED) else runs_beside(folder)
    return [run for run in runs if run.sentences == runs[0].sentences]


def _training(offered: Mapping[str, Path]) -> str:
    names = {
        name: gettext("run {name}", name=name.removeprefix(_WATCHED)) if name.startswith(_WATCHED) else name
        for name in offered
    }
    if len(names) == 1:
        return next(iter(names))
    return select_box(gettext("Training"), names, key=f"learns_{TRAINING}", default=next(iter(names)), width=260)


def _sentence(run: Snapshots) -> int:
    names = {str(k + 1): shorten(sentence.source, 90) for k, sentence in enumerate(run.sentences)}
    return int(select_box(gettext("Sentence"), names, key=f"learns_{SENTENCE}", default="1", width=560)) - 1


def _shown(available: list[Snapshots]) -> str:
    if len(available) == 1:
        return BOTH
    names = {BOTH: gettext("Side by side")} | {str(k + 1): run_name(run) for k, run in enumerate(available)}
    return segmented_control(
        gettext("Runs"),
        names,
        key=f"learns_{SHOWN}",
        default=BOTH,
    )
