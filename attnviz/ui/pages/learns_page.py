"""The page *How it learns*: choices, checkpoint controls, figures, tables and downloads.

The choices are the training, the shown runs and the sentence, in session state and address; the browser alone stores
the current checkpoint. A training is a model with snapshots, or a run on this server that may be in progress.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from html import escape
from pathlib import Path

import plotly.graph_objects as go
import streamlit as st

from attnviz import AttnvizError
from attnviz import lazy_pandas as pd
from attnviz.analysis.labels import shorten
from attnviz.analysis.learning import (
    LEARNING_REFERENCES,
    LINK_MEASURES,
    ROW_MEASURES,
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
from attnviz.installed_models import model_roots
from attnviz.languages import format_number, gettext, gettexts, language, ngettext
from attnviz.lru_cache import LRUCache, stamp
from attnviz.model_folder import TRAINING_LOG
from attnviz.trace.snapshots import FOLDER, Snapshots, load_folder
from attnviz.training.log import read_curves
from attnviz.ui.blocks import (
    box,
    caption,
    chart_payload,
    columns,
    component,
    details,
    explanation,
    html,
    inline_figure,
    plain_text,
    section_heading,
    tables,
    tables_payload,
    view_blocks,
)
from attnviz.ui.chrome import Page
from attnviz.ui.controls import begin_fragment, segmented_control, select_box
from attnviz.ui.embedded_view import drawn_page
from attnviz.ui.embedding import embedding
from attnviz.ui.glossary import glossary_box, opening, references
from attnviz.ui.inputs import language_address, set_page_address
from attnviz.ui.payloads import Payload, PayloadRequest, makes_payload, shown_address
from attnviz.ui.resources import cached_for_all, model_configs
from attnviz.ui.toolbar.downloads import (
    NamedTables,
    PictureFile,
    copy_link,
    download_box,
    followed_picture_files,
    lecture_link,
    picture_files,
)
from attnviz.ui.view import View
from attnviz.ui.waiting import in_turn

VIEW = View("learns")
_INTERVAL = "10s"
"""Polling interval for a run that may be in progress."""
_TRAINING, _RUNS, _SENTENCE = "training", "runs", "pair"
"""Names of the choices in the address; in the session state with the prefix `learns_`."""
_ALL_RUNS = "all"
_WATCHED_PREFIX = "run:"
"""Before the name of a run that may be in progress."""


def trainings() -> dict[str, Path]:
    """Return the folders of the trainings that can be shown, by name in the address.

    The name is that of a model with snapshots, or `run:` and the name of a run in the server's folder of runs.
    """
    paths = (path for root in reversed(model_roots()) for path in root.glob(f"*/{FOLDER}"))
    folders = {path.parent.name: path for path in paths if _model_runs(path)}
    watched = {_WATCHED_PREFIX + name: path for name, path in watched_run_folders().items()}
    return dict(sorted(folders.items())) | watched


def watched_run_folders() -> dict[str, Path]:
    """Return the folders with snapshots in the server's folder of runs, by name, the last modified first."""
    root = os.environ.get(ATTNVIZ_RUNS)
    if not root:
        return {}
    folders = [path for path in Path(root).glob("*") if _model_runs(path / "model" / FOLDER)]

    def modified(folder: Path) -> float:
        return max((path.stat().st_mtime for path in (folder / "log.csv", folder) if path.exists()), default=0.0)

    return {path.name: path for path in sorted(folders, key=modified, reverse=True)}


def _model_runs(folder: Path) -> list[Snapshots]:
    """Return the runs with snapshots in a model's `folder`, those trained without guidance first.

    A run without measurements has the curves of the model's log.
    """
    runs = sorted(_read(folder), key=lambda run: (run.guidance, run.name))
    return [run if run.curves else replace(run, curves=read_curves(folder.parent / TRAINING_LOG)) for run in runs]


def _comparable_runs(training: str) -> list[Snapshots]:
    """Return the runs of a training that can be compared: those with the same sentences as the first.

    A run that may be in progress has its snapshots so far, and the curves of its log. None can be read where a training
    is not offered any more.
    """
    folder = trainings().get(training)
    if folder is None:
        return []
    if not training.startswith(_WATCHED_PREFIX):
        runs = _model_runs(folder)
        return [run for run in runs if run.sentences == runs[0].sentences]
    snapshots, curves = folder / "model" / FOLDER, read_curves(folder / "log.csv")
    return [replace(run, name=folder.name, curves={**curves, **run.curves}) for run in _read(snapshots)[-1:]]


