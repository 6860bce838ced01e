"""Progress of a training run: the estimated time left, and the learning curves."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from attnviz.training import train
from attnviz.training.log import COLUMNS, curve_html, read_log, ticks
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


def test_points_are_drawn_at_their_values() -> None:
    rows = [dict.fromkeys(COLUMNS, "") | {"update": str(u), "validation_loss": v} for u, v in ((0, "2"), (100, "4"))]
    rows.append(dict.fromkeys(COLUMNS, "") | {"update": "50", "validation_loss": "3", "validation_bleu": "nan"})
    page = curve_html(rows, "x")
    dots = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)".*?update (\d+): (\d)', page)
    places = {int(update): (float(x), float(y)) for x, y, update, _ in dots}
    assert len(dots) == 3
    assert places[50] == pytest.approx([(a + b) / 2 for a, b in zip(places[0], places[100], strict=True)])
    assert places[0][1] > places[100][1], "larger values are higher up"
    assert curve_html([], "not begun")


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6))
@example(0.0, 1e-12)
@example(5.0, 0.0)
@example(0.0, 5e-324)
def test_ticks_enclose_the_values(low: float, span: float) -> None:
    found = ticks(low, low + span)
    assert 2 <= len(found) <= 8
    slack = 1e-6 * max(abs(low), abs(low + span))
    assert found[0] <= low + slack
    assert found[-1] >= low + span - slack


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
