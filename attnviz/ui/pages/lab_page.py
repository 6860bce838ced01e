"""The page *Lab*: the sentence and its translation, the current section, its tables and downloads.

`SECTIONS` has the functions of each section: one draws it, others make its figures and tables. The server computes the
current section only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from attnviz.analysis.page_texts import TextSection
from attnviz.analysis.suspected_errors import least_sure_step
from attnviz.languages import gettext
from attnviz.trace import Record
from attnviz.ui.blocks import box, chart_tables, plain_text, view_blocks
from attnviz.ui.chrome import Page
from attnviz.ui.controls import segmented_control
from attnviz.ui.glossary import opening
from attnviz.ui.pages.analyses import ATTRIBUTIONS_SECTION, PERTURBATION_SECTION, TREE_SECTION
from attnviz.ui.pages.comparison_section import COMPARISON, COMPARISON_SECTION, SECTION
from attnviz.ui.pages.neighbours_section import NEIGHBOURS_SECTION
from attnviz.ui.payloads import Shown
from attnviz.ui.step.step_controls import key_help, shown_suspected_errors, step_controls
from attnviz.ui.toolbar.downloads import LabSection, copy_link, offers, page_downloads
from attnviz.ui.toolbar.shown_translation import current_request, shown_translation, status

SECTIONS: Mapping[str, LabSection] = {
    "perturbation-tests": PERTURBATION_SECTION,
    "attributions": ATTRIBUTIONS_SECTION,
    "tree": TREE_SECTION,
    COMPARISON: COMPARISON_SECTION,
    "neighbours": NEIGHBOURS_SECTION,
}
"""By their names in the address, in the order of the page; the first is the default."""
offers("lab", SECTIONS)


def _draw() -> None:
    view, request = shown_translation(current_request())
    if view is None:
        return
    if isinstance(trace := view.trace, Record):
        mistakes = (mark.step for mark in shown_suspected_errors(trace) if mark.strong)
        view = replace(view, first_step=next(mistakes, least_sure_step(trace)))
    waiting = st.empty()  # above the view, so that a spinner in it does not mount the view again
    with view_blocks(view.key("view")), box(view.key("room")):  # components/view.js stores its state on this element
        question = gettext("What does each French word depend on? Each tab answers this question in its own way.")
        opening("lab", TextSection(gettext("Lab"), (question,)))
        sentences = box(view.key("sentences"))
        with box("beside_section", row=True):
            titles = {name: section.title() for name, section in SECTIONS.items()}
            chosen = segmented_control(gettext("Section"), titles, key=SECTION, parameter=SECTION)
            files = box("section_files", width="content")
            if request:
                status(view)
            copy_link(view.key("copy_link"))
        section = SECTIONS[chosen]
        shown_here: Shown = {}
        with box(view.key("section_panel")), waiting:
            if reason := section.missing(view.trace):
                plain_text(reason)
            else:
                shown_here = section.draw(view)
        with files:
            page_downloads(view, "lab", shown_here, chosen)
        with sentences:
            step_controls(view)  # after the choice of the section, which is part of the address
        chart_tables(view, "lab-tables", shown_here, part=chosen)
        key_help(view, "signs", "attention", "heads", "writing", "scores", common_only=True)


LAB_PAGE = Page("lab", lambda: gettext("Lab"), _draw, shows_sentence=True)
