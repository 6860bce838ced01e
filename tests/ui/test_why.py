"""Page *Why attention?* as Streamlit runs it, without a browser: its three models, payloads and address."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from attnviz import AttnvizError, Translator
from attnviz.analysis.why_attention import FIRST, prefixes
from attnviz.checkpoint import save_model
from attnviz.corpora.judging import judge
from attnviz.evaluation.example_sentences import REFERENCE_TRANSLATIONS, TABLE_3, TECHNOLOGY
from attnviz.languages import LANGUAGES
from attnviz.text import Tokenizer
from attnviz.ui.examples import DEFAULT_SENTENCE, EXAMPLES
from attnviz.ui.pages.why_page import why_pictures
from attnviz.ui.payloads import UnknownPayloadError
from attnviz.ui.payloads import address as address_of
from attnviz.ui.why.gradient_decay_section import signals_tables
from attnviz.ui.why.sentence_length_section import growth_of, three_models_bleu
from attnviz.ui.why.three_models_section import (
    MODELS,
    PREFERRED_REFERENCE,
    missing_models_reason,
    reference_model,
    translate_trio,
    trio_stamp,
)
from tests.conftest import REPOSITORY, SENTENCES, ModelFactory
from tests.figures.payloads import fitting_figures
from tests.saved_pages import flattened, saved_view
from tests.snapshots import without_numbers
from tests.ui.fields import set_field
from tests.ui.shown_payloads import (
    address,
    blocks,
    fetched,
    mounted,
    page_html,
    panel_texts,
    saved_page,
    tables_of,
    texts,
    texts_with,
)

Run = Callable[..., AppTest]
KINDS = dict(zip(MODELS, ("none", "general", "additive"), strict=True))
SENTENCE = "Two dogs play in the snow."

PAGE = """
from attnviz.ui.chrome import run_pages
from attnviz.ui.pages.why_page import WHY_PAGE
run_pages([WHY_PAGE])
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


def test_three_translations_are_shown_side_by_side_with_their_weights(page: Run, folder: Path) -> None:
    app = page(sentence=SENTENCE)
    assert not app.exception
    growing, race = mounted(app, "side_by_side")
    assert [lane["model"] for lane in race["lanes"]] == list(MODELS)
    fixed, *attending = race["lanes"]
    own = translate_trio(SENTENCE, None).own
    for lane, trace in zip(race["lanes"], own, strict=True):
        assert "".join(lane["parts"]).removesuffix(" </s>").strip() == trace.translation
        assert [word["text"] for word in lane["source"]] == list(trace.words().source)
        assert len(lane["notes"]) == len(race["labels"])
    assert fixed["weights"] is None
    assert fixed["strip"]["units"] == 10
    assert re.findall(r"\d+", fixed["strip"]["caption"]) == ["10", "20"]
    for lane in attending:
        assert lane["strip"]["units"] == 20
        assert all(sum(row) == pytest.approx(1, abs=0.01) for row in lane["weights"])
    assert len(race["labels"]) == max(len(trace.target_pieces) for trace in own)
    assert "growing?" in growing["at"]


def test_page_has_five_charts(page: Run, snapshot: SnapshotAssertion) -> None:
    app = page(sentence=SENTENCE, long="own")
    growth, by_length, forced, share, _ = mounted(app, "chart")
    assert by_length["captions"]["every"][1] == snapshot(name="BLEU by length")
    unlikely = re.sub("“.*”", "“…”", fetched(forced["at"])["captions"]["every"][1])
    assert without_numbers(unlikely) == snapshot(name="forced words")
    for asked in (share, growth):
        assert "every" in fetched(asked["at"])["captions"]


def test_share_of_the_gradient_is_shown_before_its_paths(page: Run) -> None:
    app = page(sentence=SENTENCE, long="own")
    *_, share, signals = mounted(app, "chart")
    sentence, _ = fetched(share["at"])["captions"]["every"]
    assert re.fullmatch(r"Share of the gradient .*: fixed vector \d+\u00a0%, .*additive \d+\u00a0%", sentence)
    assert "%" in fetched(signals["at"])["captions"]["every"][1]


def test_example_is_forced_with_the_translation_of_a_person(page: Run, snapshot: SnapshotAssertion) -> None:
    """The shipped model writes *la banque de la rivière*, which its page calls a mistake."""
    sentence = "He is sitting on the bank of the river."
    app = page(sentence=sentence)
    assert not app.exception
    human = REFERENCE_TRANSLATIONS[sentence].french
    assert translate_trio(sentence, None).origin == "reference"
    assert translate_trio(sentence, "Il est assis.").origin == "visitor"
    assert translate_trio(SENTENCE, None).origin == "model"
    assert [html for html in page_html(app) if human in html] == snapshot
    assert "target" not in address(app)


