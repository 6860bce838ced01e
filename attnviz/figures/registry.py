"""`FIGURES`, the only list of the figures of a decoder step: page, files, lessons and command line read it."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass
from typing import Literal, get_args

from attnviz.analysis.diagram import context_sentence, context_units, displayed_units_caption
from attnviz.analysis.energy_equations import score_vector
from attnviz.analysis.imported_file_texts import missing_energies_reason, missing_values_reason
from attnviz.analysis.labels import quote, shorten, step_heading
from attnviz.analysis.logit_attribution import no_logit_attribution_reason
from attnviz.analysis.numpy_scorers import scorer_of
from attnviz.analysis.stages import sum_sentence
from attnviz.errors import AttnvizError, user_error
from attnviz.figures.attention_figure import (
    draw_attention,
    draw_context,
    draw_context_units,
    draw_energy,
    draw_imported,
    draw_posterior,
    draw_softmax,
)
from attnviz.figures.decoder_figure import draw_candidates, draw_change, draw_maxout, draw_state
from attnviz.figures.heads_figure import draw_stream
from attnviz.figures.perturbation_figure import draw_perturbation_tests
from attnviz.figures.spec import Spec
from attnviz.figures.subject import Subject
from attnviz.figures.waterfall_figure import (
    contrast_names,
    draw_contrast,
    draw_energy_decomposition,
    draw_logit_attribution,
)
from attnviz.languages import gettext
from attnviz.trace import Record
from attnviz.trace.drawing import DetailLevel, shows

Number = Literal["energy", "weight", "word"]
"""What a question of a lesson may ask for."""


@dataclass(frozen=True)
class Requirement:
    """A requirement of a figure."""

    is_met: Callable[[Subject], bool]
    sentence: Callable[[Subject], str]
    """Returns why there is no figure and, if possible, what the user can do."""


def _has_score_vector(subject: Subject) -> bool:
    try:
        score_vector(subject.trace, subject.weights)
    except ValueError:
        return False
    return True


COMPUTED = Requirement(lambda subject: subject.trace.translated, lambda _: missing_values_reason())
_RECURRENT = (
    COMPUTED,
    Requirement(
        lambda subject: subject.trace.recurrent,
        lambda _: gettext(
            "This figure exists only for recurrent translators. This model is a transformer: it has no recurrent "
            "state, and at each step it computes many attention distributions."
        ),
    ),
)
_MAXOUT = (
    *_RECURRENT,
    Requirement(
        lambda subject: subject.trace.has_maxout,
        lambda _: gettext(
            "This figure exists only for translators trained with attnviz. This model was imported from another "
            "program."
        ),
    ),
)
_LINEAR_READOUT = (
    COMPUTED,
    Requirement(
        lambda subject: subject.trace.recurrent,
        lambda _: gettext(
            "This model is a transformer, so logit attribution is not possible. Feed-forward networks and "
            "normalisations come between the heads and the logit, so the logit does not split into one part per word."
        ),
    ),
    Requirement(lambda subject: subject.trace.linear, lambda _: no_logit_attribution_reason()),
)
_SINGLE_ATTENTION = (
    COMPUTED,
    Requirement(
        lambda subject: subject.trace.recurrent,
        lambda _: gettext(
            "This model is a transformer: each step has many attention distributions and no single context "
            "vector. So Bayes’ rule gives no posterior attention."
        ),
    ),
    Requirement(
        lambda subject: subject.trace.has_maxout,
        lambda _: gettext(
            "Posterior attention exists only for translators trained with attnviz. This model was imported from "
            "another program."
        ),
    ),
)
_HEADS = (
    COMPUTED,
    Requirement(
        lambda subject: subject.trace.has_heads,
        lambda _: gettext("This figure shows attention heads. This model is a recurrent translator and has no heads."),
    ),
)
_RECORD = Requirement(lambda subject: isinstance(subject.trace, Record), lambda _: missing_values_reason())
_IMPORTED_ATTENTION = Requirement(
    lambda subject: not subject.trace.translated,
    lambda _: gettext("This figure exists only for attention that another program computed."),
)
_ENERGIES = Requirement(lambda subject: subject.trace.displayed.energies.size > 0, lambda _: missing_energies_reason())
_ATTENTION = Requirement(
    lambda subject: subject.trace.attends,
    lambda _: gettext(
        "This model has no attention: it writes all its words from one context vector. So there are no energies, no "
        "attention weights and no posterior attention."
    ),
)
_DECOMPOSABLE_SCORER = Requirement(
    lambda subject: subject.trace.has_heads or not scorer_of(subject.trace.config).missing,
    lambda subject: scorer_of(subject.trace.config).missing,
)
_SCORE_VECTOR = Requirement(
    lambda subject: subject.trace.has_heads or _has_score_vector(subject),
    lambda subject: gettext(
        "The energy cannot be decomposed: this trace lacks the vector v_a. The model “{model}”, which made this "
        "trace, is not available: put it in the folder of models.",
        model=subject.trace.model,
    ),
)
_WEIGHTS = Requirement(
    lambda subject: subject.weights is not None,
    lambda subject: gettext(
        "These numbers need the weights of “{model}”, the model that made this translation. The model “{model}” is not "
        "available: put it in the folder of models and open the translation again.",
        model=subject.trace.model,
    ),
)
INTERVENTION = Requirement(
    lambda subject: subject.parent is not None,
    lambda _: gettext("Nothing was changed by hand in this translation: there is nothing to compare it with."),
)
_FOIL = Requirement(
    lambda subject: subject.foil_id is not None,
    lambda _: gettext("There is no other piece to compare the chosen piece with."),
)


@dataclass(frozen=True)
class StepFigure:
    """A figure of a step."""

    name: str
    """Name in files, on the command line and in addresses of payloads."""
    title: Callable[[Subject], str]
    """Title in the current language."""
    draw: Callable[[Subject], Spec]
    """Returns the figure of a step; it requires that `missing` is empty."""
    needs: tuple[Requirement, ...] = ()
    stages: tuple[int, ...] = ()
    """Numbers of the stages that it shows; the page draws it in the first. Empty where it has a place of its own."""
    level: DetailLevel = "idea"
    """Lowest level of detail that shows it, on the page and in HTML files; by its name it is drawn at every level."""
    last_level: DetailLevel = "everything"
    """Highest level of detail that shows it."""
    covers: str = ""
    """Name of a figure of its stage that only the level *Everything* shows, where this one is available."""
    sentence: Callable[[Subject], str] | None = None
    """Returns the sentence above the figure on the page, instead of that of its last stage.

    Without it, the first figure of a stage has the stage's sentence, and the others have none. The others have `title`
    as their heading.
    """
    caption: Callable[[Subject], str] | None = None
    """Returns the explanation below the figure on the page, if there is one; the level *Idea* has none."""
    control: Literal["", "weights", "sum", "word"] = ""
    """What the page adds to it: sliders of the weights, the growing sum instead of the figure, or the choice of another
    word."""
    on_page: bool = True
    """Whether the page offers it among the figures of the step; others combine several, or take long."""
    gives_away: Set[Number] = frozenset(get_args(Number))
    """What it shows, so that a lesson cannot ask for it."""
    uses_weights: bool = False
    """Whether the figure needs the model's weights or shows more with them."""
    heading: Callable[[Subject], str] | None = None
    """Title in a file, if different from `title` with the step."""

    @property
    def stage(self) -> int | None:
        """Number of the stage in which the page draws it; None where it has a place of its own."""
        return self.stages[0] if self.stages else None

    def missing(self, subject: Subject) -> str:
        """Return why there is no such figure; empty where there is one.

        Args:
            subject: The step.
        """
        return next((need.sentence(subject) for need in self.needs if not need.is_met(subject)), "")

    def is_shown(self, subject: Subject) -> bool:
        """Return whether the figure is available and shown at the level of detail.

        Args:
            subject: The step and the level of detail.
        """
        covered = any(other.covers == self.name and not other.missing(subject) for other in FIGURES)
        level = "everything" if covered else self.level
        return not self.missing(subject) and shows(subject.level, level) and shows(self.last_level, subject.level)

    def headline(self, subject: Subject) -> str:
        """Return the title of the figure and its step, for a file.

        Args:
            subject: The step.
        """
        if self.heading is not None:
            return self.heading(subject)
        return step_heading(subject.trace, subject.step, self.title(subject))


