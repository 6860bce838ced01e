"""Page *How it learns* as Streamlit runs it: its runs side by side, one run, and a run in progress."""

import csv
import dataclasses
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from attnviz.environment import ATTNVIZ_RUNS
from attnviz.trace.snapshots import Snapshots
from attnviz.training.log import COLUMNS
from attnviz.ui.pages.learns_page import watched_run_folders
from tests.conftest import REPOSITORY
from tests.figures.test_experiments import run
from tests.ui.opening import open_alone
from tests.ui.shown_payloads import address, mounted

RUNS = {"unguided": run(), "guided": run(0.5, 1)}


def moments(whole: Snapshots) -> Iterator[Snapshots]:
    """Yield each moment of a run, without measurements, as training saves it."""
    for k, update in enumerate(whole.updates):
        alignments = tuple(alignment[k : k + 1] for alignment in whole.alignments)
        one = dataclasses.replace(whole, updates=(update,), alignments=alignments, curves={})
        yield dataclasses.replace(one, translations=whole.translations[k : k + 1])


@pytest.fixture
def runs_folder(tmp_path, monkeypatch) -> Path:
    for name, whole in RUNS.items():
        folder = tmp_path / "runs" / name / "model/snapshots"
        folder.mkdir(parents=True)
        for one in [*moments(whole)][:2]:
            one.save(folder / f"{one.updates[0]:06}.json")
        with (tmp_path / "runs" / name / "log.csv").open("w", encoding="utf-8") as log:
            rows = csv.DictWriter(log, COLUMNS, restval="")
            rows.writeheader()
            rows.writerow({"update": 10, "validation_loss": 4.5})
    monkeypatch.setenv("ATTNVIZ_MODELS", str(REPOSITORY / "models"))
    monkeypatch.delenv(ATTNVIZ_RUNS, raising=False)
    return tmp_path / "runs"


def test_only_configured_runs_are_watched_and_show_new_snapshots(runs_folder, monkeypatch) -> None:
    assert watched_run_folders() == {}
    assert "training" not in address(open_alone("learns", training=f"run:{runs_folder}/unguided"))
    monkeypatch.setenv(ATTNVIZ_RUNS, str(runs_folder))
    os.utime(runs_folder / "guided/log.csv", (time.time() + 60,) * 2)
    assert list(watched_run_folders()) == ["guided", "unguided"]
    assert "training" not in address(open_alone("learns", training="run:../runs/unguided"))

    app = open_alone("learns", training="run:unguided")
    updates = RUNS["unguided"].updates
    assert mounted(app, "timeline")[0]["updates"] == list(updates[:2])
    assert any(chart["template"].count("validation loss") for chart in mounted(app, "chart"))
    third = [*moments(RUNS["unguided"])][2]
    third.save(runs_folder / f"unguided/model/snapshots/{third.updates[0]:06}.json")
    app.run()
    assert mounted(app, "timeline")[0]["updates"] == list(updates[:3])
