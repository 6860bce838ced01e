"""The page *How it learns*: choices, checkpoint controls, figures, tables and downloads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from html import escape
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from attnviz import AttnvizError
from attnviz import lazy_pandas as pd
from attnviz.analysis.labels import shorten
from attnviz.analysis.learning import (
    LEARNING_REFERENCES,
    LINK_MEASURES,
    ROW_MEASURES,
    grouped_digits,
    guidance_definition,
    halfway_sentence,
    learning_measure_names,
    link_counts_text,
    measure_definitions,
    measured_values_text,
    own_translation_sentence,
    run_name,
)
from attnviz.analysis.page_texts import TextSection
from attnviz.environment import ATTNVIZ_RUNS
from attnviz.export.images import titled_sheet
from attnviz.figures.learning_curves import (
    attention_curves,
    baselines_table,
    learning_heatmap,
    quality_curves,
)
from attnviz.figures.spec import Spec
from attnviz.languages import gettext, language, ngettext
from attnviz.trace.snapshots import Snapshots
from attnviz.ui.chrome import Page
from attnviz.ui.components.chart import chart_payload, inline_chart, steady_payload
from attnviz.ui.components.component import (
    Box,
    box,
    caption,
    columns,
    component,
    details,
    html,
    plain_text,
    view_blocks,
)
from attnviz.ui.components.picture_files import PictureFile, followed_picture_files, picture_files
from attnviz.ui.components.tables import tables, tables_payload
from attnviz.ui.embedded_view import drawn_page
from attnviz.ui.embedding import embedding
from attnviz.ui.glossary import glossary_box, references, text_section
from attnviz.ui.learns.runs import (
    LearningChoices,
    LearningView,
    choose_runs,
    learning_choices,
    trainings,
    watches_run,
)
from attnviz.ui.page_state.inputs import language_address
from attnviz.ui.page_state.linked import set_page_address
from attnviz.ui.payloads import PayloadRequest, makes_payload, shown_address
from attnviz.ui.requests import begin_fragment
from attnviz.ui.resources import cached_for_all, model_configs
from attnviz.ui.toolbar.downloads import copy_link, download_box, lecture_link
from attnviz.ui.view import Keyed
from attnviz.ui.waiting import in_turn

VIEW = LearningView()


def checkpoint_updates(runs: Sequence[Snapshots]) -> tuple[int, ...]:
    """Return the updates of all checkpoints of `runs`; a run without one of them shows its previous checkpoint."""
    return tuple(sorted({update for run in runs for update in run.updates}))


def attention_panel(runs: list[Snapshots], sentence: int) -> None:
    """Draw heatmaps of each run for `sentence`, side by side; next to a single run, its quality."""
    updates, boxes = checkpoint_updates(runs), columns((1,) * max(2, len(runs)), gap="large")
    for number, (column, run) in enumerate(zip(boxes, runs, strict=False), 1):
        with column, box(VIEW.key(f"heatmap_{number}")):
            payload = _heatmap_payload(run, updates, len(runs) == 1, sentence)
            inline_chart(VIEW, payload, f"heatmap_chart_{number}")
    if len(runs) == 1:
        with boxes[1]:
            quality_panel(runs)


def quality_panel(runs: list[Snapshots]) -> None:
    """Draw the quality of the runs over the updates."""
    inline_chart(VIEW, _quality_payload(runs, checkpoint_updates(runs)), "quality")


def attention_measures_panel(runs: list[Snapshots]) -> Box | None:
    """Draw what the attention of each run has learnt over the updates.

    Several runs have their quality next to it. Return the box beside the figure of a single run.
    """
    updates, several = checkpoint_updates(runs), len(runs) > 1
    boxes = columns((1,) * max(2, len(runs) + several), gap="large")
    for number, (column, run) in enumerate(zip(boxes, runs, strict=False), 1):
        if has_link_measures(run):
            with column:
                inline_chart(VIEW, _learnt_payload(run, runs, updates), f"learnt_{number}")
    if not several:
        return boxes[1]
    with boxes[-1]:
        quality_panel(runs)
    return None


def has_link_measures(run: Snapshots) -> bool:
    """Return whether `run` has measures of its attention against gold links."""
    return any(name in run.curves for name in (*LINK_MEASURES, *ROW_MEASURES))


@cached_for_all
def _heatmap_payload(run: Snapshots, updates: tuple[int, ...], single_run: bool, sentence: int) -> dict[str, Any]:
    moments, name = [run.moment(update) for update in updates], "" if single_run else run_name(run)
    return chart_payload(
        {k: learning_heatmap(run, sentence, moment) for k, moment in enumerate(moments)},
        {k: (name, own_translation_sentence(run, sentence, moment)) for k, moment in enumerate(moments)},
    )


@cached_for_all
def _quality_payload(runs: list[Snapshots], updates: tuple[int, ...]) -> dict[str, Any]:
    return steady_payload(quality_curves(runs, updates), dict.fromkeys(range(len(updates)), ("", "")))


@cached_for_all
def _learnt_payload(run: Snapshots, runs: list[Snapshots], updates: tuple[int, ...]) -> dict[str, Any]:
    spec = attention_curves(run, updates, runs=runs)
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


_INTERVAL = "10s"
"""Polling interval for a run that may be in progress."""


def timeline(
    view: Keyed,
    identity: str,
    updates: Sequence[int],
    captions: Sequence[str],
    ends: tuple[str, str],
    opened: int | None,
) -> None:
    """Draw the timeline of the checkpoints after so many `updates`; `captions` has the model's quality at each.

    A saved page opens at the checkpoint `opened`; `identity` distinguishes these runs from others.
    The browser writes the current update into the address.
    """
    words = {
        "moments": gettext("Moments of the training"),
        "moment": gettext("Moment"),
        "previous": gettext("Earlier"),
        "next": gettext("Later"),
        "play": gettext("Play"),
        "pause": gettext("Pause"),
        "space": gettext("Space"),
        "speed": gettext("Speed"),
    }
    payload = {
        "identity": identity,
        "language": language(),
        "updates": list(updates),
        "captions": list(captions),
        "ends": list(ends),
        "opened": opened,
        "words": words,
    }
    component("timeline", key=view.key("timeline"), data=payload)


def learning_page() -> None:
    """Draw the page; while it shows a run that may be in progress, it redraws itself periodically."""
    watching = watches_run(trainings())
    st.fragment(_draw, run_every=_INTERVAL if watching else None)(watching)


@in_turn()
def _draw(watching: bool) -> None:
    begin_fragment()
    offered = trainings()
    if not offered:
        st.text(_no_snapshots_reason())
        return
    with (
        view_blocks(VIEW.key("view")),
        box(VIEW.key("room")),
    ):  # components/view.js stores the checkpoint on this element
        _introduction()
        glossary_box("glossary", "signs", "attention", "learning", "scores")
        with box("learns_choices", row=True):
            choices = choose_runs(offered)
            if choices:
                _downloads(choices)
                copy_link(VIEW.key("copy_link"))
        if watches_run(offered) != watching:
            st.rerun()  # only the page sets the interval of the redraws
        if choices:
            _figures(choices)
        else:
            plain_text(_unreadable_reason())


def _introduction() -> None:
    with box("learns_opening"):
        how = gettext("Press Play to watch the training from the beginning.")
        text_section(TextSection(gettext("How it learns"), (f"{learning_introduction()} {how}",)))


def _figures(choices: LearningChoices, update: int | None = None) -> None:
    """Draw the figures at the current checkpoint, and sentences about it; a saved page opens at that of `update`."""
    _timeline(choices, update)
    if sentence := guidance_definition(choices.runs, model_configs()):
        html(f'<p class="explanation">{escape(sentence)}</p>')
    attention_panel(choices.runs, choices.sentence)
    definitions_box = None
    if len(choices.runs) > 1 or has_link_measures(choices.runs[0]):
        html(f'<h2 class="section">{escape(gettext("What is learnt when"))}</h2>')
        definitions_box = attention_measures_panel(choices.runs)
    if choices.watching:
        caption(gettext("This page reloads the training run every ten seconds."))
    with definitions_box or details(gettext("What the curves measure"), VIEW.key("rules")):
        _definitions(choices.runs)
    _tables(choices)
    references(LEARNING_REFERENCES)


def _no_snapshots_reason() -> str:
    return gettext(
        "There are no snapshots of a training run. A model’s snapshots are in its model folder, in snapshots/. To "
        "watch a run of your own, start the page with the folder of your runs: attnviz app --runs FOLDER. You can "
        "also name the folder of your runs in the environment variable {variable}.",
        variable=ATTNVIZ_RUNS,
    )


def _unreadable_reason() -> str:
    return gettext(
        "The snapshots of this training cannot be read. The snapshots are damaged or come from another version "
        "of attnviz."
    )


def _timeline(choices: LearningChoices, update: int | None) -> None:
    """Draw the controls of the checkpoints, with the measures of each; they open at an `update`, or the last."""
    runs, updates = choices.runs, checkpoint_updates(choices.runs)
    opened = None if update is None else max(0, sum(checkpoint_update <= update for checkpoint_update in updates) - 1)
    captions = [checkpoint_sentence(runs, checkpoint_update) for checkpoint_update in updates]
    names = " ".join([*(run.name for run in runs), str(len(runs))])
    timeline(VIEW, names, updates, captions, (grouped_digits(updates[0]), grouped_digits(updates[-1])), opened)
    if embedding() is None:
        set_page_address(names, language_address())


def _definitions(runs: list[Snapshots]) -> None:
    """Draw the definitions of the measures, and the data that they are computed on."""
    names, rules = learning_measure_names(), measure_definitions()
    shown = [name for name in rules if any(name in run.curves for run in runs)]
    listed = "".join(f"<dt>{escape(names[name])}</dt><dd>{escape(rules[name])}</dd>" for name in shown)
    html(f'<dl class="rules">{listed}</dl>')
    if sentence := link_counts_text(runs):
        html(f'<p class="explanation">{escape(sentence)}</p>')


def _downloads(choices: LearningChoices) -> None:
    """Offer the figures at the current checkpoint, and its page for a lecture."""
    with download_box(VIEW.key("downloads")):
        followed_picture_files(VIEW, _checkpoint_address(choices, "learning-pictures"), VIEW.key("export"))
        file = f"attnviz-learns-{choices.runs[0].name}-lecture.html"
        lecture_link(VIEW, _checkpoint_address(choices, "learning-lecture"), file)


@makes_payload("learning-pictures", needs_server=True)
def learning_pictures(request: PayloadRequest) -> dict[str, Any] | bytes:
    """Return the payload of the figures at a checkpoint as files."""
    return picture_files(_files(*_requested(request)), request.parameters)


@makes_payload("learning-lecture")
def learning_lecture(request: PayloadRequest) -> bytes:
    """Return the page as a file, which opens at a checkpoint."""
    choices, update = _requested(request)

    def draw() -> None:
        with box(VIEW.key("room")):
            _introduction()
            _figures(choices, update)

    title = f"attnviz: {gettext('How it learns')}"
    return drawn_page(title, "learns", draw)


@makes_payload("learning-tables")
def learning_tables(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the numbers in the figures at a checkpoint."""
    return tables_payload(_numbers(*_requested(request)))


