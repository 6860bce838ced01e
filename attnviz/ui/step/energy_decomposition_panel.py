"""Draw the energy of the current heatmap cell as a sum over the units of the alignment model: chart and table."""

from __future__ import annotations

from typing import Any

from attnviz.analysis.energy_equations import texts_of
from attnviz.analysis.recomputation import Weights
from attnviz.figures.registry import ENERGY_DECOMPOSITION
from attnviz.figures.subject import Subject
from attnviz.languages import gettext
from attnviz.palette import ThemeName
from attnviz.ui.components.component import html, plain_text
from attnviz.ui.components.energy_decomposition import energy_decomposition_payload
from attnviz.ui.components.energy_decomposition import mount_energy_decomposition as draw_energy_decomposition
from attnviz.ui.components.tables import tables_payload
from attnviz.ui.page_state.selection import source_of
from attnviz.ui.payloads import PayloadRequest, address, makes_payload
from attnviz.ui.step.tables_box import table_box
from attnviz.ui.view import View


def energy_decomposition_panel(view: View, weights: Weights | None, theme: ThemeName) -> None:
    """Draw the energy e_ij of the current cell as the sum over its units.

    `weights` are needed only for a trace that lacks v_a.
    """
    trace = view.trace
    reason = ENERGY_DECOMPOSITION.missing(Subject(trace, 0, weights))
    if reason:
        plain_text(reason)
        return
    # Each step then has its own keys, and the component supports one key for each piece.
    if trace.recurrent and trace.features_at(0).size:
        plain_text(
            gettext(
                "In this model the keys change at every step, because they depend on the previous step’s weights. The "
                "table lists the units of the chosen cell’s energy. The key of this cell is U h + L f, where h is the "
                "annotation of the source piece and f has the features computed from the previous step’s weights."
            )
        )
        _table(view)
        return
    draw_energy_decomposition(view, address(trace, ENERGY_DECOMPOSITION.name, theme, every=True))
    if trace.recurrent:
        html(f'<p class="explanation">{texts_of(trace.config["attention"]).units}</p>')
    _table(view)


@makes_payload(ENERGY_DECOMPOSITION.name, of_step=True)
def cells_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload from which the browser draws the energy of every cell."""
    return energy_decomposition_payload(request.trace.displayed, request.weights, request.theme)


def _table(view: View) -> None:
    """Offer all units of the current cell as a table, computed only while its box is open."""
    title = gettext("All units of this energy as a table")
    table_box(view, title, "energy_decomposition_table", "energy-decomposition-tables")


@makes_payload("energy-decomposition-tables")
def units_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of all units of the current cell as a table."""
    step, source = request.selection.step, source_of(request.selection, request.trace)
    subject = Subject(request.trace, step, request.weights, source)
    title = gettext(
        "Step {step}, source piece {source}: the running sum ends at e = {energy:.6f}",
        step=step + 1,
        source=source + 1,
        energy=subject.energy_decomposition.energy,
    )
    return tables_payload([(title, ENERGY_DECOMPOSITION.draw(subject).frame())])
