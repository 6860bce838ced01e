"""Figures at the level *Idea* (without formulas): they draw the numbers of the trace, without raw energies."""

import numpy as np
import plotly.graph_objects as go
import pytest

from attnviz.analysis.measures import word_weights_of_heads
from attnviz.analysis.numbers import decimal, percent, times
from attnviz.analysis.stages import energy_and_ratio
from attnviz.figures.registry import step_figure
from attnviz.figures.subject import Subject
from attnviz.network import TransformerConfig
from attnviz.trace import Trace, TransformerTrace
from attnviz.translator import Translator
from tests.conftest import SENTENCES
from tests.figures import synthetic
from tests.transformers import random_transformer


def simple(trace: Trace | TransformerTrace, step: int, name: str) -> go.Figure:
    """Return the figure of this name as the level *Idea* draws it."""
    subject = Subject(trace, step, level="idea")
    return step_figure(subject, name).draw(subject).figure()


def test_the_line_between_energies_and_weights_gives_their_ratio() -> None:
    trace = synthetic.trace()
    for step in range(len(trace.target_pieces)):
        energies, _, weights, shares, _ = simple(trace, step, "attention").data
        first, second = np.argsort(-trace.alignment[step], kind="stable")[:2]
        sentence = energy_and_ratio(trace, step)
        difference = float(np.round(energies.y[first], 2)) - float(np.round(energies.y[second], 2))
        ratio = weights.y[first] / weights.y[second]
        assert np.exp(difference) == pytest.approx(ratio, rel=0.02)
        if ratio > 1.06:
            assert decimal(difference) in sentence
            assert times(float(np.exp(difference))) in sentence
        assert shares.text[first] == percent(float(weights.y[first]))


def test_weights_can_be_dragged_and_their_mixture_computed() -> None:
    trace = synthetic.trace()
    figure = simple(trace, 1, "attention")
    meta = figure.layout.meta
    assert figure.data[meta["weights"]["trace"]].y is figure.data[2].y
    assert len(meta["weights"]["pieces"]) == len(trace.source_pieces)
    mixed = trace.alignment[1] @ np.asarray(meta["mixture"]["values"])
    np.testing.assert_allclose(mixed, figure.data[meta["mixture"]["trace"]].z[-1], atol=1e-5)


def test_state_bar_shows_the_mean_of_the_update_gate() -> None:
    trace = synthetic.trace()
    (bar,) = simple(trace, 2, "state").data
    kept = float(trace.update_gates[2].mean())
    np.testing.assert_allclose(bar.x, [kept, 1 - kept])
    np.testing.assert_allclose(bar.base, [0, kept])


@pytest.fixture(scope="module")
def heads(tokenizer) -> TransformerTrace:
    network = random_transformer(TransformerConfig(len(tokenizer), 16, 4, 2, 12), 2)
    return Translator(network, tokenizer, "small").translate(SENTENCES[0], target=SENTENCES[1])


def test_each_row_is_a_head_and_the_opened_head_is_framed(heads) -> None:
    step, opened = 2, heads.displayed
    figure = simple(heads, step, "context")
    (image,) = figure.data
    np.testing.assert_allclose(np.square(image.z), word_weights_of_heads(heads, step).reshape(8, -1), atol=1e-6)
    frame = figure.layout.shapes[-1]
    assert frame.y0 == opened.layer * 4 + opened.head - 0.5


def test_stream_bars_are_the_norms_of_the_added_vectors(heads) -> None:
    (bars,) = simple(heads, 2, "stream").data
    np.testing.assert_allclose(
        bars.x[1:], np.linalg.norm(np.diff(heads.decoder_streams, axis=0)[:, 2], axis=1), atol=1e-5
    )
    assert bars.x[0] == pytest.approx(float(np.linalg.norm(heads.decoder_streams[0, 2])))