def _read(folder: Path) -> list[Snapshots]:
    names = sorted(path.name for path in folder.glob("*.json"))
    return _RUNS_READ.get((folder, *names, stamp(folder, *names)), lambda: load_folder(folder))


_RUNS_READ: LRUCache[list[Snapshots]] = LRUCache(
    16 << 20, size=lambda runs: sum(a.nbytes for run in runs for a in run.alignments) + 50_000
)


@dataclass(frozen=True)
class LearningChoices:
    """The current choices."""

    training: str
    """Name of the training."""
    shown: str
    """Which of its runs are shown: the number of one, from 1, or `_ALL_RUNS`."""
    sentence: int
    """0-based index."""

    @cached_property
    def runs(self) -> list[Snapshots]:
        """The runs, which have the same sentences; none where their files cannot be read, or not any more."""
        runs = _comparable_runs(self.training)
        return runs if self.shown == _ALL_RUNS else runs[int(self.shown) - 1 : int(self.shown)]

    @property
    def updates(self) -> tuple[int, ...]:
        """The updates of all checkpoints; a run without one of them shows its previous checkpoint."""
        return tuple(sorted({update for run in self.runs for update in run.updates}))

    def address(self, name: str) -> str:
        """Return the address of the payload `name` of the current checkpoint."""
        version = repr([(run.name, run.updates[-1]) for run in self.runs])  # differs when there are other checkpoints
        return shown_address(name, asdict(self), "checkpoint={step}", version=version)


def _choose(offered: Collection[str]) -> LearningChoices:
    """Draw the choices, of one of the `offered` trainings, and return the current ones."""
    training, shown, sentence = next(iter(offered)), _ALL_RUNS, "1"
    if len(offered) > 1:
        names = {
            name: gettext("run {name}", name=run) if (run := name.removeprefix(_WATCHED_PREFIX)) != name else name
            for name in offered
        }
        key = f"learns_{_TRAINING}"
        training = select_box(gettext("Training"), names, key=key, width=260, parameter=_TRAINING)
    if available := _comparable_runs(training):
        sentences = {str(k): shorten(each.source, 90) for k, each in enumerate(available[0].sentences, 1)}
        key = f"learns_{_SENTENCE}"
        sentence = select_box(gettext("Sentence"), sentences, key=key, width=560, parameter=_SENTENCE)
    if len(available) > 1:
        runs = {_ALL_RUNS: gettext("Side by side")} | {str(k): run_name(run) for k, run in enumerate(available, 1)}
        key = f"learns_{_RUNS}"
        shown = segmented_control(gettext("Runs"), runs, key=key, labelled=True, parameter=_RUNS)
    return LearningChoices(training, shown, int(sentence) - 1)


def has_link_measures(run: Snapshots) -> bool:
    """Return whether `run` has measures of its attention against gold links."""
    return any(name in run.curves for name in (*LINK_MEASURES, *ROW_MEASURES))


def _checkpoint_sentence(runs: Sequence[Snapshots], update: int) -> str:
    """Return the description of a checkpoint: its update, and the quality of a single run."""
    checkpoint = ngettext("After {update} update", "After {update} updates", update, update=update)
    if update == 0:
        checkpoint = gettext("Before the first update")
    quality = measured_values_text(runs[0], update) if len(runs) == 1 else ""
    return gettext("{run}: {told}", run=checkpoint, told=quality) if quality else checkpoint


def _draw_page() -> None:
    """Draw the page; where the server has a folder of runs, it redraws itself periodically."""
    st.fragment(_draw, run_every=_INTERVAL if os.environ.get(ATTNVIZ_RUNS) else None)()