def _checkpoint_address(choices: LearningChoices, name: str) -> str:
    """Return the address of a payload of the current checkpoint."""
    shown = {"training": choices.training, "shown": choices.shown, "sentence": choices.sentence}
    return shown_address(name, shown, "checkpoint={step}", version=choices.identity)


def _requested(request: PayloadRequest) -> tuple[LearningChoices, int]:
    """Return the choices and the update of the checkpoint in an address; the last where there is none."""
    choices = learning_choices(**request.shown)
    if choices is None:
        raise AttnvizError(_unreadable_reason())
    updates, text = checkpoint_updates(choices.runs), request.parameters.get("checkpoint", "")
    is_checkpoint = text.isascii() and text.isdigit() and int(text) < len(updates)
    return choices, updates[int(text)] if is_checkpoint else updates[-1]


def _files(choices: LearningChoices, update: int) -> Iterator[PictureFile]:
    """Yield the figures as they are saved, each below its title."""
    runs, updates = choices.runs, checkpoint_updates(choices.runs)
    for number, run in enumerate(runs, 1):
        checkpoint, name = run.moment(update), run_name(run, is_only_run=len(runs) == 1)
        sentence = run.sentences[choices.sentence]
        heading = ngettext(
            "After {count} update, {run}", "After {count} updates, {run}", run.updates[checkpoint], run=name
        )
        yield PictureFile(
            f"{gettext('Heatmap')}, {name}",
            f"attnviz-learns-heatmap-{number}-{run.updates[checkpoint]}",
            partial(
                _sheet,
                partial(learning_heatmap, run, choices.sentence, checkpoint),
                heading,
                run.name,
                (sentence.source, sentence.target),
            ),
        )
    title, curves = (
        gettext("Loss, BLEU and alignment error rate"),
        partial(quality_curves, runs, updates, update=update),
    )
    yield PictureFile(title, "attnviz-learns-quality", partial(_sheet, curves, title, runs[0].name))
    for number, run in enumerate(runs, 1):
        if has_link_measures(run):
            title = f"{gettext('What is learnt when')}, {run_name(run, is_only_run=len(runs) == 1)}"
            curves = partial(attention_curves, run, updates, runs=runs, update=update)
            yield PictureFile(title, f"attnviz-learns-when-{number}", partial(_sheet, curves, title, run.name))


