"""Traces as users meet them: figures, likeliest pieces, and frames with every number and the links of Pharaoh files."""

import json
from functools import partial

import numpy as np
import pytest

from attnviz import Attention, AttnvizError, Trace, Translator, export, figures
from attnviz.analysis.gold import pharaoh
from attnviz.checkpoint import save_model
from attnviz.network import TransformerConfig
from attnviz.trace import TransformerTrace
from tests.snapshots import refusal
from tests.transformers import random_transformer

SENTENCE = "A green house."


@pytest.fixture(scope="module")
def trace(translator) -> Trace:
    return translator.translate("A girl is riding a red \U0001f6b2 bicycle.", beam=3)


@pytest.fixture(scope="module")
def transformer_trace(tmp_path_factory, tokenizer) -> TransformerTrace:
    folder = tmp_path_factory.mktemp("transformer")
    save_model(folder, random_transformer(TransformerConfig(len(tokenizer), 16, 4, 2, 12), 3), tokenizer)
    return Translator[TransformerTrace].load(folder, "cpu").translate(SENTENCE, beam=1)


def test_rows_hold_the_numbers_of_the_arrays(trace) -> None:
    frame = trace.to_frame()
    assert list(frame) == ["i", "j", "target", "source", "energy", "weight", "probability"]
    assert len(frame) == trace.alignment.size
    for row in frame.itertuples():
        assert row.target == trace.target_pieces[row.i]
        assert row.source == trace.source_pieces[row.j]
        assert row.energy == trace.energies[row.i, row.j]
        assert row.weight == trace.alignment[row.i, row.j]
        assert row.probability == trace.probabilities[row.i]


def test_transformer_has_rows_of_each_head(transformer_trace) -> None:
    frame = transformer_trace.to_frame()
    assert list(frame) == ["layer", "head", "i", "j", "target", "source", "energy", "weight", "probability"]
    assert len(frame) == transformer_trace.cross_alignment.size
    last = frame.iloc[-1]
    at = tuple(size - 1 for size in transformer_trace.cross_alignment.shape)
    assert (last["layer"], last["head"], last["i"], last["j"]) == at
    assert last["energy"] == transformer_trace.cross_energies[at]
    mean = frame.groupby(["i", "j"])["weight"].mean().to_numpy().reshape(transformer_trace.alignment.shape)
    np.testing.assert_allclose(mean, transformer_trace.alignment, atol=1e-6)


@pytest.mark.parametrize("threshold", [None, 0.1])
def test_links_are_those_of_pharaoh_files(trace, threshold) -> None:
    frame = trace.links_frame(threshold)
    pairs = [f"{j}-{i}" for i, j in zip(frame["i"], frame["j"], strict=True)]
    assert sorted(pairs) == sorted(pharaoh(trace.words(), threshold).split())
    words = trace.words()
    for row in frame.itertuples():
        assert (row.target, row.source) == (words.target[row.i], words.source[row.j])
        assert row.weight == words.alignment[row.i, row.j]
        assert not row.possible


def test_links_of_a_file_keep_its_marks() -> None:
    pair = {"source": ["a", "b"], "target": ["x", "y"], "matrix": [[1, 0], [0.5, 0.5]]}
    links = {"links": [[0, 0], [0, 1], [1, 1]], "gold": {"sure": [[0, 0]], "possible": [[1, 1]]}}
    record = Attention.from_json(json.dumps({"format": "attnviz-attention", "version": 1} | pair | links))
    frame = record.links_frame()
    rows = frame[["source", "target", "possible"]].values.tolist()
    assert rows == [["a", "x", False], ["a", "y", False], ["b", "y", True]]
    assert frame["i"].is_monotonic_increasing


def test_notebook_representation_is_the_heatmap(trace, snapshot) -> None:
    assert trace.heatmap(by="steps", step=1) == figures.heatmap(trace, by="steps", step=1).figure()
    assert trace.step_figure(0) == trace.step_figure(0, "attention")
    last = len(trace.target_pieces) - 1
    assert trace.step_figure(-1, "candidates", theme="dark") == trace.step_figure(last, "candidates", theme="dark")
    with pytest.raises(AttnvizError):
        trace.step_figure(last + 1)
    assert refusal(lambda: trace.step_figure(0, "pie")) == snapshot
    assert trace._repr_html_() == export.heatmap_html(trace)


def test_top_pieces_of_a_step(trace, snapshot) -> None:
    candidates = trace.top(0, 5)
    assert len(candidates) == 5
    assert candidates[0] == (trace.top_pieces[0][0], pytest.approx(trace.top_probabilities[0, 0]))
    for bad in (0, -1, 101):
        assert refusal(partial(trace.top, 0, bad)) == snapshot
    with pytest.raises(AttnvizError):
        trace.top(len(trace.target_pieces))
