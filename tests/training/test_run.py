"""Whole training runs: learning, resuming after a kill, several processes, refused settings."""

from __future__ import annotations

import csv
import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from syrupy.assertion import SnapshotAssertion

from attnviz import Translator
from attnviz.errors import AttnvizError
from attnviz.model_folder import TRAINING_LOG
from attnviz.trace.snapshots import load_folder
from attnviz.training import TrainingConfig, train
from attnviz.training.log import read_curves
from attnviz.training.loop import learning_rate
from attnviz.training.preparation import SETTINGS
from attnviz.training.run_state import CHECKPOINT, read_progress
from tests.snapshots import plain
from tests.training.resuming import assert_same_state, run_until_validation

TIMED = ("seconds", "tokens_per_second")


def tiny(files: tuple[Path, Path], output: Path, **changes: object) -> TrainingConfig:
    config = TrainingConfig(
        data=(str(files[0]),),
        validation=(str(files[1]),),
        output=str(output),
        vocabulary_size=80,
        embedding_size=16,
        hidden_size=24,
        alignment_size=16,
        maxout_size=16,
        batch_tokens=120,
        updates=60,
        warmup=10,
        learning_rate=1e-2,
        matrix_rate=0.0,
        validate_every=20,
        checkpoint_every=7,
        bleu_sentences=8,
        snapshots=4,
        snapshot_sentences=("the cat sees it.\tle chat voit cela.",),
        device="cpu",
        precision="fp32",
        threads=1,
        patience=0,
    )
    return dataclasses.replace(config, **changes)  # type: ignore[arg-type]


def losses_of(output: Path) -> list[tuple[str, ...]]:
    """Return the rows of a run's log without their times."""
    with (output / "log.csv").open(newline="", encoding="utf-8") as file:
        return [tuple(value for name, value in row.items() if name not in TIMED) for row in csv.DictReader(file)]


def test_run_learns_and_writes_log_snapshots_and_model(files: tuple[Path, Path], tmp_path: Path) -> None:
    model = train(tiny(files, tmp_path / "run", updates=300, validate_every=100, dropout=0.0))
    with (tmp_path / "run/log.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    losses = [float(row["validation_loss"]) for row in rows if row["validation_loss"]]
    assert len(losses) == 3
    assert losses[-1] < 0.5
    assert max(float(row["validation_bleu"]) for row in rows if row["validation_bleu"]) > 50
    snapshots = sorted((model / "snapshots").glob("*.json"))
    assert [int(path.stem) for path in snapshots] == [0, 20, 49, 122, 300]
    (found,) = load_folder(model / "snapshots")
    assert (found.name, found.updates, found.guidance) == ("run", (0, 20, 49, 122, 300), 0)
    assert [one.target for one in found.sentences] == ["le chat voit cela."]
    np.testing.assert_allclose(found.alignments[0].sum(axis=2), 1, atol=1e-3)
    assert found.translations[-1] == ("le chat voit cela.",)
    assert dict(read_curves(tmp_path / "run/log.csv")["loss"]).keys() == {100, 200, 300}
    assert (model / TRAINING_LOG).read_bytes() == (tmp_path / "run/log.csv").read_bytes()
    source, target = "the cat sees the house.", "le chat voit la maison."
    assert Translator.load(model, "cpu").translate(source, beam=1).translation == target


def test_run_extended_before_decay_equals_longer_run(
    files: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = tiny(files, tmp_path / "whole", updates=60, decay_updates=15, guidance=0.3)
    train(whole)
    short = dataclasses.replace(whole, output=str(tmp_path / "longer"), updates=40, decay_updates=10)
    run_until_validation(short, monkeypatch)  # at update 20; the fall would begin at 25
    train(dataclasses.replace(short, updates=60, decay_updates=15))
    assert_same_state(tmp_path / "whole", tmp_path / "longer")
    # A row is of all updates since the one before, those before the stop included.
    assert losses_of(tmp_path / "whole") == losses_of(tmp_path / "longer")


@pytest.mark.parametrize("decay", [0, 10])
def test_finished_run_can_be_extended_and_not_shortened(files: tuple[Path, Path], tmp_path: Path, decay: int) -> None:
    config = tiny(files, tmp_path / "run", updates=30, decay_updates=decay)
    train(config)
    with pytest.raises(AttnvizError, match="updates"):
        train(dataclasses.replace(config, updates=20))
    train(dataclasses.replace(config, updates=50))
    assert read_progress(tmp_path / "run" / CHECKPOINT).update == 50
    assert TrainingConfig.from_json((tmp_path / "run" / SETTINGS).read_text()).updates == 50


def test_learning_rate_is_constant_then_decays_linearly(files: tuple[Path, Path], tmp_path: Path) -> None:
    config = tiny(files, tmp_path, updates=100, warmup=10, learning_rate=1.0, final_rate=0.0, decay_updates=20)
    rates = [learning_rate(config, update) for update in range(101)]
    assert rates[10:81] == [1.0] * 71
    assert rates[80:] == pytest.approx([1 - i / 20 for i in range(21)])


def test_training_stops_early_when_validation_no_longer_improves(files: tuple[Path, Path], tmp_path: Path) -> None:
    train(tiny(files, tmp_path / "run", learning_rate=1e-12, validate_every=5, patience=2))
    with (tmp_path / "run/log.csv").open(newline="") as file:
        validated = [int(row["update"]) for row in csv.DictReader(file) if row["validation_loss"]]
    assert validated[-1] < 60


def test_folder_with_other_files_is_refused_and_unchanged(
    files: tuple[Path, Path], tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    output = tmp_path / "run"
    (output / "model").mkdir(parents=True)
    (output / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(AttnvizError) as error:
        train(tiny(files, output, updates=5))
    assert plain(error.value, tmp_path) == snapshot
    assert {path.name for path in output.iterdir()} == {"model", "notes.txt"}


def test_keep_at_saves_weights_at_given_updates(files: tuple[Path, Path], tmp_path: Path) -> None:
    train(tiny(files, tmp_path / "run", updates=24, snapshots=0, bleu_sentences=0, keep_at=(0, 5, 24)))
    moments = {
        int(folder.name): load_file(folder / "model.safetensors") for folder in (tmp_path / "run/moments").iterdir()
    }
    assert set(moments) == {0, 5, 24}
    last = load_file(tmp_path / "run/model/model.safetensors")
    assert all(torch.equal(values, last[name]) for name, values in moments[24].items())
    assert any(not torch.equal(values, moments[5][name]) for name, values in moments[0].items())
    assert Translator.load(tmp_path / "run/moments/000005", "cpu").translate("the cat sees it.", beam=1).target_pieces
