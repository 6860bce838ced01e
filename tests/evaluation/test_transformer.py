"""Evaluation of a transformer beside recurrent translators: likelihood, scores, alignment by cross-attention."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz import Translator
from attnviz.analysis.measures import error_rate, mutual_links
from attnviz.checkpoint import save_model
from attnviz.commands.main import main
from attnviz.evaluation.alignment import read_gold
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


def test_transformer_and_recurrent_translator_together(
    own_pairs: Path, gold_links: Path, model_folder: Path, transformer: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    models = ["--model", str(model_folder), "--model", str(transformer), "--device", "cpu"]
    options = ["--skip-malformed", "--json", "--by-length", "--beam", "1,2"]
    assert main(["evaluate", str(own_pairs), str(gold_links), *models, *options]) == 0
    found, gold = json.loads(capfd.readouterr().out), read_gold(gold_links)
    assert [record["model"] for record in found["scores"]] == ["tiny", "a-transformer"]
    assert found["models"][1]["heads"] == 4
    assert all(record["perplexity"] > 1 for record in found["scores"])
    rates = {(record["model"], record["word"], record["links"]): record["aer"] for record in found["alignment"]}
    of = {(model, word) for model, word, _ in rates}
    assert of == {("tiny", "before"), ("tiny", "after"), ("a-transformer", "before")}
    matrices = word_alignments(Translator.load(transformer, "cpu"), gold)
    assert rates["a-transformer", "before", "mutual argmax"] == error_rate(map(mutual_links, matrices), gold).aer


def test_heads_are_scored_and_written(
    own_pairs: Path,
    gold_links: Path,
    transformer: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    snapshot: SnapshotAssertion,
) -> None:
    command = ["evaluate", str(gold_links), "--model", str(transformer), "--device", "cpu"]
    place, gold = tmp_path / "heads.csv", read_gold(gold_links)
    assert main([*command, "--json", "--heads", "--heads-csv", str(place)]) == 0
    found = {(one["model"], one["links"]): one["aer"] for one in json.loads(capfd.readouterr().out)["alignment"]}
    translator: Translator[TransformerTrace] = Translator.load(transformer, "cpu")
    assert len(found) == 2 * (1 + 2 + 2 * 4)  # by two rules, the mean of all, the means of two layers and their heads
    assert [model for model, rule in found if rule == "mutual argmax"] == snapshot
    own = error_rate(map(mutual_links, head_alignments(translator, Heads(), gold)), gold)
    assert found["a-transformer", "mutual argmax"] == pytest.approx(own.aer)
    with place.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert {row["weights"] for row in rows} == {translator.weights_digest[:12]}
    assert sorted(float(row["aer"]) for row in rows) == pytest.approx(
        sorted(aer for (model, _), aer in found.items() if model != "a-transformer"), abs=1e-4
    )
    for row in rows:
        heads = Heads(int(row["layer"]) - 1, int(row["head"]) - 1 if row["head"] else None)
        if row["links"] == "mutual argmax":
            rate = error_rate(map(mutual_links, head_alignments(translator, heads, gold)), gold)
            assert float(row["aer"]) == pytest.approx(rate.aer, abs=1e-4)
    assert main([*command, "--heads-csv", str(place)]) != 0
    assert main(["evaluate", str(own_pairs), *command[2:], "--heads"]) != 0
    assert "--heads needs" in capfd.readouterr().err
