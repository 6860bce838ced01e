"""Page *Why attention?* as Streamlit runs it, without a browser: its three models, payloads and address."""

from __future__ import annotations

import functools
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from attnviz import Translator
from attnviz.checkpoint import save_model
from attnviz.corpora.judging import judge
from attnviz.evaluation.example_sentences import REFERENCE_TRANSLATIONS
from attnviz.installed_models import LARGE_MODEL
from attnviz.text import Tokenizer
from attnviz.ui.payloads import PayloadRequest
from attnviz.ui.why import MODELS, translate_trio, why_pictures
from tests.conftest import REPOSITORY, SENTENCES, ModelFactory
from tests.saved_pages import flattened, saved_view
from tests.snapshots import without_numbers
from tests.ui.opening import Run, open_alone
from tests.ui.shown_payloads import (
    address,
    blocks,
    fetched,
    mounted,
    page_html,
    panel_texts,
    saved_page,
)

KINDS = dict(zip(MODELS, ("none", "general", "additive"), strict=True))
SENTENCE = "Two dogs play in the snow."


@pytest.fixture
def folder(tmp_path: Path, make_network: ModelFactory, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with the three models and the reference model."""
    save_model(tmp_path / LARGE_MODEL, make_network(hidden_size=9), tokenizer)
    for name, kind in KINDS.items():
        save_model(tmp_path / name, make_network(kind), tokenizer)
    shutil.copy(REPOSITORY / "models" / "by-length.csv", tmp_path)
    monkeypatch.setenv("ATTNVIZ_MODELS", str(tmp_path))
    return tmp_path


@pytest.fixture
def page(folder: Path) -> Run:
    """Return a function that opens the page as a link does."""
    return functools.partial(open_alone, "why")


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


def grown(app: AppTest) -> dict[str, Any]:
    """Return the payload of the growing sentence."""
    return fetched(mounted(app, "side_by_side")[0]["at"])


def test_shades_and_strokes_are_the_judgement_of_the_reference_model(page: Run, folder: Path) -> None:
    rows, judge_model = grown(page(sentence=SENTENCE, long="own")), Translator.load(folder / LARGE_MODEL, "cpu")
    fixed = rows["lanes"][0]
    for version in (fixed["versions"][0], fixed["versions"][-1]):
        source = "".join(word for word, _ in version["source"])
        text = Translator.load(folder / MODELS[0], "cpu").translate_batch([source], beam=5)[0]
        (judged,) = judge(judge_model, [(source, text)])
        assert tuple(word for word, _, _ in version["words"]) == judged.words
        levels = [sum(log < np.log(limit) for limit in (0.5, 0.1, 0.01)) for log in judged.log_probabilities]
        assert [level for _, level, _ in version["words"]] == levels
        assert tuple(k for k, (_, omitted) in enumerate(version["source"]) if omitted) == judged.omitted


def test_every_figure_has_a_name_heading_and_numbers(folder: Path) -> None:
    three = translate_trio(SENTENCE, SENTENCES[7])
    pictures = list(why_pictures(PayloadRequest({"trio": three, "growth": three.own[-1]}, {})))
    assert [one.name for one in pictures] == ["sentence-growth", "bleu-by-length", "forced-words", "signals"]
    assert all(len(one.draw().frame()) and one.draw().data and one.title for one in pictures)


def test_missing_model_of_the_three_is_named(page: Run, folder: Path, snapshot: SnapshotAssertion) -> None:
    problems = []
    for name in MODELS:
        (folder / name).rename(folder / "away")
        app = page(sentence=SENTENCE)
        problems += panel_texts(app, "why_problem")
        assert not mounted(app, "side_by_side")
        (folder / "away").rename(folder / name)
    assert problems == snapshot


def test_saved_page_has_every_section(page: Run) -> None:
    app = page(sentence=SENTENCE, long="own", lang="fr")
    saved = saved_view(saved_page(app), "fr", "dark")
    drawn = [block["key"] for block in flattened(saved.blocks) if block["kind"] in ("chart", "side_by_side")]
    shown = [block["key"] for block in blocks(app) if block["kind"] in ("chart", "side_by_side")]
    assert drawn == shown
    assert set(saved.addresses()) == set(saved.payloads)
    assert {text for text in page_html(app) if text.startswith('<div class="text-section')} <= set(saved.texts())
