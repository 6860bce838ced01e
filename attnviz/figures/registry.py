"""Registry of the figures of a decoder step, by name, with their titles, tables and requirements.

It is the only list of them: page, files, lecture and command line read it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import plotly.graph_objects as go

from attnviz import lazy_pandas as pd
from attnviz.analysis.context_units import context_units
from attnviz.analysis.labels import quote, shorten, step_heading
from attnviz.analysis.logit_attribution import logit_attribution_title
from attnviz.errors import AttnvizError
from attnviz.figures.all_heads_figure import all_heads_template, all_heads_values
from attnviz.figures.attention_figure import (
    attention_bars,
    attention_table,
    energy_table,
    energy_template,
    energy_values,
    imported_table,
    imported_template,
    imported_values,
    posterior_table,
    posterior_template,
    posterior_values,
    share_template,
    share_values,
    softmax_table,
    softmax_template,
    softmax_values,
)
from attnviz.figures.build import Spec
from attnviz.figures.candidates import (
    candidates_table,
    candidates_template,
    candidates_values,
    maxout_table,
    maxout_template,
    maxout_values,
)
from attnviz.figures.context import context_strips, context_table, mixtures_template, mixtures_values
from attnviz.figures.context_units_figure import context_units_table, context_units_template, context_units_values
from attnviz.figures.energy_decomposition_figure import energy_decomposition_figure, energy_decomposition_table
from attnviz.figures.figure_input import (
    ATTENTION,
    ATTENTION_FOR_POSTERIOR,
    COMPUTED,
    DECOMPOSABLE_SCORER,
    ENERGIES,
    FOIL,
    INTERVENTION,
    LINEAR_READOUT,
    MAXOUT_READOUT,
    PERTURBATION_WEIGHTS,
    POSTERIOR_WEIGHTS,
    REQUIRES_HEADS,
    REQUIRES_IMPORTED_ATTENTION,
    REQUIRES_RECURRENT,
    REQUIRES_TRANSLATION,
    REQUIRES_WEIGHTS,
    SCORE_VECTOR,
    SINGLE_ATTENTION,
    Requirement,
    Subject,
)
from attnviz.figures.logit_attribution_figure import (
    logit_attribution_rows,
    logit_attribution_table,
    logit_attribution_template,
    logit_attribution_values,
)
from attnviz.figures.perturbation_figure import perturbation_tests_figure, perturbation_tests_table
from attnviz.figures.residual_stream_figure import (
    added_template,
    added_values,
    stream_table,
    stream_template,
    stream_values,
)
from attnviz.figures.state_figure import (
    state_shares_template,
    state_shares_values,
    state_table,
    state_template,
    state_values,
)
from attnviz.figures.step_change import step_change_figure, step_change_table
from attnviz.figures.template import FigureTemplate, Values, redrawn_picture
from attnviz.languages import gettext
from attnviz.palette import ThemeName


@dataclass(frozen=True)
class StepFigure:
    """A figure of a step, with its table."""

    title: Callable[[Subject], str]
    """Title in the current language."""
    picture: FigureTemplate
    table: Callable[[Subject], pd.DataFrame]
    """Returns the numbers of the figure."""
    needs: tuple[Requirement, ...] = ()
    uses_weights: bool = False
    """Whether the figure needs the model's weights or shows more with them."""
    summary: bool = False
    """Whether it combines other figures or is drawn on request only; the page leaves it out of a step's figures."""
    heading: Callable[[Subject], str] | None = None
    """Title in a file, if different from `title`."""
    simple: FigureTemplate | None = None
    """The figure at the level *Idea*, if different."""

    def missing(self, subject: Subject) -> str:
        """Return why there is no such figure; empty where there is one.

        Args:
            subject: The step.
        """
        return next((need.sentence(subject) for need in self.needs if not need.is_met(subject)), "")

    def picture_at(self, *, simple: bool) -> FigureTemplate:
        """Return the picture.

        Args:
            simple: Whether to return that of the level *Idea*.
        """
        return self.simple if simple and self.simple else self.picture

    def draw(self, subject: Subject, *, theme: ThemeName = "light") -> go.Figure:
        """Return the figure, with `alt` and `narrowest` in its `layout.meta`.

        Args:
            subject: The step.
            theme: "light" or "dark".
        """
        return self.picture.draw(subject, theme=theme)

    def headline(self, subject: Subject) -> str:
        """Return the title of the figure and its step, for a file.

        Args:
            subject: The step.
        """
        if self.heading is not None:
            return self.heading(subject)
        return step_heading(subject.trace, subject.step, self.title(subject))


