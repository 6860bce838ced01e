"""Progress of a training run: the estimated time left, and the learning curves."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz.training import train
from attnviz.training.log import read_log
from attnviz.training.run_state import Pace
from tests.training.test_run import tiny


def test_run_prints_time_left_and_draws_curves(
    files: tuple[Path, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    train(tiny(files, tmp_path / "<run>", updates=60, validate_every=30, average=1, snapshots=0))
    printed = capfd.readouterr().err
    (left,) = re.findall(r"\b10 updates to go[^\r\n]*", printed)
    assert re.sub(r"[\d.e-]+ (s|min)\b", "<time>", left) == snapshot(name="time left")
    page = (tmp_path / "<run>/curve.html").read_text(encoding="utf-8")
    assert "http" not in page.replace("http://www.w3.org", "")
    assert "<script" not in page
    assert set(re.findall(r"&lt;run&gt;, (\d+)", page)) == {"60"}
    svg = ElementTree.fromstring(re.search(r"<svg.*</svg>", page, re.DOTALL)[0])  # noqa: S314  it is our own
    titles = [element.text for element in svg.iter("title")]
    rows = [row for row in read_log(tmp_path / "<run>/log.csv") if row["validation_loss"]]
    for row in rows:
        for value in (float(row["validation_loss"]), float(row["validation_bleu"])):
            assert any(title.endswith(f" {row['update']}: {value:g}") for title in titles)
    assert sorted({re.sub(r": [\d.e-]+$", "", title) for title in titles}) == snapshot(name="points")
    assert len(titles) == 2 * len(rows) == 6


def test_time_left_counts_updates_and_validations(
    files: tuple[Path, Path], tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    config = tiny(files, tmp_path, updates=1000, validate_every=300)
    pace = Pace()
    pace.add(100.0)  # the first update is slower and is ignored
    for _ in range(49):
        pace.add(2.0)
    assert pace.left(config, 100) == snapshot(name="validations of unknown length")
    pace.validation = 600.0
    assert pace.left(config, 400) == snapshot(name="validations of 10 minutes")
