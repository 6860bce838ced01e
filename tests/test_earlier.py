"""Files of earlier versions, which called Luong's *general* attention "dot", still load."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from attnviz.architectures import verifier_of
from attnviz.attention_kinds import with_current_attention
from attnviz.errors import AttnvizError
from attnviz.model_folder import load_weights, read_config
from attnviz.trace import Seq2SeqTrace, Trace
from attnviz.training import TrainingConfig, run
from attnviz.translator import Translator
from tests.conftest import REPOSITORY

EARLIER = REPOSITORY / "tests" / "earlier"
MODEL = EARLIER / "dot-run" / "model"
IMPORTED = EARLIER / "dot-joey"
KINDS = [(MODEL, EARLIER / "dot-trace.json", Trace), (IMPORTED, EARLIER / "dot-joey-trace.json", Seq2SeqTrace)]


@pytest.mark.parametrize(("folder", "file", "kind"), KINDS, ids=["trained", "imported"])
def test_old_folder_reproduces_old_trace(folder: Path, file: Path, kind: type[Trace] | type[Seq2SeqTrace]) -> None:
    assert json.loads((folder / "config.json").read_text())["model"]["attention"] == "dot"
    assert read_config(folder)["attention"] == "general"
    old = kind.load(file)
    assert old.config["attention"] == "general"
    new = Translator.load(folder, device="cpu").translate(old.source_text, target=old.target_ids)
    assert np.abs(new.energies - old.energies).max() < 1e-5
    assert np.abs(new.log_probabilities - old.log_probabilities).max() < 1e-5
    weights = load_weights(folder)
    assert all(verifier_of(old, weights).verify(step).holds for step in range(len(old.target_pieces)))


def test_old_trace_saved_again_says_general() -> None:
    text = Trace.load(EARLIER / "dot-trace.json").to_json()
    assert json.loads(text)["config"]["attention"] == "general"
    assert Trace.from_json(text).fingerprint == Trace.load(EARLIER / "dot-trace.json").fingerprint


def test_old_run_resumes_with_new_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = shutil.copytree(EARLIER / "dot-run", tmp_path / "run")
    monkeypatch.chdir(EARLIER)
    settings = TrainingConfig.from_json((folder / "training.json").read_text())
    assert settings.attention == "general"
    moved = TrainingConfig.from_dict(settings.to_dict() | {"output": str(folder)})
    run(moved)
    assert read_config(folder / "model")["attention"] == "general"
    with pytest.raises(AttnvizError, match="attention"):
        run(TrainingConfig.from_dict(moved.to_dict() | {"attention": "additive"}))


def test_renaming_changes_only_the_old_name() -> None:
    assert with_current_attention({"attention": "dot", "heads": 2}) == {"attention": "general", "heads": 2}
    assert with_current_attention({"attention": "additive"}) == {"attention": "additive"}
    assert with_current_attention({"heads": 2}) == {"heads": 2}


def test_settings_of_later_version_are_refused() -> None:
    with pytest.raises(ValueError, match="format version 3"):
        TrainingConfig.from_json('{"version": 3}')
