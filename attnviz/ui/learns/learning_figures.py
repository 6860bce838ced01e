"""Place the charts of all checkpoints on the page *How it learns*, or return them as chapters for its HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attnviz.analysis.learning import (
    LINK_MEASURES,
    ROW_MEASURES,
    grouped_digits,
    halfway_sentence,
    measured_values_text,
    own_translation_sentence,
    run_name,
)
from attnviz.figures.learning_curves import attention_curves, learning_heatmap, quality_curves
from attnviz.languages import gettext, ngettext
from attnviz.palette import ThemeName
from attnviz.trace.snapshots import Snapshots
from attnviz.ui.components.chart import chart_payload, inline_chart, steady_payload
from attnviz.ui.components.component import Box, box, columns
from attnviz.ui.learns.runs import LearningView
from attnviz.ui.resources import cached_for_all

VIEW = LearningView()


def checkpoint_updates(runs: Sequence[Snapshots]) -> tuple[int, ...]:
    """Return the updates of all checkpoints of `runs`; a run without one of them shows its previous checkpoint."""
    return tuple(sorted({update for run in runs for update in run.updates}))


def attention_panel(runs: list[Snapshots], sentence: int, theme: ThemeName) -> None:
    """Draw heatmaps of each run for `sentence`, side by side; next to a single run, its quality."""
    updates, boxes = checkpoint_updates(runs), columns((1,) * max(2, len(runs)), gap="large")
    for number, (column, run) in enumerate(zip(boxes, runs, strict=False), 1):
        with column, box(VIEW.key(f"heatmap_{number}")):
            payload = _heatmap_payload(run, updates, len(runs) == 1, sentence, theme)
            inline_chart(VIEW, payload, f"heatmap_chart_{number}")
    if len(runs) == 1:
        with boxes[1]:
            quality_panel(runs, theme)


def quality_panel(runs: list[Snapshots], theme: ThemeName) -> None:
    """Draw the quality of the runs over the updates."""
    inline_chart(VIEW, _quality_payload(runs, checkpoint_updates(runs), theme), "quality")


def attention_measures_panel(runs: list[Snapshots], theme: ThemeName) -> Box | None:
    """Draw what the attention of each run has learnt over the updates.

    Several runs have their quality next to it. Return the box beside the figure of a single run.
    """
    updates, several = checkpoint_updates(runs), len(runs) > 1
    boxes = columns((1,) * max(2, len(runs) + several), gap="large")
    for number, (column, run) in enumerate(zip(boxes, runs, strict=False), 1):
        if has_link_measures(run):
            with column:
                inline_chart(VIEW, _learnt_payload(run, runs, updates, theme), f"learnt_{number}")
    if not several:
        return boxes[1]
    with boxes[-1]:
        quality_panel(runs, theme)
    return None


def has_link_measures(run: Snapshots) -> bool:
    """Return whether `run` has measures of its attention against gold links."""
    return any(name in run.curves for name in (*LINK_MEASURES, *ROW_MEASURES))


@cached_for_all
def _heatmap_payload(
    run: Snapshots, updates: tuple[int, ...], single_run: bool, sentence: int, theme: ThemeName
) -> dict[str, Any]:
    moments, name = [run.moment(update) for update in updates], "" if single_run else run_name(run)
    return chart_payload(
        {k: learning_heatmap(run, sentence, moment, theme=theme) for k, moment in enumerate(moments)},
        {k: (name, own_translation_sentence(run, sentence, moment)) for k, moment in enumerate(moments)},
    )


@cached_for_all
def _quality_payload(runs: list[Snapshots], updates: tuple[int, ...], theme: ThemeName) -> dict[str, Any]:
    return steady_payload(quality_curves(runs, updates, theme=theme), dict.fromkeys(range(len(updates)), ("", "")))


@cached_for_all
def _learnt_payload(
    run: Snapshots, runs: list[Snapshots], updates: tuple[int, ...], theme: ThemeName
) -> dict[str, Any]:
    spec = attention_curves(run, updates, runs=runs, theme=theme)
    heading = run_name(run) if len(runs) > 1 else ""
    return steady_payload(spec, dict.fromkeys(range(len(updates)), (heading, halfway_sentence(run))))


def learning_introduction() -> str:
    """Return the introduction of the page."""
    return gettext(
        "The same sentences are shown at several moments of a training run. The model must write the given "
        "translation (forced decoding). Each row shows where the model looks in the English sentence when it "
        "writes the French word of this row. Before training, the model looks at all words almost alike."
    )


def checkpoint_sentence(runs: Sequence[Snapshots], update: int) -> str:
    """Return the description of a checkpoint: its update, and the quality of a single run."""
    checkpoint = ngettext("After {update} update", "After {update} updates", update, update=grouped_digits(update))
    if update == 0:
        checkpoint = gettext("Before the first update")
    quality = measured_values_text(runs[0], update) if len(runs) == 1 else ""
    return gettext("{run}: {told}", run=checkpoint, told=quality) if quality else checkpoint
