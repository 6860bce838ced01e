"""The page *Lab*: the sentence and its translation, the current section, its tables and downloads.

`SECTIONS` has the functions of each section: one draws it, others make its figures and tables. The server computes the
current section only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from attnviz import lazy_pandas as pd
from attnviz.analysis.page_texts import TextSection
from attnviz.analysis.suspected_errors import least_sure_step
from attnviz.figures.subject import REQUIRES_TRANSLATION, Subject
from attnviz.installed_models import installed_models
from attnviz.languages import gettext
from attnviz.ui.chrome import Page
from attnviz.ui.components.component import box, view_blocks
from attnviz.ui.components.picture_files import picture_files
from attnviz.ui.components.tables import table_box, tables_payload
from attnviz.ui.embedding import page_session
from attnviz.ui.fields import segmented_control
from attnviz.ui.glossary import text_section
from attnviz.ui.lab.attributions import attributions_panel, attributions_pictures, attributions_tables
from attnviz.ui.lab.compared_translation import COMPARED_NAMES as COMPARISON_NAMES
from attnviz.ui.lab.compared_translation import COMPARISON, SECTION
from attnviz.ui.lab.comparison_experiment import comparison_panel, comparison_pictures, comparison_tables
from attnviz.ui.lab.neighbours_experiment import (
    VECTOR_CORPUS,
    VECTOR_KIND,
    VECTOR_METRIC,
    neighbours_panel,
    neighbours_pictures,
    neighbours_tables,
)
from attnviz.ui.lab.perturbation_experiment import (
    perturbation_tests_panel,
    perturbation_tests_pictures,
    perturbation_tests_tables,
)
from attnviz.ui.lab.tree import TREE_WIDTH as BEAM_WIDTH
from attnviz.ui.lab.tree import tree_panel, tree_pictures
from attnviz.ui.page_state.inputs import DEVICE, SEARCH
from attnviz.ui.payloads import PayloadRequest, UnknownPayloadError, makes_payload
from attnviz.ui.step.step_controls import key_help, shown_suspected_errors, step_controls
from attnviz.ui.toolbar.controls import current_request, request_address
from attnviz.ui.toolbar.downloads import OfferedFigure, copy_link, download_box, offer_pictures, picture_file
from attnviz.ui.toolbar.shown_translation import open_view, shown_translation, status
from attnviz.ui.view import View


@dataclass(frozen=True)
class LabSection:
    """A question and its analyses. No section imports another."""

    title: Callable[[], str]
    """Title in the current language."""
    draw: Callable[[View], None]
    """Draws the section."""
    pictures: Callable[[View], Iterator[OfferedFigure]]
    """Yields the figures as currently shown, to be saved; none where it has none."""
    choices: Sequence[str] = ()
    """Session state keys of the choices that determine the figures."""
    tables: Callable[[View], Iterator[tuple[str, pd.DataFrame]]] = lambda _: iter(())
    """Yields numbers that are in no figure, each table with its name."""


SECTIONS: Mapping[str, LabSection] = {
    "perturbation-tests": LabSection(
        lambda: gettext("Perturbation tests"),
        perturbation_tests_panel,
        perturbation_tests_pictures,
        tables=perturbation_tests_tables,
    ),
    "attributions": LabSection(
        lambda: gettext("Attributions"), attributions_panel, attributions_pictures, tables=attributions_tables
    ),
    "tree": LabSection(lambda: gettext("The beam as a tree"), tree_panel, tree_pictures, (BEAM_WIDTH,)),
    COMPARISON: LabSection(
        lambda: gettext("Side by side"),
        comparison_panel,
        comparison_pictures,
        (*COMPARISON_NAMES, DEVICE, SEARCH),
        tables=comparison_tables,
    ),
    "neighbours": LabSection(
        lambda: gettext("Neighbours"),
        neighbours_panel,
        neighbours_pictures,
        (VECTOR_KIND, VECTOR_METRIC, VECTOR_CORPUS),
        tables=neighbours_tables,
    ),
}
"""By their names in the address, in the order of the page; the first is the default."""


def lab_page(view: View, *, requested: bool = False) -> None:
    """Draw the lab of `view`; if its translation was `requested`, show how it was computed."""
    waiting = st.empty()  # above the view, so that a spinner in it does not mount the view again
    with view_blocks(view.key("view")), box(view.key("room")):  # components/view.js stores its state on this element
        with box("lab_opening"):
            text_section(TextSection(gettext("Lab"), (_introduction(),)))
        sentences = box(view.key("sentences"))
        with box("beside_section", row=True):
            chosen = _chosen_section()
            files = box("section_files", width="content")
            if requested:
                status(view)
            copy_link(view.key("copy_link"))
        with box(view.key("section_panel")), waiting:
            SECTIONS[chosen].draw(view)
        with files, download_box("downloads"):  # after the section's own choices, which a link may set
            offer_pictures(view, "lab-pictures", _shown(view, chosen), part=chosen)
        with sentences:
            step_controls(view)  # after the choice of the section, which is part of the address
        shown = _shown(view, chosen)
        table_box(view, gettext("The charts as tables"), "tables", "lab-tables", shown, part=chosen)
        key_help(view, "signs", "attention", "heads", "writing", "scores", common_only=True)


def _introduction() -> str:
    return gettext("What does each French word depend on? Each tab answers this question in its own way.")


def _chosen_section() -> str:
    """Draw the choice of the section; return its name."""
    titles = {name: section.title() for name, section in SECTIONS.items()}
    return segmented_control(
        gettext("Section"),
        titles,
        key=SECTION,
        default=next(iter(SECTIONS)),
        label_visibility="collapsed",
        parameter=SECTION,
    )


@makes_payload("lab-tables")
def tables_of_section_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the numbers in a section's figures."""
    section, view = _section(request), request.view
    return tables_payload([*(picture.table for picture in section.pictures(view)), *section.tables(view)])


def _shown(view: View, name: str) -> dict[str, Any]:
    """Return the choices that determine the figures of a section."""
    keys = [key for choice in SECTIONS[name].choices for key in (choice, view.key(choice))]
    session = page_session()
    return {"session": {key: session[key] for key in keys if key in session}}


def _section(request: PayloadRequest) -> LabSection:
    if request.part not in SECTIONS:
        raise UnknownPayloadError(request.part)
    return SECTIONS[request.part]


@makes_payload("lab-pictures", needs_server=True)
def pictures_of_section(request: PayloadRequest) -> dict[str, Any] | bytes:
    """Return the payload of the figures of a section as files."""
    figures = _section(request).pictures(request.view)
    return picture_files((picture_file(request.trace, one) for one in figures), request.parameters)


def _draw() -> None:
    available = installed_models()
    request = current_request(available) if available else None
    shown = shown_translation(request, back=False)
    if shown.view:
        view = replace(shown.view, first_step=_doubtful_step(shown.view.trace))
        parameters = request_address(request, available) if shown.asked and request else None
        open_view(view, parameters)
        lab_page(view, requested=shown.asked)


def _doubtful_step(trace: Any) -> int:
    """Return the 0-based step of the first mistake, or of the content word that the model is least sure of.

    Imported attention and other pairs of sentences have neither; for them it is the first step.
    """
    if not REQUIRES_TRANSLATION.is_met(Subject(trace, 0)):
        return 0
    return next((mark.step for mark in shown_suspected_errors(trace) if mark.strong), least_sure_step(trace))


LAB_PAGE = Page("lab", lambda: gettext("Lab"), _draw, shows_sentence=True)
