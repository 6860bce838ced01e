"""Draw the box *The charts as tables*: the heatmap and the figures of the current step as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import streamlit as st

from attnviz import figures
from attnviz import lazy_pandas as pd
from attnviz.analysis.attention_forms import SYMBOLS, face_names
from attnviz.analysis.diagram_texts import has_diagram
from attnviz.architectures import architecture_of
from attnviz.figures.diagram_table import diagram_table
from attnviz.figures.registry import CHANGED, POSTERIOR
from attnviz.figures.subject import Subject
from attnviz.languages import gettext
from attnviz.trace.drawing import Face, HeatmapChoices
from attnviz.ui.components.tables import tables, tables_payload
from attnviz.ui.page_state.selection import Selection, with_selection
from attnviz.ui.resources import cached_posterior
from attnviz.ui.session_payloads import register_payload
from attnviz.ui.step.compared_attention import comparison_numbers
from attnviz.ui.step.gold_panel import has_links
from attnviz.ui.step.heatmap_panel import shown_choices
from attnviz.ui.step.stage_panels import stage_figures
from attnviz.ui.step.subject_boxes import subject_of
from attnviz.ui.view import View

TABLES = "tables"
"""Key of the box."""

NamedTable: TypeAlias = "tuple[str, pd.DataFrame]"
"""A table with its name."""


def table_box(view: View, title: str, key: str, name: str, make: Callable[[Selection], Iterable[NamedTable]]) -> None:
    """Draw a box with `title` and the tables that `make` returns for the current selection, made once it is open.

    `name` identifies the data that they are made from.
    """

    def make_payload(selection: Selection) -> dict[str, Any]:
        return tables_payload(make(selection))

    with st.expander(title, key=view.key(key)):
        tables(view, register_payload(view, key, name, make_payload), f"{key}_rows")


def chart_tables(view: View) -> None:
    """Offer every chart as a table, computed only while the box is open."""
    state = st.session_state.to_dict()
    name = view.parent.fingerprint if view.parent is not None else ""
    name += view.compared.identity if view.compared else ""

    def make_tables(selection: Selection) -> list[NamedTable]:
        subject = subject_of(view, with_selection(state, view, selection))
        return all_tables(view, shown_choices(selection, view, links=has_links(state, view)), subject)

    table_box(view, gettext("The charts as tables"), TABLES, name, make_tables)


def all_tables(view: View, chosen: HeatmapChoices, subject: Subject) -> list[NamedTable]:
    """Return the heatmap with the options `chosen`, and the figures of the current step, as named tables."""
    posterior = None if chosen.face == "before" else cached_posterior(view.trace)
    alignment = figures.heatmap(view.trace, chosen, posterior=posterior).frame()
    return [(_heatmap_name(chosen.face), alignment), *_step_tables(subject), *comparison_numbers(view)]


def _step_tables(subject: Subject) -> list[NamedTable]:
    """Return the tables of the diagram, the stages, the posterior attention and the effect of a what-if."""
    trace, step = subject.trace, subject.step
    tables: list[NamedTable] = []
    if has_diagram(trace):
        tables.append((gettext("Architecture diagram at step {step}", step=step + 1), diagram_table(trace, step)))
    of_stages = [figure for stage in architecture_of(trace).stages(trace) for figure in stage_figures(trace, stage)]
    shown = [figure for figure in figures.step_figures(subject).values() if figure in (*of_stages, POSTERIOR, CHANGED)]
    return tables + [(figure.headline(subject), figure.draw(subject).frame()) for figure in shown]


def _heatmap_name(face: Face) -> str:
    """Return the name of the heatmap's table."""
    return (
        gettext("Alignment") if face == "before" else f"{gettext('Alignment')}, {face_names()[face]} ({SYMBOLS[face]})"
    )
