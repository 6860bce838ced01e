"""`attnviz evaluate` of translators and detectors: tables, JSON, Markdown, CSV and figures."""

import csv
import json
import re
from itertools import product
from pathlib import Path

import numpy as np
import plotly.io
import pytest

from attnviz import Translator
from attnviz.analysis.measures import error_rate, links, mutual_links
from attnviz.checkpoint import save_model
from attnviz.commands.main import main
from attnviz.detector import Detector
from attnviz.evaluation.alignment import best_threshold, read_gold
from attnviz.evaluation.example_sentences import FIGURE_3, LONG
from attnviz.evaluation.model_alignments import (
    detected_alignments,
    head_alignments,
    posterior_alignments,
    word_alignments,
)
from attnviz.network import DecomposableConfig
from attnviz.text import EOS, LONGEST_SENTENCE, Tokenizer
from attnviz.trace import TransformerTrace
from attnviz.trace.parts import Heads
from attnviz.training.negatives import NEGATIVE_KINDS, SWAPPED, WordFinder, learn_exchanges, save_exchanges
from tests.detectors import random_detector
from tests.snapshots import plain
from tests.training.detection import make_pairs, write_pairs


@pytest.fixture
def fixed_context(tmp_path, make_network, tokenizer) -> Path:
    """Return the model folder of a run, without attention, with the log of its training."""
    folder = tmp_path / "fixed" / "model"
    save_model(folder, make_network("none"), tokenizer)
    (tmp_path / "fixed" / "log.csv").write_text("update,tokens,seconds\n50,900,1.5\n100,2000,3600\n")
    return folder


@pytest.fixture
def evaluate(capfd):
    """Return a function that runs the command and gives what it printed; it must succeed."""

    def run(*arguments: object) -> str:
        assert main(["evaluate", "--device", "cpu", "--skip-malformed", *map(str, arguments)]) == 0
        return capfd.readouterr().out

    return run


def test_model_scores_100_on_its_own_translations(evaluate, own_pairs, model_folder, tmp_path, capfd, snapshot) -> None:
    """Greedy, it has a BLEU and chrF of 100 by definition."""
    command = ["evaluate", str(own_pairs), "--skip-malformed", "--model", str(model_folder)]
    assert main([*command, "--limit", "10", "--beam", "1,2"]) == 0
    out, errors = capfd.readouterr()
    # Slow machines print a second progress line.
    messages = [line for line in errors.splitlines() if line and not re.search(r"\dsentence \[", line)]
    assert plain("\n".join(messages), tmp_path) == snapshot
    assert re.search(r"\| own/pairs.tsv \| tiny  \| +10 \| +100\.0 \| +[\d.]+ \| +100\.0 \|", out)
    assert re.search(r"BLEU `nrefs:1\|case:mixed\|eff:no\|tok:13a\|smooth:exp\|version:\d", out)
    assert re.search(r"chrF2 `nrefs:1\|case:mixed\|eff:yes\|nc:6\|nw:0\|space:no\|version:\d", out)
    assert "/own/pairs.tsv" not in out


