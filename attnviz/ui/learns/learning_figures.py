"""Make the payloads of figures on *How it learns*, each with all checkpoints of a training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.figures.learning_curves import learnt_figure, quality_figure
from attnviz.figures.learning_heatmap import learning_template, learning_values
from attnviz.figures.template import to_json
from attnviz.languages import language
from attnviz.palette import ThemeName
from attnviz.trace.snapshots import Snapshots
from attnviz.ui.components.chart.chart import AtStep, chart_payload, inline_chart, steady_payload
from attnviz.ui.figure_cache import cached_for_all
from attnviz.ui.learns.learning_choices import LearningView
from attnviz.ui.learns.runs import identity_of
from attnviz.wording.learning import SHAPES, SHARES, halfway_sentence, own_translation_sentence, run_name

VIEW = LearningView()


def checkpoint_updates(runs: Sequence[Snapshots]) -> tuple[int, ...]:
    """Return the updates of all checkpoints of `runs`; a run without one of them shows its previous checkpoint."""
    return tuple(sorted({update for run in runs for update in run.updates}))


def attention_and_quality(runs: list[Snapshots], sentence: int, theme: ThemeName) -> None:
    """Draw the attention of each run in `sentence`, side by side; next to a single run, its quality."""
    moments, boxes = checkpoint_updates(runs), st.columns(max(2, len(runs)), gap="large")
    for number, (box, run) in enumerate(zip(boxes, runs, strict=False), 1):
        with box, st.container(key=VIEW.key(f"heatmap_{number}")):
            payload = _heatmap(run, moments, len(runs) == 1, identity_of([run]), sentence, theme, language())
            inline_chart(VIEW, payload, f"heatmap_chart_{number}")
    if len(runs) == 1:
        with boxes[1]:
            quality(runs, theme)


def quality(runs: list[Snapshots], theme: ThemeName) -> None:
    """Draw the quality of the runs over the updates."""
    inline_chart(VIEW, _quality(runs, checkpoint_updates(runs), identity_of(runs), theme, language()), "quality")


def learnt(runs: list[Snapshots], theme: ThemeName) -> DeltaGenerator | None:
    """Draw what the attention of each run has learnt over the updates.

    Several runs have their quality next to it. Return the container beside the figure of a single run.
    """
    moments, several = checkpoint_updates(runs), len(runs) > 1
    boxes = st.columns(max(2, len(runs) + several), gap="large")
    for number, (box, run) in enumerate(zip(boxes, runs, strict=False), 1):
        if has_learnt(run):
            with box:
                payload = _learnt(run, runs, moments, identity_of([run, *runs]), theme, language())
                inline_chart(VIEW, payload, f"learnt_{number}")
    if not several:
        return boxes[1]
    with boxes[-1]:
        quality(runs, theme)
    return None


def has_learnt(run: Snapshots) -> bool:
    """Return whether the attention of `run` was compared with links."""
    return any(name in run.curves for name in (*SHARES, *SHAPES))


@cached_for_all
def _heatmap(
    _run: Snapshots,
    moments: tuple[int, ...],
    alone: bool,
    identity: str,  # noqa: ARG001  part of the key
    sentence: int,
    theme: ThemeName,
    code: str,  # noqa: ARG001
) -> dict[str, Any]:
    steps = {
        k: AtStep(
            to_json(learning_values(_run, sentence, _run.moment(update))),
            "" if alone else run_name(_run),
            own_translation_sentence(_run, sentence, _run.moment(update)),
        )
        for k, update in enumerate(moments)
    }
    return chart_payload(to_json(learning_template(_run, sentence, theme)), steps)


@cached_for_all
def _quality(
    _runs: list[Snapshots],
    moments: tuple[int, ...],
    identity: str,  # noqa: ARG001
    theme: ThemeName,
    code: str,  # noqa: ARG001
) -> dict[str, Any]:
    figure = quality_figure(_runs, moments, theme=theme)
    return steady_payload(figure.to_json(), dict.fromkeys(range(len(moments)), ("", "")))


@cached_for_all
def _learnt(
    _run: Snapshots,
    _beside: list[Snapshots],
    moments: tuple[int, ...],
    identity: str,  # noqa: ARG001
    theme: ThemeName,
    code: str,  # noqa: ARG001
) -> dict[str, Any]:
    figure = learnt_figure(_run, moments, beside=_beside, theme=theme)
    heading = run_name(_run) if len(_beside) > 1 else ""
    return steady_payload(figure.to_json(), dict.fromkeys(range(len(moments)), (heading, halfway_sentence(_run))))
