"""The source and the translation as words above the heatmap; a click on a translated word chooses its step."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from attnviz.text import SPACE
from attnviz.trace import Trace

_ASSETS = Path(__file__).parent / "assets"


@functools.cache
def _component() -> Any:
    """Register the component, once."""
    html, css, js = ((_ASSETS / f"words.{kind}").read_text(encoding="utf-8") for kind in ("html", "css", "js"))
    return st.components.v2.component("attnviz_words", html=html, css=css, js=js)


def sentences(
    trace: Trace, step: int, playing: bool, *, choose: Callable[[int], None], tick: Callable[[], None]
) -> None:
    """Show both sentences with 1-based `step` marked.

    Call `choose` with the step of a clicked word, and `tick` once for every step painted while playing.
    """

    def chosen() -> None:
        choose(int(st.session_state.words.chosen))

    _component()(
        key="words",
        data=sentence_record(trace, step, playing),
        on_chosen_change=chosen,
        on_tick_change=tick,
    )


def sentence_record(trace: Trace, step: int, playing: bool) -> dict[str, Any]:
    """Return what the browser draws: words with their pieces and steps, and how much of alpha each source word has."""
    words = trace.words()
    alpha = trace.alignment[step - 1]
    source = [
        {
            "text": _surface(trace.source_pieces, group),
            "space": _opens_with_space(trace.source_pieces, group),
            "end": _is_end(trace.source_pieces, group),
        }
        for group in words.source_groups
    ]
    target = [
        {
            "pieces": [{"text": _surface(trace.target_pieces, (i,)), "step": i + 1} for i in group],
            "space": _opens_with_space(trace.target_pieces, group),
            "end": _is_end(trace.target_pieces, group),
        }
        for group in words.target_groups
    ]
    return {
        "identity": "\n".join((*trace.source_pieces, "", *trace.target_pieces)),
        "source": source,
        "target": target,
        "weights": [float(alpha[list(group)].sum()) for group in words.source_groups],
        "step": step,
        "playing": playing,
    }


def _surface(pieces: tuple[str, ...], group: tuple[int, ...]) -> str:
    return "".join(pieces[i] for i in group).replace(SPACE, " ").strip() or SPACE


def _opens_with_space(pieces: tuple[str, ...], group: tuple[int, ...]) -> bool:
    first = group[0]
    return first > 0 and (pieces[first].startswith(SPACE) or pieces[first].startswith("<"))


def _is_end(pieces: tuple[str, ...], group: tuple[int, ...]) -> bool:
    return pieces[group[0]] == "</s>"
