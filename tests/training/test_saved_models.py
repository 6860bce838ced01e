"""Measure the models that a training run saved, and write one file."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from attnviz import Translator
from attnviz.evaluation.alignment import read_gold
from attnviz.evaluation.model_alignments import word_alignments
from attnviz.installed_models import ADDITIVE_MODEL
from attnviz.trace.snapshots import Snapshots
from tests.benchmarks.learning_measures import learning_measures
from tests.benchmarks.saved_models import main, measurement_table
from tests.small_run import LINKS
from tests.snapshots import plain
from tests.training.conftest import MOMENTS


@pytest.fixture(scope="module")
def links(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("gold") / "links.jsonl"
    path.write_text(LINKS, encoding="utf-8")
    return path


def arguments(run: Path, links: Path, output: Path) -> list[str]:
    return [str(run), "-o", str(output), "--links", str(links), "--limit", "6", "--device", "cpu", "--name", "small"]


@pytest.fixture(scope="module")
def series(learned, links) -> Path:
    output = links.with_name("series.json")
    assert main(arguments(learned, links, output)) == 0
    return output


def test_series_equals_measures_of_saved_models(learned, links, series) -> None:
    found, gold = Snapshots.load(series), read_gold(links)
    assert (found.name, found.updates) == ("small", MOMENTS)
    translator = Translator.load(learned / "moments" / f"{MOMENTS[-1]:06}", "cpu")
    for name, one in learning_measures(gold, word_alignments(translator, gold)).items():
        assert dict(found.curves[name])[MOMENTS[-1]] == pytest.approx(one.value, abs=1e-5)
        assert found.counts[name] == one.count
    sentence = found.sentences[0]
    trace = translator.translate(sentence.source, target=sentence.target)
    np.testing.assert_allclose(found.alignments[0][-1], trace.alignment, atol=1e-6)
    assert found.translations[-1][0] == translator.translate(sentence.source, beam=1).translation
    assert found.counts["bleu"] == 6


def test_measured_moments_are_not_measured_again(learned, links, series, monkeypatch, tmp_path) -> None:
    loaded: list[Path] = []
    load = Translator.load
    monkeypatch.setattr(Translator, "load", lambda folder, **more: loaded.append(folder) or load(folder, **more))
    again = arguments(learned, links, shutil.copy(series, tmp_path / "again.json"))
    assert main(again) == 0
    assert loaded == []
    assert main([*again[:-1], "other"]) == 2  # of another name


def test_invalid_run_or_output_is_refused(learned, tmp_path, capsys, snapshot) -> None:
    for name, run, output in (("no run", tmp_path, "x.json"), ("no JSON", learned, "x.csv")):
        assert main([str(run), "-o", str(tmp_path / output)]) == 2
        assert plain(capsys.readouterr().err, tmp_path, learned.parent) == snapshot(name=name)


@pytest.mark.parametrize("name", ["unguided", "guided"])
def test_readme_of_the_small_model_has_the_numbers_of_its_runs(name, shipped_model) -> None:
    folder = shipped_model.with_name(ADDITIVE_MODEL)
    run = Snapshots.load(folder / f"snapshots/{name}.json")
    assert measurement_table(run) in (folder / "README.md").read_text(encoding="utf-8")
