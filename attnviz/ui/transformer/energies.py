"""First exhibit of *To the transformer*: an energy of additive and of general attention by units, and their costs."""

from __future__ import annotations

from collections.abc import Iterator

import streamlit as st

from attnviz import Trace
from attnviz.analysis.attention_forms import Multiplications, count_multiplications
from attnviz.figures.attention_forms import work_figure, work_table
from attnviz.figures.figure_input import Subject
from attnviz.figures.registry import STEP_FIGURES
from attnviz.languages import gettext, language
from attnviz.palette import ThemeName
from attnviz.ui.components.chart import EVERY_STEP, chart, inline_chart, steady_payload
from attnviz.ui.components.energy_decomposition import energy_decomposition
from attnviz.ui.components.equation import equation, inline_equation
from attnviz.ui.components.player import player
from attnviz.ui.resources import cached_for_all, weights_of
from attnviz.ui.shared_payloads import address
from attnviz.ui.step.verification_badge import verification
from attnviz.ui.toolbar.downloads import Picture
from attnviz.ui.transformer.attention_row import VIEW_ID, energy_traces, make_view
from attnviz.ui.transformer.exhibit import Exhibit, ExhibitSelection, SentenceRequest
from attnviz.ui.view import View
from attnviz.wording.transformer_page import work_equation, work_sentence
from attnviz.wording.verification import not_verified_text
from attnviz.wording.why import attention_name, short_name

_FIGURES = ("energy-decomposition", "softmax")


def _draw(view: View, request: SentenceRequest, theme: ThemeName) -> None:
    traces = energy_traces(request)
    with st.container(key=view.key("player_box")):
        player(view)
    for trace, column in zip(traces, st.columns(2, gap="large"), strict=True):
        with column:
            _energy_column(view, trace, theme)
    costs = _work(traces)
    with st.container(key=view.key("work")):
        st.html(f'<h2 class="section">{gettext("Cost of the energies")}</h2>')
        left, right = st.columns([11, 10], gap="large")
        with left:
            _work_chart(view, traces, costs, theme)
        with right, st.container(key=view.key("ladder_work")):
            sizes = int(traces[0].config["hidden_size"]), int(traces[0].config["alignment_size"])
            lengths = len(traces[0].source_pieces), len(traces[0].target_pieces)
            additive, dot = costs.values()
            inline_equation(view, work_equation(additive, dot, sizes, lengths), "work")


def _energy_column(view: View, trace: Trace, theme: ThemeName) -> None:
    """Draw the energy of the current cell in one model: its units, the softmax, the equation and its verification."""
    kind = str(trace.config["attention"])
    st.html(f'<h2 class="section">{attention_name(kind)} <small class="model">{trace.model}</small></h2>')
    energy_decomposition(
        view, address(trace, "energy-decomposition", theme, every=True), f"energy_decomposition_{kind}"
    )
    chart(view, address(trace, "softmax", theme, every=True), f"softmax_{kind}")
    with st.container(key=view.key(f"ladder_{kind}")):
        equation(view, f"energy_{kind}", address(trace, "equation-1", theme, every=True))
    if weights_of(trace) is None:
        st.text(not_verified_text(trace))
    else:
        verification(view, address(trace, "verification", theme, every=False), f"verification_{kind}")


def _work(traces: tuple[Trace, ...]) -> dict[str, Multiplications]:
    return {
        short_name(str(trace.config["attention"])): count_multiplications(
            trace.config, len(trace.source_pieces), len(trace.target_pieces)
        )
        for trace in traces
    }


def _work_chart(view: View, traces: tuple[Trace, ...], costs: dict[str, Multiplications], theme: ThemeName) -> None:
    identity = "-".join(trace.fingerprint for trace in traces)
    inline_chart(view, _work_payload(costs, identity, theme, language()), "work_chart")


@cached_for_all
def _work_payload(_costs: dict[str, Multiplications], identity: str, theme: ThemeName, code: str) -> dict[str, object]:  # noqa: ARG001
    figure = work_figure(_costs, theme=theme)
    return steady_payload(figure.to_json(), {EVERY_STEP: ("", work_sentence(*_costs.values()))})


def _pictures(view: View, request: SentenceRequest, selection: ExhibitSelection, theme: ThemeName) -> Iterator[Picture]:  # noqa: ARG001  as others
    traces = energy_traces(request)
    for trace in traces:
        subject = Subject(trace, selection.step, weights_of(trace), selection.source)
        for name in _FIGURES:
            figure = STEP_FIGURES[name]
            title = f"{figure.title(subject)}, {attention_name(str(trace.config['attention']))}"
            yield Picture(
                title,
                f"{figure.headline(subject)} ({trace.model})",
                f"{trace.model}-{selection.step + 1}-{name}",
                figure.draw(subject, theme=theme),
                figure.table(subject),
            )
    costs, title = _work(traces), gettext("Multiplications")
    yield Picture(
        title,
        title,
        "multiplications",
        work_figure(costs, theme=theme),
        work_table(costs),
        work_sentence(*costs.values()),
    )


EXHIBIT = Exhibit(make_view, _draw, _pictures, VIEW_ID)
