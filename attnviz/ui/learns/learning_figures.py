"""Draw the figures of *How it learns* and make their payloads, each with all checkpoints of a training."""

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
from attnviz.ui.components.chart import AtStep, chart_payload, inline_chart, steady_payload
from attnviz.ui.learns.learning_choices import LearningView
from attnviz.ui.learns.runs import identity_of
from attnviz.ui.resources import cached_for_all
from attnviz.wording.learning import LINK_MEASURES, ROW_MEASURES, halfway_sentence, own_translation_sentence, run_name

VIEW = LearningView()


def checkpoint_updates(runs: Sequence[Snapshots]) -> tuple[int, ...]:
    """Return the updates of all checkpoints of `runs`; a run without one of them shows its previous checkpoint."""
    return tuple(sorted({update for run in runs for update in run.updates}))


def attention_panel(runs: list[Snapshots], sentence: int, theme: ThemeName) -> None:
    """Draw heatmaps of each run for `sentence`, side by side; next to a single run, its quality."""
    updates, columns = checkpoint_updates(runs), st.columns(max(2, len(runs)), gap="large")
    for number, (column, run) in enumerate(zip(columns, runs, strict=False), 1):
        with column, st.container(key=VIEW.key(f"heatmap_{number}")):
            payload = _heatmap_payload(run, updates, len(runs) == 1, identity_of([run]), sentence, theme, language())
            inline_chart(VIEW, payload, f"heatmap_chart_{number}")
    if len(runs) == 1:
        with columns[1]:
            quality_panel(runs, theme)


def quality_panel(runs: list[Snapshots], theme: ThemeName) -> None:
    """Draw the quality of the runs over the updates."""
    inline_chart(
        VIEW, _quality_payload(runs, checkpoint_updates(runs), identity_of(runs), theme, language()), "quality"
    )


def learnt_panel(runs: list[Snapshots], theme: ThemeName) -> DeltaGenerator | None:
    """Draw what the attention of each run has learnt over the updates.

    Several runs have their quality next to it. Return the container beside the figure of a single run.
    """
    updates, several = checkpoint_updates(runs), len(runs) > 1
    columns = st.columns(max(2, len(runs) + several), gap="large")
    for number, (column, run) in enumerate(zip(columns, runs, strict=False), 1):
        if has_link_measures(run):
            with column:
                payload = _learnt_payload(run, runs, updates, identity_of([run, *runs]), theme, language())
                inline_chart(VIEW, payload, f"learnt_{number}")
    if not several:
        return columns[1]
    with columns[-1]:
        quality_panel(runs, theme)
    return None


def has_link_measures(run: Snapshots) -> bool:
    """Return whether `run` has measures of its attention against gold links."""
    return any(name in run.curves for name in (*LINK_MEASURES, *ROW_MEASURES))


@cached_for_all
def _heatmap_payload(
    _run: Snapshots,
    updates: tuple[int, ...],
    single_run: bool,
    identity: str,  # noqa: ARG001  part of the cache key
    sentence: int,
    theme: ThemeName,
    code: str,  # noqa: ARG001
) -> dict[str, Any]:
    steps = {
        index: AtStep(
            to_json(learning_values(_run, sentence, _run.moment(update))),
            "" if single_run else run_name(_run),
            own_translation_sentence(_run, sentence, _run.moment(update)),
        )
        for index, update in enumerate(updates)
    }
    return chart_payload(to_json(learning_template(_run, sentence, theme)), steps)


@cached_for_all
def _quality_payload(
    _runs: list[Snapshots],
    updates: tuple[int, ...],
    identity: str,  # noqa: ARG001
    theme: ThemeName,
    code: str,  # noqa: ARG001
) -> dict[str, Any]:
    figure = quality_figure(_runs, updates, theme=theme)
    return steady_payload(figure.to_json(), dict.fromkeys(range(len(updates)), ("", "")))


@cached_for_all
def _learnt_payload(
    _run: Snapshots,
    _runs: list[Snapshots],
    updates: tuple[int, ...],
    identity: str,  # noqa: ARG001
    theme: ThemeName,
    code: str,  # noqa: ARG001
) -> dict[str, Any]:
    figure = learnt_figure(_run, updates, other_runs=_runs, theme=theme)
    heading = run_name(_run) if len(_runs) > 1 else ""
    return steady_payload(figure.to_json(), dict.fromkeys(range(len(updates)), (heading, halfway_sentence(_run))))
