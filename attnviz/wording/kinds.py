"""The texts about a step for each class of trace: the only module that distinguishes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from attnviz.languages import gettext
from attnviz.palette import ThemeName
from attnviz.trace import Aligned, Attention, Record, Seq2SeqTrace, Trace, TransformerTrace
from attnviz.wording import (
    equations,
    given,
    idea,
    seq2seq_equations,
    seq2seq_stages,
    stages,
    transformer_equations,
    transformer_idea,
    transformer_stages,
)
from attnviz.wording.equations import Equation, Texts
from attnviz.wording.labels import shorten
from attnviz.wording.search import search_name
from attnviz.wording.stages import Stage


def _model(record: Record) -> str:
    return gettext("model {model}", model=shorten(record.model, 24))


def _model_and_search(record: Record) -> str:
    return gettext("Model {model}, {how}", model=record.model, how=search_name(record, gettext("a given translation")))


@dataclass(frozen=True)
class Told:
    """Functions of the texts for one class of trace. Each takes a trace, and then a 0-based step or source piece."""

    stage_titles: Callable[[Any], dict[int, str]]
    narrate: Callable[[Any, int], tuple[Stage, ...]]
    equation_templates: Callable[[Any, ThemeName], tuple[Equation, ...]]
    texts_of_step: Callable[[Any, int, ThemeName], Texts]
    texts_of_source: Callable[[Any, int], Texts]
    texts_of_cells: Callable[[Any, int], dict[str, list[str]]]
    whose: Callable[[Any], str]
    """Names the heads whose attention is displayed; empty where a step has one distribution."""
    idea_titles: Callable[[Any], dict[int, str]]
    """Stage titles without formulas."""
    narrate_idea: Callable[[Any, int], tuple[Stage, ...]]
    step_sentence: Callable[[Any, int, str], str] = stages.step_sentence
    """Describes a step; the text names a piece that is only a space."""
    made_by: Callable[[Any], str] = _model
    """Names the model, in a few words."""
    how: Callable[[Any], str] = _model_and_search
    """Names the model and the search, for the end of a sentence."""


_TOLD: Mapping[type[Aligned], Told] = {
    Trace: Told(
        stages.stage_titles,
        stages.narrate,
        equations.equation_templates,
        equations.texts_of_step,
        equations.texts_of_source,
        equations.texts_of_cells,
        lambda _: "",
        idea.idea_titles,
        idea.idea_stages,
    ),
    TransformerTrace: Told(
        transformer_stages.head_stage_titles,
        transformer_stages.narrate_head,
        transformer_equations.head_equations,
        transformer_equations.head_texts_of_step,
        transformer_equations.head_texts_of_source,
        transformer_equations.head_texts_of_cells,
        transformer_stages.shown_heads,
        transformer_idea.many_looks_titles,
        transformer_idea.many_looks_stages,
    ),
    Seq2SeqTrace: Told(
        seq2seq_stages.import_stage_titles,
        seq2seq_stages.narrate_import,
        seq2seq_equations.import_equations,
        seq2seq_equations.import_texts_of_step,
        equations.texts_of_source,
        equations.texts_of_cells,
        lambda _: "",
        idea.idea_titles,
        idea.idea_stages,
    ),
    Attention: Told(
        given.given_stage_titles,
        given.narrate_given,
        lambda *_: (),
        lambda *_: {},
        lambda *_: {},
        lambda *_: {},
        lambda _: "",
        given.given_stage_titles,
        given.narrate_given,
        given.given_step_sentence,
        given.made_by,
        lambda trace: stages.capital(given.made_by(trace)),
    ),
}


def told(record: Aligned) -> Told:
    """Return the texts for the class of `record`."""
    return _TOLD[type(record)]