def _sheet(
    draw: Callable[[], Spec], heading: str, model: str, sentences: tuple[str, str] | tuple[()] = ()
) -> tuple[go.Figure, pd.DataFrame]:
    """Return the figure that `draw` returns as it is saved, and its numbers."""
    spec = draw()
    made_by = gettext("model {model}", model=shorten(model, 24))
    return titled_sheet(spec, heading, made_by, sentences), spec.frame()


def _tables(choices: LearningChoices) -> None:
    """Offer the numbers in the figures."""
    if embedding() is not None:
        return
    with details(gettext("The charts as tables"), VIEW.key("tables")):
        tables(VIEW, _checkpoint_address(choices, "learning-tables"), "tables_rows")


def _numbers(choices: LearningChoices, update: int) -> Iterator[tuple[str, pd.DataFrame]]:
    runs = choices.runs
    for run in runs:
        checkpoint = run.moment(update)
        name = ngettext(
            "{run}: where the model looks after {count} update",
            "{run}: where the model looks after {count} updates",
            run.updates[checkpoint],
            run=run_name(run, is_only_run=len(runs) == 1),
        )
        yield name, learning_heatmap(run, choices.sentence, checkpoint).frame()
    yield gettext("Measurements at each moment"), quality_curves(runs, checkpoint_updates(runs)).frame()
    if runs[0].levels:
        yield gettext("Baselines: attention without training"), baselines_table(runs[0])


LEARNS_PAGE = Page("learns", lambda: gettext("How it learns"), learning_page, offered=lambda: bool(trainings()))
