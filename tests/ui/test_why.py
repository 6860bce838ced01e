"""Page *Why attention?* as Streamlit runs it, without a browser: its three models, payloads and address."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from attnviz import AttnvizError
from attnviz.checkpoint import save_model
from attnviz.evaluation.sentences import TABLE_3
from attnviz.text import Tokenizer
from attnviz.ui.examples import DEFAULT_SENTENCE
from attnviz.ui.shared_payloads import UnknownPayloadError, register_trace
from attnviz.ui.shared_payloads import address as address_of
from attnviz.ui.why.gradient_decay import signals_tables
from attnviz.ui.why.growth import growth_of
from attnviz.ui.why.length_curve import measured
from attnviz.ui.why.three_models import (
    MODELS,
    PREFERRED_REFERENCE,
    missing_models_reason,
    reference_model,
    translate_trio,
    trio_stamp,
)
from attnviz.ui.why.why_page import why_pictures
from tests.conftest import REPOSITORY, SENTENCES, ModelFactory
from tests.snapshots import without_numbers
from tests.ui.fields import set_field
from tests.ui.shown_payloads import address, fetched, lecture_of, mounted, panel_texts, texts_with

Run = Callable[..., AppTest]
KINDS = dict(zip(MODELS, ("none", "general", "additive"), strict=True))
SENTENCE = "Two dogs play in the snow."

PAGE = """
from attnviz.ui.chrome import run_pages
from attnviz.ui.pages import why
run_pages([why.page])
"""


@pytest.fixture
def folder(tmp_path: Path, make_network: ModelFactory, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with the three models and the reference model."""
    save_model(tmp_path / PREFERRED_REFERENCE, make_network(hidden_size=9), tokenizer)
    for name, kind in KINDS.items():
        save_model(tmp_path / name, make_network(kind), tokenizer)
    shutil.copy(REPOSITORY / "models" / "by-length.csv", tmp_path)
    monkeypatch.setenv("ATTNVIZ_MODELS", str(tmp_path))
    return tmp_path


@pytest.fixture
def page(folder: Path) -> Run:
    """Return a function that opens the page as a link does."""

    def run(**linked: str) -> AppTest:
        app = AppTest.from_string(PAGE, default_timeout=60)
        for name, value in linked.items():
            app.query_params[name] = value
        return app.run()

    return run


def texts(app: AppTest) -> str:
    return "\n".join(element.value for element in app.text)


def test_three_translations_are_shown_side_by_side_with_their_weights(page: Run, folder: Path) -> None:
    app = page(sentence=SENTENCE)
    assert not app.exception
    race, growing = mounted(app, "side_by_side")
    assert [lane["model"] for lane in race["lanes"]] == list(MODELS)
    fixed, *attending = race["lanes"]
    own = translate_trio(SENTENCE, None).own
    for lane, trace in zip(race["lanes"], own, strict=True):
        assert "".join(lane["parts"]).removesuffix(" </s>").strip() == trace.translation
        assert [word["text"] for word in lane["source"]] == list(trace.words().source)
        assert len(lane["notes"]) == len(race["labels"])
    assert fixed["weights"] is None
    assert fixed["strip"]["units"] == 10
    for lane in attending:
        assert lane["strip"]["units"] == 20
        assert all(sum(row) == pytest.approx(1, abs=0.01) for row in lane["weights"])
    assert len(race["labels"]) == max(len(trace.target_pieces) for trace in own)
    assert "growing?" in growing["at"]


def test_page_has_four_charts_and_a_growing_sentence(page: Run, snapshot: SnapshotAssertion) -> None:
    app = page(sentence=SENTENCE)
    forced, signals, by_length, growth = mounted(app, "chart")
    assert by_length["captions"]["every"][1] == snapshot(name="BLEU by length")
    unlikely = re.sub("“.*”", "“…”", fetched(forced["at"])["captions"]["every"][1])
    assert without_numbers(unlikely) == snapshot(name="forced words")
    for asked in (signals, growth):
        assert "every" in fetched(asked["at"])["captions"]
    (lanes,) = payloads_of_growth(app)
    assert len(lanes["clauses"]) == len(lanes["labels"]) > 3
    assert " ".join(lanes["clauses"]) == TABLE_3[0]
    assert [lane["model"] for lane in lanes["lanes"]] == [*MODELS, PREFERRED_REFERENCE]