@in_turn()
def _draw() -> None:
    begin_fragment()
    offered = trainings()
    if not offered:
        st.text(
            gettext(
                "There are no snapshots of a training run. A model’s snapshots are in its model folder, in "
                "snapshots/. To watch a run of your own, start the page with the folder of your runs: attnviz app "
                "--runs FOLDER. You can also name the folder of your runs in the environment variable {variable}.",
                variable=ATTNVIZ_RUNS,
            )
        )
        return
    # components/view.js stores the checkpoint on the box
    with view_blocks(VIEW.key("view")), box(VIEW.key("room")):
        _introduction()
        glossary_box("signs", "attention", "learning", "scores")
        with box("learns_choices", row=True):
            choices = _choose(offered)
            if choices.runs:
                with download_box(VIEW.key("downloads")):
                    followed_picture_files(VIEW, choices.address("learning-pictures"), VIEW.key("export"))
                    file = f"attnviz-learns-{choices.runs[0].name}-lecture.html"
                    lecture_link(VIEW, choices.address("learning-lecture"), file)
                copy_link(VIEW.key("copy_link"))
        if choices.runs:
            _figures(choices)
        else:
            plain_text(_unreadable_reason())


def _introduction() -> None:
    text = gettext(
        "The same sentences are shown at several moments of a training run. The model must write the given "
        "translation (forced decoding). Each row shows where the model looks in the English sentence when it "
        "writes the French word of this row. Before training, the model looks at all words almost alike."
    )
    how = gettext("Press Play to watch the training from the beginning.")
    opening("learns", TextSection(gettext("How it learns"), (f"{text} {how}",)))


def _unreadable_reason() -> str:
    return gettext(
        "The snapshots of this training cannot be read. The snapshots are damaged or come from another version "
        "of attnviz."
    )


def _figures(choices: LearningChoices, update: int | None = None) -> None:
    """Draw the figures at the current checkpoint, and sentences about it; a saved page opens at that of `update`."""
    runs, updates, several = choices.runs, choices.updates, len(choices.runs) > 1
    names = [run_name(run) if several else "" for run in runs]
    quality = partial(inline_figure, VIEW, "quality", partial(quality_curves, runs, updates))
    _timeline(choices, update)
    if sentence := guidance_definition(runs, model_configs()):
        explanation(escape(sentence))
    boxes = columns((1,) * max(2, len(runs)), gap="large")
    for number, (column, run, name) in enumerate(zip(boxes, runs, names, strict=False), 1):
        with column, box(VIEW.key(f"heatmap_{number}")):
            payload = _heatmap_payload(run, updates, name, choices.sentence)
            component("chart", VIEW.key(f"heatmap_chart_{number}"), payload)
    definitions_box = None
    if not several:
        with boxes[1]:
            quality()
    if several or has_link_measures(runs[0]):
        section_heading(escape(gettext("What is learnt when")))
        boxes = columns((1,) * (len(runs) + 1), gap="large")
        for number, (column, run, name) in enumerate(zip(boxes, runs, names, strict=False), 1):
            if has_link_measures(run):
                with column:
                    learnt = partial(attention_curves, run, updates, runs=runs)
                    inline_figure(VIEW, f"learnt_{number}", learnt, (name, halfway_sentence(run)))
        if several:
            with boxes[-1]:
                quality()
        else:
            definitions_box = boxes[-1]
    if choices.training.startswith(_WATCHED_PREFIX):
        caption(gettext("This page reloads the training run every ten seconds."))
    with definitions_box or details(gettext("What the curves measure"), VIEW.key("rules")):
        _definitions(runs)
    if embedding() is None:
        with details(gettext("The charts as tables"), VIEW.key("tables")):
            tables(VIEW, choices.address("learning-tables"), "tables_rows")
    references(LEARNING_REFERENCES)


@cached_for_all
def _heatmap_payload(run: Snapshots, updates: tuple[int, ...], name: str, sentence: int) -> Payload:
    moments = list(enumerate(map(run.moment, updates)))
    return chart_payload(
        {k: learning_heatmap(run, sentence, moment) for k, moment in moments},
        {k: (name, own_translation_sentence(run, sentence, moment)) for k, moment in moments},
    )


def _timeline(choices: LearningChoices, update: int | None) -> None:
    """Draw the controls of the checkpoints, with the measures of each; they open at an `update`, or the last.

    The browser writes the current update into the address.
    """
    runs, updates = choices.runs, choices.updates
    identity = " ".join([*(run.name for run in runs), str(len(runs))])
    payload = {
        "identity": identity,
        "language": language(),
        "updates": list(updates),
        "captions": [_checkpoint_sentence(runs, checkpoint) for checkpoint in updates],
        "ends": [format_number(updates[0]), format_number(updates[-1])],
        "opened": None if update is None else max(0, sum(checkpoint <= update for checkpoint in updates) - 1),
        "words": gettexts(
            {
                "moments": "Moments of the training",
                "moment": "Moment",
                "previous": "Earlier",
                "next": "Later",
                "play": "Play",
                "pause": "Pause",
                "space": "Space",
                "speed": "Speed",
            }
        ),
    }
    component("timeline", VIEW.key("timeline"), payload)
    if embedding() is None:
        set_page_address(identity, language_address())


