"""A detector from a folder: its verdicts, and what it says about folders and sentences that cannot be used."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz import AttnvizError, Translator
from attnviz.analysis.decomposable_verification import verify_judgement
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
    assert verify_judgement(judgement, load_weights(folder)).holds


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


def test_sentences_that_cannot_be_judged(detector: Detector, snapshot: SnapshotAssertion) -> None:
    for pairs in ([(" ", "Oui.")], [("Yes.", "oui " * 201)], [("Yes.", "Oui."), ("No.", "")]):
        with pytest.raises(AttnvizError) as error:
            detector.judge(*pairs[0]) if len(pairs) == 1 else detector.judge_batch(pairs)
        assert str(error.value) == snapshot


def test_a_translator_s_loader_refuses_it(folder: Path, tokenizer: Tokenizer, snapshot: SnapshotAssertion) -> None:
    for load in (Translator.load, lambda path: start_from(path, tokenizer, 0.0)):
        with pytest.raises(AttnvizError) as error:
            load(folder)
        assert str(error.value).replace(str(folder.parent), "<tmp>") == snapshot


def test_a_detector_s_loader_refuses_a_translator(model_folder: Path, snapshot: SnapshotAssertion) -> None:
    with pytest.raises(AttnvizError) as error:
        Detector.load(model_folder, "cpu")
    assert str(error.value).replace(str(model_folder.parent), "<tmp>") == snapshot


def test_it_is_listed_among_no_translators(folder: Path, model_folder: Path, tmp_path: Path) -> None:
    for each in (folder, model_folder):
        shutil.copytree(each, tmp_path / f"{each.parent.name}-{each.name}")
    assert architecture(folder) == "decomposable"
    (listed,) = model_folders(tmp_path)
    assert architecture(listed) == "rnnsearch"


def test_a_missing_folder(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    with pytest.raises(AttnvizError) as error:
        Detector.load(tmp_path / "none")
    assert str(error.value).replace(str(tmp_path), "<tmp>") == snapshot


@pytest.mark.parametrize("content", [b"{", None], ids=["damaged", "missing"])
@pytest.mark.parametrize("file", ["config.json", "model.safetensors", "tokenizer.model"])
def test_damaged_folders_are_told(
    folder: Path, tmp_path: Path, file: str, content: bytes | None, snapshot: SnapshotAssertion
) -> None:
    copy = shutil.copytree(folder, tmp_path / "copy")
    if content is None:
        (copy / file).unlink()
    else:
        (copy / file).write_bytes(content)
    with pytest.raises(AttnvizError) as error:
        Detector.load(copy, "cpu")
    told = str(error.value).replace(str(tmp_path), "<tmp>")
    assert re.sub(r"\(.*\)", "(…)", told) == snapshot  # in brackets, the words of the library that reads the file


@pytest.mark.parametrize(
    ("field", "value"), [("model_size", 9), ("vocabulary_size", 151), ("heads", 2), ("embedding_size", 0)]
)
def test_a_config_that_does_not_fit_is_told(
    folder: Path, tmp_path: Path, field: str, value: int, snapshot: SnapshotAssertion
) -> None:
    copy = shutil.copytree(folder, tmp_path / "copy")
    record = json.loads((copy / "config.json").read_text())
    record["model"][field] = value
    (copy / "config.json").write_text(json.dumps(record))
    with pytest.raises(AttnvizError) as error:
        Detector.load(copy, "cpu")
    assert str(error.value).replace(str(tmp_path), "<tmp>") == snapshot
