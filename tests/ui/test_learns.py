"""Page *How it learns* as Streamlit runs it: short real training runs, their snapshots, figures and files."""

from __future__ import annotations

import os
import shutil
import time
from html import escape
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from attnviz.analysis.learning import LEARNING_REFERENCES, LINK_MEASURES, ROW_MEASURES
from attnviz.analysis.learning import guidance_definition as told_of_guided
from attnviz.environment import ATTNVIZ_RUNS
from attnviz.trace.snapshots import Snapshots
from attnviz.ui.learns.runs import watched_run_folders
from attnviz.ui.resources import model_configs
from tests.benchmarks.saved_models import main, measurement_table
from tests.conftest import REPOSITORY
from tests.figures.payloads import figure_at
from tests.small_run import LINKS, MOMENTS, kept_run
from tests.ui.opening import open_alone
from tests.ui.shown_payloads import address, mounted, page_html

SHIPPED = REPOSITORY / "models" / "small-additive"


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an unguided and a guided run, and their measured snapshots in `snapshots`."""
    folder = tmp_path_factory.mktemp("learns")
    (folder / "links.jsonl").write_text(LINKS, encoding="utf-8")
    (folder / "snapshots").mkdir()
    for name, guidance, moments in (("unguided", 0.0, MOMENTS), ("guided", 0.5, MOMENTS[1:])):
        run = kept_run(folder / "runs", guidance=guidance, name=name, keep_at=moments)
        arguments = [str(run), "-o", str(folder / f"snapshots/{name}.json"), "--limit", "6"]
        assert main([*arguments, "--links", str(folder / "links.jsonl"), "--device", "cpu"]) == 0
    return folder


@pytest.fixture
def models(measured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of models, one of which has the snapshots of both runs."""
    shutil.copytree(measured / "snapshots", tmp_path / "models/small/snapshots")
    monkeypatch.setenv("ATTNVIZ_MODELS", str(tmp_path / "models"))
    monkeypatch.delenv(ATTNVIZ_RUNS, raising=False)
    return tmp_path / "models"


def opened(**linked: str) -> AppTest:
    return open_alone("learns", **linked)


def weights(record: dict[str, object], moment: int) -> np.ndarray:
    """Return the cells of a heatmap as the browser unpacks them."""
    (cells,) = (each for each in figure_at(record, moment)["data"] if each["type"] == "heatmap")
    return np.asarray(cells["z"])


def test_shipped_runs_are_shown_side_by_side(monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion) -> None:
    monkeypatch.setenv("ATTNVIZ_MODELS", str(REPOSITORY / "models"))
    monkeypatch.delenv(ATTNVIZ_RUNS, raising=False)
    app = opened()
    runs = [Snapshots.load(SHIPPED / f"snapshots/{name}.json") for name in ("unguided", "guided")]
    assert [run.guidance for run in runs] == [0, 0.5]
    charts = mounted(app, "chart")
    headings = [chart["captions"]["0"][0] for chart in charts]
    assert headings == 2 * ["Not guided", "Guided, weight 0.5"] + [""]
    for run, chart in zip(runs, charts[2:4], strict=True):
        assert {*LINK_MEASURES, *ROW_MEASURES} <= set(run.curves)
        assert run.counts["nouns"] == 132
        assert "nouns after an article" in chart["captions"]["0"][1]
    html_of_page = " ".join(page_html(app))
    assert told_of_guided(runs, model_configs()) == snapshot
    assert escape(told_of_guided(runs, model_configs())) in html_of_page
    assert all(f"https://arxiv.org/abs/{number}" in html_of_page for *_, number in LEARNING_REFERENCES if number)
    alone = opened(runs="1")
    assert escape(told_of_guided(runs, model_configs())) not in " ".join(page_html(alone))


@pytest.mark.parametrize("name", ["unguided", "guided"])
def test_model_card_has_the_numbers_of_the_snapshot_files(name: str) -> None:
    assert measurement_table(Snapshots.load(SHIPPED / f"snapshots/{name}.json")) in (SHIPPED / "README.md").read_text(
        "utf-8"
    )


def test_single_run_shows_its_quality_and_the_linked_sentence(models: Path) -> None:
    app = opened(runs="1", pair="3")
    (timeline,) = mounted(app, "timeline")
    assert address(app) == {"runs": "1", "pair": "3"}
    assert timeline["captions"][1].startswith("After 20 updates: validation loss ")
    assert "AER" in timeline["captions"][1]
    run = Snapshots.load(models / "small/snapshots/unguided.json")
    chart = mounted(app, "chart")[0]
    words = run.sentences[2].words(run.alignments[2][-1])
    np.testing.assert_allclose(weights(chart, 3), words.alignment, atol=1e-4)


def test_run_in_progress_shows_new_snapshots(
    models: Path, measured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "runs/mine"
    parts = sorted((measured / "runs/unguided/model/snapshots").glob("*.json"))
    (own / "model/snapshots").mkdir(parents=True)
    for path in parts[:2]:
        shutil.copy(path, own / "model/snapshots")
    shutil.copy(measured / "runs/unguided/log.csv", own)
    monkeypatch.setenv(ATTNVIZ_RUNS, str(tmp_path / "runs"))
    app = opened(training="run:mine")
    (timeline,) = mounted(app, "timeline")
    assert timeline["updates"] == [int(path.stem) for path in parts[:2]]
    assert any(chart["template"].count("validation loss") for chart in mounted(app, "chart"))
    shutil.copy(parts[2], own / "model/snapshots")
    app.run()
    assert mounted(app, "timeline")[0]["updates"] == [int(path.stem) for path in parts[:3]]


def test_only_configured_runs_can_be_watched(models: Path, measured: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert watched_run_folders() == {}
    app = opened(training=f"run:{measured}/runs/unguided")
    assert "training" not in address(app)
    monkeypatch.setenv(ATTNVIZ_RUNS, str(measured / "runs"))
    os.utime(measured / "runs/guided/log.csv", (time.time() + 60,) * 2)
    assert list(watched_run_folders()) == ["guided", "unguided"]
    app = opened(training="run:../runs/unguided")
    assert "training" not in address(app)