@pytest.mark.parametrize("sentence", [one for kind in list(EXAMPLES)[:5] for one in EXAMPLES[kind]])
def test_every_example_has_the_translation_of_a_person(sentence: str) -> None:
    assert REFERENCE_TRANSLATIONS[sentence].french


def grown(app: AppTest) -> dict[str, Any]:
    """Return the payload of the growing sentence."""
    return fetched(mounted(app, "side_by_side")[0]["at"])


def sentence_of(lane: dict[str, Any], step: int = -1) -> str:
    """Return the English part of a row."""
    return "".join(word for word, _ in lane["versions"][step]["source"])


def test_page_opens_on_the_whole_built_in_sentence(page: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the shipped models, the fixed vector leaves out most of it, and attention little."""
    monkeypatch.setenv("ATTNVIZ_MODELS", str(REPOSITORY / "models"))
    app = page()
    assert not app.exception
    rows = grown(app)
    *models, human = rows["lanes"]
    assert [row["model"] for row in models] == list(MODELS)
    assert [len(row["versions"]) for row in rows["lanes"]] == [len(rows["labels"])] * 4
    for row in models:
        assert sentence_of(row) == TECHNOLOGY
        assert len(sentence_of(row, 0).split()) == FIRST
        assert "chrF" in row["notes"][-1]
        assert "chrF" not in "".join(row["notes"][:-1])
    assert human["versions"][-1]["words"][0][0] == REFERENCE_TRANSLATIONS[TECHNOLOGY].french
    assert not any(version["words"] for version in human["versions"][:-1])
    fixed, *attending = (sum(omitted for _, omitted in row["versions"][-1]["source"]) for row in models)
    assert fixed > 2 * max(attending)
    growing, translations = mounted(app, "view_state")
    assert (growing["id"], translations["id"]) == ("length", "why")
    assert growing["steps"] == len(rows["labels"]) == growing["firstStep"] + 1


def test_shades_and_strokes_are_the_judgement_of_the_reference_model(page: Run, folder: Path) -> None:
    rows, judge_model = grown(page(sentence=SENTENCE, long="own")), Translator.load(folder / PREFERRED_REFERENCE, "cpu")
    fixed = rows["lanes"][0]
    for version in (fixed["versions"][0], fixed["versions"][-1]):
        source = "".join(word for word, _ in version["source"])
        text = Translator.load(folder / MODELS[0], "cpu").translate_batch([source], beam=5)[0]
        (judged,) = judge(judge_model, [(source, text)])
        assert tuple(word for word, _, _ in version["words"]) == judged.words
        levels = [sum(log < np.log(limit) for limit in (0.5, 0.1, 0.01)) for log in judged.log_probabilities]
        assert [level for _, level, _ in version["words"]] == levels
        assert tuple(k for k, (_, omitted) in enumerate(version["source"]) if omitted) == judged.omitted


def test_choices_are_in_the_address_and_read_from_it(page: Run) -> None:
    app = page(**{"sentence": SENTENCE, "step-why": "3", "long": "own", "step-length": "2"})
    assert address(app) == {"sentence": SENTENCE, "long": "own"}
    set_field(app, "long", "3")
    assert address(app) == {"sentence": SENTENCE, "long": "3"}
    assert mounted(app, "view_state")[0]["steps"] == len(prefixes(TABLE_3[2]))


def test_link_of_an_earlier_version_opens_the_whole_sentence(page: Run) -> None:
    app = page(**{"sentence": SENTENCE, "long": "1", "step-growing": "2"})
    assert not app.exception
    assert mounted(app, "view_state")[0]["firstStep"] == len(prefixes(TABLE_3[0])) - 1


def test_invalid_step_and_long_sentence_are_ignored(page: Run) -> None:
    app = page(**{"sentence": SENTENCE, "step-why": "99999", "long": "7", "step-length": "x"})
    assert not app.exception
    assert "long" not in address(app)


def test_own_sentence_can_grow(page: Run) -> None:
    app = page(sentence=SENTENCE, long="own")
    rows = grown(app)["lanes"]
    assert len(rows) == 3  # nobody translated it
    assert sentence_of(rows[0]) == SENTENCE
    assert address(app)["long"] == "own"
    set_field(app, "sentence", "Two dogs play.")
    assert not app.exception
    assert "long" not in address(app)


def test_given_translation_is_forced_on_all_models(page: Run, snapshot: SnapshotAssertion) -> None:
    app = page(sentence=SENTENCE, target="Deux chiens jouent.")
    assert not app.exception
    assert address(app)["target"] == "Deux chiens jouent."
    forced = fetched(mounted(app, "chart")[2]["at"])
    assert "chiens" in json.dumps(fitting_figures(forced)[0], default=list)
    assert [html for html in page_html(app) if "Deux chiens jouent." in html] == snapshot


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
    assert texts_with(app, "judge") == snapshot
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
    assert three_models_bleu() == ()
    app = page(sentence=SENTENCE)
    assert not app.exception
    assert texts_with(app, "by-length.csv") == snapshot


def test_bad_input_is_reported_and_the_example_shown(page: Run) -> None:
    app = page(sentence=" ")
    assert not app.exception
    assert "The sentence is empty" in texts(app)
    assert [word["text"] for word in mounted(app, "side_by_side")[1]["lanes"][0]["source"]][
        :2
    ] == DEFAULT_SENTENCE.split()[:2]


def test_texts_are_in_the_language_of_the_page(page: Run) -> None:
    app = page(sentence=SENTENCE, lang="fr", long="own")
    assert not app.exception
    _, _, forced, share, _ = mounted(app, "chart")
    assert mounted(app, "side_by_side")[1]["lanes"][0]["name"] == grown(app)["lanes"][0]["name"] == "Un vecteur fixe"
    assert "dix fois moins probables" in fetched(forced["at"])["captions"]["every"][1]
    assert "Part du gradient" in fetched(share["at"])["captions"]["every"][0]


def test_model_with_another_tokenizer_is_reported_instead_of_a_figure(
    folder: Path, make_network: ModelFactory, snapshot: SnapshotAssertion
) -> None:
    coarse = Tokenizer.train(["Two dogs play in the snow. x y z"], 25)
    save_model(folder / MODELS[0], make_network("none", vocabulary_size=len(coarse)), coarse)
    reference = translate_trio(SENTENCE, "C'est l'été.").reference
    at = address_of(reference, "forced-words", "light", every=True, version=trio_stamp())
    assert fetched(at)["captions"]["every"][1] == snapshot
    assert "every" in fetched(address_of(reference, "signals", "light", every=True, version=trio_stamp()))["captions"]
    ((_, table),) = signals_tables(translate_trio(SENTENCE, "C'est l'été."))
    assert [name for name in table if MODELS[0] in name] == []


def test_payloads_are_recomputed_after_a_model_was_replaced(
    folder: Path, make_network: ModelFactory, tokenizer: Tokenizer
) -> None:
    reference = translate_trio(SENTENCE, SENTENCES[7]).reference
    before, at = (
        trio_stamp(),
        lambda: address_of(reference, "gradient-share", "light", every=True, version=trio_stamp()),
    )
    one = fetched(at())
    save_model(folder / MODELS[1], make_network("general", hidden_size=8), tokenizer)
    assert trio_stamp() != before
    assert fetched(at())["captions"] != one["captions"]
    shutil.rmtree(folder / MODELS[0])
    assert missing_models_reason()
    with pytest.raises(UnknownPayloadError):
        fetched(address_of(reference, "signals", "dark", every=True, version="gone"))
    with pytest.raises(AttnvizError, match="not installed"):
        growth_of(reference)


def test_every_figure_has_a_name_heading_and_numbers(folder: Path) -> None:
    three = translate_trio(SENTENCE, SENTENCES[7])
    pictures = list(why_pictures(three, three.own[-1]))
    assert [one.name for one in pictures] == ["sentence-growth", "bleu-by-length", "forced-words", "signals"]
    assert all(len(one.draw().frame()) and one.draw().data and one.heading for one in pictures)


@pytest.mark.parametrize("language", LANGUAGES)
def test_saved_page_has_every_section(language: str, page: Run) -> None:
    app = page(sentence=SENTENCE, long="own", lang=language)
    assert not app.exception
    saved = saved_view(saved_page(app), language, "dark")
    drawn = [block["key"] for block in flattened(saved.blocks) if block["kind"] in ("chart", "side_by_side")]
    shown = [block["key"] for block in blocks(app) if block["kind"] in ("chart", "side_by_side")]
    assert drawn == shown
    assert set(saved.addresses()) == set(saved.payloads)
    assert {text for text in page_html(app) if text.startswith('<div class="text-section')} <= set(saved.texts())


def test_page_has_a_table_for_every_figure(page: Run) -> None:
    app = page(sentence=SENTENCE, long="own")
    assert not app.exception
    assert len(tables_of(app)) == 7  # three translations, and four pictures
