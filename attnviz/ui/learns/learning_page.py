"""Draw the page *How it learns*: choices, controls of the checkpoints, and figures."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

import pandas as pd
import streamlit as st

from attnviz.export.sheet import titled
from attnviz.figures.learning_curves import learning_table, learnt_figure, levels_table, quality_figure
from attnviz.figures.learning_heatmap import learning_heatmap, learning_heatmap_table
from attnviz.languages import gettext, ngettext
from attnviz.trace.snapshots import Snapshots
from attnviz.ui.components.copy_link.copy_link import copy_link
from attnviz.ui.components.picture_files.picture_files import PictureFile, picture_file_buttons
from attnviz.ui.components.timeline.timeline import timeline
from attnviz.ui.concurrency import in_turn
from attnviz.ui.glossary import glossary_box
from attnviz.ui.learns.learning_choices import LearningChoices, choices, linked_update, trainings, watches_run
from attnviz.ui.learns.learning_export import checkpoint_sentence, introduction, learning_lecture
from attnviz.ui.learns.learning_figures import VIEW, attention_and_quality, checkpoint_updates, has_learnt, learnt
from attnviz.ui.learns.runs import RUNS_VARIABLE
from attnviz.ui.page_state.address import set_page_address
from attnviz.ui.requests import begin_fragment
from attnviz.ui.style import theme_name
from attnviz.ui.text_sections import references, text_section
from attnviz.ui.toolbar.downloads import download_box
from attnviz.wording.learning import (
    REFERENCES,
    counted,
    grouped,
    guided,
    measure_names,
    measure_rules,
    run_name,
)
from attnviz.wording.why_story import TextSection

_INTERVAL = "10s"
"""Polling interval for a run that may be in progress."""


def learning_page() -> None:
    """Draw the page; while a run is watched, it redraws itself periodically."""
    watching = watches_run(trainings())
    st.fragment(_draw, run_every=_INTERVAL if watching else None)(watching)


@in_turn
def _draw(watching: bool) -> None:
    begin_fragment()
    offered = trainings()
    if not offered:
        st.text(_no_snapshots_reason())
        return
    with st.container(key="learns_opening"):
        how = gettext("Press Play to watch the training from the beginning.")
        text_section(TextSection(gettext("How it learns"), (f"{introduction()} {how}",)))
    glossary_box("glossary", "signs", "attention", "learning", "scores")
    with st.container(key=VIEW.key("room")):  # the browser stores the checkpoint here: see components/view.js
        with st.container(horizontal=True, vertical_alignment="bottom", key="learns_choices"):
            chosen = choices(offered)
            if chosen:
                _downloads(chosen)
                copy_link(VIEW)
        if watches_run(offered) != watching:
            st.rerun()  # only the page sets the interval of the redraws
        if chosen is None:
            st.text(_unreadable_reason())
            return
        _pictures(chosen)


def _pictures(chosen: LearningChoices) -> None:
    """Draw the figures at the current checkpoint, and sentences about it."""
    _timeline(chosen)
    if sentence := guided(chosen.runs):
        st.html(f'<p class="reading">{escape(sentence)}</p>')
    attention_and_quality(chosen.runs, chosen.sentence, theme_name())
    beside = None
    if len(chosen.runs) > 1 or has_learnt(chosen.runs[0]):
        st.html(f'<h2 class="section">{escape(gettext("What is learnt when"))}</h2>')
        beside = learnt(chosen.runs, theme_name())
    if chosen.watching:
        st.caption(gettext("This page reloads the training run every ten seconds."))
    with beside or st.expander(gettext("How this is measured"), key=VIEW.key("rules")):
        _rules(chosen.runs)
    _tables(chosen)
    references(REFERENCES)


def _no_snapshots_reason() -> str:
    return gettext(
        "There are no snapshots of a training run. A model’s snapshots are in its model folder, in snapshots/. "
        "To watch a run of your own, name the folder of your runs when you start the page: attnviz app --runs "
        "FOLDER (or set the environment variable {variable}).",
        variable=RUNS_VARIABLE,
    )


def _unreadable_reason() -> str:
    return gettext(
        "The snapshots of this training cannot be read. They are damaged or come from another version of attnviz."
    )


def _timeline(chosen: LearningChoices) -> None:
    """Draw the controls of the checkpoints, with the measures of each."""
    runs, moments, update = chosen.runs, checkpoint_updates(chosen.runs), linked_update()
    opened = None if update is None else max(0, sum(at <= update for at in moments) - 1)
    captions = [checkpoint_sentence(runs, at) for at in moments]
    names = " ".join([*(run.name for run in runs), str(len(runs))])
    timeline(VIEW, names, moments, captions, (grouped(moments[0]), grouped(moments[-1])), opened)
    set_page_address(st.session_state, names, chosen.parameters)


def _rules(runs: list[Snapshots]) -> None:
    """Draw the definitions of the measures, and of what they are computed on."""
    names, rules = measure_names(), measure_rules()
    shown = [name for name in rules if any(name in run.curves for run in runs)]
    listed = "".join(f"<dt>{escape(names[name])}</dt><dd>{escape(rules[name])}</dd>" for name in shown)
    st.html(f'<dl class="rules">{listed}</dl>')
    if sentence := counted(runs):
        st.html(f'<p class="reading">{escape(sentence)}</p>')


@st.fragment
@in_turn
def _downloads(chosen: LearningChoices) -> None:
    """Offer the figures at the current checkpoint, drawn when the box is opened."""
    begin_fragment()
    update = _current_update(chosen)
    name = f"attnviz-learns-{chosen.runs[0].name}-lecture.html"
    download_box(
        lambda: picture_file_buttons(_files(chosen), VIEW.key("export")),
        lambda theme: learning_lecture(chosen, update, theme),
        name,
        VIEW.key,
    )


def _current_update(chosen: LearningChoices) -> int:
    update = linked_update()
    return checkpoint_updates(chosen.runs)[-1] if update is None else update


def _files(chosen: LearningChoices) -> Iterator[PictureFile]:
    """Yield the figures as they are saved, each below its title."""
    runs, moments, update = chosen.runs, checkpoint_updates(chosen.runs), _current_update(chosen)
    table = learning_table(runs)
    for number, run in enumerate(runs, 1):
        moment, name = run.moment(update), run_name(run, alone=len(runs) == 1)
        sentence, figure = run.sentences[chosen.sentence], learning_heatmap(run, chosen.sentence, moment)
        heading = ngettext("After {count} update, {run}", "After {count} updates, {run}", run.updates[moment], run=name)
        yield PictureFile(
            f"{gettext('Heatmap')}, {name}",
            f"attnviz-learns-heatmap-{number}-{run.updates[moment]}",
            titled(figure, heading, run.name, (sentence.source, sentence.target)),
            learning_heatmap_table(run, chosen.sentence, moment),
        )
    quality, title = quality_figure(runs, moments, update=update), gettext("Loss, BLEU and alignment error rate")
    yield PictureFile(title, "attnviz-learns-quality", titled(quality, title, runs[0].name), table)
    for number, run in enumerate(runs, 1):
        if has_learnt(run):
            title = f"{gettext('What is learnt when')}, {run_name(run, alone=len(runs) == 1)}"
            figure = learnt_figure(run, moments, beside=runs, update=update)
            yield PictureFile(title, f"attnviz-learns-when-{number}", titled(figure, title, run.name), table)


@st.fragment
@in_turn
def _tables(chosen: LearningChoices) -> None:
    """Offer the numbers in the figures, computed only when opened."""
    begin_fragment()
    box = st.expander(gettext("The charts as tables"), key=VIEW.key("tables"), on_change="rerun")
    if not box.open:
        return
    with box:
        for name, table in _numbers(chosen):
            st.markdown(f"**{name}**")
            st.dataframe(table, height="content" if len(table) <= 12 else 420)


def _numbers(chosen: LearningChoices) -> Iterator[tuple[str, pd.DataFrame]]:
    runs, update = chosen.runs, _current_update(chosen)
    for run in runs:
        moment = run.moment(update)
        name = ngettext(
            "{run}: where it looks after {count} update",
            "{run}: where it looks after {count} updates",
            run.updates[moment],
            run=run_name(run, alone=len(runs) == 1),
        )
        yield name, learning_heatmap_table(run, chosen.sentence, moment)
    yield gettext("Measurements at each moment"), learning_table(runs)
    if runs[0].levels:
        yield gettext("Baselines: attention without training"), levels_table(runs[0])