def payloads_of_growth(app: AppTest) -> list[dict[str, list[object]]]:
    return [fetched(given["at"]) for given in mounted(app, "side_by_side") if "at" in given]


def test_choices_are_in_the_address_and_read_from_it(page: Run) -> None:
    linked = {"sentence": SENTENCE, "step-why": "3", "long": "2", "step-growing": "2"}
    app = page(**linked)
    assert address(app) == {"sentence": SENTENCE, "long": "2"}
    assert [view["id"] for view in mounted(app, "view_state")] == ["why", "growing"]
    (lanes,) = payloads_of_growth(app)
    assert " ".join(lanes["clauses"]) == " ".join(TABLE_3[1].split())
    set_field(app, "long", "3")
    assert address(app) == {"sentence": SENTENCE, "long": "3"}


def test_invalid_step_and_long_sentence_are_ignored(page: Run) -> None:
    app = page(**{"sentence": SENTENCE, "step-why": "99999", "long": "7", "step-growing": "x"})
    assert not app.exception
    assert "long" not in address(app)


def test_own_sentence_with_clauses_can_grow(page: Run) -> None:
    long = "The committee will vote tomorrow at noon, but nobody in the town knows what it is about."
    app = page(sentence=long, long="own")
    assert " ".join(payloads_of_growth(app)[0]["clauses"]) == long
    assert address(app)["long"] == "own"
    set_field(app, "sentence", SENTENCE)
    assert not app.exception
    assert "long" not in address(app)


def test_given_translation_is_forced_on_all_models(page: Run, snapshot: SnapshotAssertion) -> None:
    app = page(sentence=SENTENCE, target="Deux chiens jouent.")
    assert not app.exception
    assert address(app)["target"] == "Deux chiens jouent."
    forced = fetched(mounted(app, "chart")[0]["at"])
    assert "chiens" in forced["common"] + forced["fits"][0]["values"] + forced["template"]
    assert [html.proto.body for html in app.get("html") if "Deux chiens jouent." in html.proto.body] == snapshot


@pytest.mark.parametrize("name", MODELS)
def test_missing_model_of_the_three_is_named(page: Run, folder: Path, name: str, snapshot: SnapshotAssertion) -> None:
    shutil.rmtree(folder / name)
    app = page(sentence=SENTENCE)
    assert not app.exception
    assert panel_texts(app, "why_problem") == snapshot
    assert not mounted(app, "side_by_side")


def test_page_works_without_the_reference_model(page: Run, folder: Path, snapshot: SnapshotAssertion) -> None:
    shutil.rmtree(folder / PREFERRED_REFERENCE)
    assert reference_model() is None
    app = page(sentence=SENTENCE)
    assert not app.exception
    assert [text.value for text in app.text][-1] == snapshot
    assert len(mounted(app, "side_by_side")) == 1


