"""Training of a transformer and of a detector: learning, resuming, starting another run, snapshots."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz import AttnvizError, TrainingConfig, Translator, train
from attnviz.checkpoint import load_model
from attnviz.detector import Detector
from attnviz.trace import TransformerTrace
from attnviz.trace.snapshots import load_folder
from tests.processes import run_python
from tests.small_run import Files, assert_same_run, log_of, run_until_validation, tiny, train_command
from tests.snapshots import plain
from tests.training.detection import make_config, make_pairs, write_pairs

SOURCE, TARGET = "the cat sees the house.", "le chat voit la maison."


def _config(files: Files, output: Path, **changes: object) -> TrainingConfig:
    settings: dict[str, object] = {
        "vocabulary_size": 110,
        "architecture": "transformer",
        "model_size": 32,
        "heads": 4,
        "layers": 2,
        "feedforward_size": 48,
        "dropout": 0.0,
        "batch_tokens": 200,
        "updates": 120,
        "warmup": 20,
        "learning_rate": 8e-3,
        "matrix_rate": 0.5,
        "validate_every": 120,
        "checkpoint_every": 40,
        "snapshots": 3,
        "snapshot_sentences": (f"{SOURCE}\t{TARGET}",),
    }
    return tiny(files, output, **(settings | changes))


@pytest.fixture(scope="module")
def model(files, tmp_path_factory) -> Path:
    return train(_config(files, tmp_path_factory.mktemp("transformer") / "run"))


def test_transformer_learns_to_translate_and_snapshots_average_heads_of_the_last_layer(model) -> None:
    translator = Translator[TransformerTrace].load(model, "cpu")
    assert translator.translate(SOURCE, beam=1).translation == TARGET
    (found,) = load_folder(model / "snapshots")
    attended = translator.translate(SOURCE, target=TARGET).cross_attention()
    # The model is of the weights that validated best, in float16: the last moment's, or like them.
    np.testing.assert_allclose(found.alignments[0][-1], attended, atol=0.02)


def test_start_from_transformer_with_another_tokenizer(model, files, tmp_path) -> None:
    brief = {"updates": 1, "learning_rate": 1e-9, "bleu_sentences": 0, "snapshots": 0}
    other = {"start_from": str(model), "vocabulary_size": 100, "architecture": "rnnsearch"}
    config = _config(files, tmp_path / "run", **brief, **other)
    old, _ = load_model(model)
    new, tokenizer = load_model(train(config))
    assert new.config == dataclasses.replace(old.config, vocabulary_size=len(tokenizer))
    for name, values in new.state_dict().items():
        if not name.startswith("output"):
            np.testing.assert_allclose(values, old.state_dict()[name], atol=2e-3, err_msg=name)


@pytest.mark.nightly
def test_two_processes_train_one_model(files, tmp_path) -> None:
    config = _config(files, tmp_path / "run", updates=40, validate_every=40)
    settings = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE", "PYTHONPATH": str(Path.cwd())}
    two = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "-m", "attnviz"]
    run_python(*two, *train_command(config), **settings)
    losses = [float(row["validation_loss"]) for row in log_of(tmp_path / "run") if row["validation_loss"]]
    assert losses[-1] < 2.5, "far below log 110, the loss of a uniform guess"
    assert Translator.load(tmp_path / "run/model", "cpu").translate(SOURCE, beam=1).target_pieces


@pytest.fixture(scope="module")
def detector_files(tmp_path_factory) -> Files:
    folder, pairs = tmp_path_factory.mktemp("text"), make_pairs()
    held = [pair for place, pair in enumerate(pairs) if place % 8 == 3]
    train = [pair for place, pair in enumerate(pairs) if place % 8 != 3]
    return write_pairs(folder / "train.tsv", train), write_pairs(folder / "validation.tsv", held)


@pytest.fixture(scope="module")
def detector(detector_files, tmp_path_factory) -> Path:
    return train(make_config(detector_files, tmp_path_factory.mktemp("detector") / "run", guidance=0.5))


def test_detector_learns_and_its_attention_aligns_translated_words(detector) -> None:
    judged = Detector.load(detector, "cpu").judge(
        "in 1984 Tom liked singing, but my friend Rosa hated dancing.",
        "en 1984 Tom aimait chanter, mais mon ami Rosa détestait danser.",
    )
    row = judged.target_pieces.index("\u2581chanter")
    assert judged.source_pieces[int(judged.target_alignment[row].argmax())] == "\u2581singing"
    rows = log_of(detector.parent)
    (validated,) = [row for row in rows if row["validation_accuracy"]]
    assert float(validated["validation_accuracy"]) > 80
    assert not validated["validation_bleu"]
    first = next(row for row in rows if row["train_loss"])
    assert int(first["tokens"]) % 2 == 0, "each pair with a negative of it"
    page = (detector.parent / "curve.html").read_text(encoding="utf-8")
    assert ("Accuracy" in page, "BLEU" in page) == (True, False)


@pytest.mark.parametrize("guidance", [pytest.param(0.0, marks=pytest.mark.nightly), 0.5])
def test_resumed_run_equals_uninterrupted_run(detector_files, tmp_path, monkeypatch, guidance) -> None:
    changes: dict[str, Any] = {"updates": 30, "validate_every": 15, "checkpoint_every": 10, "dropout": 0.1}
    whole = make_config(detector_files, tmp_path / "whole", guidance=guidance, **changes)
    train(whole)
    stopped = dataclasses.replace(whole, output=str(tmp_path / "stopped"))
    run_until_validation(stopped, monkeypatch)  # five updates after the last checkpoint
    train(stopped)
    assert_same_run(tmp_path / "whole", tmp_path / "stopped")


def test_starting_from_translator_is_refused(detector_files, tmp_path, snapshot) -> None:
    with pytest.raises(AttnvizError, match="start_from") as error:
        make_config(detector_files, tmp_path, start_from="models/en-fr")
    assert plain(error.value, tmp_path) == snapshot
