"""`Detector`: judgements, and errors for unusable folders and sentences."""

import re
import shutil
from functools import partial
from pathlib import Path

import pytest

from attnviz import Translator
from attnviz.analysis.judgement import JudgementVerifier
from attnviz.checkpoint import save_model
from attnviz.detector import Detector
from attnviz.model_folder import architecture, model_folders, read_weights, weights_digest
from attnviz.network import DecomposableConfig
from attnviz.text import LONGEST_SENTENCE
from attnviz.training.preparation import start_from
from tests.conftest import SENTENCES
from tests.detectors import random_detector
from tests.snapshots import refusal

PAIRS = list(zip(SENTENCES[::2], SENTENCES[1::2], strict=True))


@pytest.fixture(scope="module")
def folder(tokenizer, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("detectors") / "tiny"
    save_model(folder, random_detector(DecomposableConfig(len(tokenizer), 8, 10), 4), tokenizer)
    return folder


@pytest.fixture(scope="module")
def detector(folder) -> Detector:
    return Detector.load(folder, device="cpu")


def test_judgement_is_verified_by_the_folder_weights(detector, folder) -> None:
    judgement = detector.judge(*PAIRS[0])
    assert judgement.model == "tiny"
    assert judgement.weights_digest == weights_digest(folder)
    assert (judgement.source_text, judgement.target_text) == PAIRS[0]
    assert JudgementVerifier(judgement, read_weights(folder)).verify(0).holds


def test_unusable_sentences_are_refused(detector, snapshot) -> None:
    for pair in ((" ", "Oui."), ("Yes.", "oui " * (LONGEST_SENTENCE + 1))):
        assert refusal(partial(detector.judge, *pair)) == snapshot
    assert refusal(lambda: detector.judge_batch([("Yes.", "Oui."), ("No.", "")])) == snapshot


def test_detector_is_not_listed_among_translators(folder, model_folder, tmp_path) -> None:
    for each in (folder, model_folder):
        shutil.copytree(each, tmp_path / f"{each.parent.name}-{each.name}")
    assert architecture(folder) == "decomposable"
    (listed,) = model_folders(tmp_path)
    assert architecture(listed) == "rnnsearch"


def test_loaders_refuse_each_others_and_damaged_folders(folder, model_folder, tokenizer, tmp_path, snapshot) -> None:
    attempts = {
        "detector": (Translator.load, folder),
        "detector to train on": (lambda path: start_from(path, tokenizer, 0.0), folder),
        "translator": (Detector.load, model_folder),
    }
    for file in ("config.json", "model.safetensors", "tokenizer.model"):
        for state in ("damaged", "missing"):
            copy = shutil.copytree(folder, tmp_path / f"{file} {state}")
            (copy / file).write_bytes(b"{") if state == "damaged" else (copy / file).unlink()
            attempts[copy.name] = (Detector.load, copy)
    attempts["detector without weights"] = (Translator.load, tmp_path / "model.safetensors missing")
    messages = {}
    for name, (load, path) in attempts.items():  # parentheses quote the library that reads the file
        messages[name] = re.sub(r"\(.*\)", "(…)", refusal(partial(load, path), path.parent))
    assert messages == snapshot
