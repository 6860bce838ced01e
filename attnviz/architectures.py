"""The declaration of each architecture: result type, quantities, recomputation, stages, equations and payloads.

Code that displays, verifies or saves a result reads the declaration instead of checking the type of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from attnviz.analysis import imported_file_texts, stages, step_equations, transformer_steps
from attnviz.analysis.judgement import JudgementVerifier
from attnviz.analysis.labels import capitalised, search_name, shorten
from attnviz.analysis.page_texts import TermCard, recurrent_terms
from attnviz.analysis.recomputation import Weights
from attnviz.analysis.stages import Stage, StageText
from attnviz.analysis.step_equations import Equation, Texts
from attnviz.analysis.transformer_verification import HeadVerifier, TransformerVerifier
from attnviz.analysis.verification import RecurrentVerifier, Verifier
from attnviz.analysis.weight_shapes import MisfitError, check_fit
from attnviz.languages import gettext
from attnviz.palette import ThemeName
from attnviz.trace import Attention, Head, Judgement, Record, Trace, TransformerTrace
from attnviz.trace.quantity import Quantity
from attnviz.trace.saved import SavedResult


def _model(record: Record) -> str:
    return gettext("model {model}", model=shorten(record.model, 24))


def _model_and_search(record: Record) -> str:
    return gettext(
        "Model {model}, {how}", model=shorten(record.model, 60), how=search_name(record, gettext("forced decoding"))
    )


@dataclass(frozen=True)
class StepTexts:
    """Functions that return the equations of a step, and sentences about the whole of it.

    Their first argument is a result of the architecture; the next is a 0-based step or piece.
    """

    equation_templates: Callable[[Any, ThemeName], tuple[Equation, ...]] = lambda *_: ()
    texts_of_step: Callable[[Any, int, ThemeName], Texts] = lambda *_: {}
    texts_of_source: Callable[[Any, int], Texts] = lambda *_: {}
    texts_of_cells: Callable[[Any, int], dict[str, list[str]]] = lambda *_: {}
    heads_text: Callable[[Any], str] = lambda _: ""
    """Names the heads that the alignment is of, where a step has several; "" where it has one distribution."""
    step_sentence: Callable[..., str] = stages.step_sentence
    """Sentence about a step, in everyday words if `simple`."""
    made_by: Callable[[Any], str] = _model
    """Phrase that names the model or program that made the numbers."""
    made_by_search: Callable[[Any], str] = _model_and_search
    """The same, capitalised, with the search that found the target."""
    terms: Callable[[Any], tuple[TermCard, ...]] = lambda _: ()
    """Terms that the sentences at the level *Idea* explain."""


@dataclass(frozen=True)
class Architecture:
    """The declaration of one architecture."""

    name: str
    """Name in `network.model_config.CONFIGS`; "attention" for another program's, "head" for a transformer's head."""
    result: type[SavedResult | Head]
    """Type of its results."""
    verifier: type[Verifier] | None = None
    """Class of the verifiers of a result; None where nothing can be recomputed."""
    stages: Callable[[Any], tuple[Stage, ...]] = lambda _: ()
    """The stages of a step of a result, in the order of computation."""
    step_texts: StepTexts | None = None
    """Equations of the steps and sentences about them; None where there are no steps."""
    payloads: frozenset[str] = frozenset()
    """Names of the payloads that the browser may fetch, besides those of the available figures."""
    missing: Mapping[str, Callable[[], str]] = field(default_factory=dict)
    """Functions of the page that this architecture does not support, each with the sentence of the reason."""

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """The arrays of a result, with symbol, shape and equation."""
        return self.result.arrays


DECOMPOSABLE = Architecture("decomposable", Judgement, JudgementVerifier)


EVERY_TRANSLATION = frozenset(
    ["facts", "verification", "foils", "tour"] + [f"equation-{stage}" for stage in range(1, 6)]
)
"""Payloads of the translations of every architecture."""
PAYLOADS = EVERY_TRANSLATION | {"growth", "diagram"}


_RECURRENT_TEXTS = StepTexts(
    step_equations.equation_templates,
    step_equations.texts_of_step,
    step_equations.texts_of_source,
    step_equations.texts_of_cells,
    terms=recurrent_terms,
)
_HEAD_TEXTS = StepTexts(
    transformer_steps.head_equations,
    transformer_steps.head_texts_of_step,
    step_equations.texts_of_source,
    step_equations.texts_of_cells,
)


IMPORTED = Architecture(
    "seq2seq",
    Trace,
    RecurrentVerifier,
    stages.recurrent_stages,
    _RECURRENT_TEXTS,
    PAYLOADS,
    {
        "softmax": lambda: gettext(
            "You cannot change the attention weights of an imported translator by hand, but you can make it write "
            "another word."
        ),
        "lab": lambda: gettext(
            "Attributions and perturbation tests need a translator trained with attnviz. This model was imported "
            "from another program."
        ),
        "neighbours": lambda: gettext(
            "Nearest neighbours are available only for translators trained with attnviz. This model was imported from "
            "another program."
        ),
    },
)


IMPORTED_ATTENTION = Architecture(
    "attention",
    Attention,
    stages=lambda _: (imported_file_texts.ATTENTION_STAGE,),
    step_texts=StepTexts(
        heads_text=imported_file_texts.attention_heads_text,
        step_sentence=imported_file_texts.attention_step_sentence,
        made_by=imported_file_texts.made_by,
        made_by_search=lambda trace: capitalised(imported_file_texts.made_by(trace)),
    ),
    payloads=frozenset(["facts"]),
)


RNNSEARCH = Architecture(
    "rnnsearch",
    Trace,
    RecurrentVerifier,
    stages.recurrent_stages,
    _RECURRENT_TEXTS,
    PAYLOADS | {"equation-after", "weight_controls"},
)


TRANSFORMER = Architecture(
    "transformer",
    TransformerTrace,
    TransformerVerifier,
    lambda _: transformer_steps.TRANSFORMER_STAGES,
    replace(_HEAD_TEXTS, heads_text=lambda trace: transformer_steps.heads_name(trace.heads)),
    EVERY_TRANSLATION | {"growth"},
    {
        "softmax": lambda: gettext(
            "A transformer computes attention many times at each step, so its attention weights cannot be changed by "
            "hand."
        ),
        "lab": lambda: gettext(
            "Attributions and perturbation tests need a model with one attention distribution per step. This model is "
            "a transformer, which has many attention distributions per step."
        ),
        "neighbours": lambda: gettext(
            "This model is a transformer. A transformer has no state and no single context vector per step, so there "
            "are no nearest neighbours to find."
        ),
    },
)


_HEAD = Architecture(
    "head",
    Head,
    HeadVerifier,
    lambda _: transformer_steps.HEAD_STAGES,
    _HEAD_TEXTS,
    frozenset(["verification", "growth"]) | {f"equation-{stage}" for stage in range(1, 5)},
)
"""One head of a transformer, of any kind, whose rows are the steps."""


__all__ = [
    "ARCHITECTURES",
    "Architecture",
    "StepTexts",
    "architecture_of",
    "could_be_of",
    "narrate",
    "stage_numbered",
    "step_texts",
    "verifier_of",
]

ARCHITECTURES: Mapping[str, Architecture] = {
    architecture.name: architecture
    for architecture in (RNNSEARCH, IMPORTED, TRANSFORMER, _HEAD, DECOMPOSABLE, IMPORTED_ATTENTION)
}


def architecture_of(result: SavedResult | Head) -> Architecture:
    """Return the declaration of the architecture that made `result`."""
    return ARCHITECTURES[result.architecture]


def step_texts(result: SavedResult | Head) -> StepTexts:
    """Return the sentences and equations of the steps of `result`; raise ValueError where there are no steps."""
    texts = architecture_of(result).step_texts
    if texts is None:
        raise ValueError(f"{type(result).__name__} has no steps")
    return texts


def narrate(result: SavedResult | Head, step: int, *, simple: bool = False) -> tuple[StageText, ...]:
    """Return the stages of 0-based `step` in words; in everyday words, for the level *Idea*, if `simple`."""
    return tuple(stage.text(result, step, simple=simple) for stage in architecture_of(result).stages(result))


def stage_numbered(result: SavedResult | Head, number: int | None) -> Stage | None:
    """Return the stage of a step with a number, or the first later one where the architecture lacks it."""
    stages = sorted(architecture_of(result).stages(result), key=lambda stage: stage.number)
    return next((stage for stage in stages if number is not None and stage.number >= number), None)


def verifier_of(result: SavedResult | Head, weights: Weights) -> Verifier:
    """Return the verifier of `result`, given the weights of the model that made it.

    Raise MisfitError where they are of another kind or size, ValueError where nothing can be recomputed.
    """
    make = architecture_of(result).verifier
    if make is None:
        raise ValueError(f"{type(result).__name__} cannot be recomputed")
    return make(result, weights)


def could_be_of(result: SavedResult | Head, weights: Weights) -> bool:
    """Return whether `weights` have the kind and the sizes of the model that made `result`."""
    verifier = architecture_of(result).verifier
    if verifier is None:
        return False
    try:
        check_fit(result, weights, verifier.weight_shapes)
    except MisfitError:
        return False
    return True
