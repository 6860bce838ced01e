"""Measure the models that a training run saved, and write one file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz import Translator
from attnviz.evaluation.alignment import read_gold
from attnviz.evaluation.model_alignments import word_alignments
from attnviz.trace.snapshots import Snapshots
from tests.benchmarks.learning_measures import learning_measures
from tests.benchmarks.saved_models import main
from tests.small_run import LINKS, MOMENTS, kept_run
from tests.snapshots import plain


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kept_run(tmp_path_factory.mktemp("learns"))


@pytest.fixture(scope="module")
def series(run_folder: Path) -> Path:
    output, links = run_folder / "series.json", run_folder / "links.jsonl"
    links.write_text(LINKS, encoding="utf-8")
    arguments = [str(run_folder), "-o", str(output), "--links", str(links), "--limit", "6"]
    assert main([*arguments, "--name", "small", "--device", "cpu"]) == 0
    return output


def test_series_equals_measures_of_saved_models(run_folder: Path, series: Path) -> None:
    found = Snapshots.load(series)
    assert (found.name, found.updates) == ("small", MOMENTS)
    translator = Translator.load(run_folder / "moments" / f"{MOMENTS[-1]:06}", "cpu")
    gold = read_gold(run_folder / "links.jsonl")
    for name, one in learning_measures(gold, word_alignments(translator, gold)).items():
        assert dict(found.curves[name])[MOMENTS[-1]] == pytest.approx(one.value, abs=1e-5)
        assert found.counts[name] == one.count
    sentence = found.sentences[0]
    trace = translator.translate(sentence.source, target=sentence.target)
    np.testing.assert_allclose(found.alignments[0][-1], trace.alignment, atol=1e-6)
    assert found.translations[-1][0] == translator.translate(sentence.source, beam=1).translation
    assert found.counts["bleu"] == 6


def test_measured_moments_are_not_measured_again(
    run_folder: Path, series: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    half = json.loads(series.read_text(encoding="utf-8"))
    loaded: list[Path] = []
    load = Translator.load
    monkeypatch.setattr(Translator, "load", lambda folder, **more: loaded.append(folder) or load(folder, **more))
    again = tmp_path / "again.json"
    again.write_text(json.dumps(half), encoding="utf-8")
    links = str(run_folder / "links.jsonl")
    arguments = [str(run_folder), "-o", str(again), "--links", links, "--limit", "6", "--name", "small"]
    assert main(arguments) == 0
    assert loaded == []
    assert main([*arguments[:-1], "other"]) == 2  # of another name


def test_invalid_run_or_output_is_refused(
    run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    assert main([str(tmp_path), "-o", str(tmp_path / "x.json")]) == 2
    assert plain(capsys.readouterr().err, tmp_path) == snapshot(name="no run")
    assert main([str(run_folder), "-o", str(tmp_path / "x.csv")]) == 2
    assert plain(capsys.readouterr().err, tmp_path) == snapshot(name="no JSON")
