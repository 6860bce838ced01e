"""Beam search section of the lab as Streamlit runs it: which search is drawn, and the texts about it."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from attnviz import Trace, Translator
from attnviz.checkpoint import save_model
from attnviz.text import Tokenizer
from attnviz.trace.interventions import Temperature
from attnviz.ui.lab.tree import TREE_WIDTHS, finished_hypotheses_payload, tree_payload
from attnviz.ui.payloads import PayloadRequest, UnknownPayloadError
from tests.conftest import SENTENCES, ModelFactory
from tests.snapshots import without_numbers
from tests.ui.fields import field, fields, set_field
from tests.ui.opening import Run
from tests.ui.shown_payloads import address, mounted, page_html, payloads_of, plain_texts


@pytest.fixture
def page(lab: Run) -> Run:
    """Return a function that opens the section as a link does."""
    return partial(lab, section="tree", sentence=SENTENCES[0])


@pytest.fixture
def shown(en_fr: Path) -> Translator:
    """Return the translator of the model that the page shows."""
    return Translator.load(en_fr, device="cpu")


def _figure(app: AppTest) -> dict[str, Any]:
    (record,) = payloads_of(app, "chart")
    drawn: dict[str, Any] = json.loads(record["template"])
    return drawn


def test_tree_shows_the_search_that_made_the_translation(page: Run, shown: Translator) -> None:
    app = page(search="beam 3")
    assert not app.exception
    assert "width" not in address(app)
    tree = shown.beam_tree(SENTENCES[0], beam=3)
    assert _figure(app)["layout"]["meta"]["tree"]["pieces"] == [node.piece_id for node in tree.nodes]
    (listed,) = payloads_of(app, "hypotheses")
    assert [entry["text"] for entry in listed["entries"]] == [one.translation for one in tree.hypotheses]
    assert [tuple(entry["pieces"]) for entry in listed["entries"]] == [tree.ids(index) for index in tree.finished]
    assert [entry["shown"] for entry in listed["entries"]] == [True, False, False]
    assert _figure(app)["layout"]["meta"]["tree"]["shown"] == listed["entries"][0]["pieces"]


def test_other_width_is_in_the_address_and_read_from_a_link(page: Run) -> None:
    app = page(search="beam 3")
    set_field(app, "width", "7")
    assert not app.exception
    assert address(app)["width"] == "7"
    assert len(payloads_of(app, "hypotheses")[0]["entries"]) == 7
    linked = page(search="beam 3", width="7")
    assert field(linked, "width")["value"] == "7"
    assert address(linked)["width"] == "7"
    assert _figure(linked) == _figure(app)
    set_field(app, "width", "3")
    assert "width" not in address(app)


@pytest.mark.parametrize("width", ["0", "13", "5.0", "many", ""])
def test_invalid_width_is_reported_and_the_default_width_drawn(page: Run, width: str) -> None:
    app = page(search="beam 3", width=width)
    assert not app.exception
    assert field(app, "width")["value"] == "3"
    (problem,) = mounted(app, "link_messages")[0]["problems"].values()
    assert problem["value"] == width
    assert problem["values"] == [str(beam) for beam in range(1, 13)]


def test_greedy_search_is_a_line_and_forced_decoding_has_the_default_width(page: Run) -> None:
    assert "single line" in "".join(page_html(page(search="greedy")))
    app = page(target="Une fille fait du vélo.")
    assert field(app, "width")["value"] == "5"
    assert "not in this tree" in payloads_of(app, "chart")[0]["captions"]["0"][1]


def test_model_without_attention_has_a_beam_search(
    models_folder: Path, page: Run, make_network: ModelFactory, tokenizer: Tokenizer
) -> None:
    save_model(models_folder / "plain", make_network("none"), tokenizer)
    app = page(model="plain", search="beam 3")
    assert not app.exception
    assert len(payloads_of(app, "hypotheses")[0]["entries"]) == 3


def test_the_table_has_all_hypotheses(page: Run, shown: Translator) -> None:
    ((table,),) = [one["tables"] for one in payloads_of(page(search="beam 3"), "tables")]
    assert len(table["rows"]) == len(shown.beam_tree(SENTENCES[0], beam=3).nodes)


def _payload_request(trace: Trace) -> PayloadRequest:
    return PayloadRequest({"trace": trace}, {"steps": "all", "theme": "light"})


def test_search_applies_the_interventions(shown: Translator) -> None:
    changed = [Temperature(4.0)]
    trace = shown.translate(SENTENCES[0], beam=4, interventions=changed)
    tree = shown.beam_tree(SENTENCES[0], beam=4, interventions=changed)
    listed = finished_hypotheses_payload(4, _payload_request(trace))["entries"]
    assert [tuple(one["pieces"]) for one in listed] == [tree.ids(index) for index in tree.finished]
    assert listed[0]["shown"]
    caption = tree_payload(4, _payload_request(trace))["captions"]["0"][1]
    assert "was chosen" in caption
    assert "parts" not in caption


def test_search_that_ends_before_the_intervention_shows_a_message(
    shown: Translator, snapshot: SnapshotAssertion
) -> None:
    long = shown.translate(SENTENCES[0], target=" ".join(SENTENCES[:6]))
    late = shown.translate(
        SENTENCES[0], target=" ".join(SENTENCES[:6]), interventions=[Temperature(2.0, len(long.target_ids) - 1)]
    )
    with pytest.raises(UnknownPayloadError):
        tree_payload(2, _payload_request(late))
    app = AppTest.from_function(_panel_of, kwargs={"saved": late.to_json()}, default_timeout=60).run()
    assert not app.exception
    assert without_numbers(plain_texts(app)[-1]) == snapshot
    assert "width" in fields(app)


def test_section_reports_the_missing_model(
    shown: Translator,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    snapshot: SnapshotAssertion,
) -> None:
    trace = shown.translate(SENTENCES[0])
    monkeypatch.setenv("ATTNVIZ_MODELS", str(tmp_path_factory.mktemp("none")))
    app = AppTest.from_function(_panel_of, kwargs={"saved": trace.to_json()}, default_timeout=60).run()
    assert not app.exception
    assert plain_texts(app) == snapshot
    with pytest.raises(UnknownPayloadError):
        finished_hypotheses_payload(2, _payload_request(trace))


def _panel_of(saved: str) -> None:
    from attnviz import Trace
    from attnviz.ui.components.component import view_blocks
    from attnviz.ui.lab.tree import tree_panel
    from attnviz.ui.view import View

    with view_blocks("view"):
        tree_panel(View("", Trace.from_json(saved)), "light")


def test_every_width_has_its_payload(shown: Translator) -> None:
    from attnviz.ui.payload_makers import MAKERS

    assert max(TREE_WIDTHS) == 12
    trace = shown.translate(SENTENCES[0])
    for beam in TREE_WIDTHS:
        assert len(MAKERS[f"hypotheses-{beam}"](_payload_request(trace))["entries"]) == beam
