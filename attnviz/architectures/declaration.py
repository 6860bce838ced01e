"""The class `Architecture`: everything that depends on the kind of network or file that displayed numbers come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from attnviz.analysis.recomputation import Weights
from attnviz.analysis.verification import Verifier
from attnviz.languages import gettext
from attnviz.palette import ThemeName
from attnviz.trace import Record
from attnviz.trace.quantity import Quantity
from attnviz.trace.saved import Saved
from attnviz.wording import stages
from attnviz.wording.equations import Equation, Texts
from attnviz.wording.file_headings import search_name
from attnviz.wording.idea import TermCard
from attnviz.wording.labels import shorten
from attnviz.wording.stages import Stage


def _model(record: Record) -> str:
    return gettext("model {model}", model=shorten(record.model, 24))


def _model_and_search(record: Record) -> str:
    return gettext("Model {model}, {how}", model=record.model, how=search_name(record, gettext("forced decoding")))


@dataclass(frozen=True)
class StepTexts:
    """Functions that return the sentences and equations of a step.

    Their first argument is a result of the architecture; the next is a 0-based step or piece.
    """

    stage_titles: Callable[[Any], dict[int, str]]
    """Titles of the stages of a step by number, in the order of computation."""
    narrate: Callable[[Any, int], tuple[Stage, ...]]
    """The stages of a step with their sentences."""
    idea_titles: Callable[[Any], dict[int, str]]
    """As `stage_titles`, at the level *Idea*, without formulas."""
    narrate_idea: Callable[[Any, int], tuple[Stage, ...]]
    """As `narrate`, at the level *Idea*."""
    equation_templates: Callable[[Any, ThemeName], tuple[Equation, ...]] = lambda *_: ()
    texts_of_step: Callable[[Any, int, ThemeName], Texts] = lambda *_: {}
    texts_of_source: Callable[[Any, int], Texts] = lambda *_: {}
    texts_of_cells: Callable[[Any, int], dict[str, list[str]]] = lambda *_: {}
    heads_text: Callable[[Any], str] = lambda _: ""
    """Names the heads that the alignment is of, where a step has several; "" where it has one distribution."""
    step_sentence: Callable[[Any, int, str], str] = stages.step_sentence
    """Sentence about a step; the text replaces a piece that consists of a blank only."""
    made_by: Callable[[Any], str] = _model
    """Phrase that names the model or program that made the numbers."""
    how: Callable[[Any], str] = _model_and_search
    """The same, capitalised, with the search that found the target."""
    terms: Callable[[Any], tuple[TermCard, ...]] = lambda _: ()
    """Terms that the sentences at the level *Idea* explain."""


@dataclass(frozen=True)
class Architecture:
    """The declaration of one architecture."""

    name: str
    """Name in `bounds.ARCHITECTURES`; "attention" for attention that another program computed."""
    result: type[Saved]
    """Type of its results."""
    verifier: Callable[[Any, Weights], Verifier] | None = None
    """Returns the verifier of a result, given weights; raises MisfitError for weights of another model.

    None where nothing can be recomputed.
    """
    check_model: Callable[[Any, Weights], None] | None = None
    """Raises MisfitError unless the weights have the kind and the sizes of the model that made a result."""
    step_texts: StepTexts | None = None
    """Sentences and equations of the steps; None where there are no steps."""
    stages: Mapping[int, str] = field(default_factory=dict)
    """Name of the panel of each stage, by the number of the stage; `ui.step.stages` has a function for each name."""
    idea: Callable[[Any], dict[str, int]] = lambda _: {}
    """Figures of a step at the level *Idea*, by name, each with the number of its stage."""
    payloads: frozenset[str] = frozenset()
    """Names of the payloads that the browser may fetch."""
    missing: Mapping[str, Callable[[], str]] = field(default_factory=dict)
    """Functions of the page that this architecture does not support, each with the sentence of the reason."""

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """The arrays of a result, with symbol, shape and equation."""
        return self.result.arrays
