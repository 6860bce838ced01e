"""Draw the stages of a transformer's step: scores and weights of a head, its values, residual stream, and word."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from attnviz.languages import gettext
from attnviz.palette import ThemeName
from attnviz.ui.components.chart import chart
from attnviz.ui.components.context_growth import context_growth
from attnviz.ui.shared_payloads import address
from attnviz.ui.step.intervention_controls import other_word_panel
from attnviz.ui.step.payload_addresses import payload_address
from attnviz.ui.view import View


def _scores(view: View, theme: ThemeName) -> None:
    _chart(view, "scores", theme)


def _weights(view: View, theme: ThemeName) -> None:
    _chart(view, "weights", theme)
    st.caption(
        gettext("A transformer computes attention many times at each step, so its weights cannot be changed by hand.")
    )


def _values(view: View, theme: ThemeName) -> None:
    context_growth(view, address(view.trace, "values", theme, every=True))
    st.caption(f"{gettext('One column for each unit.')} {_colour_legend()}")


def _stream(view: View, theme: ThemeName) -> None:
    _chart(view, "stream", theme)
    legend = gettext(
        "The first row is the embedding, the next rows are the vectors that the blocks add, and the last row is "
        "the sum of all other rows. A frame marks the block of the head shown."
    )
    st.caption(f"{legend} {_colour_legend()}")


def _word(view: View, theme: ThemeName) -> None:
    chart(view, payload_address(view, "word", theme), "candidates")
    forced = view.trace.search.method == "forced"
    st.caption(
        gettext(
            "The chart shows the likeliest pieces. Violet marks the forced piece. A piece starting with · "
            "continues a word."
        )
        if forced
        else gettext(
            "The likeliest pieces; violet marks the piece that this step wrote. A piece starting with · "
            "continues a word."
        )
    )
    other_word_panel(view, payload_address(view, "foils", theme))


def _chart(view: View, name: str, theme: ThemeName) -> None:
    chart(view, payload_address(view, name, theme), name)


def _colour_legend() -> str:
    return gettext(
        "Blue is positive, red is negative. The strength of the colour follows the square root of the value, so "
        "that small terms stay visible."
    )


PANELS: Mapping[str, Callable[[View, ThemeName], None]] = {
    "scores": _scores,
    "weights": _weights,
    "values": _values,
    "stream": _stream,
    "word of heads": _word,
}
"""Functions that draw a stage, by the names in the declaration of the transformer."""