def _logit_attribution_heading(subject: Subject) -> str:
    title = gettext("Logit attribution")
    if subject.word_id != subject.trace.target_ids[subject.step]:
        title = f"{title}, {quote(shorten(subject.name(subject.word_id), 20))}"
    return step_heading(subject.trace, subject.step, title)


def _contrast_title(subject: Subject) -> str:
    name, against = (quote(shorten(name, subject.longest or 9)) for name in contrast_names(subject))
    return gettext("Why {name} and not {against}", name=name, against=against)


def _state_caption(subject: Subject) -> str:
    order = gettext(
        "One column for each unit, sorted by rising value of the forget gate."
        if subject.trace.form["cell"] == "lstm"
        else "One column for each unit, sorted by rising value of the update gate."
    )
    return f"{order} {colour_legend()}"


def _stream_caption(_: Subject) -> str:
    rows = gettext(
        "The first row is the embedding, the next rows are the vectors that the blocks add, and the last row is the "
        "sum of all other rows. A frame marks the block of the head shown."
    )
    return f"{rows} {colour_legend()}"


def _candidates_caption(subject: Subject) -> str:
    return gettext(
        "The chart shows the likeliest pieces. Violet marks the forced piece. A piece starting with · continues a word."
        if subject.trace.search.method == "forced"
        else "The chart shows the likeliest pieces. Violet marks the piece that this step wrote. A piece starting with "
        "· continues a word."
    )


