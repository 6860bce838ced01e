"""Corpus page as Streamlit runs it, without a browser: uploads, server tables, filters, charts and links."""

import lzma
import re
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import AttnvizError
from attnviz.corpora import MEASURES
from attnviz.ui.examples import SAMPLE
from attnviz.ui.pages import corpus_jobs as jobs
from attnviz.ui.pages import corpus_sections
from attnviz.ui.pages.corpus_jobs import MOST_MEGABYTES, UPLOAD_LIMITS, begin, job_of
from attnviz.ui.pages.corpus_table import (
    COPIED,
    ERRORS,
    PRESETS,
    UNLIKELY,
    Choice,
    brush_of,
    brush_text,
    listed_rows,
    matching_rows,
)
from tests.snapshots import refusal
from tests.ui.opening import field, open_alone, set_field
from tests.ui.shown_payloads import panel_texts, plain_texts, texts


@pytest.fixture(autouse=True)
def _only_the_sample() -> Iterator[None]:
    """Forget the jobs of a test, but not the finished one of the sample: to measure its 200 pairs takes a second."""
    yield
    for identity, job in list(jobs._JOBS.items()):
        if job.name != SAMPLE.name or not job.done:
            jobs._JOBS.pop(identity).forget()


def wait_until_job_ends(identity: str) -> None:
    job = job_of("somebody", identity)
    for _ in range(600):
        if job.done or job.problem:
            return
        time.sleep(0.1)
    raise AssertionError("the job has not ended after a minute")


def test_search_matches_source_or_target_and_reports_no_match(models_folder, snapshot) -> None:
    app = open_alone("corpus")
    app.button(key="corpus_sample").click().run()
    wait_until_job_ends(app.session_state["corpus_table"])
    app.run()
    set_field(app, "corpus_show", "all")
    set_field(app, "corpus_find", "GARE")
    assert set(app.dataframe[0].value["target"]) == {"Où est la gare ?"}
    absent = "nowhere to be found"
    set_field(app, "corpus_find", absent)
    assert not app.exception
    assert not app.dataframe
    assert [text for text in plain_texts(app) if f"“{absent}”" in text] == snapshot
    set_field(app, "lang", "fr")
    assert field(app, "corpus_find")["value"] == absent
    app.button(key="corpus_find_all").click().run()
    assert field(app, "corpus_find")["value"] == ""
    assert len(app.dataframe[0].value) == 200


def test_link_to_a_missing_table_with_bad_values_is_reported(models_folder, snapshot) -> None:
    app = open_alone("corpus", table="../../etc", show="x", sort="y", x="z", brush="nan_a", part="99999999999999999999")
    assert panel_texts(app, "corpus_problem") == snapshot


def test_unusable_files_are_reported(models_folder, snapshot) -> None:
    model = str(models_folder / "en-fr")
    problems = {}
    for problem, name, content in (("pair", "../x.tsv", b"a\tb\tc\n"), ("text", "x.tsv", b"\x89PNG\r\n\x1a\n\0\0")):
        job = begin("somebody", name, content, model)
        wait_until_job_ends(job.identity)
        problems[f"no {problem}"] = job.problem
    large = b"x" * ((MOST_MEGABYTES << 20) + 1)
    problems["too large"] = refusal(lambda: begin("somebody", "x.tsv", large, model))
    with pytest.raises(AttnvizError):
        begin("somebody", "x.tsv.xz", lzma.compress(bytes(UPLOAD_LIMITS.bytes + 1)), model)
    for name in ("x.\0/docx", "x.png", ""):
        problems[repr(name)] = refusal(partial(begin, "somebody", name, b"x", model))
    assert problems == snapshot


def test_successive_uploads_show_their_table_or_problem(models_folder) -> None:
    app, pair = open_alone("corpus"), b"I am hungry.\tJ'ai faim.\n"
    given = [
        ("own.tsv", pair, ""),
        ("own.png", b"?", "own.png cannot be used"),
        ("own.tsv", pair, ""),
        ("empty.tsv", b"", "No line of empty.tsv"),
        ("own.png", b"?", "own.png cannot be used"),
    ]
    for name, content, problem in given:
        app.get("file_uploader")[0].set_value((name, content, "text/plain")).run()
        wait_until_job_ends(app.session_state["corpus_table"])
        app.run()
        assert not app.exception
        assert problem in texts(app)
        assert problem or "cannot be used" not in texts(app)
        assert "1 of 1 pairs of own.tsv" in texts(app)