def test_page_reports_that_no_model_is_installed(
    tmp_path_factory: pytest.TempPathFactory, page: Run, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    monkeypatch.setenv("ATTNVIZ_MODELS", str(tmp_path_factory.mktemp("none")))
    app = page()
    assert not app.exception
    assert panel_texts(app, "messages", "why_problem") == snapshot


@pytest.mark.parametrize("damage", ["", "words,pairs,model,bleu,bleu_low,bleu_high\n1-10,x,small-dot,y,,\n"])
def test_missing_measurements_are_reported(page: Run, folder: Path, damage: str, snapshot: SnapshotAssertion) -> None:
    (folder / "by-length.csv").write_text(damage, encoding="utf-8")
    assert measured() == ()
    app = page(sentence=SENTENCE)
    assert not app.exception
    assert texts_with(app, "by-length.csv") == snapshot


def test_bad_input_is_reported_and_the_example_shown(page: Run) -> None:
    app = page(sentence=" ")
    assert not app.exception
    assert "The sentence is empty" in texts(app)
    assert [word["text"] for word in mounted(app, "side_by_side")[0]["lanes"][0]["source"]][
        :2
    ] == DEFAULT_SENTENCE.split()[:2]


def test_texts_are_in_the_language_of_the_page(page: Run) -> None:
    app = page(sentence=SENTENCE, lang="fr")
    assert not app.exception
    forced, signals, *_ = mounted(app, "chart")
    assert mounted(app, "side_by_side")[0]["lanes"][0]["name"] == "Un vecteur fixe"
    assert "dix fois moins probables" in fetched(forced["at"])["captions"]["every"][1]
    assert "par la seule récurrence" in fetched(signals["at"])["captions"]["every"][1]


def test_model_with_another_tokenizer_is_reported_instead_of_a_figure(
    folder: Path, make_network: ModelFactory, snapshot: SnapshotAssertion
) -> None:
    coarse = Tokenizer.train(["Two dogs play in the snow. x y z"], 25)
    save_model(folder / MODELS[0], make_network("none", vocabulary_size=len(coarse)), coarse)
    reference = register_trace(translate_trio(SENTENCE, "C'est l'été.").reference)
    at = address_of(reference, "forced-words", "light", every=True, models=trio_stamp())
    assert fetched(at)["captions"]["every"][1] == snapshot
    assert "every" in fetched(address_of(reference, "signals", "light", every=True, models=trio_stamp()))["captions"]
    ((_, table),) = signals_tables(translate_trio(SENTENCE, "C'est l'été."))
    assert [name for name in table if MODELS[0] in name] == []


def test_payloads_are_recomputed_after_a_model_was_replaced(
    folder: Path, make_network: ModelFactory, tokenizer: Tokenizer
) -> None:
    reference = register_trace(translate_trio(SENTENCE, SENTENCES[7]).reference)
    before, at = trio_stamp(), lambda: address_of(reference, "signals", "light", every=True, models=trio_stamp())
    one = fetched(at())
    save_model(folder / MODELS[1], make_network("general", hidden_size=8), tokenizer)
    assert trio_stamp() != before
    assert fetched(at())["captions"] != one["captions"]
    shutil.rmtree(folder / MODELS[0])
    assert missing_models_reason()
    with pytest.raises(UnknownPayloadError):
        fetched(address_of(reference, "signals", "dark", every=True, models="gone"))
    with pytest.raises(AttnvizError, match="Not installed"):
        growth_of(reference)


def test_every_figure_has_a_name_heading_and_numbers(folder: Path) -> None:
    three = translate_trio(SENTENCE, SENTENCES[7])
    pictures = list(why_pictures(three, three.own[-1]))
    assert [one.name for one in pictures] == ["forced-words", "signals", "bleu-by-length", "sentence-growth"]
    assert all(len(one.numbers) and one.figure.data and one.heading for one in pictures)


def test_lecture_page_has_every_chapter(page: Run) -> None:
    app = page(sentence=SENTENCE)
    assert not app.exception
    contents = lecture_of(app)
    labels = contents["words"]["en"]
    assert [len(chapter["pictures"]) for chapter in labels["chapters"]] == [0, 3, 1, 1, 1, 1]
    assert len(labels["moments"]) == max(len(trace.target_pieces) for trace in translate_trio(SENTENCE, None).own)
    assert all(chapter["pictures"][0]["notes"][0] for chapter in labels["chapters"][2:])
    assert {"en-dark", "fr-light", "fr-dark"} <= set(contents["changes"])


def test_page_has_a_table_for_every_figure(page: Run) -> None:
    app = page(sentence=SENTENCE)
    app.session_state["tables-why"] = True
    app.run()
    assert not app.exception
    assert len(app.dataframe) == 7  # three translations, and four pictures