def _step_picture(template: Callable[[Any, ThemeName], Spec], values: Callable[[Any, int], Values]) -> FigureTemplate:
    """Return a picture that depends on the displayed attention and the step only."""
    return FigureTemplate(
        lambda subject, theme: template(subject.trace.displayed, theme),
        lambda subject, _: values(subject.trace.displayed, subject.step),
    )


def _redrawn_step(draw: Callable[..., go.Figure]) -> FigureTemplate:
    """Return a picture that is redrawn at each step, from the displayed attention only."""
    return redrawn_picture(lambda subject, theme: draw(subject.trace.displayed, subject.step, theme=theme))


def _table(tabulate: Callable[[Any, int], pd.DataFrame]) -> Callable[[Subject], pd.DataFrame]:
    return lambda subject: tabulate(subject.trace.displayed, subject.step)


IMPORTED_WEIGHTS = _step_picture(imported_template, imported_values)
ENERGY, SOFTMAX = _step_picture(energy_template, energy_values), _step_picture(softmax_template, softmax_values)
STREAM = _step_picture(stream_template, stream_values)
CONTEXT_UNITS = FigureTemplate(
    lambda subject, theme: context_units_template(subject.trace, theme),
    lambda subject, _: context_units_values(subject.trace, context_units(subject.trace, subject.step), subject.step),
)
CONTEXT = _redrawn_step(context_strips)
MIXTURES = FigureTemplate(
    lambda _, theme: mixtures_template(theme), lambda subject, _: mixtures_values(subject.trace, subject.step)
)
ALL_HEADS = FigureTemplate(
    lambda subject, theme: all_heads_template(subject.trace, theme),
    lambda subject, _: all_heads_values(subject.trace, subject.step),
)
SIMPLE_CONTEXT = FigureTemplate(
    lambda subject, theme: _simple_context(subject).template(subject, theme),
    lambda subject, theme: _simple_context(subject).values(subject, theme),
)
STATE = FigureTemplate(
    lambda subject, theme: state_template(subject.trace, theme),
    lambda subject, theme: state_values(subject.trace, subject.step, theme),
)
MAXOUT = FigureTemplate(
    lambda subject, theme: maxout_template(subject.trace, theme, paired=subject.weights is not None),
    lambda subject, _: maxout_values(subject.trace, subject.step, subject.maxout_pairs),
)
CANDIDATES = FigureTemplate(
    lambda _, theme: candidates_template(theme),
    lambda subject, theme: candidates_values(subject.trace, subject.step, theme),
)

POSTERIOR_BARS = FigureTemplate(
    lambda subject, theme: posterior_template(subject.trace, theme),
    lambda subject, _: posterior_values(subject.trace, subject.posterior_attention, subject.step),
)


def _context_title(subject: Subject) -> str:
    return gettext("Values") if subject.trace.has_heads else gettext("Context vector")


def _simple_context(subject: Subject) -> FigureTemplate:
    if subject.trace.has_heads:
        return ALL_HEADS
    return MIXTURES if subject.trace.attends else CONTEXT


def _maxout_table(subject: Subject) -> pd.DataFrame:
    return maxout_table(subject.trace, subject.step, subject.maxout_pairs)