def test_json_output_contains_all_measures(
    evaluate, own_pairs, gold_links, model_folder, fixed_context, transformer, translator
) -> None:
    models = ("--model", model_folder, "--model", fixed_context, "--model", transformer)
    options = ("--json", "--by-length", "--sentences", "--beam", "2,1", "--threshold-from", gold_links)
    found = json.loads(evaluate(own_pairs, gold_links, *models, *options))
    assert list(found) == ["models", "scores", "by_length", "alignment", "sentences", "skipped"]
    tiny, fixed, heads = found["models"]
    assert (tiny["model"], fixed["model"], heads["model"], heads["heads"]) == ("tiny", "fixed", "a-transformer", 4)
    assert tiny["parameters"] == sum(weight.numel() for weight in translator.network.parameters())
    assert tiny["weights_bytes"] == (model_folder / "model.safetensors").stat().st_size
    assert (tiny["training_updates"], tiny["training_pieces"]) == (None, None)
    assert (fixed["training_updates"], fixed["training_pieces"], fixed["training_seconds"]) == (100, 2000, 3600)

    own, other, _ = found["scores"]
    assert [search["beam"] for search in own["searches"]] == [2, 1]
    assert own["searches"][1]["bleu"] == pytest.approx(100)
    assert own["searches"][1]["bleu_low"] == pytest.approx(100)
    assert other["searches"][1]["bleu"] < 100
    assert 1 < own["perplexity"] < other["perplexity"]

    assert {record["words"]: record["pairs"] for record in found["by_length"]} == {"1-10": 7, "11-20": 5}

    gold, expected = read_gold(gold_links), {}  # a model without attention has no alignment
    for model, one, word, measure in (
        ("tiny", translator, "before", word_alignments),
        ("tiny", translator, "after", posterior_alignments),
        ("a-transformer", Translator.load(transformer, "cpu"), "before", word_alignments),
    ):
        matrices = measure(one, gold)
        share = best_threshold(matrices, gold)
        for rule, found_links in (
            ("argmax", [[(int(r.argmax()), i) for i, r in enumerate(m)] for m in matrices]),
            ("mutual argmax", map(mutual_links, matrices)),
            (f"threshold {share:.2f}", [links(matrix, share) for matrix in matrices]),
        ):
            expected[model, word, rule] = error_rate(found_links, gold)
    for record in found["alignment"]:
        rate = expected.pop((record["model"], record["word"], record["links"]))
        assert [record["aer"], record["precision"], record["recall"]] == [rate.aer, rate.precision, rate.recall]
        assert record["pairs_per_second"] > 0
    assert not expected

    assert len(found["sentences"]) == len([*FIGURE_3, *LONG]) * 6
    (own,) = (
        one for one in found["sentences"] if (one["model"], one["beam"], one["source"]) == ("tiny", 2, FIGURE_3[0])
    )
    assert own["translation"] == translator.translate(FIGURE_3[0], beam=2).translation


def test_markdown_shows_command_above_each_table(evaluate, own_pairs, gold_links, model_folder, snapshot) -> None:
    out = evaluate(own_pairs, gold_links, "--model", model_folder, "--markdown", "--by-length", "--beam", "1")
    parts = [one.split("\n", 1) for one in re.split(r"^### ", out, flags=re.MULTILINE)[1:]]
    titles, sections = zip(*parts, strict=True)
    assert [*titles] == snapshot
    for section in sections:
        assert re.search(r"```sh\npython -m attnviz evaluate (.|\n)*?```\n\n\| ", section)
        assert len({len(line) for line in section.splitlines() if line.startswith("|")}) == 1
    assert ["--by-length" in section for section in sections[1:3]] == [False, True]
    assert "pairs.tsv" not in sections[3]


def test_scores_by_length_as_csv_and_figure(evaluate, own_pairs, model_folder, fixed_context, tmp_path) -> None:
    table, figure = tmp_path / "lengths.csv", tmp_path / "lengths.json"
    models = ("--model", model_folder, "--model", fixed_context)
    evaluate(own_pairs, *models, "--by-length", "--csv", table, "--figure", figure)
    with table.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["words"], row["model"]) for row in rows] == [*product(("1-10", "11-20"), ("tiny", "fixed"))]
    lines = plotly.io.from_json(figure.read_text(encoding="utf-8")).data
    for line, model in zip(lines, ("tiny", "fixed"), strict=True):
        assert line.name == model
        assert list(line.y) == [float(row["bleu"]) for row in rows if row["model"] == model]


def test_tune_marks_best_beam_and_length_penalty(evaluate, own_pairs, model_folder, snapshot) -> None:
    out = evaluate(own_pairs, "--model", model_folder, "--tune", "--limit", "3")
    assert out.count("**") == 2
    assert out.splitlines()[-1] == snapshot
    rows = [re.findall(r"\d+\.\d\d\b", line) for line in out.splitlines() if line.startswith("| ")]
    assert [len(row) for row in rows if row] == [8] * 6, "beam widths and length penalties"


