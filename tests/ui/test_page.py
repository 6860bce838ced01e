"""First page as Streamlit runs it, without a browser: its texts, and that no input of a visitor breaks it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from attnviz import Trace
from attnviz.analysis.stages import StageText
from attnviz.architectures import narrate
from attnviz.checkpoint import save_model
from attnviz.text import EOS, Tokenizer
from attnviz.ui.examples import DEFAULT_SENTENCE
from attnviz.ui.page_state.linked import page_payload
from tests.conftest import ModelFactory
from tests.strategies import FEW
from tests.ui.fields import field, options, set_field
from tests.ui.opening import Run, open_page
from tests.ui.shown_payloads import (
    mounted,
    panel_texts,
    payloads_of,
    plain_texts,
    selected,
    shown_equations,
    steps_of,
    tables_of,
    texts,
)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Iterator[Run]:
    """Return a function that opens the page afresh, on two models that no test changes."""
    models = tmp_path_factory.mktemp("models")
    for name in ("en-fr", "another"):
        shutil.copytree(model_folder, models / name)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("ATTNVIZ_MODELS", str(models))
        yield open_page


def address(app: AppTest) -> dict[str, str]:
    """Return the URL parameters that the page sets."""
    return {key: value for key, value in page_payload(app.session_state)["parameters"].items() if value is not None}


def problem(app: AppTest) -> str:
    """Return the message on the page, or nothing."""
    assert not app.exception
    assert not app.error
    return next((text for text in plain_texts(app) if "Shorten" in text or "empty" in text), "")


def test_page_opens_with_the_default_sentence_and_model(page: Run) -> None:
    app = page()
    assert not app.exception
    assert field(app, "sentence")["value"] == DEFAULT_SENTENCE
    assert options(app, "model") == ["en-fr", "another"]
    assert options(app, "device")[:1] == ["auto"]
    assert "en-fr on" in texts(app)
    assert "beam search, width 5" in texts(app)
    assert len(shown_equations(app)) == 5


@pytest.mark.parametrize(
    ("guidance", "said"),
    [
        ({"guidance": 0.5}, "en-fr (attention guided) on"),
        ({"guidance": 0.0}, "en-fr (attention not guided) on"),
        ({}, "en-fr on"),
    ],
)
def test_status_says_whether_the_attention_of_the_model_was_guided(
    models_folder: Path, guidance: dict[str, float], said: str
) -> None:
    path = models_folder / "en-fr" / "config.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    record["model"] |= guidance
    path.write_text(json.dumps(record), encoding="utf-8")
    assert said in texts(open_page())


def test_the_equations_are_those_of_the_step(page: Run) -> None:
    app = page()
    assert f"c_{{{selected(app).step + 1}}}" in shown_equations(app)[2]


def test_beam_search_and_a_given_translation_are_named(page: Run) -> None:
    app = page()
    set_field(app, "sentence", "It's over there!")
    set_field(app, "search", "beam 3")
    assert "beam search, width 3" in texts(app)
    set_field(app, "target", "C'est là-bas !")
    assert "given translation" in texts(app)
    assert field(app, "search")["disabled"]


def test_unknown_parts_of_a_given_translation_are_reported(page: Run, snapshot: SnapshotAssertion) -> None:
    app = page()
    set_field(app, "target", "C'est 北京 !")
    assert panel_texts(app, "notice") == snapshot
    set_field(app, "target", "C'est là-bas !")
    assert len(panel_texts(app, "notice")) == 1  # the notice that the translation was given


def test_candidates_caption_says_what_a_click_opens(page: Run, snapshot: SnapshotAssertion) -> None:
    assert panel_texts(page(), "stage_5")[-1] == snapshot


def test_step_texts_are_computed_once_per_translation_and_language(page: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    computed_steps: list[int] = []

    def counted(trace: Trace, step: int, *, simple: bool) -> tuple[StageText, ...]:
        computed_steps.append(step)
        return narrate(trace, step, simple=simple)

    monkeypatch.setattr("attnviz.ui.step.stage_panels.narrate", counted)
    app = page()
    set_field(app, "sentence", "The whole budget was signed in the snow.")
    assert set(computed_steps) >= set(range(steps_of(app)))
    computed_steps.clear()
    payloads_of(app, "verification_badge", 2)
    app.run()
    assert computed_steps == []


def test_notice_names_a_given_translation_until_it_is_cleared(page: Run, snapshot: SnapshotAssertion) -> None:
    app = page()
    set_field(app, "target", "C'est là-bas !")
    assert panel_texts(app, "notice") == snapshot
    app.button(key="clear").click().run()
    assert panel_texts(app, "notice") == []
    assert field(app, "target")["value"] == ""
    assert "beam search, width 5" in texts(app)
    assert "given translation" not in texts(app)


def test_new_sentence_clears_the_given_translation(page: Run) -> None:
    app = page()
    set_field(app, "target", "C'est là-bas !")
    set_field(app, "sentence", "Two dogs play in the snow.")
    assert field(app, "target")["value"] == ""
    assert "beam search, width 5" in texts(app)


def test_linked_translation_is_decoded_for_its_sentence(page: Run) -> None:
    linked = page(sentence="Two dogs play in the snow.", target="Deux chiens.")
    assert field(linked, "target")["value"] == "Deux chiens."
    assert len(panel_texts(linked, "notice")) == 1
    assert linked.button(key="clear")


def test_address_has_only_inputs_that_were_translated(page: Run) -> None:
    app = page()
    assert address(app) == {}
    good = {"sentence": "Two dogs play.", "target": "Deux chiens."}
    for box, text in good.items():
        set_field(app, box, text)
    assert address(app) == good
    set_field(app, "sentence", "a " * 504)
    assert "504 words" in problem(app)
    assert address(app) == good
    set_field(app, "sentence", DEFAULT_SENTENCE)
    assert address(app) == {}


def test_caption_says_whether_rows_add_up_with_the_end_mark(page: Run, snapshot: SnapshotAssertion) -> None:
    app = page()

    def row_sum_sentences() -> list[str]:
        (caption,) = panel_texts(app, "how_to_read")
        return re.findall('<span class="if-(?:end|no-end)">.*?</span>', caption)

    assert row_sum_sentences() == snapshot


def test_every_chart_has_a_table(page: Run) -> None:
    app = page()
    assert len(tables_of(app)) == 10 + 3  # three belong to boxes of their own
    assert tables_of(app, 1)[-1]["name"] != tables_of(app)[-1]["name"]


@pytest.mark.parametrize(("text", "said"), [("", "is empty"), (" \n\t ", "is empty"), ("a " * 201, "201 words")])
def test_bad_input_shows_a_message_and_keeps_the_last_translation(page: Run, text: str, said: str) -> None:
    app = page()
    steps = steps_of(app)
    set_field(app, "sentence", text)
    assert said in problem(app)
    assert field(app, "sentence")["value"] == text
    assert steps_of(app) == steps
    assert len(shown_equations(app)) == 5
    assert "beam search" not in texts(app), "the status is of another sentence than the one in the box"


@pytest.mark.parametrize(("text", "refused"), [("北京", True), ("北京 大学", True), ("北京 is big", False)])
def test_sentence_without_any_known_part_is_refused(
    page: Run, text: str, refused: bool, snapshot: SnapshotAssertion
) -> None:
    app = page()
    set_field(app, "sentence", text)
    assert not app.exception
    assert bool(panel_texts(app, "problem")) == refused
    assert bool(panel_texts(app, "notice")) != refused
    assert panel_texts(app, "messages") == snapshot


def test_glossary_defines_the_terms_and_symbols_of_the_page(page: Run) -> None:
    glossary = "\n".join(text for one in mounted(page(), "definitions") for text in one["texts"])
    for term in (
        "State",
        "Query",
        "key",
        "Context vector",
        "Gate",
        "Candidate",
        "Maxout",
        "Logit",
        "Entropy",
        "Coverage",
        "Saturated",
        "√α",
        "·",
    ):
        assert f"**{term}**" in glossary, term


def test_missing_device_shows_a_message(
    page: Run, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    monkeypatch.setattr("attnviz.ui.toolbar.controls.devices", lambda: ["auto", "cuda:7", "cpu"])
    app = page()
    set_field(app, "device", "cuda:7")
    assert not app.exception
    assert panel_texts(app, "problem") == snapshot


def test_without_a_model_the_page_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    monkeypatch.setenv("ATTNVIZ_MODELS", str(tmp_path))
    app = open_page()
    assert not app.exception
    assert panel_texts(app, "messages") == snapshot


def test_message_about_a_damaged_model_names_the_file(en_fr: Path) -> None:
    (en_fr / "tokenizer.model").write_bytes(b"no model")
    app = open_page()
    assert not app.exception
    assert "tokenizer.model" in texts(app)


def test_no_typed_sentence_raises_or_is_read_as_markdown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_network: ModelFactory, tokenizer: Tokenizer
) -> None:
    # A model that ends its sentences early, so that many examples fit into the time.
    network = make_network()
    network.decoder.output.bias[EOS] += 2
    save_model(tmp_path / "brief", network, tokenizer)
    monkeypatch.setenv("ATTNVIZ_MODELS", str(tmp_path))
    app = open_page()
    written = {element.value for element in app.markdown}

    @settings(max_examples=FEW)
    @given(st.text(min_size=1, max_size=40))
    @example("🦄 $x$ **b** <b>x</b> :red[r] `c` \\frac{1}{2}")
    @example("\x00\x07\u202e\ud7ff\uffff")
    @example("x" * 10_000)
    @example("שלום 你好 नमस्ते")
    def typed(text: str) -> None:
        set_field(app, "sentence", text)
        assert not app.exception
        assert field(app, "sentence")["value"] == text
        assert {element.value for element in app.markdown} <= written, "the typed text was rendered as Markdown"

    typed()