def _energy_decomposition_heading(subject: Subject) -> str:
    return step_heading(subject.trace, subject.step, gettext("Energy decomposition"), subject.source_piece)


def attribution_rows(subject: Subject) -> tuple[int, ...]:
    """Return the source pieces with a row of their own in logit attribution and contrast, the chosen one included."""
    attributions = (
        [subject.logit_attribution] if subject.foil_id is None else [subject.logit_attribution, subject.contrast]
    )
    return logit_attribution_rows(attributions, subject.source_piece)


def _logit_attribution_values(subject: Subject, theme: ThemeName) -> Values:
    title = logit_attribution_title(subject.name(subject.word_id))
    return logit_attribution_values(
        subject.trace, subject.logit_attribution, title, rows=attribution_rows(subject), theme=theme
    )


def _logit_attribution_heading(subject: Subject) -> str:
    title = gettext("Logit attribution")
    if subject.word_id != subject.trace.target_ids[subject.step]:
        title = f"{title}, {quote(shorten(subject.name(subject.word_id), 20))}"
    return step_heading(subject.trace, subject.step, title)


def _contrast_values(subject: Subject, theme: ThemeName) -> Values:
    title = logit_attribution_title(*_word_and_foil_names(subject))
    return logit_attribution_values(subject.trace, subject.contrast, title, rows=attribution_rows(subject), theme=theme)


def _contrast_title(subject: Subject) -> str:
    name, against = (quote(shorten(name, 9)) for name in _word_and_foil_names(subject))
    return gettext("Why {name} and not {against}", name=name, against=against)


def _word_and_foil_names(subject: Subject) -> tuple[str, str]:
    assert subject.foil_id is not None  # the requirement FOIL ensures it
    return subject.name(subject.word_id), subject.name(subject.foil_id)


PERTURBATION_TESTS = redrawn_picture(
    lambda subject, theme: perturbation_tests_figure(
        subject.trace, subject.perturbation_tests, subject.piece_or_id, subject.best_attention, theme=theme
    )
)
CHANGE = redrawn_picture(lambda subject, theme: step_change_figure(subject.change, theme=theme))
ENERGY_DECOMPOSITION = redrawn_picture(
    lambda subject, theme: energy_decomposition_figure(subject.energy_decomposition, theme=theme)
)
LOGIT_ATTRIBUTION = FigureTemplate(
    lambda subject, theme: logit_attribution_template(subject.trace, theme), _logit_attribution_values
)
CONTRAST = FigureTemplate(lambda subject, theme: logit_attribution_template(subject.trace, theme), _contrast_values)

