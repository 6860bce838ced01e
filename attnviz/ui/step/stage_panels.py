"""Draw the stages of a step, from energies to word: figures, controls and equation of each.

There are five stages, or three without attention. The browser fetches the payloads for all steps at once. At the level
*Idea*, sentences are short, figures simple, and there are no controls and equations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attnviz.analysis.energy_equations import texts_of
from attnviz.analysis.posterior import posterior_caption, posterior_title
from attnviz.analysis.recomputation import Weights
from attnviz.analysis.stages import Stage
from attnviz.analysis.verification import misfit_text
from attnviz.architectures import architecture_of
from attnviz.figures.registry import ENERGY_DECOMPOSITION, LOGIT_ATTRIBUTION, POSTERIOR, StepFigure, colour_legend
from attnviz.figures.subject import Subject
from attnviz.languages import gettext
from attnviz.trace import Trace
from attnviz.ui.components.chart import chart
from attnviz.ui.components.component import box, caption, columns, component, html, plain_text
from attnviz.ui.components.tables import table_box
from attnviz.ui.embedding import embedding
from attnviz.ui.fields import option_field
from attnviz.ui.page_state.selection import POSTERIOR_OPEN
from attnviz.ui.payloads import address, payload_address
from attnviz.ui.resources import has_posterior, weights_of
from attnviz.ui.step.stage_payloads import POSTERIOR_EQUATION, stage_figures, stages_of
from attnviz.ui.step.what_if_panel import intervention_panel, other_word_panel, weights_chart
from attnviz.ui.view import View


def draw_stage(view: View, stage: Stage, place: int) -> None:
    """Draw the `stage` of the current step, with its equation from *Numbers* on.

    Its `place` counts from 1: a model without attention has three stages.
    """
    first, *_ = stage_figures(view.trace, stage, view.detail_level)
    title, number = stage.title(), str(place)
    if len(first.stages) > 1:
        title, number = first.title(Subject(view.trace, 0)), f"{place}–{place + len(first.stages) - 1}"
    html(f'<h3><span class="number">{number}</span>{title}</h3>')
    draw_figures(view, stage)
    if view.shows("numbers"):
        at = payload_address(view, f"equation-{stage.number}")
        component("equation", view.key(f"equation_{stage.number}"), {"at": at})


def draw_figures(view: View, stage: Stage, heading: str = "h4") -> None:
    """Draw the figures of `stage`; those after the first have a `heading`, the name of an HTML tag."""
    for place, figure in enumerate(stage_figures(view.trace, stage, view.detail_level)):
        if place:
            title = figure.title(Subject(view.trace, 0))
            html(f'<{heading} class="section">{title}</{heading}>')
        _CONTROLS.get(figure.control, _chart)(view, figure)


def stage_boxes(view: View) -> list[tuple[int, Stage, str]]:
    """Return place, declaration and key of the stages of `view` that have a figure of their own.

    At the level *Idea*, one picture shows energies, weights and their mixture.
    """
    boxes = []
    for place, stage in enumerate(stages_of(view), 1):
        if figures := stage_figures(view.trace, stage, view.detail_level):
            boxes.append((place, stage, "one_picture" if len(figures[0].stages) > 1 else f"stage_{stage.number}"))
    return boxes


def _chart(view: View, figure: StepFigure, hint: str = "") -> None:
    """Draw a figure with its caption, to which `hint` is added."""
    chart(view, payload_address(view, figure.name), figure.name)
    text = figure.caption(Subject(view.trace, 0, level=view.detail_level)) if figure.caption else ""
    if text or hint:
        caption(f"{text} {hint}".strip())


def _weights(view: View, figure: StepFigure) -> None:
    weights_chart(view, payload_address(view, figure.name), figure.name)
    if view.shows("numbers"):
        if reason := architecture_of(view.trace).missing.get("softmax"):
            caption(reason())
        intervention_panel(view)


def _sum(view: View, figure: StepFigure) -> None:
    """Draw the growing sum where there is attention, and at the level *Idea* all heads."""
    if view.trace.attends and not view.simple:
        component("context_growth", view.key("growth"), {"at": address(view.trace, "growth", every=True)})
        caption(f"{gettext('One column for each unit.')} {colour_legend()}")
        return
    _chart(view, figure)
    if not view.simple:  # one vector instead of a weighted sum
        caption(
            gettext(
                "This model has no attention weights to change by hand. You can make the step write another word "
                "instead."
            )
        )


def _word(view: View, figure: StepFigure) -> None:
    """Draw the likeliest pieces, and the choice of another."""
    has_attribution = (
        embedding() is None and view.shows(LOGIT_ATTRIBUTION.level) and view.trace.recurrent and view.trace.linear
    )
    _chart(view, figure, _click_hint(view.trace) if has_attribution else "")
    if not view.simple:
        other_word_panel(view)


def _click_hint(trace: Trace) -> str:
    if trace.attends:
        return gettext("Click a piece to see its logit attribution below: which English words raised its logit.")
    return gettext("Click a piece to see its logit attribution below: what raised its logit.")


_CONTROLS: Mapping[str, Callable[[View, StepFigure], None]] = {
    "weights": _weights,
    "sum": _sum,
    "word": _word,
}
"""Functions that draw a figure with a control; others are only charts."""


def energy_decomposition_panel(view: View, weights: Weights | None) -> None:
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
    at = address(trace, ENERGY_DECOMPOSITION.name, every=True)
    component("energy_decomposition", view.key("energy-decomposition"), {"at": at})
    if trace.recurrent:
        html(f'<p class="explanation">{texts_of(trace.config["attention"]).units}</p>')
    _table(view)


def _table(view: View) -> None:
    """Offer all units of the current cell as a table, computed only while its box is open."""
    title = gettext("All units of this energy as a table")
    table_box(view, title, "energy_decomposition_table", "energy-decomposition-tables")


def posterior_section(view: View) -> None:
    """Draw the section; the browser opens and closes it, and fetches its figures once it is open."""
    option_field(view, POSTERIOR_OPEN, "disclosure", posterior_title(), width="stretch")
    with box(view.key("posterior_contents")):
        reason = POSTERIOR.missing(Subject(view.trace, 0, weights_of(view.trace)))
        if not reason and not has_posterior(view.trace):
            reason = misfit_text(view.trace, 0)
        if reason:
            plain_text(reason)
            return
        left, right = columns([7, 5], gap="medium")
        with left:
            chart(view, payload_address(view, POSTERIOR.name), POSTERIOR.name)
        with right:
            component("equation", view.key("equation_after"), {"at": payload_address(view, POSTERIOR_EQUATION)})
            html(f'<p class="explanation">{posterior_caption()}</p>')