def colour_legend() -> str:
    """Return how to read the colours of strips."""
    return gettext(
        "Blue is positive, red is negative. The strength of the colour follows the square root of the value, so that "
        "small terms stay visible."
    )


POSTERIOR = StepFigure(
    "posterior",
    lambda _: gettext("Before and after the word"),
    draw_posterior,
    (*_SINGLE_ATTENTION, _ATTENTION, _WEIGHTS),
    level="everything",
    uses_weights=True,
)
ENERGY_DECOMPOSITION = StepFigure(
    "energy-decomposition",
    lambda _: gettext("Energy decomposition"),
    draw_energy_decomposition,
    (COMPUTED, _ATTENTION, _DECOMPOSABLE_SCORER, _SCORE_VECTOR),
    level="everything",
    gives_away={"energy"},
    uses_weights=True,
    heading=lambda subject: step_heading(
        subject.trace, subject.step, gettext("Energy decomposition"), subject.source_piece
    ),
)
LOGIT_ATTRIBUTION = StepFigure(
    "logit-attribution",
    lambda _: gettext("Logit attribution"),
    draw_logit_attribution,
    (*_LINEAR_READOUT, _WEIGHTS),
    level="everything",
    uses_weights=True,
    heading=_logit_attribution_heading,
)
CONTRAST = StepFigure(
    "contrast",
    _contrast_title,
    draw_contrast,
    (*_LINEAR_READOUT, _WEIGHTS, _FOIL),
    level="everything",
    uses_weights=True,
)
PERTURBATION_TESTS = StepFigure(
    "perturbation-tests",
    lambda _: gettext("Perturbation tests"),
    draw_perturbation_tests,
    (*_SINGLE_ATTENTION, _ATTENTION, _WEIGHTS),
    on_page=False,
    uses_weights=True,
)
CHANGED = StepFigure(
    "changed",
    lambda _: gettext("What changed"),
    draw_change,
    (*_MAXOUT, INTERVENTION),
)
SOFTMAX = StepFigure(
    "softmax",
    lambda _: gettext("Softmax"),
    draw_softmax,
    (_ENERGIES, _ATTENTION),
    stages=(2,),
    level="numbers",
    control="weights",
    gives_away={"energy", "weight"},
)


