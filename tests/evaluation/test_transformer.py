"""Alignment by the cross-attention of a transformer: its heads, their means, and the mean of all."""

import csv
import json

import pytest

from attnviz import Translator
from attnviz.analysis.measures import error_rate, mutual_links
from attnviz.commands.main import main
from attnviz.evaluation.alignment import read_gold
from attnviz.evaluation.model_alignments import head_alignments
from attnviz.trace import TransformerTrace
from attnviz.trace.parts import Heads


@pytest.mark.usefixtures("transformer")
def test_heads_are_scored_and_written(own_pairs, gold_links, tmp_path, capfd, snapshot) -> None:
    transformer = tmp_path / "a-transformer"
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
    rates = sorted(aer for (model, _), aer in found.items() if model != "a-transformer")
    assert sorted(float(row["aer"]) for row in rows) == pytest.approx(rates, abs=1e-4)
    for row in rows:
        heads = Heads(int(row["layer"]) - 1, int(row["head"]) - 1 if row["head"] else None)
        if row["links"] == "mutual argmax":
            rate = error_rate(map(mutual_links, head_alignments(translator, heads, gold)), gold)
            assert float(row["aer"]) == pytest.approx(rate.aer, abs=1e-4)
    assert main([*command, "--heads-csv", str(place)]) != 0
    assert main(["evaluate", str(own_pairs), *command[2:], "--heads"]) != 0
    assert "--heads needs" in capfd.readouterr().err
