"""Evaluation of a transformer beside recurrent translators: likelihood, scores, alignment by cross-attention."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz import Translator
from attnviz.analysis.measures import error_rate, mutual_links
from attnviz.checkpoint import save_model
from attnviz.commands.main import main
from attnviz.evaluation.alignment import read_gold
from attnviz.evaluation.forced import force_pairs
from attnviz.evaluation.model_alignments import head_alignments, word_alignments
from attnviz.network import TransformerConfig
from attnviz.text import Tokenizer
from attnviz.trace import TransformerTrace
from attnviz.trace.parts import Heads
from tests.conftest import SENTENCES
from tests.transformers import random_transformer

PAIRS = list(zip(SENTENCES[::2], SENTENCES[1::2], strict=True))


@pytest.fixture
def transformer(tmp_path: Path, tokenizer: Tokenizer) -> Path:
    folder = tmp_path / "a-transformer"
    save_model(folder, random_transformer(TransformerConfig(len(tokenizer), 16, 4, 2, 12), 2), tokenizer)
    return folder


def test_batched_forced_decoding_equals_single(transformer: Path) -> None:
    translator: Translator[TransformerTrace] = Translator.load(transformer, "cpu")
    for forced, (source, target) in zip(force_pairs(translator, PAIRS), PAIRS, strict=True):
        trace = translator.translate(source, target=target)
        assert forced.log_likelihood == pytest.approx(float(trace.log_probabilities.sum()), rel=1e-4)
        np.testing.assert_allclose(forced.alignment, trace.alignment, atol=1e-5)


def test_transformer_and_recurrent_translator_together(
    own_pairs: Path, gold_links: Path, model_folder: Path, transformer: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    models = ["--model", str(model_folder), "--model", str(transformer), "--device", "cpu"]
    options = ["--skip-malformed", "--json", "--by-length", "--beam", "1,2"]
    assert main(["evaluate", str(own_pairs), str(gold_links), *models, *options]) == 0
    found = json.loads(capfd.readouterr().out)
    assert [record["model"] for record in found["scores"]] == ["tiny", "a-transformer"]
    assert found["models"][1]["heads"] == 4
    assert all(record["perplexity"] > 1 for record in found["scores"])
    words = {(record["model"], record["word"]) for record in found["alignment"]}
    assert words == {("tiny", "before"), ("tiny", "after"), ("a-transformer", "before")}
    gold = read_gold(gold_links)
    matrices = word_alignments(Translator.load(transformer, "cpu"), gold)
    rate = error_rate(map(mutual_links, matrices), gold)
    (record,) = [
        one for one in found["alignment"] if one["model"] == "a-transformer" and one["links"] == "mutual argmax"
    ]
    assert record["aer"] == rate.aer


def test_heads_option_scores_every_head(
    own_pairs: Path,
    gold_links: Path,
    transformer: Path,
    capfd: pytest.CaptureFixture[str],
    snapshot: SnapshotAssertion,
) -> None:
    given = ["evaluate", str(gold_links), "--model", str(transformer), "--device", "cpu", "--json", "--heads"]
    assert main(given) == 0
    found = {(one["model"], one["links"]): one["aer"] for one in json.loads(capfd.readouterr().out)["alignment"]}
    translator: Translator[TransformerTrace] = Translator.load(transformer, "cpu")
    config = translator.network.config
    assert isinstance(config, TransformerConfig)
    assert len(found) == 2 * (1 + config.layers + config.layers * config.heads)
    gold = read_gold(gold_links)
    names = [model for model, rule in found if rule == "mutual argmax"]
    assert names == snapshot
    for heads, name in ((Heads(0), names[0]), (Heads(0, 0), names[config.layers])):
        rate = error_rate(map(mutual_links, head_alignments(translator, heads, gold)), gold)
        assert found[name, "mutual argmax"] == pytest.approx(rate.aer)
    own = error_rate(map(mutual_links, head_alignments(translator, Heads(), gold)), gold)
    assert found["a-transformer", "mutual argmax"] == pytest.approx(own.aer)
    assert main(["evaluate", str(own_pairs), "--model", str(transformer), "--heads"]) != 0
    assert "--heads needs" in capfd.readouterr().err


def test_heads_csv_has_a_row_for_each_head(transformer: Path, gold_links: Path, tmp_path: Path) -> None:
    place = tmp_path / "heads.csv"
    given = ["evaluate", str(gold_links), "--model", str(transformer), "--device", "cpu", "--heads"]
    assert main([*given, "--heads-csv", str(place)]) == 0
    with place.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    translator: Translator[TransformerTrace] = Translator.load(transformer, "cpu")
    gold = read_gold(gold_links)
    assert {row["weights"] for row in rows} == {translator.weights_digest[:12]}
    assert len(rows) == 2 * (2 + 2 * 4)  # by two rules, the means of two layers and their heads
    for row in rows:
        heads = Heads(int(row["layer"]) - 1, int(row["head"]) - 1 if row["head"] else None)
        if row["links"] == "mutual argmax":
            rate = error_rate(map(mutual_links, head_alignments(translator, heads, gold)), gold)
            assert float(row["aer"]) == pytest.approx(rate.aer, abs=1e-4)
    assert main([*given[:-1], "--heads-csv", str(place)]) != 0
