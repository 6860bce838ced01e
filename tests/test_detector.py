"""A detector from a folder: its verdicts, and what it says about folders and sentences that cannot be used."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from attnviz import AttnvizError, Translator
from attnviz.analysis.decomposable_proof import prove_judgement
from attnviz.analysis.recomputation import load_weights
from attnviz.checkpoint import save_model
from attnviz.detector import Detector
from attnviz.model_folder import architecture, model_folders, weights_digest
from attnviz.network import DecomposableConfig
from attnviz.text import Tokenizer
from attnviz.training.warm_start import start_from
from tests.conftest import SENTENCES
from tests.detectors import random_detector

PAIRS = list(zip(SENTENCES[::2], SENTENCES[1::2], strict=True))


@pytest.fixture(scope="module")
def folder(tokenizer: Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("detectors") / "tiny"
    save_model(folder, random_detector(DecomposableConfig(len(tokenizer), 8, 10), 4), tokenizer)
    return folder


@pytest.fixture(scope="module")
def detector(folder: Path) -> Detector:
    return Detector.load(folder, device="cpu")


def test_what_is_recorded_is_what_the_folder_s_weights_make(detector: Detector, folder: Path) -> None:
    judgement = detector.judge(*PAIRS[0])
    assert judgement.model == "tiny"
    assert judgement.weights_digest == weights_digest(folder)
    assert (judgement.source_text, judgement.target_text) == PAIRS[0]
    assert prove_judgement(judgement, load_weights(folder)).holds


def test_together_as_alone(detector: Detector) -> None:
    alone = [detector.judge(*pair).probability for pair in PAIRS]
    np.testing.assert_allclose(detector.judge_batch(PAIRS), alone, atol=1e-5)
    assert detector.judge_batch([]).shape == (0,)


def test_a_bag_has_no_order(detector: Detector) -> None:
    source, target = PAIRS[3]
    first, second = "Deux chiens jouent dans la neige", "personne ne les regarde"
    assert target == f"{first}, et {second}."
    swapped = detector.judge(source, f"{second}, et {first}.").probability
    # The one piece that a capital would change is the same here: only the order is another.
    lowered = detector.judge(source, f"{first}, et {second}.").probability
    assert sorted(detector.tokenizer.encode(f"{second}, et {first}.")) == sorted(detector.tokenizer.encode(target))
    assert swapped == pytest.approx(lowered, abs=1e-6)


def test_sentences_that_cannot_be_judged(detector: Detector) -> None:
    with pytest.raises(AttnvizError, match="The sentence is empty"):
        detector.judge(" ", "Oui.")
    with pytest.raises(AttnvizError, match="The translation has 201 words"):
        detector.judge("Yes.", "oui " * 201)
    with pytest.raises(AttnvizError, match="Pair 2: The translation is empty"):
        detector.judge_batch([("Yes.", "Oui."), ("No.", "")])


def test_a_translator_s_loader_refuses_it(folder: Path, tokenizer: Tokenizer) -> None:
    for load in (Translator.load, lambda path: start_from(path, tokenizer, 0.0)):
        with pytest.raises(AttnvizError, match=r"tiny does not translate: .* Give the folder of a translator"):
            load(folder)


def test_a_detector_s_loader_refuses_a_translator(model_folder: Path) -> None:
    with pytest.raises(AttnvizError, match=r"is a translator: .* Give the folder of a detector"):
        Detector.load(model_folder, "cpu")


def test_it_is_listed_among_no_translators(folder: Path, model_folder: Path, tmp_path: Path) -> None:
    for each in (folder, model_folder):
        shutil.copytree(each, tmp_path / f"{each.parent.name}-{each.name}")
    assert architecture(folder) == "decomposable"
    (listed,) = model_folders(tmp_path)
    assert architecture(listed) == "rnnsearch"


def test_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(AttnvizError, match="There is no model folder"):
        Detector.load(tmp_path / "none")


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("config.json", b"{", "config.json is damaged"),
        ("model.safetensors", b"\0" * 9, "is damaged or cut short"),
        ("tokenizer.model", b"x", "tokenizer .* is damaged"),
        ("config.json", None, "config.json"),
        ("model.safetensors", None, "is missing"),
        ("tokenizer.model", None, "cannot be read"),
    ],
)
def test_damaged_folders_are_told(folder: Path, tmp_path: Path, file: str, content: bytes | None, message: str) -> None:
    copy = shutil.copytree(folder, tmp_path / "copy")
    if content is None:
        (copy / file).unlink()
    else:
        (copy / file).write_bytes(content)
    with pytest.raises(AttnvizError, match=message):
        Detector.load(copy, "cpu")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("model_size", 9, "is .* not"),
        ("vocabulary_size", 151, "belong to different models"),
        ("heads", 2, "unknown field heads"),
        ("embedding_size", 0, "whole number"),
    ],
)
def test_a_config_that_does_not_fit_is_told(folder: Path, tmp_path: Path, field: str, value: int, message: str) -> None:
    copy = shutil.copytree(folder, tmp_path / "copy")
    record = json.loads((copy / "config.json").read_text())
    record["model"][field] = value
    (copy / "config.json").write_text(json.dumps(record))
    with pytest.raises(AttnvizError, match=message):
        Detector.load(copy, "cpu")
