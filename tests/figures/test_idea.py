"""Figures at the level *Idea* (without formulas): they draw the numbers of the trace, without raw energies."""

from __future__ import annotations

import json

import numpy as np
import plotly.graph_objects as go
import pytest

from attnviz.analysis.measures import word_weights_of_heads
from attnviz.analysis.numbers import percent
from attnviz.figures.registry import step_figure
from attnviz.figures.subject import Subject
from attnviz.network import TransformerConfig
from attnviz.palette import ThemeName
from attnviz.text import Tokenizer
from attnviz.trace import Trace, TransformerTrace
from attnviz.translator import Translator
from tests.conftest import SENTENCES
from tests.figures import synthetic
from tests.transformers import random_transformer


def simple(trace: Trace | TransformerTrace, step: int, name: str, theme: ThemeName = "light") -> go.Figure:
    """Return the figure of this name as the level *Idea* draws it."""
    subject = Subject(trace, step, theme=theme, simple=True)
    return step_figure(subject, name).draw(subject).figure()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["energy", "softmax", "context", "state"])
def test_each_figure_is_valid_and_has_alt_text(name: str, theme: ThemeName) -> None:
    figure = simple(synthetic.trace(), 1, name, theme)
    go.Figure(json.loads(figure.to_json()))  # checks every property
    assert "2" in figure.layout.meta["alt"]
    assert figure.layout.meta["narrowest"] <= 260


def test_energy_bars_show_no_numbers() -> None:
    trace = synthetic.trace()
    figure = simple(trace, 1, "energy")
    (bars,) = figure.data
    np.testing.assert_array_equal(bars.x, trace.energies[1])
    assert not figure.layout.xaxis.showticklabels
    assert "%{x" not in bars.hovertemplate


def test_softmax_bars_are_the_weights_and_can_be_dragged() -> None:
    trace = synthetic.trace()
    figure = simple(trace, 1, "softmax")
    bars, labels = figure.data
    np.testing.assert_array_equal(bars.x, trace.alignment[1])
    for share, text in zip(trace.alignment[1].tolist(), labels.text, strict=True):
        assert text.strip() == (percent(share) if share >= 0.005 else "")
    meta = figure.layout.meta["weights"]
    assert meta["trace"] == 0
    assert len(meta["pieces"]) == len(trace.source_pieces)


def test_mixtures_of_three_steps_are_their_weights() -> None:
    trace = synthetic.trace()
    last = len(trace.target_pieces) - 1
    for step in (0, 1, last):
        figure = simple(trace, step, "context")
        (bars,) = figure.data
        shares, starts, texts = (np.reshape(part, (3, -1)) for part in (bars.x, bars.base, bars.customdata))
        np.testing.assert_allclose(starts, np.cumsum(shares, axis=1) - shares, atol=1e-6)
        for row, other in enumerate((step - 1, step, step + 1)):
            if 0 <= other <= last:
                largest = np.sort(trace.alignment[other])[::-1][:3]
                np.testing.assert_allclose(shares[row, :3], largest, rtol=1e-6)
                assert shares[row].sum() == pytest.approx(1, abs=1e-6)
                assert percent(float(largest[0])) in texts[row, 0]
            else:
                assert not shares[row].any()
                assert not figure.layout.yaxis.ticktext[row]


def test_state_bar_shows_the_mean_of_the_update_gate() -> None:
    trace = synthetic.trace()
    (bar,) = simple(trace, 2, "state").data
    kept = float(trace.update_gates[2].mean())
    np.testing.assert_allclose(bar.x, [kept, 1 - kept])
    np.testing.assert_allclose(bar.base, [0, kept])


def test_one_vector_for_all_words_is_drawn_as_strips() -> None:
    trace = synthetic.trace(attention="none")
    assert simple(trace, 1, "context") == trace.step_figure(1, "context")


@pytest.fixture(scope="module")
def heads(tokenizer: Tokenizer) -> TransformerTrace:
    network = random_transformer(TransformerConfig(len(tokenizer), 16, 4, 2, 12), 2)
    return Translator(network, tokenizer, "small").translate(SENTENCES[0], target=SENTENCES[1])


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["energy", "softmax", "context", "stream"])
def test_each_transformer_figure_is_valid_and_has_alt_text(
    name: str, theme: ThemeName, heads: TransformerTrace
) -> None:
    figure = simple(heads, 1, name, theme)
    go.Figure(json.loads(figure.to_json()))
    assert "2" in figure.layout.meta["alt"]


def test_each_row_is_a_head_and_the_opened_head_is_framed(heads: TransformerTrace) -> None:
    step, opened = 2, heads.displayed
    figure = simple(heads, step, "context")
    (image,) = figure.data
    np.testing.assert_allclose(np.square(image.z), word_weights_of_heads(heads, step).reshape(8, -1), atol=1e-6)
    frame = figure.layout.shapes[-1]
    assert frame.y0 == opened.layer * 4 + opened.head - 0.5


def test_stream_bars_are_the_norms_of_the_added_vectors(heads: TransformerTrace) -> None:
    (bars,) = simple(heads, 2, "stream").data
    np.testing.assert_allclose(
        bars.x[1:], np.linalg.norm(np.diff(heads.decoder_streams, axis=0)[:, 2], axis=1), atol=1e-5
    )
    assert bars.x[0] == pytest.approx(float(np.linalg.norm(heads.decoder_streams[0, 2])))
