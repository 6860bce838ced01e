"""Page *How it learns* as Streamlit runs it: short real training runs, their snapshots, figures and files."""

from __future__ import annotations

import os
import re
import shutil
import time
from dataclasses import replace
from html import escape
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from attnviz.analysis.learning import LEARNING_REFERENCES, LINK_MEASURES, ROW_MEASURES, own_translation_sentence
from attnviz.analysis.learning import guidance_definition as told_of_guided
from attnviz.environment import ATTNVIZ_RUNS
from attnviz.trace.snapshots import Snapshots
from attnviz.ui.learns.runs import runs_identity, snapshot_folders, watched_run_folders
from attnviz.ui.resources import model_configs
from tests.benchmarks.saved_models import main, measurement_table
from tests.conftest import REPOSITORY
from tests.figures.payloads import figure_at
from tests.saved_pages import flattened, saved_view
from tests.small_run import LINKS, MOMENTS, kept_run
from tests.ui.opening import open_alone
from tests.ui.shown_payloads import address, fetched, mounted, page_html, plain_texts, saved_page, tables_of

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


@pytest.mark.nightly
def test_two_runs_are_shown_side_by_side_at_every_snapshot(models: Path, snapshot: SnapshotAssertion) -> None:
    app = opened()
    (timeline,) = mounted(app, "timeline")
    assert timeline["updates"] == list(MOMENTS)
    assert timeline["opened"] is None
    assert timeline["captions"][0] == "Before the first update"
    charts = mounted(app, "chart")
    assert len(charts) == 5
    left, guided = (Snapshots.load(models / f"small/snapshots/{name}.json") for name in ("unguided", "guided"))
    for chart, run in zip(charts, (left, guided), strict=False):
        for k, update in enumerate(MOMENTS):
            alignment = run.alignments[0][run.moment(update)]
            np.testing.assert_allclose(weights(chart, k), run.sentences[0].words(alignment).alignment, atol=1e-4)
            heading, sentence = chart["captions"][str(k)]
            assert heading == ("Guided, weight 0.5" if run.guidance else "Not guided")
            translation = run.translations[run.moment(update)][0]
            assert translation in sentence
            assert sentence == own_translation_sentence(run, 0, run.moment(update))
    assert own_translation_sentence(replace(left, translations=(("",),)), 0, 0) == snapshot


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


@pytest.mark.parametrize("linked", [{"runs": "9"}, {"pair": "99"}, {"training": "../x"}])
def test_link_with_missing_items_shows_the_defaults(models: Path, linked: dict[str, str]) -> None:
    app = opened(**linked)
    assert len(mounted(app, "chart")) == 5
    assert mounted(app, "timeline")[0]["opened"] is None


@pytest.mark.parametrize("lang", ["en", "fr"])
def test_measure_definitions_are_shown_in_both_languages(lang: str, models: Path, snapshot: SnapshotAssertion) -> None:
    app = opened(lang=lang)
    (rules,) = [one for one in page_html(app) if 'class="rules"' in one]
    assert re.findall("<dd>(.*?)</dd>", rules) == snapshot


def test_files_and_tables_show_the_current_update(models: Path) -> None:
    app = opened()
    checkpoint = mounted(app, "timeline")[0]["updates"].index(20)
    (files,) = (fetched(one["at"], checkpoint) for one in mounted(app, "picture_files"))
    names = [picture["file"] for picture in files["pictures"]]
    assert names == [
        "attnviz-learns-heatmap-1-20",
        "attnviz-learns-heatmap-2-20",
        "attnviz-learns-quality",
        "attnviz-learns-when-1",
        "attnviz-learns-when-2",
    ]
    assert "After 20 updates" in files["pictures"][0]["figure"]
    run = Snapshots.load(models / "small/snapshots/unguided.json")
    shown = [[float(cell) for cell in row[1:]] for row in tables_of(app, checkpoint)[0]["rows"]]
    words = run.sentences[0].words(run.alignments[0][1])
    np.testing.assert_allclose(shown, words.alignment, atol=1e-6)


def test_saved_page_has_every_snapshot(models: Path) -> None:
    app = opened()
    checkpoint = mounted(app, "timeline")[0]["updates"].index(20)
    text, run = saved_page(app, checkpoint), Snapshots.load(models / "small/snapshots/unguided.json")
    saved = saved_view(text)
    (moments,) = saved.mounted("timeline")
    assert moments["updates"][moments["opened"]] == 20
    charts = {block["key"]: block["data"] for block in flattened(saved.blocks) if block["kind"] == "chart"}
    heatmaps = [data for key, data in charts.items() if key.startswith("heatmap_")]
    assert len(heatmaps) == 2, "both runs"
    assert all(len(data["values"]) == len(moments["updates"]) for data in heatmaps)
    weights = run.sentences[0].words(run.alignments[0][0]).alignment
    np.testing.assert_allclose(figure_at(heatmaps[0], 0)["data"][0]["z"], weights, atol=2e-5)
    assert "Comment il apprend" in " ".join(saved_view(text, "fr").texts())


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


def test_copied_model_of_a_run_shows_the_curves_of_its_log(models: Path, measured: Path, tmp_path: Path) -> None:
    shutil.copytree(measured / "runs/unguided/model", tmp_path / "models/mine")
    app = opened(training="mine")
    assert any(chart["template"].count("validation loss") for chart in mounted(app, "chart"))


def test_only_configured_runs_can_be_watched(models: Path, measured: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert watched_run_folders() == {}
    app = opened(training=f"run:{measured}/runs/unguided")
    assert "training" not in address(app)
    monkeypatch.setenv(ATTNVIZ_RUNS, str(measured / "runs"))
    os.utime(measured / "runs/guided/log.csv", (time.time() + 60,) * 2)
    assert list(watched_run_folders()) == ["guided", "unguided"]
    app = opened(training="run:../runs/unguided")
    assert "training" not in address(app)


def test_page_without_snapshots_is_not_offered_and_shows_a_command(
    tmp_path: Path, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from attnviz.ui.pages import learns_page

    assert learns_page.offered()
    (models / "small/snapshots/guided.json").write_text("{}")
    assert list(snapshot_folders()) == ["small"]
    (models / "small/snapshots/unguided.json").write_text("not even JSON")
    assert not learns_page.offered()
    app = opened()
    assert "attnviz app --runs FOLDER" in plain_texts(app)[0]


def test_identity_of_runs_depends_on_their_numbers_and_names(models: Path) -> None:
    run = Snapshots.load(models / "small/snapshots/unguided.json")
    other = replace(run, alignments=(run.alignments[0] * 0.5, *run.alignments[1:]))
    assert runs_identity([run]) == runs_identity([replace(run)])
    assert len({runs_identity([run]), runs_identity([other]), runs_identity([replace(run, name="x")])}) == 3
