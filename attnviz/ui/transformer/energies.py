"""Draw the first rung: one energy of additive and of dot-product attention, unit by unit, and the cost of each."""

from __future__ import annotations

from collections.abc import Iterator

import streamlit as st

from attnviz import AttnvizError, Trace
from attnviz.analysis.multiplications import Work, work
from attnviz.figures.figure_input import Subject
from attnviz.figures.multiplications import work_figure, work_table
from attnviz.figures.registry import STEP_FIGURES
from attnviz.languages import gettext, language
from attnviz.palette import ThemeName
from attnviz.ui.components.chart.chart import EVERY_STEP, chart, given_chart, steady_payload
from attnviz.ui.components.energy_decomposition.energy_decomposition import energy_decomposition
from attnviz.ui.components.equation.equation import equation, inline_equation
from attnviz.ui.components.verification_badge.verification_badge import verification
from attnviz.ui.figure_cache import made_once
from attnviz.ui.page_state.view import View
from attnviz.ui.resources import weights_of
from attnviz.ui.shared_payloads import address, on_show
from attnviz.ui.step.step_controls import transport
from attnviz.ui.toolbar.downloads import Picture
from attnviz.ui.transformer.exhibit import ADDITIVE, DOT, Asked, Chosen, Exhibit, missing
from attnviz.wording.multiplications import work_equation, work_sentence
from attnviz.wording.verification import not_verified_text
from attnviz.wording.why import attention_name, short_name

_PICTURES = ("energy-decomposition", "softmax")


def _open(asked: Asked) -> View:
    if told := missing(ADDITIVE, DOT):
        raise AttnvizError(told)
    additive, dot = _both(asked)
    if additive.target_pieces != dot.target_pieces or additive.source_pieces != dot.source_pieces:
        raise AttnvizError(
            gettext(
                "Models {one} and {other} split these sentences into different pieces, so their energies cannot "
                "be compared. Use models with the same tokenizer.",
                one=ADDITIVE,
                other=DOT,
            )
        )
    return View(EXHIBIT.view_id, additive)


def _both(asked: Asked) -> tuple[Trace, Trace]:
    """Return both models force-decoded with the additive model's translation; raise AttnvizError on bad input."""
    given = asked.translated(ADDITIVE).translation
    if not given.strip():
        raise AttnvizError(
            gettext("The translation for forced decoding is empty. Try another sentence or translation.")
        )
    return on_show(asked.translated(ADDITIVE, given)), on_show(asked.translated(DOT, given))


def _panel(view: View, asked: Asked, theme: ThemeName) -> None:
    traces = _both(asked)
    transport(view)
    for trace, column in zip(traces, st.columns(2, gap="large"), strict=True):
        with column:
            _energy(view, trace, theme)
    found = _work(traces)
    with st.container(key=view.key("work")):
        st.html(f'<h2 class="section">{gettext("Cost of the energies")}</h2>')
        left, right = st.columns([11, 10], gap="large")
        with left:
            _work_chart(view, traces, found, theme)
        with right, st.container(key=view.key("ladder_work")):
            sizes = int(traces[0].config["hidden_size"]), int(traces[0].config["alignment_size"])
            lengths = len(traces[0].source_pieces), len(traces[0].target_pieces)
            additive, dot = found.values()
            inline_equation(view, work_equation(additive, dot, sizes, lengths), "work")


def _energy(view: View, trace: Trace, theme: ThemeName) -> None:
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


def _work(traces: tuple[Trace, ...]) -> dict[str, Work]:
    return {
        short_name(str(one.config["attention"])): work(one.config, len(one.source_pieces), len(one.target_pieces))
        for one in traces
    }


def _work_chart(view: View, traces: tuple[Trace, ...], found: dict[str, Work], theme: ThemeName) -> None:
    identity = "-".join(trace.fingerprint for trace in traces)
    given_chart(view, _work_payload(found, identity, theme, language()), "work_chart")


@made_once
def _work_payload(_found: dict[str, Work], identity: str, theme: ThemeName, code: str) -> dict[str, object]:  # noqa: ARG001
    figure = work_figure(_found, theme=theme)
    return steady_payload(figure.to_json(), {EVERY_STEP: ("", work_sentence(*_found.values()))})


def _pictures(view: View, asked: Asked, chosen: Chosen, theme: ThemeName) -> Iterator[Picture]:  # noqa: ARG001  as others
    traces = _both(asked)
    for trace in traces:
        subject = Subject(trace, chosen.step, weights_of(trace), chosen.source)
        for name in _PICTURES:
            figure = STEP_FIGURES[name]
            title = f"{figure.title(subject)}, {attention_name(str(trace.config['attention']))}"
            yield Picture(
                title,
                f"{figure.headline(subject)} ({trace.model})",
                f"{trace.model}-{chosen.step + 1}-{name}",
                figure.draw(subject, theme=theme),
                figure.table(subject),
            )
    found, title = _work(traces), gettext("Multiplications")
    yield Picture(
        title,
        title,
        "multiplications",
        work_figure(found, theme=theme),
        work_table(found),
        work_sentence(*found.values()),
    )


EXHIBIT = Exhibit(_open, _panel, _pictures, "energies")
