"""Payload and table of the architecture diagram: numbers of the step, drawn units and labels."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pytest

from attnviz import Trace
from attnviz.analysis.diagram import drawn_units
from attnviz.architectures import narrate
from attnviz.ui.step.diagram_panel import diagram_payload, diagram_table
from tests.figures.synthetic import trace as make_trace

KINDS = pytest.mark.parametrize("attention", ["additive", "general", "none"])


def payload_of(trace: Trace, steps: tuple[int, ...] | None = None) -> dict[str, Any]:
    asked = tuple(range(len(trace.target_pieces))) if steps is None else steps
    return diagram_payload(trace, asked, {step: narrate(trace, step) for step in asked})


def unpacked(text: str, width: int) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype="<f4").reshape(-1, width)


@KINDS
def test_payload_numbers_equal_the_trace(attention: str) -> None:
    trace = make_trace(attention=attention)
    steps, units = (1, 3), drawn_units(trace)
    record, columns = payload_of(trace, steps), len(trace.source_pieces)
    assert record["steps"] == list(steps)
    np.testing.assert_array_equal(unpacked(record["weights"], columns), trace.alignment[[1, 3]])
    np.testing.assert_array_equal(unpacked(record["energies"], columns), trace.energies[[1, 3]])
    squares = record["squares"]
    annotations = unpacked(record["annotations"], squares["annotation"])
    np.testing.assert_array_equal(annotations, trace.annotations[:, units.annotation])
    before, after = (unpacked(record[name], squares["state"]) for name in ("before", "after"))
    np.testing.assert_array_equal(before, trace.previous_states[[1, 3]][:, units.state])
    np.testing.assert_array_equal(after, trace.states[[1, 3]][:, units.state])
    readouts = unpacked(record["readouts"], squares["readout"])
    np.testing.assert_array_equal(readouts, trace.readouts[[1, 3]][:, units.readout])
    # The drawn units of the context are the weighted sums of the drawn units of the annotations.
    contexts = unpacked(record["contexts"], squares["context"])
    if trace.attends:
        expected = trace.alignment[[1, 3]].astype(np.float64) @ annotations.astype(np.float64)
    else:
        expected = np.repeat(annotations[-1:, : squares["context"]], 2, axis=0)
    np.testing.assert_allclose(contexts, expected, atol=1e-5)


def test_payload_has_words_alt_texts_and_foils() -> None:
    trace = make_trace()
    record = payload_of(trace)
    assert record["sources"][:2] == ["The", "agre"]
    assert record["joined"][:3] == [False, False, True]
    assert record["previous"][0] == "<s>"
    assert record["written"][0] == "L'"
    for step, alt in enumerate(record["alts"]):
        assert f"step {step + 1} of {len(trace.target_pieces)}" in alt
        for stage in narrate(trace, step):
            assert f"{stage.title}: {stage.outcome}." in alt
    assert all(foils.startswith("others: “mot1”") for foils in record["foils"])


@KINDS
def test_table_has_every_vector_and_number_of_the_diagram(attention: str) -> None:
    trace = make_trace(attention=attention)
    units, table, columns = drawn_units(trace), diagram_table(trace, 2), len(trace.source_pieces)
    assert list(table.index[-4:]) == ["c₃", "s₂", "s₃", "t₃"]
    squares = table.filter(like="square").to_numpy()
    np.testing.assert_array_equal(squares[:columns], trace.annotations[:, units.annotation])
    np.testing.assert_array_equal(squares[columns, : len(units.context)], trace.contexts[2][units.context])
    np.testing.assert_array_equal(squares[columns + 1, : len(units.state)], trace.states[1][units.state])
    assert ("α" in table) == trace.attends
    if trace.attends:
        np.testing.assert_array_equal(table["α"][:columns], trace.alignment[2])
