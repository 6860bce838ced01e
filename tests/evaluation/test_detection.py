"""`attnviz evaluate` of a detector: accuracy for each kind of negative, and alignment error."""

import json
from pathlib import Path

import numpy as np
import pytest

from attnviz.analysis.measures import error_rate, mutual_links
from attnviz.checkpoint import save_model
from attnviz.commands.main import main
from attnviz.detector import Detector
from attnviz.evaluation.alignment import read_gold
from attnviz.evaluation.model_alignments import detected_alignments
from attnviz.network import DecomposableConfig
from attnviz.text import EOS, Tokenizer
from attnviz.training.negatives import NEGATIVE_KINDS, SWAPPED, WordFinder, learn_exchanges, save_exchanges
from tests.detectors import random_detector
from tests.training.detection import make_pairs, write_pairs

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
