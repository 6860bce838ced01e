"""The pictures of a decoder step, by name: what there is to show of a step, to save, and to hand out as a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import pandas as pd
import plotly.graph_objects as go

from attnviz.errors import AttnvizError
from attnviz.figures.attention import attention_bars, attention_table, energy_table, softmax_table
from attnviz.figures.candidates import candidates, candidates_table
from attnviz.figures.context import context_strips, context_table
from attnviz.figures.energies import energy_bars
from attnviz.figures.maxout import maxout_strips, maxout_table
from attnviz.figures.softmax import softmax_bars
from attnviz.figures.state import state_strips, state_table
from attnviz.languages import say
from attnviz.palette import ThemeName
from attnviz.trace import Trace


class Draw(Protocol):
    """Draws a picture of 0-based `step`."""

    def __call__(self, trace: Trace, step: int, *, theme: ThemeName = "light") -> go.Figure:
        """Return the picture, with `alt` and `narrowest` in its `layout.meta`."""


class Tabulate(Protocol):
    """Makes the table of the numbers in a picture of 0-based `step`."""

    def __call__(self, trace: Trace, step: int) -> pd.DataFrame:
        """Return the table."""


@dataclass(frozen=True)
class StepFigure:
    """A picture of a step, with its table."""

    title: Callable[[], str]
    """Its name in the language in use."""
    draw: Draw
    table: Tabulate
    needs_attention: bool = False
    """Whether it has something to say only of a model that has energies."""


def maxout(trace: Trace, step: int, *, theme: ThemeName = "light") -> go.Figure:
    """Draw the readout of 0-based `step` after the maxout; what it was chosen from is not in a trace."""
    return maxout_strips(trace, step, None, theme=theme)


STEP_FIGURES: dict[str, StepFigure] = {
    "attention": StepFigure(lambda: say("Energies and weights"), attention_bars, attention_table, needs_attention=True),
    "energy": StepFigure(lambda: say("Energies"), energy_bars, energy_table, needs_attention=True),
    "softmax": StepFigure(lambda: say("Softmax"), softmax_bars, softmax_table, needs_attention=True),
    "context": StepFigure(lambda: say("Context vector"), context_strips, context_table),
    "state": StepFigure(lambda: say("State"), state_strips, state_table),
    "maxout": StepFigure(lambda: say("Maxout"), maxout, lambda trace, step: maxout_table(trace, step, None)),
    "candidates": StepFigure(lambda: say("Likeliest words"), candidates, candidates_table),
}
"""Every picture of a step, in the order of the equations; the keys are part of file names and of the command line."""


def step_figures(trace: Trace) -> dict[str, StepFigure]:
    """Return the pictures that there are of each step of `trace`."""
    has_energies = trace.config["attention"] != "none"
    return {name: figure for name, figure in STEP_FIGURES.items() if has_energies or not figure.needs_attention}


def step_figure(trace: Trace, name: str) -> StepFigure:
    """Return the picture `name` of a step of `trace`; raise AttnvizError where there is none of that name."""
    offered = step_figures(trace)
    if name not in offered:
        raise AttnvizError(f"There is no picture {name!r} of this translation's steps. There are {', '.join(offered)}.")
    return offered[name]
