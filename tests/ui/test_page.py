"""First page as Streamlit runs it, without a browser: its texts, and that no input of a visitor breaks it."""

import pkgutil
import re
import shutil
from importlib import import_module
from types import SimpleNamespace
from typing import get_args

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from attnviz.checkpoint import save_model
from attnviz.text import EOS, LONGEST_SENTENCE
from attnviz.ui import inputs, pages
from attnviz.ui.examples import DEFAULT_SENTENCE
from attnviz.ui.glossary import Topic, glossary
from tests.strategies import FEW
from tests.ui.opening import field, fields, first_page, open_page, set_field
from tests.ui.shown_payloads import address, all_payloads, blocks, mounted, page_html, panel_texts, steps_of, texts


@pytest.fixture(scope="module")
def page(tmp_path_factory, model_folder):
    """Return a function that opens the page afresh, on two models that no test changes."""
    models = tmp_path_factory.mktemp("models")
    for name in ("en-fr", "another"):
        shutil.copytree(model_folder, models / name)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("ATTNVIZ_MODELS", str(models))
        yield open_page


def test_bad_input_shows_a_message_and_keeps_the_last_translation_and_the_address(page) -> None:
    app = page()
    assert address(app) == {}
    good = {"sentence": "Two dogs play.", "target": "Deux chiens 字."}
    for box, text in good.items():
        set_field(app, box, text)
    assert "字" in " ".join(panel_texts(app, "notice")), "the model has never seen it"
    steps = steps_of(app)
    too_long = ("a " * (LONGEST_SENTENCE + 1), f"{LONGEST_SENTENCE + 1} words")
    for text, said in (("", "is empty"), (" \n\t ", "is empty"), too_long):
        set_field(app, "sentence", text)
        assert not app.exception
        assert said in " ".join(panel_texts(app, "problem"))
        assert field(app, "sentence")["value"] == text
        assert address(app) == good, "the address has only what was translated"
        assert steps_of(app) == steps
        assert "given translation" not in texts(app), "the status is of another sentence than the one in the box"
    set_field(app, "sentence", DEFAULT_SENTENCE)
    assert address(app) == {}


def test_visitors_sign_in_where_the_secrets_name_a_provider(page, monkeypatch) -> None:
    for signed_in in (False, True):
        monkeypatch.setattr("streamlit.user", SimpleNamespace(is_logged_in=signed_in))
        app = first_page()
        app.secrets["auth"] = {"client_id": "attnviz"}
        app.run()
        assert not app.exception
        keys = {button.key for button in app.button}
        assert ("sign_in_button" in keys, "sign_out" in keys) == (not signed_in, signed_in)
        assert bool(fields(app)) == signed_in


def test_message_about_a_damaged_model_names_the_file(en_fr) -> None:
    (en_fr / "tokenizer.model").write_bytes(b"no model")
    app = open_page()
    assert not app.exception
    assert "tokenizer.model" in texts(app)


def test_only_a_model_with_attention_is_said_to_attend(three_models) -> None:
    for model, attends in (("en-fr", True), ("fixed", False)):
        app = open_page(model=model)
        assert {player["attends"] for player in mounted(app, "player")} == {attends}, "it hides what the step looks at"
        shown = f"{texts(app)} {page_html(app)} {list(blocks(app))} {list(all_payloads(app))}"
        for claim in ("brighter", "Softmax"):
            assert (claim in shown) == attends, (claim, model)


def test_no_typed_sentence_raises_or_is_read_as_markdown(tmp_path, monkeypatch, make_network, tokenizer) -> None:
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


def test_server_knows_the_path_of_every_page() -> None:
    names = [name for _, name, _ in pkgutil.iter_modules(pages.__path__) if name.endswith("_page")]
    found = {vars(import_module(f"{pages.__name__}.{name}"))[name.upper()].path for name in names}
    assert found == {*pages.PATHS}


def test_tour_is_offered_to_a_new_visitor(page, monkeypatch) -> None:
    def is_offered(**linked: str) -> bool:
        return page(**linked).button(key="tour_button").proto.type == "secondary"

    monkeypatch.setattr(inputs, "DEFAULT_LEVEL", "idea")
    assert is_offered()
    assert not is_offered(depth="idea"), "a link says what to show"
    monkeypatch.setattr(inputs, "remembered", lambda name: "taken" if name == "tour" else None)
    assert not is_offered()


def test_every_term_of_the_glossary_is_defined_once(each_language) -> None:
    found = re.findall(r"\*\*(.+?)\*\*", "\n".join(glossary(*get_args(Topic))))
    assert len(found) == len(set(found)) >= 35


def test_only_a_choice_of_this_session_is_stored(page, monkeypatch) -> None:
    """Another tab may have stored a later one since this session began."""
    monkeypatch.setattr(inputs, "remembered", lambda name: "numbers" if name == inputs.DETAIL_LEVEL else None)
    app = page()
    assert app.session_state[inputs.DETAIL_LEVEL] == "numbers"
    assert mounted(app, "stored_choice")[0]["value"] is None
    set_field(app, inputs.DETAIL_LEVEL, "everything")
    assert mounted(app, "stored_choice")[0]["value"] == "everything"