FIGURES: tuple[StepFigure, ...] = (
    StepFigure(
        "attention",
        lambda _: gettext("Energies, weights and mixture"),
        draw_attention,
        (COMPUTED, _ENERGIES, _ATTENTION),
        stages=(1, 2, 3),
        last_level="idea",
        sentence=lambda subject: sum_sentence(subject.attention, subject.step),
        control="weights",
        on_page=False,
        gives_away={"energy", "weight"},
    ),
    StepFigure(
        "look",
        lambda _: gettext("Where it looked"),
        draw_imported,
        (_IMPORTED_ATTENTION,),
        stages=(2,),
        gives_away={"weight"},
    ),
    StepFigure(
        "energy",
        lambda _: gettext("Energies"),
        draw_energy,
        (_ENERGIES, _ATTENTION),
        stages=(1,),
        level="numbers",
        gives_away={"energy"},
    ),
    SOFTMAX,
    StepFigure(
        "context",
        lambda subject: gettext("Values" if subject.trace.has_heads else "Context vector"),
        draw_context,
        (COMPUTED,),
        stages=(3,),
        control="sum",
        gives_away={"weight"},
    ),
    StepFigure(
        "units",
        lambda _: gettext("Units of the context vector"),
        draw_context_units,
        (*_RECURRENT, _ATTENTION),
        stages=(3,),
        level="numbers",
        covers="context",
        sentence=lambda subject: context_sentence(
            subject.trace, context_units(subject.trace, subject.step), subject.step
        ),
        caption=lambda subject: displayed_units_caption(subject.trace),
        gives_away={"weight"},
    ),
    StepFigure(
        "state",
        lambda _: gettext("State"),
        draw_state,
        _RECURRENT,
        stages=(4,),
        caption=_state_caption,
        gives_away=frozenset(),
    ),
    StepFigure(
        "maxout",
        lambda _: gettext("Maxout"),
        draw_maxout,
        _MAXOUT,
        stages=(5,),
        level="numbers",
        gives_away={"word"},
        uses_weights=True,
    ),
    StepFigure(
        "stream",
        lambda _: gettext("Residual stream"),
        draw_stream,
        _HEADS,
        stages=(4,),
        caption=_stream_caption,
        gives_away={"word"},
    ),
    StepFigure(
        "candidates",
        lambda _: gettext("Likeliest words"),
        draw_candidates,
        (_RECORD,),
        stages=(5,),
        caption=_candidates_caption,
        control="word",
        gives_away={"word"},
    ),
    POSTERIOR,
    ENERGY_DECOMPOSITION,
    LOGIT_ATTRIBUTION,
    CONTRAST,
    PERTURBATION_TESTS,
    CHANGED,
)
"""Every figure of a step, in the order of the equations; those inside an energy and a logit come last."""


def step_figures(subject: Subject) -> dict[str, StepFigure]:
    """Return the available figures of a step, by name.

    Args:
        subject: The step.
    """
    return {figure.name: figure for figure in FIGURES if not figure.missing(subject)}


def step_figure(subject: Subject, name: str) -> StepFigure:
    """Return a figure of a step.

    Args:
        subject: The step.
        name: The name of one of `FIGURES`.

    Returns:
        The figure.

    Raises:
        AttnvizError: The name is unknown, or the figure is not available.
    """
    figure = figure_named(name)
    if figure is None:
        raise user_error(
            "There is no figure “{name}” for the steps of this translation. Choose from: {names}.",
            name=name,
            names=", ".join(step_figures(subject)),
        )
    if reason := figure.missing(subject):
        raise AttnvizError(reason)
    return figure


def figure_named(name: str) -> StepFigure | None:
    """Return the figure with a name; None where there is none.

    Args:
        name: The name.
    """
    return next((figure for figure in FIGURES if figure.name == name), None)