STEP_FIGURES: dict[str, StepFigure] = {
    "attention": StepFigure(
        lambda _: gettext("Energies and weights"),
        _redrawn_step(attention_bars),
        _table(attention_table),
        (REQUIRES_RECURRENT, ATTENTION),
        summary=True,
    ),
    "look": StepFigure(
        lambda _: gettext("Where it looked"), IMPORTED_WEIGHTS, _table(imported_table), (REQUIRES_IMPORTED_ATTENTION,)
    ),
    "energy": StepFigure(
        lambda _: gettext("Energies"),
        ENERGY,
        _table(energy_table),
        (ENERGIES, ATTENTION),
        simple=_step_picture(partial(energy_template, simple=True), partial(energy_values, simple=True)),
    ),
    "softmax": StepFigure(
        lambda _: gettext("Softmax"),
        SOFTMAX,
        _table(softmax_table),
        (ENERGIES, ATTENTION),
        simple=_step_picture(share_template, share_values),
    ),
    "context": StepFigure(_context_title, CONTEXT, _table(context_table), (COMPUTED,), simple=SIMPLE_CONTEXT),
    "units": StepFigure(
        lambda _: gettext("Units of the context vector"),
        CONTEXT_UNITS,
        _table(context_units_table),
        (REQUIRES_RECURRENT, ATTENTION),
    ),
    "state": StepFigure(
        lambda _: gettext("State"),
        STATE,
        _table(state_table),
        (REQUIRES_RECURRENT,),
        simple=_step_picture(state_shares_template, state_shares_values),
    ),
    "maxout": StepFigure(lambda _: gettext("Maxout"), MAXOUT, _maxout_table, (MAXOUT_READOUT,), uses_weights=True),
    "stream": StepFigure(
        lambda _: gettext("Residual stream"),
        STREAM,
        _table(stream_table),
        (REQUIRES_HEADS,),
        simple=_step_picture(added_template, added_values),
    ),
    "candidates": StepFigure(
        lambda _: gettext("Likeliest words"),
        CANDIDATES,
        lambda subject: candidates_table(subject.trace, subject.step),
        (REQUIRES_TRANSLATION,),
    ),
    "posterior": StepFigure(
        lambda _: gettext("Before and after the word"),
        POSTERIOR_BARS,
        lambda subject: posterior_table(subject.trace, subject.posterior_attention, subject.step),
        (SINGLE_ATTENTION, ATTENTION_FOR_POSTERIOR, POSTERIOR_WEIGHTS),
        uses_weights=True,
    ),
    "energy-decomposition": StepFigure(
        lambda _: gettext("Energy decomposition"),
        ENERGY_DECOMPOSITION,
        lambda subject: energy_decomposition_table(subject.energy_decomposition),
        (COMPUTED, ATTENTION, DECOMPOSABLE_SCORER, SCORE_VECTOR),
        uses_weights=True,
        heading=_energy_decomposition_heading,
    ),
    "logit-attribution": StepFigure(
        lambda _: gettext("Logit attribution"),
        LOGIT_ATTRIBUTION,
        lambda subject: logit_attribution_table(subject.trace, subject.logit_attribution),
        (LINEAR_READOUT, REQUIRES_WEIGHTS),
        uses_weights=True,
        heading=_logit_attribution_heading,
    ),
    "contrast": StepFigure(
        _contrast_title,
        CONTRAST,
        lambda subject: logit_attribution_table(subject.trace, subject.contrast),
        (LINEAR_READOUT, REQUIRES_WEIGHTS, FOIL),
        uses_weights=True,
    ),
    "perturbation-tests": StepFigure(
        lambda _: gettext("Perturbation tests"),
        PERTURBATION_TESTS,
        lambda subject: perturbation_tests_table(
            subject.perturbation_tests, subject.piece_or_id, subject.best_attention
        ),
        (SINGLE_ATTENTION, ATTENTION, PERTURBATION_WEIGHTS),
        uses_weights=True,
        summary=True,
    ),
    "changed": StepFigure(
        lambda _: gettext("What changed"),
        CHANGE,
        lambda subject: step_change_table(subject.change),
        (MAXOUT_READOUT, INTERVENTION),
    ),
}
"""Every figure of a step, by name, in the order of the equations.

Those inside an energy and a logit come last. The names are used in file names and on the command line.
"""


def step_figures(subject: Subject) -> dict[str, StepFigure]:
    """Return the available figures of a step, by name.

    Args:
        subject: The step.
    """
    return {name: figure for name, figure in STEP_FIGURES.items() if not figure.missing(subject)}


def step_figure(subject: Subject, name: str) -> StepFigure:
    """Return a figure of a step.

    Args:
        subject: The step.
        name: One of `STEP_FIGURES`.

    Returns:
        The figure.

    Raises:
        AttnvizError: The name is unknown, or the figure is not available.
    """
    if name not in STEP_FIGURES:
        offered = ", ".join(step_figures(subject))
        raise AttnvizError(
            gettext(
                "There is no figure “{name}” for the steps of this translation. Choose from: {names}.",
                name=name,
                names=offered,
            )
        )
    reason = STEP_FIGURES[name].missing(subject)
    if reason:
        raise AttnvizError(reason)
    return STEP_FIGURES[name]
