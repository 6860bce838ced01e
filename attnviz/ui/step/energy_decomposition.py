"""Draw the energy decomposition of the current cell in the step view, by alignment units."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from attnviz.analysis.energy_decomposition import energy_decomposition, score_vector
from attnviz.analysis.recomputation import Weights
from attnviz.figures.energy_decomposition import microscope_table
from attnviz.figures.figure_input import Subject
from attnviz.figures.registry import STEP_FIGURES
from attnviz.languages import gettext
from attnviz.palette import ThemeName
from attnviz.ui.components.energy_decomposition.energy_decomposition import energy_decomposition as energy_microscope
from attnviz.ui.components.energy_decomposition.energy_decomposition import microscope_record
from attnviz.ui.page_state.selection import Selection, source_of
from attnviz.ui.page_state.view import View
from attnviz.ui.shared_payloads import Asked, address
from attnviz.ui.step.data_tables import table_box
from attnviz.wording.scorers import texts_of


def microscope_panel(view: View, weights: Weights | None, theme: ThemeName) -> None:
    """Draw the energy e_ij of the current cell as the sum over its units.

    `weights` are needed only for a trace that lacks v_a.
    """
    trace = view.trace
    lacking = STEP_FIGURES["microscope"].lacking(Subject(trace, 0, weights))
    if lacking:
        st.text(lacking)
        return
    if trace.features_at(0).size:  # the component has one key for each piece, and here each step has its own
        st.text(
            gettext(
                "In this model the keys change at every step, because they depend on where the model looked "
                "before. The table lists the units of the energy shown, whose key is U h + L f."
            )
        )
        _table(view, weights)
        return
    energy_microscope(view, address(trace, "microscope", theme, every=True))
    st.html(f'<p class="reading">{texts_of(trace.config["attention"]).units}</p>')
    _table(view, weights)


def cell_record(asked: Asked) -> dict[str, Any]:
    """Return the payload that serves the energy of every cell."""
    return microscope_record(asked.trace, score_vector(asked.trace, asked.weights), asked.theme)


def _table(view: View, weights: Weights | None) -> None:
    """Offer all units of the current cell as a table, computed only while its box is open."""

    def made(selection: Selection) -> list[tuple[str, pd.DataFrame]]:
        source = source_of(selection, view.trace)
        units = energy_decomposition(view.trace, weights, selection.step, source)
        told = gettext(
            "Step {step}, source piece {source}: the running sum ends at e = {energy:.6f}",
            step=selection.step + 1,
            source=source + 1,
            energy=units.energy,
        )
        return [(told, microscope_table(units))]

    table_box(view, gettext("All units of this energy as a table"), "microscope_table", "", made)