def test_too_long_sentence_is_reported_by_number(own_pairs, model_folder, capfd) -> None:
    with own_pairs.open("a", encoding="utf-8") as file:
        file.write(f"{'word ' * (LONGEST_SENTENCE + 1)}\tmot\n")
    assert main(["evaluate", str(own_pairs), "--skip-malformed", "--model", str(model_folder), "--device", "cpu"]) == 2
    errors = capfd.readouterr().err.splitlines()
    assert errors[-1].startswith("attnviz: Translating own/pairs.tsv failed after 0 pairs: Sentence 13: ")


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


PAIRS = make_pairs()[:60]


@pytest.fixture(scope="module")
def words() -> Tokenizer:
    return Tokenizer.train([side for pair in make_pairs() for side in pair], 190)


@pytest.fixture(scope="module")
def folder(words, tmp_path_factory) -> Path:
    run = tmp_path_factory.mktemp("detector") / "judge"
    folder = run / "model"
    save_model(folder, random_detector(DecomposableConfig(len(words), 8, 10), 4), words)
    finder, none = WordFinder(words), np.full((len(words), 1), -1, dtype=np.int32)
    sides = ([[*words.encode(pair[side]), EOS] for pair in make_pairs()] for side in (0, 1))
    save_exchanges(folder / "exchanges.npz", [learn_exchanges(side, finder, none) for side in sides])
    (run / "log.csv").write_text("update,tokens,seconds\n50,900,1.5\n100,2000,3600\n")
    return folder


@pytest.fixture(scope="module")
def pairs(tmp_path_factory) -> Path:
    return write_pairs(tmp_path_factory.mktemp("own") / "pairs.tsv", PAIRS)


def test_accuracy_for_each_kind_of_negative(folder, pairs, capfd) -> None:
    assert main(["evaluate", str(pairs), "--model", str(folder), "--device", "cpu", "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert list(found) == ["detectors", "detection"]
    (sizes,), (record,) = found["detectors"], found["detection"]
    assert sizes["parameters"] - sizes["parameters_outside_embeddings"] == sizes["vocabulary_size"] * 8
    assert (sizes["training_updates"], sizes["training_pieces"]) == (100, 2000)
    assert record["model"] == "judge"
    kinds = {kind["kind"]: kind for kind in record["kinds"]}
    assert list(kinds) == ["translation", *NEGATIVE_KINDS]
    assert {kind["pairs"] for kind in kinds.values()} == {len(PAIRS)}
    probabilities = Detector.load(folder, "cpu").judge_batch(PAIRS)
    assert kinds["translation"]["accuracy"] == pytest.approx(float((probabilities > 0.5).mean()))
    # Swapped clauses have the same pieces.
    assert kinds[SWAPPED]["accuracy"] == pytest.approx(1 - kinds["translation"]["accuracy"])
    assert record["seconds_per_pair"] > 0


def test_alignment_error_of_detector(folder, tmp_path, capfd) -> None:
    gold, words = tmp_path / "gold.jsonl", {"en": ["Tom", "liked", "singing"], "fr": ["Tom", "aimait", "chanter"]}
    gold.write_text(json.dumps({"id": 1, **words, "S": [[0, 0], [1, 1], [2, 2]], "P": []}) + "\n")
    assert main(["evaluate", str(gold), "--model", str(folder), "--device", "cpu", "--json"]) == 0
    found = {(record["word"], record["links"]): record for record in json.loads(capfd.readouterr().out)["alignment"]}
    assert {word for word, _ in found} == {"target looks", "both look"}
    detector, sentences = Detector.load(folder, "cpu"), read_gold(gold)
    for both in (False, True):
        (matrix,) = detected_alignments(detector, sentences, both)
        assert matrix.shape == (3, 3)
        assert both or (matrix.sum(axis=1) <= 1 + 1e-6).all()
        rate = error_rate([mutual_links(matrix)], sentences)
        assert found["both look" if both else "target looks", "mutual argmax"]["aer"] == pytest.approx(rate.aer)


def test_folder_without_exchanges_is_refused(folder, pairs, tmp_path, words, capfd) -> None:
    save_model(tmp_path / "bare", random_detector(DecomposableConfig(len(words), 8, 10), 4), words)
    assert main(["evaluate", str(pairs), "--model", str(tmp_path / "bare"), "--device", "cpu"]) == 2
    assert "exchanges.npz" in capfd.readouterr().err
