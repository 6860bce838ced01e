"""`Architecture`: everything that depends on which kind of network, or of file, the numbers on show come from."""

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
from attnviz.wording.labels import shorten
from attnviz.wording.search import search_name
from attnviz.wording.stages import Stage


def _model(record: Record) -> str:
    return gettext("model {model}", model=shorten(record.model, 24))


def _model_and_search(record: Record) -> str:
    return gettext("Model {model}, {how}", model=record.model, how=search_name(record, gettext("forced decoding")))


@dataclass(frozen=True)
class Told:
    """The sentences and equations of a step. Each takes a result of the architecture, then a 0-based step or piece."""

    stage_titles: Callable[[Any], dict[int, str]]
    """The stages of a step by number, in the order in which they were computed."""
    narrate: Callable[[Any, int], tuple[Stage, ...]]
    idea_titles: Callable[[Any], dict[int, str]]
    """As `stage_titles`, for somebody who knows no formula, and so the next."""
    narrate_idea: Callable[[Any, int], tuple[Stage, ...]]
    equation_templates: Callable[[Any, ThemeName], tuple[Equation, ...]] = lambda *_: ()
    texts_of_step: Callable[[Any, int, ThemeName], Texts] = lambda *_: {}
    texts_of_source: Callable[[Any, int], Texts] = lambda *_: {}
    texts_of_cells: Callable[[Any, int], dict[str, list[str]]] = lambda *_: {}
    whose: Callable[[Any], str] = lambda _: ""
    """Says whose attention the alignment is, where a step has many; nothing where it has one."""
    step_sentence: Callable[[Any, int, str], str] = stages.step_sentence
    """Says what happened at a step; the text stands for a piece that is a blank and nothing else."""
    made_by: Callable[[Any], str] = _model
    """Says whose numbers they are, in a few words."""
    how: Callable[[Any], str] = _model_and_search
    """Says it at the end of a sentence, with how the target was found."""


@dataclass(frozen=True)
class Architecture:
    """One architecture, declared once: what reads a result, asks its declaration and not its type."""

    name: str
    """As in `bounds.ARCHITECTURES`; "attention" for what another program computed."""
    result: type[Saved]
    """What is recorded of it."""
    verifier: Callable[[Any, Weights], Verifier] | None = None
    """Makes what recomputes a result from weights, and raises MisfitError for those of another model; None where there
    is nothing to recompute from."""
    check_model: Callable[[Any, Weights], None] | None = None
    """Raises MisfitError unless the weights have the kind and the sizes of the model that made a result."""
    told: Told | None = None
    """None where there are no steps."""
    stages: Mapping[int, str] = field(default_factory=dict)
    """The panel of each stage, by its number: the page has a function for each name."""
    idea: Callable[[Any], dict[str, int]] = lambda _: {}
    """The figures of a step for somebody who knows no formula, with the number of the stage that each is of."""
    payloads: frozenset[str] = frozenset()
    """Names of what the browser may fetch of a result."""
    missing: Mapping[str, Callable[[], str]] = field(default_factory=dict)
    """What this architecture lacks, and the sentence that says so."""

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """The arrays of a result, with symbol, shape and equation."""
        return self.result.arrays
