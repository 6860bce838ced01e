"""Whole training runs: learning, resuming after a kill, extending, refused settings."""

import dataclasses
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from attnviz import AttnvizError, TrainingConfig, Translator, train
from attnviz.model_folder import TRAINING_LOG
from attnviz.trace.snapshots import load_folder
from attnviz.training.log import read_curves
from attnviz.training.loop import learning_rate
from attnviz.training.preparation import SETTINGS
from attnviz.training.run_state import CHECKPOINT, Pace, read_progress
from tests.small_run import assert_same_run, log_of, run_until_validation, tiny
from tests.snapshots import refusal

SOURCE, TARGET = "the cat sees the house.", "le chat voit la maison."


def test_run_learns_and_writes_log_snapshots_and_model(learned) -> None:
    model, validated = learned / "model", [row for row in log_of(learned) if row["validation_loss"]]
    assert len(validated) == 3
    assert float(validated[-1]["validation_loss"]) < 0.5
    assert max(float(row["validation_bleu"]) for row in validated) > 50
    assert [int(path.stem) for path in sorted((model / "snapshots").glob("*.json"))] == [0, 20, 49, 122, 300]
    (found,) = load_folder(model / "snapshots")
    assert (found.name, found.updates, found.guidance) == ("<run>", (0, 20, 49, 122, 300), 0)
    assert [one.target for one in found.sentences] == ["le chat voit cela."]
    np.testing.assert_allclose(found.alignments[0].sum(axis=2), 1, atol=1e-3)
    assert found.translations[-1] == ("le chat voit cela.",)
    assert dict(read_curves(learned / "log.csv")["loss"]).keys() == {100, 200, 300}
    assert (model / TRAINING_LOG).read_bytes() == (learned / "log.csv").read_bytes()
    assert Translator.load(model, "cpu").translate(SOURCE, beam=1).translation == TARGET


def test_page_of_curves_has_every_validation(learned, snapshot) -> None:
    page = (learned / "curve.html").read_text(encoding="utf-8")
    assert "http" not in page.replace("http://www.w3.org", "")
    assert "<script" not in page
    assert set(re.findall(r"&lt;run&gt;, (\d+)", page)) == {"300"}
    svg = ElementTree.fromstring(re.search(r"<svg.*</svg>", page, re.DOTALL)[0])  # noqa: S314  it is our own
    titles = [element.text for element in svg.iter("title")]
    rows = [row for row in log_of(learned) if row["validation_loss"]]
    for row in rows:
        for value in (float(row["validation_loss"]), float(row["validation_bleu"])):
            assert any(title.endswith(f" {row['update']}: {value:g}") for title in titles)
    assert sorted({re.sub(r": [\d.e-]+$", "", title) for title in titles}) == snapshot(name="points")
    assert len(titles) == 2 * len(rows) == 6


def test_time_left_counts_updates_and_validations(files, tmp_path, snapshot) -> None:
    config = tiny(files, tmp_path, updates=1000, validate_every=300)
    pace = Pace()
    pace.add(100.0)  # the first update is slower and is ignored
    for _ in range(49):
        pace.add(2.0)
    assert pace.left(config, 100) == snapshot(name="validations of unknown length")
    pace.validation = 600.0
    assert pace.left(config, 400) == snapshot(name="validations of 10 minutes")


def test_run_extended_before_decay_equals_longer_run(files, tmp_path, monkeypatch) -> None:
    whole = tiny(files, tmp_path / "whole", updates=30, decay_updates=8, validate_every=10, guidance=0.3)
    train(whole)
    short = dataclasses.replace(whole, output=str(tmp_path / "longer"), updates=20, decay_updates=5)
    run_until_validation(short, monkeypatch)  # at update 10; the fall would begin at 15
    train(dataclasses.replace(short, updates=30, decay_updates=8))
    # A row of the log is of all updates since the one before, those before the stop included.
    assert_same_run(tmp_path / "whole", tmp_path / "longer")


def test_finished_run_can_be_extended_and_not_shortened(files, tmp_path) -> None:
    config = tiny(files, tmp_path / "run", updates=10, bleu_sentences=0, snapshots=0, decay_updates=5)
    train(config)
    with pytest.raises(AttnvizError, match="updates"):
        train(dataclasses.replace(config, updates=9))
    train(dataclasses.replace(config, updates=20))
    assert read_progress(tmp_path / "run" / CHECKPOINT).update == 20
    assert TrainingConfig.from_json((tmp_path / "run" / SETTINGS).read_text()).updates == 20


def test_learning_rate_decays_linearly_and_training_stops_early(files, tmp_path) -> None:
    config = tiny(files, tmp_path, updates=100, warmup=10, learning_rate=1.0, final_rate=0.0, decay_updates=20)
    rates = [learning_rate(config, update) for update in range(101)]
    assert rates[10:81] == [1.0] * 71
    assert rates[80:] == pytest.approx([1 - i / 20 for i in range(21)])
    train(tiny(files, tmp_path / "run", learning_rate=1e-12, validate_every=5, patience=2, bleu_sentences=0))
    assert int([row for row in log_of(tmp_path / "run") if row["validation_loss"]][-1]["update"]) < 60


def test_folder_with_other_files_is_refused_and_unchanged(files, tmp_path, snapshot) -> None:
    output = tmp_path / "run"
    (output / "model").mkdir(parents=True)
    (output / "notes.txt").write_text("mine", encoding="utf-8")
    assert refusal(lambda: train(tiny(files, output, updates=5)), tmp_path) == snapshot
    assert {path.name for path in output.iterdir()} == {"model", "notes.txt"}
