"""Corpus page as Streamlit runs it, without a browser: uploads, server tables, filters, charts and links."""

from __future__ import annotations

import functools
import json
import lzma
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from attnviz import AttnvizError
from attnviz.analysis.gold import GoldLinks, linkable_words, parse_sure_and_possible
from attnviz.corpora import MEASURES, Settings, analyse_file
from attnviz.environment import ATTNVIZ_CORPORA
from attnviz.figures.corpus_figure import histogram, scatter
from attnviz.languages import set_language
from attnviz.translator import Translator
from attnviz.ui.corpus import corpus_sections, jobs
from attnviz.ui.corpus.jobs import MOST_MEGABYTES, UPLOAD_LIMITS, begin, job_of
from attnviz.ui.corpus.table import (
    COPIED,
    ERRORS,
    PRESETS,
    UNLIKELY,
    Brush,
    Choice,
    brush_of,
    brush_text,
    corpus_pair,
    known_measures,
    listed_rows,
    matching_rows,
)
from attnviz.ui.corpus_tables import SAMPLE, SAMPLE_LINKS
from attnviz.ui.page_state.gold_state import gold_of, open_gold, set_gold
from attnviz.ui.view import MAIN, View
from tests.ui.fields import field, set_field
from tests.ui.opening import Run, open_alone
from tests.ui.shown_payloads import address, panel_texts, texts, texts_with


@pytest.fixture(scope="module", autouse=True)
def _no_jobs_in_the_end() -> Iterator[None]:
    yield
    while jobs._JOBS:
        jobs._JOBS.popitem()[1].forget()


@pytest.fixture(autouse=True)
def _only_the_sample() -> Iterator[None]:
    """Forget the jobs of a test, but not the finished one of the sample: to measure its 200 pairs takes a second."""
    yield
    for identity, job in list(jobs._JOBS.items()):
        if job.name != SAMPLE.name or not job.done:
            jobs._JOBS.pop(identity).forget()


@pytest.fixture
def corpus(models_folder: Path) -> Run:
    return functools.partial(open_alone, "corpus")


def wait_until_job_ends(identity: str) -> None:
    job = job_of("somebody", identity)
    assert job is not None
    for _ in range(600):
        if job.done or job.problem:
            return
        time.sleep(0.1)
    raise AssertionError("the job has not ended after a minute")


def test_the_page_opens_where_the_sample_goes_wrong(corpus: Run) -> None:
    app = corpus()
    wait_until_job_ends(app.session_state["corpus_table"])
    app.run()
    assert not app.exception
    assert address(app)["show"] == "wrong"
    listed = app.dataframe[0].value
    assert 0 < len(listed) < 200
    assert list(listed["log_probability_per_word"]) == sorted(listed["log_probability_per_word"])
    shown = set(listed["number"])
    for error in ERRORS:
        set_field(app, "corpus_show", error)
        shown -= set(app.dataframe[0].value["number"]) if app.dataframe else set()
    assert not shown, "each has an error of some kind"


def test_the_sample_is_measured_and_listed(corpus: Run) -> None:
    app = corpus()
    app.button(key="corpus_sample").click().run()
    identity = app.session_state["corpus_table"]
    wait_until_job_ends(identity)
    app.run()
    set_field(app, "corpus_show", "all")
    assert not app.exception
    lines = SAMPLE.read_text(encoding="utf-8").splitlines()
    listed = app.dataframe[0].value
    assert [f"{a}\t{b}" for a, b in zip(listed["source"], listed["target"], strict=True)] == lines
    assert listed["aer_after"].notna().sum() == sum(map(bool, SAMPLE_LINKS.read_text().splitlines()))
    assert address(app)["table"] == identity
    again = corpus(table=identity, show="copied", sort="perplexity", descending="1")
    shown = again.dataframe[0].value
    assert 0 < len(shown) < len(lines)
    assert list(shown["perplexity"]) == sorted(shown["perplexity"], reverse=True)


