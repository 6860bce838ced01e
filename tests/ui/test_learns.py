"""Page *How it learns* as Streamlit runs it: its runs side by side, one run, and a run in progress."""

from __future__ import annotations

import csv
import dataclasses
import os
import time
from collections.abc import Iterator
from html import escape
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from attnviz.analysis.learning import LEARNING_REFERENCES, LINK_MEASURES, ROW_MEASURES, guidance_definition
from attnviz.environment import ATTNVIZ_RUNS
from attnviz.trace.snapshots import Snapshots
from attnviz.training.log import COLUMNS
from attnviz.ui.pages.learns_page import watched_run_folders
from attnviz.ui.resources import model_configs
from tests.benchmarks.saved_models import measurement_table
from tests.conftest import REPOSITORY
from tests.figures.payloads import figure_at
from tests.figures.test_learning import run
from tests.ui.opening import open_alone
from tests.ui.shown_payloads import address, mounted, page_html

SHIPPED = REPOSITORY / "models" / "small-additive"


def of_two_sentences(one: Snapshots, name: str) -> Snapshots:
    """Return a run of this name with a second sentence, whose weights are those of the first in reverse."""
    (sentence,), (alignment,) = one.sentences, one.alignments
    return dataclasses.replace(
        one,
        name=name,
        sentences=(sentence, dataclasses.replace(sentence, source="another house")),
        alignments=(alignment, alignment[:, ::-1]),
        translations=tuple(text * 2 for text in one.translations),
    )


RUNS = {"unguided": of_two_sentences(run(), "unguided"), "guided": of_two_sentences(run(0.5, 1), "guided")}


def moments(whole: Snapshots) -> Iterator[Snapshots]:
    """Yield each moment of a run, without measurements, as training saves it."""
    for k, update in enumerate(whole.updates):
        alignments = tuple(alignment[k : k + 1] for alignment in whole.alignments)
        yield dataclasses.replace(
            whole, updates=(update,), alignments=alignments, translations=whole.translations[k : k + 1], curves={}
        )


@pytest.fixture
def runs_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of two runs with two moments each; a model has the snapshots of both."""
    (tmp_path / "models/small/snapshots").mkdir(parents=True)
    for name, whole in RUNS.items():
        whole.save(tmp_path / f"models/small/snapshots/{name}.json")
        folder = tmp_path / "runs" / name / "model/snapshots"
        folder.mkdir(parents=True)
        for one in [*moments(whole)][:2]:
            one.save(folder / f"{one.updates[0]:06}.json")
        with (tmp_path / "runs" / name / "log.csv").open("w", encoding="utf-8") as log:
            rows = csv.DictWriter(log, COLUMNS, restval="")
            rows.writeheader()
            rows.writerow({"update": 10, "validation_loss": 4.5})
    monkeypatch.setenv("ATTNVIZ_MODELS", str(tmp_path / "models"))
    monkeypatch.delenv(ATTNVIZ_RUNS, raising=False)
    return tmp_path / "runs"


def opened(**linked: str) -> AppTest:
    return open_alone("learns", **linked)


def test_shipped_runs_are_shown_side_by_side(monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion) -> None:
    monkeypatch.setenv("ATTNVIZ_MODELS", str(REPOSITORY / "models"))
    monkeypatch.delenv(ATTNVIZ_RUNS, raising=False)
    app = opened()
    runs = [Snapshots.load(SHIPPED / f"snapshots/{name}.json") for name in ("unguided", "guided")]
    assert [run.guidance for run in runs] == [0, 0.5]
    assert all(measurement_table(run) in (SHIPPED / "README.md").read_text("utf-8") for run in runs)
    charts = mounted(app, "chart")
    headings = [next(iter(chart["captions"].values()))[0] for chart in charts]
    assert headings == 2 * ["Not guided", "Guided, weight 0.5"] + [""]
    for shipped, chart in zip(runs, charts[2:4], strict=True):
        assert {*LINK_MEASURES, *ROW_MEASURES} <= set(shipped.curves)
        assert shipped.counts["nouns"] == 132
        assert "nouns after an article" in chart["captions"]["every"][1]
    html_of_page = " ".join(page_html(app))
    assert guidance_definition(runs, model_configs()) == snapshot
    assert escape(guidance_definition(runs, model_configs())) in html_of_page
    assert all(f"https://arxiv.org/abs/{number}" in html_of_page for *_, number in LEARNING_REFERENCES if number)
    alone = opened(runs="1")
    assert escape(guidance_definition(runs, model_configs())) not in " ".join(page_html(alone))


@pytest.mark.usefixtures("runs_folder")
def test_single_run_shows_its_quality_and_weights() -> None:
    app = opened(runs="1", pair="2")
    (timeline,) = mounted(app, "timeline")
    assert address(app) == {"runs": "1", "pair": "2"}
    assert timeline["captions"][1].startswith("After 10 updates: validation loss ")
    assert "AER" in timeline["captions"][1]
    unguided = RUNS["unguided"]
    (cells,) = (one for one in figure_at(mounted(app, "chart")[0], 3)["data"] if one["type"] == "heatmap")
    words = unguided.sentences[1].words(unguided.alignments[1][-1])
    np.testing.assert_allclose(np.asarray(cells["z"]), words.alignment, atol=1e-4)


def test_only_configured_runs_are_watched_and_show_new_snapshots(
    runs_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert watched_run_folders() == {}
    assert "training" not in address(opened(training=f"run:{runs_folder}/unguided"))
    monkeypatch.setenv(ATTNVIZ_RUNS, str(runs_folder))
    os.utime(runs_folder / "guided/log.csv", (time.time() + 60,) * 2)
    assert list(watched_run_folders()) == ["guided", "unguided"]
    assert "training" not in address(opened(training="run:../runs/unguided"))

    app = opened(training="run:unguided")
    updates = RUNS["unguided"].updates
    assert mounted(app, "timeline")[0]["updates"] == list(updates[:2])
    assert any(chart["template"].count("validation loss") for chart in mounted(app, "chart"))
    third = [*moments(RUNS["unguided"])][2]
    third.save(runs_folder / f"unguided/model/snapshots/{third.updates[0]:06}.json")
    app.run()
    assert mounted(app, "timeline")[0]["updates"] == list(updates[:3])
