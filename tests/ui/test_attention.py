"""Imported attention on the page: opening a file, supplying what the file lacks, and closing it."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz import Attention, attention
from attnviz.analysis.imported_file_texts import missing_values_reason
from attnviz.trace.drawing import DetailLevel
from tests.importing.attention_files import SOURCE, TARGET, marian, matrix
from tests.ui.opening import fields, open_page, options, set_field, upload
from tests.ui.shown_payloads import (
    all_payloads,
    chart_addresses,
    chart_names,
    fetched,
    mounted,
    panel_texts,
    shown_at,
    steps_of,
    texts,
)


def open_file(record: Attention, depth: str = "numbers") -> AppTest:
    return upload(open_page(depth=depth), "mine.json", record.to_json().encode())


@pytest.mark.parametrize("depth", ["idea", "everything"])
def test_attention_file_opens_and_the_page_names_what_is_missing(depth: DetailLevel) -> None:
    opened = attention(SOURCE, TARGET, matrix(), energies=np.log(matrix()), origin="My RNN")
    app = open_file(opened, depth)
    origin, remarks = panel_texts(app, "notice")
    assert "mine.json" in origin
    assert "My RNN" in origin
    assert remarks
    assert missing_values_reason() in texts(app)
    assert steps_of(app) == 9
    assert set(chart_addresses(app)) == chart_names(opened, depth)
    assert all(all_payloads(app))  # figures, tables and files
    assert not mounted(app, "verification_badge")
    assert not mounted(app, "diagram")
    assert "tour_button" not in [button.key for button in app.button]
    app.button(key="back").click().run()
    assert panel_texts(app, "notice", "missing_values_reason") == []


def test_form_asks_for_missing_tokens_and_selects_one_of_several_matrices(snapshot) -> None:
    app = open_page(depth="numbers")
    upload(app, "soft.txt", "\n".join([marian(matrix(1)), marian(matrix(2) / 2)]).encode())
    without_source = panel_texts(app, "attention_problem")
    assert without_source == snapshot(name="no source tokens")
    assert panel_texts(app, "notice", "missing_values_reason") == []

    def open_with(name: str, value: str | bool) -> None:
        set_field(app, next(key for key in fields(app) if key.startswith(f"attention_{name}")), value)
        app.button(key="attention_open").click().run()

    open_with("source", " ".join(SOURCE))
    assert panel_texts(app, "notice") == snapshot(name="opened")
    number = next(box for box in app.number_input if box.key.startswith("attention_number"))
    number.set_value(2).run()
    assert not app.exception
    assert panel_texts(app, "attention_problem") == without_source
    open_with("source", " ".join(SOURCE))
    assert panel_texts(app, "attention_problem") == snapshot(name="row sum")
    open_with("normalise", True)
    assert panel_texts(app, "notice") == snapshot(name="scaled")
    assert missing_values_reason() in texts(app)


def test_unreadable_attention_file_is_reported_and_can_be_cancelled(snapshot) -> None:
    app = open_page()
    upload(app, "soft.txt", b"La zone ||| 1,2 3")
    assert panel_texts(app, "file_problem") == snapshot(name="bad weights")
    upload(app, "numbers.txt", b"0.5 0.5\n0.2 0.8\n")
    app.button(key="attention_cancel").click().run()
    assert "numbers.txt" not in texts(app)
    upload(app, "x.bin", b"\xff\xfe")
    assert panel_texts(app, "file_problem") == snapshot(name="no text file")


def compare_with(app: AppTest, name: str, content: bytes) -> AppTest:
    """Upload a file to compare the open attention with."""
    boxes = [box for box in app.get("file_uploader") if "another program for the same sentence pairs" in box.label]
    boxes[-1].set_value((name, content, "text/plain")).run()
    assert not app.exception
    return app


def test_two_attention_files_are_shown_side_by_side(snapshot) -> None:
    record = attention("the green house .", "la maison verte .", np.eye(4)[[0, 2, 1, 3]])
    app = open_file(record)
    assert not mounted_comparison(app)
    compare_with(app, "other.pharaoh", b"0-0 1-1 2-2 3-3\n")
    (links, figure) = mounted_comparison(app)
    assert links["summary"] == snapshot(name="summary")
    assert [one["text"] for one in links["findings"]] == snapshot(name="links of one only")
    assert [(one["step"], one["source"]) for one in links["findings"]] == [(1, 2), (2, 1), (1, 1), (2, 2)]
    assert figure["captions"]["1"][1] == snapshot(name="step 2")
    (box,) = mounted(app, "tables")
    assert [len(one["rows"]) for one in fetched(box["at"])["tables"]][-1] == 16
    app.button(key="compare_stop").click().run()
    assert not mounted_comparison(app)


def mounted_comparison(app: AppTest) -> list[dict[str, object]]:
    """Return the payloads of the links of one file only and of the heatmaps, if the page compares two files."""
    assert not app.exception
    links = [one for one in mounted(app, "findings") if "findings" in one and "the files" in one["summary"]]
    charts = [fetched(one["at"]) for one in mounted(app, "chart") if one.get("waiting")]
    return [*links, *(chart for chart in charts if "fits" in chart)]


def test_file_that_cannot_be_compared_is_refused_with_the_reason(snapshot) -> None:
    record = attention("the house", "la maison", np.eye(2))
    told = []
    for content in (b"no attention\nat all", b"0-0 9-9\n", b"0-0\n1-1\n"):
        app = compare_with(open_file(record, "everything"), "other.txt", content)
        told.append(panel_texts(app, "file_problem", "compare_told_files"))
        assert steps_of(app) == 2, "the first file stays"
    assert told == snapshot


def of_heads() -> Attention:
    """Return a saved record of two layers of two heads; head 2 of layer 1 attends to the first token only."""
    weights = np.random.default_rng(1).dirichlet(np.ones(len(SOURCE)), size=(2, 2, len(TARGET)))
    weights[0, 1] = np.eye(len(SOURCE))[[0] * len(TARGET)]
    drops = np.random.default_rng(2).normal(size=weights.shape[2:])
    return attention(SOURCE, TARGET, weights, gradient=drops, erased=drops)


def test_heads_of_a_file_are_chosen_on_the_page(snapshot) -> None:
    whole = of_heads()
    app = open_file(whole)
    _, remarks = panel_texts(app, "notice")
    assert remarks == snapshot(name="remarks")
    (name,) = (key for key in fields(app) if key.endswith("heads"))
    assert options(app, name) == snapshot(name="heads")
    for chosen in ("1.2", "all", "2", "1.2"):
        set_field(app, name, chosen)
        numbers = [None if number == "all" else int(number) - 1 for number in chosen.split(".")]
        look = next(one for one in mounted(app, "chart") if "/look" in one["at"])
        assert np.array_equal(shown_at(look["at"])["trace"].alignment, whole.select_heads(*numbers).alignment)


def test_links_of_another_segmentation_lead_to_their_cells() -> None:
    record = attention("I do n't sleep", "je ne dors pas", np.eye(4)[[0, 2, 3, 1]])
    other = attention("I don't sleep </s>", "je ne dors pas </s>", np.eye(5, 4)[[0, 2, 2, 1, 3]])
    links, _ = mounted_comparison(compare_with(open_file(record), "other.json", other.to_json().encode()))
    shown = [(one["text"].split(" has ")[1], one.get("step"), one["source"]) for one in links["findings"]]
    assert shown == [("“don't” → “ne” (1-1).", 1, None), ("“sleep” → “ne” (2-1).", 1, 3)]
