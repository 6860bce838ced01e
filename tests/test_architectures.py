"""Declarations of architectures: stages have equations and figures, and results are told apart."""

import dataclasses

import pytest

from attnviz import Attention, attention
from attnviz.architectures import architecture_of, could_be_of, stage_numbered, step_texts, verifier_of
from attnviz.ui.step.stage_panels import stage_figures
from tests.figures.synthetic import trace as make_trace


@pytest.mark.parametrize("kind", ["additive", "general", "none"])
def test_every_stage_has_an_equation_and_figures(kind) -> None:
    trace = make_trace(attention=kind)
    declared = architecture_of(trace).stages(trace)
    numbers = [stage.number for stage in declared]
    assert [equation.stage for equation in step_texts(trace).equation_templates(trace, "light")] == numbers
    for stage in declared:
        assert stage_numbered(trace, stage.number) is stage
        assert stage_figures(trace, stage)
        in_picture = trace.attends and stage.number in (2, 3)  # the picture of stage 1 shows them at Idea
        assert bool(stage_figures(trace, stage, "idea")) != in_picture


def test_recurrent_translators_are_told_apart_by_their_config() -> None:
    trace = make_trace()
    imported = dataclasses.replace(trace, config={**trace.config, "architecture": "seq2seq"})
    assert [architecture_of(one).name for one in (trace, imported)] == ["rnnsearch", "seq2seq"]
    assert (trace.attends_once, imported.attends_once) == (True, False)


def test_imported_attention_cannot_be_recomputed() -> None:
    given = attention(["a", "b"], ["c"], [[0.25, 0.75]])
    assert architecture_of(given).result is Attention
    assert not could_be_of(given, {})
    with pytest.raises(ValueError, match="cannot be recomputed"):
        verifier_of(given, {})
