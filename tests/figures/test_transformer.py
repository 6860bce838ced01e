"""The heatmaps of a transformer: of any head of any layer, of their mean, and of no more than that."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from attnviz import export, figures
from attnviz.checkpoint import save_model
from attnviz.commands.program import main
from attnviz.figures.heatmap_table import heatmap_table
from attnviz.network import TransformerConfig
from attnviz.text import Tokenizer
from attnviz.trace import TransformerTrace
from attnviz.translator import Translator
from tests.conftest import SENTENCES
from tests.transformers import random_transformer


@pytest.fixture(scope="module")
def trace(tokenizer: Tokenizer) -> TransformerTrace:
    network = random_transformer(TransformerConfig(len(tokenizer), 16, 4, 2, 12), 2)
    return Translator(network, tokenizer, "small").translate(SENTENCES[0], target=SENTENCES[1])


@pytest.mark.parametrize(("layer", "head"), [(-1, None), (0, None), (0, 2), (1, 3)])
def test_a_heatmap_has_the_weights_of_its_head(trace: TransformerTrace, layer: int, head: int | None) -> None:
    drawn = trace.heatmap(layer, head, by="pieces")
    expected = trace.cross_weights[layer].mean(axis=0) if head is None else trace.cross_weights[layer, head]
    np.testing.assert_array_equal(np.array(drawn.data[0].z), expected)
    by_words = trace.heatmap(layer, head)
    np.testing.assert_allclose(np.array(by_words.data[0].z), trace.words().merged(expected), atol=1e-6)
    table = heatmap_table(trace, weights=trace.cross_attention(layer, head))
    np.testing.assert_allclose(table.to_numpy(), trace.words().merged(expected), atol=1e-6)


def test_unless_it_is_asked_for_a_head_it_draws_the_mean_of_the_last_layer(trace: TransformerTrace) -> None:
    assert trace.heatmap() == figures.heatmap(trace)
    assert trace._repr_html_() == export.heatmap_html(trace)
    assert trace.heatmap(0) != trace.heatmap(1)


def test_margins_are_those_of_the_head(trace: TransformerTrace) -> None:
    drawn = trace.heatmap(0, 1, by="pieces", margins=True)
    weights = trace.cross_attention(0, 1)
    sums = next(bars for bars in drawn.data[1:] if len(bars.x if bars.x is not None else []) == weights.shape[1])
    np.testing.assert_allclose(np.array(sums.y, dtype=float), weights.sum(axis=0), atol=1e-4)


@pytest.fixture
def folder(tmp_path: Path, tokenizer: Tokenizer) -> Path:
    save_model(tmp_path / "small", random_transformer(TransformerConfig(len(tokenizer), 16, 4, 2, 12), 2), tokenizer)
    return tmp_path / "small"


def test_files_of_it(folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    given = ["figure", SENTENCES[0], "--model", str(folder), "--device", "cpu", "--beam", "1"]
    for ending in ("csv", "tex", "json"):
        assert main([*given, "-o", str(tmp_path / f"x.{ending}")]) == 0, capfd.readouterr().err
    expected = Translator.load(folder, "cpu").translate(SENTENCES[0])
    assert TransformerTrace.load(tmp_path / "x.json").target_ids == expected.target_ids
    for refused in (["-o", "x.html"], ["-o", "x.pharaoh"], ["-o", "x.csv", "--picture", "energy", "--step", "1"]):
        assert main([*given, *refused[:1], str(tmp_path / refused[1]), *refused[2:]]) != 0
        assert "is a transformer" in capfd.readouterr().err