def test_sample_files_match_their_licence_text() -> None:
    """Check that pairs are unique, links are in range, and the licence names the pairs that are wrong on purpose."""
    pairs = [line.split("\t") for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    links, licence = SAMPLE_LINKS.read_text().split("\n")[:-1], SAMPLE.with_name("sample-licence.txt").read_text()
    assert len(pairs) == len(links) == len({tuple(pair) for pair in pairs}) == 200
    assert f"for {sum(map(bool, links))} of them" in licence
    for (source, target), drawn in zip(pairs, links, strict=True):
        gold = parse_sure_and_possible(drawn) if drawn else GoldLinks()
        both = gold.sure | gold.possible
        ends = [*zip(*both, strict=True)] or [(0,), (0,)]
        assert max(ends[0]) < len(source.split())
        assert max(ends[1]) < len(target.split())
        # Either every source word is linked, or none.
        assert {j for j, _ in both} in (set(), set(range(len(source.split()))))
    wrong = [
        number
        for first, last in re.findall(r"(\d+)(?: to (\d+))?", licence.partition("on purpose")[2])
        for number in range(int(first), int(last or first) + 1)
    ]
    assert len(wrong) == len(set(wrong)) == 38
    assert not any(links[number - 1] for number in wrong)
    same = [number for number, (source, target) in enumerate(pairs, 1) if source == target]
    assert same
    assert set(same) < set(wrong)


def test_opened_pair_brings_its_gold_links(corpus: Run, en_fr: Path) -> None:
    app = corpus()
    app.button(key="corpus_sample").click().run()
    wait_until_job_ends(app.session_state["corpus_table"])
    app.run()
    job, listed = job_of("somebody", app.session_state["corpus_table"]), app.dataframe[0].value
    assert job is not None
    drawn, without = (listed[listed["aer_before"].notna() == has].iloc[0] for has in (True, False))
    pair = corpus_pair(job.table, int(drawn["number"]), drawn["source"], drawn["target"])
    assert pair.gold
    words = Translator.load(en_fr, device="cpu").translate(pair.source, target=pair.target).words()
    assert linkable_words(words) == (pair.source_words, pair.target_words)
    assert not corpus_pair(job.table, int(without["number"]), without["source"], without["target"]).gold

    session: dict[Any, Any] = {}
    set_gold(session, pair.gold, pair.source_words, pair.target_words)
    trace = Translator.load(en_fr, device="cpu").translate(pair.source, target=pair.target)
    view = View(MAIN, trace)
    open_gold(session, view, {})
    assert gold_of(session, view) == pair.gold


def test_search_matches_source_or_target_and_reports_no_match(corpus: Run, snapshot: SnapshotAssertion) -> None:
    app = corpus()
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
    assert texts_with(app, f"“{absent}”") == snapshot
    set_field(app, "lang", "fr")
    assert field(app, "corpus_find")["value"] == absent
    app.button(key="corpus_find_all").click().run()
    assert field(app, "corpus_find")["value"] == ""
    assert len(app.dataframe[0].value) == 200


def test_link_to_a_missing_table_with_bad_values_is_reported(corpus: Run, snapshot: SnapshotAssertion) -> None:
    app = corpus(table="../../etc", show="x", sort="y", x="z", brush="nan_a", part="99999999999999999999")
    assert panel_texts(app, "corpus_problem") == snapshot


def test_invalid_sort_is_dropped_from_the_address_in_lecture_mode(corpus: Run) -> None:
    app = corpus(lecture="1", sort="nonsense")
    assert "sort" not in address(app)


def test_unusable_files_are_reported(models_folder: Path, snapshot: SnapshotAssertion) -> None:
    model = str(models_folder / "en-fr")
    job = begin("somebody", "../x.tsv", b"a\tb\tc\n", model)
    wait_until_job_ends(job.identity)
    problems = {"no pair": job.problem}
    with pytest.raises(AttnvizError) as error:
        begin("somebody", "x.tsv", b"x" * ((MOST_MEGABYTES << 20) + 1), model)
    with pytest.raises(AttnvizError):
        begin("somebody", "x.tsv.xz", lzma.compress(bytes(UPLOAD_LIMITS.bytes + 1)), model)
    problems["too large"] = str(error.value)
    for name in ("x.\0/docx", "x.png", "tsv", ""):
        with pytest.raises(AttnvizError) as error:
            begin("somebody", name, b"x", model)
        problems[repr(name)] = str(error.value)
    picture = begin("somebody", "x.tsv", b"\x89PNG\r\n\x1a\n\0\0", model)
    wait_until_job_ends(picture.identity)
    assert problems | {"no text": picture.problem} == snapshot


def test_failed_file_is_reported_and_the_current_table_stays(
    corpus: Run, models_folder: Path, snapshot: SnapshotAssertion
) -> None:
    app = corpus()
    app.button(key="corpus_sample").click().run()
    wait_until_job_ends(app.session_state["corpus_table"])
    shown = app.run().dataframe[0].value
    problems = []
    for _ in range(2):
        useless = begin("somebody", "empty.tsv", b"", str(models_folder / "en-fr"))
        wait_until_job_ends(useless.identity)
        app.session_state["corpus_table"] = useless.identity
        app.run()
        problems.append(panel_texts(app, "corpus_problem"))
        assert app.dataframe[0].value.equals(shown)
        set_field(app, "corpus_show", "copied")
        problems.append(panel_texts(app, "corpus_problem"))
        set_field(app, "corpus_show", "all")
        app.button(key="corpus_sample").click().run().run()
        assert panel_texts(app, "corpus_problem") == []
        assert app.dataframe[0].value.equals(shown)
    assert problems == problems[:1] * 4
    assert problems[0] == snapshot


def test_file_that_fails_during_a_run_is_reported_and_the_table_stays(
    corpus: Run, models_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = corpus()
    app.button(key="corpus_sample").click().run()
    wait_until_job_ends(app.session_state["corpus_table"])
    shown = app.run().dataframe[0].value
    draw_sources, ended = corpus_sections._table_sources, []

    def end_meanwhile(model: str) -> None:
        draw_sources(model)
        if not ended:
            jobs._RUN_LOCK.release()
            wait_until_job_ends(useless.identity)
            ended.append(useless.identity)

    monkeypatch.setattr(corpus_sections, "_table_sources", end_meanwhile)
    jobs._RUN_LOCK.acquire()
    useless = begin("somebody", "empty.tsv", b"", str(models_folder / "en-fr"))
    app.session_state["corpus_table"] = useless.identity
    app.run()
    assert ended
    assert panel_texts(app, "corpus_problem") == [useless.problem]
    assert app.dataframe[0].value.equals(shown)


def test_successive_uploads_show_their_table_or_problem(corpus: Run) -> None:
    app, pair = corpus(), b"I am hungry.\tJ'ai faim.\n"
    given = [
        ("own.tsv", pair, ""),
        ("own.png", b"?", "own.png cannot be used"),
        ("own.tsv", pair, ""),
        ("empty.tsv", b"", "No line of empty.tsv"),
        ("own.png", b"?", "own.png cannot be used"),
    ]
    for name, content, problem in given:
        box = app.get("file_uploader")[0]
        box.set_value((name, content, "text/plain")).run()
        wait_until_job_ends(app.session_state["corpus_table"])
        app.run()
        assert not app.exception
        assert problem in texts(app)
        assert problem or "cannot be used" not in texts(app)
        assert "1 of 1 pairs of own.tsv" in texts(app)


def test_cancelled_job_can_be_restarted(models_folder: Path) -> None:
    model, content = str(models_folder / "en-fr"), b"A dog.\tUn chien.\n" * 900
    with jobs._RUN_LOCK:  # another job is running
        cancelled = begin("somebody", "x.tsv", content, model)
        jobs.cancel("somebody", cancelled)
        again = begin("somebody", "x.tsv", content[:18], model)
        assert begin("somebody", "x.tsv", content, model) is not cancelled, "it will not end with a table"
    wait_until_job_ends(again.identity)
    assert cancelled.problem
    assert not cancelled.table.parent.exists()
    assert again.done
    assert begin("somebody", "x.tsv", content[:18], model) is again


def test_a_visitor_cannot_cancel_the_job_of_another(models_folder: Path) -> None:
    arguments = "x.tsv", b"A dog.\tUn chien.\n", str(models_folder / "en-fr")
    with jobs._RUN_LOCK:
        job = begin("first", *arguments)
        assert begin("second", *arguments) is job, "equal files are measured once"
        jobs.cancel("first", job)
        jobs.cancel("a third who does not hold it", job)
    wait_until_job_ends(job.identity)
    assert job.done


def test_uploads_of_a_visitor_do_not_remove_the_table_of_another(
    models_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_cancel_leads_back_to_the_previous_table(corpus: Run, models_folder: Path) -> None:
    app = corpus()
    app.button(key="corpus_sample").click().run()
    previous = app.session_state["corpus_table"]
    wait_until_job_ends(previous)
    app.run()
    with jobs._RUN_LOCK:
        app.get("file_uploader")[0].set_value(("own.tsv", b"A dog.\tUn chien.\n", "text/plain")).run()
        job = jobs._JOBS[app.session_state["corpus_table"]]
        app.button(key="corpus_cancel").click().run()
        assert not app.exception
        assert panel_texts(app, "corpus_problem") == ["Cancelled."]
        assert app.session_state["corpus_table"] == previous
        assert len(app.dataframe) == 1
    wait_until_job_ends(job.identity)
    assert not job.done


@pytest.fixture
def tables_folder(models_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the server tables: `plain`, and `drawn`, whose pairs have gold links."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    pairs, links = tmp_path / "pairs.tsv", tmp_path / "links.txt"
    pairs.write_text("A dog.\tUn chien.\nTwo dogs.\tDeux chiens.\n")
    links.write_text("0-0 1-1\n\n")
    for name, gold in (("plain", None), ("drawn", links)):
        analyse_file(
            pairs, folder / f"{name}.parquet", models_folder / "en-fr", Settings(kind=None), gold=gold, device="cpu"
        )
    monkeypatch.setenv(ATTNVIZ_CORPORA, str(folder))
    return folder


def test_server_tables_are_offered(corpus: Run, tables_folder: Path) -> None:
    (tables_folder / "other.parquet").write_bytes(b"no table")
    app = corpus(table="plain")
    assert len(app.dataframe[0].value) == 2
    assert job_of("somebody", "other") is None


def test_server_table_without_pairs_is_not_offered(
    corpus: Run, tables_folder: Path, models_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "bad.tsv").write_text("a\tb\tc\n")
    analyse_file(
        tmp_path / "bad.tsv",
        tables_folder / "empty.parquet",
        models_folder / "en-fr",
        device="cpu",
        skip_malformed=True,
    )
    app = corpus(table="empty")
    assert len(panel_texts(app, "corpus_problem")) == 1
    assert not app.dataframe


def test_damaged_server_table_is_reported(corpus: Run, tables_folder: Path, snapshot: SnapshotAssertion) -> None:
    path = tables_folder / "plain.parquet"
    whole = path.read_bytes()
    begin = whole.index(b"chien")
    path.write_bytes(whole[:begin] + b"\xff" * 5 + whole[begin + 5 :])
    app = corpus(table="plain")
    (problem,) = panel_texts(app, "corpus_problem")
    assert problem.split(": ")[0] == snapshot  # the rest is a message of pyarrow


def test_table_box_switches_tables_and_clears_their_filters(corpus: Run, tables_folder: Path) -> None:
    app = corpus()
    for name in ("plain", "drawn", "plain"):
        app.session_state["corpus_brush"], app.session_state["corpus_part"] = "0_9_-99_0", "2"
        set_field(app, "corpus_table", name)
        assert not app.exception
        assert field(app, "corpus_table")["value"] == name
        assert address(app) == {"table": name}, "brush and part are cleared"
        assert ("aer_before" in app.dataframe[0].value) == (name == "drawn")
    set_field(app, "lang", "fr")
    assert field(app, "corpus_table")["value"] == "plain"
    set_field(app, "corpus_table", "drawn")
    assert address(app)["table"] == "drawn"


def test_table_box_switches_between_uploaded_and_server_tables(corpus: Run, tables_folder: Path) -> None:
    app = corpus()
    app.button(key="corpus_sample").click().run()
    identity = app.session_state["corpus_table"]
    wait_until_job_ends(identity)
    app.run()
    assert field(app, "corpus_table")["value"] == identity
    set_field(app, "corpus_table", "plain")
    assert len(app.dataframe[0].value) == 2
    app.button(key="corpus_sample").click().run()
    assert field(app, "corpus_table")["value"] == identity
    assert len(app.dataframe[0].value) > 2


@pytest.mark.parametrize("axis", ["x", "y"])
@pytest.mark.parametrize("name", ["chrf", "bleu", "aer_before", "aer_after"])
def test_link_to_a_missing_measure_shows_the_default_measure(
    corpus: Run, tables_folder: Path, axis: str, name: str
) -> None:
    app = corpus(table="plain", **{axis: name}, sort=name, brush="0_1_0_1")
    assert app.session_state[f"corpus_{axis}"] == getattr(Choice, axis)
    assert address(app) == {"table": "plain"}  # the brush belongs to other measures
    assert len(app.dataframe[0].value) == 2


def test_measure_missing_in_the_next_table_falls_back_to_the_default(corpus: Run, tables_folder: Path) -> None:
    app = corpus(table="drawn", x="aer_before", y="aer_before")
    assert (app.session_state["corpus_x"], app.session_state["corpus_y"]) == ("aer_before", "aer_before")
    set_field(app, "corpus_table", "plain")
    assert not app.exception
    assert (app.session_state["corpus_x"], app.session_state["corpus_y"]) == (Choice.x, Choice.y)
    assert len(app.dataframe[0].value) == 2


def test_changing_an_axis_clears_the_brush(corpus: Run, tables_folder: Path) -> None:
    app = corpus(table="plain", brush="50_60_-9_0")
    assert not app.dataframe
    set_field(app, "corpus_x", "entropy")
    assert len(app.dataframe[0].value) == 2
    assert address(app) == {"table": "plain", "x": "entropy"}


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
def test_rows_match_preset_brush_and_sort_order(
    rows: int, seed: int, preset: str, sort: str, descending: bool, corners: tuple[float, float, float, float]
) -> None:
    whole = _table(rows, seed)
    brush = Brush(corners[:2], corners[2:])
    choice = Choice(preset=preset, sort=sort, descending=descending, x="entropy", y="end_share", brush=brush)
    rows_found = listed_rows(matching_rows(whole, choice), choice).part(0).to_pylist()
    unlikely = sorted(
        row["log_probability_per_word"] for row in whole.to_pylist() if row["log_probability_per_word"] is not None
    )
    matches = {
        "omitted": lambda row: (row["omitted"] or 0) > 0,
        "repeated": lambda row: (row["repeated"] or 0) > 0,
        "unsure": lambda row: (
            row["log_probability_per_word"] is not None
            and row["log_probability_per_word"] <= unlikely[int(UNLIKELY * (len(unlikely) - 1))]
        ),
        "copied": lambda row: row["copied_share"] is not None and row["copied_share"] >= COPIED,
        "drifted": lambda row: (row["drifted"] or 0) > 0,
    }
    matches_preset = {"all": bool, "wrong": lambda row: any(matches[error](row) for error in ERRORS), **matches}[preset]
    expected = [
        row["number"]
        for row in whole.to_pylist()
        if matches_preset(row)
        and all(
            row[name] is not None and min(ends) <= row[name] <= max(ends)
            for name, ends in (("entropy", brush.x), ("end_share", brush.y))
        )
    ]
    assert sorted(row["number"] for row in rows_found) == expected
    if sort:
        ordered = [row[sort] for row in rows_found]
        assert ordered == sorted(ordered, reverse=descending)


def test_measure_without_values_is_not_offered() -> None:
    assert "bleu" not in known_measures(_table(20, 1))
    assert "entropy" in known_measures(_table(20, 1))


def test_numbers_of_a_column_have_the_same_number_of_decimals() -> None:
    rows = pd.DataFrame({"log_p": [-6.6, -6.54, np.nan], "length": [1.0, 2.0, 12.0], "perplexity": [3.0, 10.5, np.inf]})
    shown = re.findall("<td[^>]*>(.*?)</td>", corpus_sections._in_the_language(rows, list(rows)).to_html())
    assert shown == ["−6.60", "1", "3.00", "−6.54", "2", "10.50", "", "12", "∞"]


@given(st.lists(st.floats(-1e6, 1e6), min_size=4, max_size=4), st.booleans())
def test_brush_round_trips_through_the_address(numbers: list[float], alone: bool) -> None:
    brush = Brush((numbers[0], numbers[1]), None if alone else (numbers[2], numbers[3]))
    read = brush_of(brush_text(brush))
    assert read is not None
    assert read.x == pytest.approx(brush.x, rel=1e-3)
    assert (read.y is None) == alone
    assert brush_of("") is None
    assert brush_of("1_2_3") is None


def test_figures_omit_missing_values() -> None:
    x, y = np.array([1.0, np.nan, 3.0]), np.array([1.0, 2.0, np.nan])
    assert len(scatter(x, y, ("a < b", "c")).data[0]["x"]) == 1
    assert sum(histogram(x, "a").data[0]["y"]) == 2
    assert not sum(histogram(x[:0], "a").data[0]["y"])
    assert len(histogram(np.append(np.linspace(0, 1, 99), 1e12), "a").data[0]["y"]) == 10  # one bin far off
    many = np.arange(10_000.0)
    assert len(scatter(many, many, ("a", "b")).data[0]["x"]) == 3000


def test_linked_brush_is_drawn_in_the_chart(corpus: Run) -> None:
    app = corpus()
    app.button(key="corpus_sample").click().run()
    identity = app.session_state["corpus_table"]
    wait_until_job_ends(identity)
    for link, wanted in (
        ({"x": "entropy", "y": "perplexity", "brush": "0_2_1_500"}, {"x0": 0, "x1": 2, "y0": 1, "y1": 500}),
        ({"x": "entropy", "y": "entropy", "brush": "0_2"}, {"x0": 0, "x1": 2}),
    ):
        again = corpus(table=identity, **link)
        (drawn,) = again.get("plotly_chart")
        (region,) = json.loads(drawn.proto.spec)["layout"]["selections"]
        assert wanted.items() <= region.items()


@pytest.mark.parametrize("lang", ["fr"])
def test_job_problems_are_in_the_language_of_the_visitor(
    lang: str, models_folder: Path, snapshot: SnapshotAssertion
) -> None:
    set_language(lang)
    job = begin("somebody", "x.tsv", b"a\tb\tc\n", str(models_folder / "en-fr"))
    wait_until_job_ends(job.identity)
    assert job.problem == snapshot
