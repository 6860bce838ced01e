"""Training of a detector: learning, resuming, averaging, and independence of word order."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from attnviz import AttnvizError, train
from attnviz.detector import Detector
from tests.small_run import Files, assert_same_run, log_of, run_until_validation
from tests.snapshots import plain
from tests.training.detection import make_config, make_pairs, write_pairs


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Files:
    folder, pairs = tmp_path_factory.mktemp("text"), make_pairs()
    held = [pair for place, pair in enumerate(pairs) if place % 8 == 3]
    train = [pair for place, pair in enumerate(pairs) if place % 8 != 3]
    return write_pairs(folder / "train.tsv", train), write_pairs(folder / "validation.tsv", held)


@pytest.fixture(scope="module")
def model(files, tmp_path_factory) -> Path:
    return train(make_config(files, tmp_path_factory.mktemp("detector") / "run", guidance=0.5))


def test_detector_learns_and_its_attention_aligns_translated_words(model) -> None:
    judged = Detector.load(model, "cpu").judge(
        "in 1984 Tom liked singing, but my friend Rosa hated dancing.",
        "en 1984 Tom aimait chanter, mais mon ami Rosa détestait danser.",
    )
    row = judged.target_pieces.index("\u2581chanter")
    assert judged.source_pieces[int(judged.target_alignment[row].argmax())] == "\u2581singing"
    rows = log_of(model.parent)
    (validated,) = [row for row in rows if row["validation_accuracy"]]
    assert float(validated["validation_accuracy"]) > 80
    assert not validated["validation_bleu"]
    first = next(row for row in rows if row["train_loss"])
    assert int(first["tokens"]) % 2 == 0, "each pair with a negative of it"
    page = (model.parent / "curve.html").read_text(encoding="utf-8")
    assert ("Accuracy" in page, "BLEU" in page) == (True, False)


@pytest.mark.parametrize("guidance", [pytest.param(0.0, marks=pytest.mark.nightly), 0.5])
def test_resumed_run_equals_uninterrupted_run(files, tmp_path, monkeypatch, guidance) -> None:
    changes: dict[str, Any] = {"updates": 30, "validate_every": 15, "checkpoint_every": 10, "dropout": 0.1}
    whole = make_config(files, tmp_path / "whole", guidance=guidance, **changes)
    train(whole)
    stopped = dataclasses.replace(whole, output=str(tmp_path / "stopped"))
    run_until_validation(stopped, monkeypatch)  # five updates after the last checkpoint
    train(stopped)
    assert_same_run(tmp_path / "whole", tmp_path / "stopped")


def test_starting_from_translator_is_refused(files, tmp_path, snapshot) -> None:
    with pytest.raises(AttnvizError, match="start_from") as error:
        make_config(files, tmp_path, start_from="models/en-fr")
    assert plain(error.value, tmp_path) == snapshot
