"""The declaration of each architecture: result type, quantities, recomputation, stages, sentences and payloads.

Code that displays, verifies or saves a result reads the declaration instead of checking the type of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from attnviz.analysis.fit import MisfitError, check_model
from attnviz.analysis.judgement import JudgementVerifier, check_judgement_fit
from attnviz.analysis.recomputation import Weights
from attnviz.analysis.seq2seq_verification import Seq2SeqVerifier, check_seq2seq_fit
from attnviz.analysis.transformer_verification import HeadVerifier, TransformerVerifier, check_transformer_fit
from attnviz.analysis.verification import RNNsearchVerifier, Verifier
from attnviz.languages import gettext
from attnviz.palette import ThemeName
from attnviz.trace import Attention, Judgement, Record, Recurrent, Seq2SeqTrace, Trace, TransformerTrace
from attnviz.trace.quantity import Quantity
from attnviz.trace.saved import SavedResult
from attnviz.trace.transformer_trace import Head
from attnviz.wording import equations, head, idea, imported_attention, seq2seq_steps, stages, transformer_steps
from attnviz.wording.equations import Equation, Texts
from attnviz.wording.idea import TermCard, recurrent_terms
from attnviz.wording.labels import search_name, shorten
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
    made_by_search: Callable[[Any], str] = _model_and_search
    """The same, capitalised, with the search that found the target."""
    terms: Callable[[Any], tuple[TermCard, ...]] = lambda _: ()
    """Terms that the sentences at the level *Idea* explain."""


@dataclass(frozen=True)
class Architecture:
    """The declaration of one architecture."""

    name: str
    """Name in `bounds.ARCHITECTURES`; "attention" for that of another program, "head" for one head of a transformer."""
    result: type[SavedResult | Head]
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


DECOMPOSABLE = Architecture("decomposable", Judgement, JudgementVerifier, check_judgement_fit)


IDEA_FIGURES = {"energy": 1, "softmax": 2, "mixtures": 3, "units": 3, "context": 3, "state": 4, "candidates": 5}
"""Figures of a step at the level *Idea*, with the numbers of their stages."""
EVERY_TRANSLATION = frozenset(
    ["facts", "verification", "foils", "tour", "tour-idea", "candidates", "idea-facts", "idea-candidates"]
    + [f"equation-{stage}" for stage in range(1, 6)]
)
"""Payloads of the translations of every architecture."""
PAYLOADS = (
    EVERY_TRANSLATION
    | {
        "energy",
        "softmax",
        "growth",
        "units",
        "diagram",
        "energy-decomposition",
        "state",
        "logit-attribution",
        "contrast",
    }
    | {f"idea-{name}" for name in IDEA_FIGURES}
)


def idea_figures(trace: Recurrent) -> dict[str, int]:
    """Return the figures of a step: "context" instead of "mixtures" and "units" where there is no attention."""
    left_out = {"context"} if trace.attends else {"mixtures", "units"}
    return {name: stage for name, stage in IDEA_FIGURES.items() if name not in left_out}


IMPORTED = Architecture(
    "seq2seq",
    Seq2SeqTrace,
    Seq2SeqVerifier,
    check_seq2seq_fit,
    StepTexts(
        seq2seq_steps.import_stage_titles,
        seq2seq_steps.narrate_seq2seq,
        idea.idea_titles,
        idea.idea_stages,
        seq2seq_steps.seq2seq_equations,
        seq2seq_steps.seq2seq_texts_of_step,
        equations.texts_of_source,
        equations.texts_of_cells,
        terms=recurrent_terms,
    ),
    {1: "energy", 2: "softmax", 3: "context", 4: "state", 5: "word"},
    idea_figures,
    PAYLOADS | {"word"},
    {
        "softmax": lambda: gettext(
            "You cannot change the attention weights of an imported translator by hand, but you can make it write "
            "another word."
        ),
        "lab": lambda: gettext(
            "Attributions and perturbation tests need a translator trained with attnviz. This model was imported "
            "from another program."
        ),
    },
)


IMPORTED_ATTENTION = Architecture(
    "attention",
    Attention,
    step_texts=StepTexts(
        imported_attention.attention_stage_titles,
        imported_attention.narrate_attention,
        imported_attention.attention_stage_titles,
        imported_attention.narrate_attention,
        heads_text=imported_attention.shown_heads,
        step_sentence=imported_attention.attention_step_sentence,
        made_by=imported_attention.made_by,
        made_by_search=lambda trace: stages.capitalised(imported_attention.made_by(trace)),
    ),
    payloads=frozenset(["facts", "look", "energy", "softmax"]),
)


RNNSEARCH = Architecture(
    "rnnsearch",
    Trace,
    RNNsearchVerifier,
    check_model,
    StepTexts(
        stages.stage_titles,
        stages.narrate,
        idea.idea_titles,
        idea.idea_stages,
        equations.equation_templates,
        equations.texts_of_step,
        equations.texts_of_source,
        equations.texts_of_cells,
        terms=recurrent_terms,
    ),
    {1: "energy", 2: "softmax", 3: "context", 4: "state", 5: "maxout and word"},
    idea_figures,
    PAYLOADS | {"posterior", "equation-after", "weight_controls", "changed", "context", "maxout"},
)


HEAD_IDEA_FIGURES = {"energy": 1, "softmax": 2, "looks": 3, "stream": 4, "candidates": 5}
"""Figures of a step at the level *Idea*, with the numbers of their stages."""

TRANSFORMER = Architecture(
    "transformer",
    TransformerTrace,
    TransformerVerifier,
    check_transformer_fit,
    StepTexts(
        transformer_steps.head_stage_titles,
        transformer_steps.narrate_head,
        idea.transformer_idea_titles,
        idea.transformer_idea_stages,
        transformer_steps.head_equations,
        transformer_steps.head_texts_of_step,
        equations.texts_of_source,
        equations.texts_of_cells,
        transformer_steps.shown_heads,
    ),
    {1: "energy", 2: "softmax", 3: "values", 4: "stream", 5: "word"},
    lambda _: dict(HEAD_IDEA_FIGURES),
    EVERY_TRANSLATION
    | {"word", "energy", "softmax", "growth", "stream", "energy-decomposition"}
    | {f"idea-{name}" for name in HEAD_IDEA_FIGURES},
    {
        "softmax": lambda: gettext(
            "A transformer computes attention many times at each step, so its attention weights cannot be changed by "
            "hand."
        ),
        "lab": lambda: gettext(
            "Attributions and perturbation tests need a model with one attention distribution per step. This model is "
            "a transformer, which has many attention distributions per step."
        ),
    },
)


HEAD = Architecture(
    "head",
    Head,
    HeadVerifier,
    lambda opened, weights: check_transformer_fit(opened.record, weights),
    StepTexts(
        head.head_titles,
        head.narrate_row,
        head.head_titles,
        head.narrate_row,
        transformer_steps.opened_equations,
        transformer_steps.opened_texts_of_step,
        equations.texts_of_source,
        equations.texts_of_cells,
    ),
    {1: "energy", 2: "softmax", 3: "values", 4: "stream"},
    payloads=frozenset(["verification", "energy", "softmax", "growth", "stream", "energy-decomposition"])
    | {f"equation-{stage}" for stage in range(1, 5)},
)
"""One head of a transformer, of any kind, whose rows are the steps."""


__all__ = ["ARCHITECTURES", "Architecture", "StepTexts", "architecture_of", "could_be_of", "step_texts", "verifier_of"]

ARCHITECTURES: Mapping[str, Architecture] = {
    architecture.name: architecture
    for architecture in (RNNSEARCH, IMPORTED, TRANSFORMER, HEAD, DECOMPOSABLE, IMPORTED_ATTENTION)
}
_BY_RESULT = {architecture.result: architecture for architecture in ARCHITECTURES.values()}


def architecture_of(result: SavedResult | Head) -> Architecture:
    """Return the declaration of the architecture that made `result`."""
    return _BY_RESULT[type(result)]


def step_texts(result: SavedResult | Head) -> StepTexts:
    """Return the sentences and equations of the steps of `result`; raise ValueError where there are no steps."""
    texts = architecture_of(result).step_texts
    if texts is None:
        raise ValueError(f"{type(result).__name__} has no steps")
    return texts


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
    check = architecture_of(result).check_model
    if check is None:
        return False
    try:
        check(result, weights)
    except MisfitError:
        return False
    return True
