"""Draw the box *The charts as tables*: the heatmap and the figures of the current step as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import streamlit as st

from attnviz import figures
from attnviz import lazy_pandas as pd
from attnviz.analysis.grid import Face
from attnviz.analysis.posterior import PosteriorAttention
from attnviz.figures.attention import posterior_table
from attnviz.figures.diagram_table import diagram_table
from attnviz.figures.figure_input import Subject
from attnviz.figures.state import state_table
from attnviz.languages import gettext
from attnviz.ui.components.tables import tables, tables_payload
from attnviz.ui.page_state.selection import HeatmapChoices, Selection, with_selection
from attnviz.ui.resources import posterior_attention_of, posterior_of
from attnviz.ui.session_payloads import register_payload
from attnviz.ui.step.compared_attention import comparison_numbers
from attnviz.ui.step.figure_input import subject_of
from attnviz.ui.step.heatmap import shown_choices
from attnviz.ui.view import View
from attnviz.wording.attention_forms import SYMBOLS, face_names
from attnviz.wording.labels import step_heading

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

    def make_tables(selection: Selection) -> list[tuple[str, pd.DataFrame]]:
        subject = subject_of(view, with_selection(state, view, selection))
        return all_tables(view, shown_choices(selection, view), subject)

    table_box(view, gettext("The charts as tables"), TABLES, name, make_tables)


def all_tables(view: View, chosen: HeatmapChoices, subject: Subject) -> list[tuple[str, pd.DataFrame]]:
    """Return the heatmap with the options `chosen`, and the figures of the current step, as named tables."""
    trace, step = view.trace, subject.step
    posterior = posterior_attention_of(trace)
    if chosen.face == "before":
        alignment = figures.translation_table(trace, by=chosen.by, end=chosen.end, margins=chosen.margins)
    else:
        alignment = figures.heatmap_table(
            trace, by=chosen.by, face=chosen.face, posterior=posterior_of(trace), end=chosen.end, margins=chosen.margins
        )
    changed = figures.STEP_FIGURES["changed"]
    changes = (
        []
        if changed.missing(subject)
        else [(gettext("Effect of the what-if at step {step}", step=step + 1), changed.table(subject))]
    )
    steps = _step_tables(trace, step, subject, posterior)
    return [(_heatmap_name(chosen.face), alignment), *steps, *changes, *comparison_numbers(view, chosen)]


def _step_tables(
    trace: Any, step: int, subject: Subject, posterior: PosteriorAttention | None
) -> list[tuple[str, pd.DataFrame]]:
    """Return the named tables of a step.

    For a recurrent translator with a maxout layer these are the tables of its stages, otherwise those of all figures.
    """
    if not trace.has_maxout:
        return [
            (step_heading(trace, step, figure.title(subject)), figure.table(subject))
            for figure in figures.step_figures(subject).values()
        ]
    units_figure = figures.STEP_FIGURES["units"]
    units = (
        []
        if units_figure.missing(subject)
        else [
            (gettext("Units of the context vector of step {step}", step=step + 1), units_figure.table(subject)),
        ]
    )
    tables = [
        (gettext("Architecture diagram at step {step}", step=step + 1), diagram_table(trace, step)),
        (gettext("Energies and weights of step {step}", step=step + 1), figures.attention_table(trace, step)),
        (gettext("Context vector of step {step}, unit by unit", step=step + 1), figures.context_table(trace, step)),
        *units,
        (gettext("State of step {step}, unit by unit", step=step + 1), state_table(trace, step)),
        (gettext("Maxout of step {step}", step=step + 1), figures.STEP_FIGURES["maxout"].table(subject)),
        (gettext("Likeliest pieces of step {step}", step=step + 1), figures.candidates_table(trace, step)),
    ]
    if posterior is not None:
        tables.append(
            (
                gettext("Attention before and after the word of step {step}", step=step + 1),
                posterior_table(trace, posterior, step),
            )
        )
    return tables


def _heatmap_name(face: Face) -> str:
    """Return the name of the heatmap's table."""
    return (
        gettext("Alignment") if face == "before" else f"{gettext('Alignment')}, {face_names()[face]} ({SYMBOLS[face]})"
    )