def test_uploads_of_a_visitor_do_not_remove_the_table_of_another(models_folder, monkeypatch) -> None:
    monkeypatch.setattr(jobs, "_MAX_TABLES", 20)
    model, content = str(models_folder / "en-fr"), b"A dog.\tUn chien.\n"
    with jobs._RUN_LOCK:
        left = begin("who has left", "left.tsv", content, model)
        jobs.leave("who has left")
        others = begin("other", "other.tsv", content, model)
        for number in range(21):
            begin("somebody", f"{number}.tsv", content, model)
    assert left.identity not in jobs._JOBS
    assert jobs._JOBS[others.identity] is others
    assert len(jobs._JOBS) == 20
    wait_until_job_ends(others.identity)
    assert others.done
    monkeypatch.setattr(jobs, "_MAX_BYTES", 5 * others.size)
    begin("somebody", "more.tsv", content, model)
    assert len(jobs._JOBS) == 5
    assert others.identity in jobs._JOBS


def _table(rows: int, seed: int) -> Any:
    chance = np.random.default_rng(seed)
    columns: dict[str, Any] = {
        "number": np.arange(1, rows + 1),
        "source": [f"word {k}" for k in range(rows)],
        "target": ["mot"] * rows,
    }
    for measure in MEASURES:
        values = chance.integers(0, 3, rows) if measure.whole else chance.normal(size=rows).astype(np.float32)
        columns[measure.name] = pa.array(values, mask=chance.random(rows) < 0.1)
    columns["bleu"] = pa.nulls(rows, pa.float32())
    return pa.table(columns)


@given(
    st.integers(1, 60),
    st.integers(0, 5),
    st.sampled_from(PRESETS),
    st.sampled_from(["", "number", "entropy"]),
    st.booleans(),
    st.tuples(*[st.floats(-2, 2)] * 4),
)
def test_rows_match_preset_brush_and_sort_order(rows, seed, preset, sort, descending, corners) -> None:
    whole = _table(rows, seed)
    brush = corners[:2], corners[2:]
    choice = Choice(preset=preset, sort=sort, descending=descending, x="entropy", y="end_share", brush=brush)
    found = listed_rows(matching_rows(whole, choice), choice).part(0).to_pylist()
    frame = whole.to_pandas()
    likelihood = frame["log_probability_per_word"]
    errors = {
        "omitted": frame["omitted"] > 0,
        "repeated": frame["repeated"] > 0,
        "unsure": likelihood <= likelihood.quantile(UNLIKELY, interpolation="lower"),
        "copied": frame["copied_share"] >= COPIED,
        "drifted": frame["drifted"] > 0,
    }
    named = {**errors, "all": frame["number"] > 0, "wrong": np.logical_or.reduce([errors[name] for name in ERRORS])}
    inside = frame["entropy"].between(*sorted(corners[:2])) & frame["end_share"].between(*sorted(corners[2:]))
    assert sorted(row["number"] for row in found) == list(frame["number"][named[preset] & inside])
    if sort:
        ordered = [row[sort] for row in found]
        assert ordered == sorted(ordered, reverse=descending)


@given(st.lists(st.floats(-1e6, 1e6), min_size=4, max_size=4), st.booleans())
def test_brush_round_trips_through_the_address(numbers: list[float], alone: bool) -> None:
    brush = ((numbers[0], numbers[1]), (numbers[2], numbers[3]))[: 1 if alone else 2]
    np.testing.assert_allclose(brush_of(brush_text(brush)), brush, rtol=1e-3)
    assert brush_of("") == brush_of("1_2_3") == ()


def test_numbers_of_a_column_have_the_same_number_of_decimals() -> None:
    rows = pd.DataFrame({"log_p": [-6.6, -6.54, np.nan], "length": [1.0, 2.0, 12.0], "perplexity": [3.0, 10.5, np.inf]})
    shown = re.findall("<td[^>]*>(.*?)</td>", corpus_sections._in_the_language(rows, list(rows)).to_html())
    assert shown == ["−6.60", "1", "3.00", "−6.54", "2", "10.50", "", "12", "∞"]