def _definitions(runs: list[Snapshots]) -> None:
    """Draw the definitions of the measures, and the data that they are computed on."""
    names, rules = learning_measure_names(), measure_definitions()
    shown = [name for name in rules if any(name in run.curves for run in runs)]
    listed = "".join(f"<dt>{escape(names[name])}</dt><dd>{escape(rules[name])}</dd>" for name in shown)
    html(f'<dl class="rules">{listed}</dl>')
    if sentence := link_counts_text(runs):
        explanation(escape(sentence))


@makes_payload("learning-pictures", needs_server=True)
def learning_pictures(request: PayloadRequest) -> Payload | bytes:
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

    return drawn_page(f"attnviz: {gettext('How it learns')}", "learns", draw)


@makes_payload("learning-tables")
def learning_tables(request: PayloadRequest) -> Payload:
    """Return the payload of the numbers in the figures at a checkpoint."""
    return tables_payload(_numbers(*_requested(request)))


def _requested(request: PayloadRequest) -> tuple[LearningChoices, int]:
    """Return the choices and the update of the checkpoint in an address; the last where there is none."""
    choices = LearningChoices(**request.shown)
    if not choices.runs:
        raise AttnvizError(_unreadable_reason())
    updates, text = choices.updates, request.parameters.get("checkpoint", "")
    is_checkpoint = text.isascii() and text.isdigit() and int(text) < len(updates)
    return choices, updates[int(text)] if is_checkpoint else updates[-1]


def _files(choices: LearningChoices, update: int) -> Iterator[PictureFile]:
    """Yield the figures as they are saved, each below its title."""
    runs, updates = choices.runs, choices.updates
    names = [run_name(run, is_only_run=len(runs) == 1) for run in runs]
    for number, (run, name) in enumerate(zip(runs, names, strict=True), 1):
        checkpoint, sentence = run.moment(update), run.sentences[choices.sentence]
        heading = ngettext(
            "After {count} update, {run}", "After {count} updates, {run}", run.updates[checkpoint], run=name
        )
        yield _file(
            f"{gettext('Heatmap')}, {name}",
            f"heatmap-{number}-{run.updates[checkpoint]}",
            partial(learning_heatmap, run, choices.sentence, checkpoint),
            run,
            heading,
            (sentence.source, sentence.target),
        )
    curves = partial(quality_curves, runs, updates, update=update)
    yield _file(gettext("Loss, BLEU and alignment error rate"), "quality", curves, runs[0])
    for number, (run, name) in enumerate(zip(runs, names, strict=True), 1):
        if has_link_measures(run):
            curves = partial(attention_curves, run, updates, runs=runs, update=update)
            yield _file(f"{gettext('What is learnt when')}, {name}", f"when-{number}", curves, run)


def _file(
    title: str,
    name: str,
    draw: Callable[[], Spec],
    run: Snapshots,
    heading: str = "",
    sentences: tuple[str, str] | tuple[()] = (),
) -> PictureFile:
    """Return the figure that `draw` returns as it is saved, below its `heading`, by default its title."""

    def sheet() -> tuple[go.Figure, pd.DataFrame]:
        spec, made_by = draw(), gettext("model {model}", model=shorten(run.name, 24))
        return titled_sheet(spec, heading or title, made_by, sentences), spec.frame()

    return PictureFile(title, f"attnviz-learns-{name}", sheet)


def _numbers(choices: LearningChoices, update: int) -> NamedTables:
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
    yield gettext("Measurements at each moment"), quality_curves(runs, choices.updates).frame()
    if runs[0].levels:
        yield gettext("Baselines: attention without training"), baselines_table(runs[0])


LEARNS_PAGE = Page("learns", lambda: gettext("How it learns"), _draw_page, offered=lambda: bool(trainings()))
