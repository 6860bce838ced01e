"""What a visitor chose of the page *How it learns*, in the session and in the address: which training, which of its
runs, which sentence. The moment on show is the browser's own; the address has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from attnviz.languages import gettext
from attnviz.trace.snapshots import Snapshots
from attnviz.ui.language import language_address, localised
from attnviz.ui.learns.runs import runs_beside, shipped, watched, watched_run
from attnviz.ui.link import link
from attnviz.wording.labels import shorten
from attnviz.wording.learning import run_name

TRAINING, SHOWN, SENTENCE, UPDATE = "training", "runs", "pair", "update"
"""The choices by their names in the address; in the session they are `learns_` and the name."""
BOTH = "all"
_WATCHED = "run:"


@dataclass(frozen=True)
class Room:
    """What tells the keys of this page from others."""

    def key(self, name: str) -> str:
        """Return the key of a component of the page."""
        return f"{name}-learns"


@dataclass(frozen=True)
class Chosen:
    """What is on show."""

    runs: list[Snapshots]
    """At least one; of several, the sentences are alike."""
    sentence: int
    """0-based."""
    watching: bool
    """Whether it is a run that may still be going on."""
    parameters: dict[str, str | None]
    """Of the address."""


def trainings() -> dict[str, Path]:
    """Return what there is to show by its name in the address: a model's folder of snapshots, or `run:` and the name of
    a run that may be watched."""
    return shipped() | {_WATCHED + name: path for name, path in watched().items()}


def watches(offered: Mapping[str, Path]) -> bool:
    """Return whether what is on show of `offered` is a run that may still be going on."""
    kept = st.session_state.get(f"learns_{TRAINING}")
    return str(kept if kept in offered else next(iter(offered), "")).startswith(_WATCHED)


def open_choices() -> None:
    """Take over what a link says, where nobody has chosen."""
    for name in (TRAINING, SHOWN, SENTENCE):
        if name in link():
            st.session_state.setdefault(f"learns_{name}", link()[name])


def forget_choices() -> None:
    """Forget what was chosen: another link is to be followed."""
    for name in (TRAINING, SHOWN, SENTENCE):
        st.session_state.pop(f"learns_{name}", None)


def linked_update() -> int | None:
    """Return the update that the address has, None where it has none."""
    text = link().get(UPDATE, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def choices(offered: Mapping[str, Path]) -> Chosen | None:
    """Draw what can be chosen, and return what is; None where the files of it cannot be read."""
    training = _training(offered)
    found = _runs(offered[training], training)
    if not found:
        return None
    sentence = _sentence(found[0])
    shown = _shown(found)
    runs = found if shown == BOTH else [found[int(shown) - 1]]
    parameters = {
        TRAINING: None if training == next(iter(offered)) else training,
        SHOWN: None if shown == BOTH else shown,
        SENTENCE: str(sentence + 1) if sentence else None,
    }
    return Chosen(runs, sentence, training.startswith(_WATCHED), parameters | language_address())


def _runs(folder: Path, training: str) -> list[Snapshots]:
    """Return the runs in `folder` that can stand side by side: those with the sentences of the first."""
    found = watched_run(folder) if training.startswith(_WATCHED) else runs_beside(folder)
    return [run for run in found if run.sentences == found[0].sentences]


def _training(offered: Mapping[str, Path]) -> str:
    names = {
        name: gettext("run {name}", name=name.removeprefix(_WATCHED)) if name.startswith(_WATCHED) else name
        for name in offered
    }
    if len(names) == 1:
        return next(iter(names))
    return localised(
        st.selectbox, gettext("Training"), names, key=f"learns_{TRAINING}", default=next(iter(names)), width=260
    )


def _sentence(run: Snapshots) -> int:
    names = {str(k + 1): shorten(one.source, 90) for k, one in enumerate(run.sentences)}
    return (
        int(localised(st.selectbox, gettext("Sentence"), names, key=f"learns_{SENTENCE}", default="1", width=560)) - 1
    )


def _shown(found: list[Snapshots]) -> str:
    if len(found) == 1:
        return BOTH
    names = {BOTH: gettext("Side by side")} | {str(k + 1): run_name(run) for k, run in enumerate(found)}
    return localised(
        st.segmented_control,
        gettext("Runs"),
        names,
        key=f"learns_{SHOWN}",
        default=BOTH,
        required=True,
        width="content",
    )
