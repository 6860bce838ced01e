"""Draw the box *The charts as tables*: the heatmap and the figures of the current step as tables."""

from __future__ import annotations

from typing import Any, TypeAlias

from attnviz import figures
from attnviz import lazy_pandas as pd
from attnviz.analysis.diagram import has_diagram
from attnviz.analysis.labels import SYMBOLS, face_names
from attnviz.architectures import architecture_of
from attnviz.figures.registry import CHANGED, POSTERIOR
from attnviz.figures.subject import Subject
from attnviz.languages import gettext
from attnviz.trace.drawing import Face, HeatmapChoices
from attnviz.ui.components.component import details
from attnviz.ui.components.tables import tables, tables_payload
from attnviz.ui.embedding import embedding
from attnviz.ui.payloads import PayloadRequest, Shown, makes_payload, shown_address
from attnviz.ui.resources import cached_posterior
from attnviz.ui.step.compared_attention import comparison_numbers
from attnviz.ui.step.diagram_panel import diagram_table
from attnviz.ui.step.gold_panel import has_links, link_entries
from attnviz.ui.step.heatmap_panel import shown_choices
from attnviz.ui.step.stage_panels import stage_figures
from attnviz.ui.step.subject_boxes import subject_of
from attnviz.ui.view import View

TABLES = "tables"
"""Key of the box."""

NamedTable: TypeAlias = "tuple[str, pd.DataFrame]"
"""A table with its name."""


def table_box(view: View, title: str, key: str, name: str, shown: Shown | None = None, **parameters: str) -> None:
    """Draw a box with `title` and the tables of the payload `name` for the current selection, made once it is open.

    They are of `view` and what else is `shown`. A view that embeds its payloads has none: they
    would be nine tenths of it.
    """
    if embedding() is not None:
        return
    with details(title, view.key(key)):
        at = shown_address(name, {"view": view, **(shown or {})}, "{selection}", **parameters)
        tables(view, at, f"{key}_rows")


def chart_tables(view: View) -> None:
    """Offer every chart as a table, computed only while the box is open."""
    shown = {"session": link_entries(view)}
    table_box(view, gettext("The charts as tables"), TABLES, "chart-tables", shown)


@makes_payload("chart-tables")
def chart_tables_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of every chart as a table."""
    view = request.view
    chosen = shown_choices(request.selection, view, links=has_links(view))
    return tables_payload(all_tables(view, chosen, subject_of(view)))


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
