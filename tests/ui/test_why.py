"""Page *Why attention?* as Streamlit runs it, without a browser: its three models, and what it saves."""

import numpy as np

from attnviz import Translator
from attnviz.corpora.judging import judge
from attnviz.evaluation.example_sentences import REFERENCE_TRANSLATIONS
from attnviz.installed_models import LARGE_MODEL
from attnviz.ui.pages.why_page import MODELS, translate_trio
from tests.ui.opening import open_alone
from tests.ui.shown_payloads import address, fetched, mounted, page_html, panel_texts, picture_names

SENTENCE = "Two dogs play in the snow."


def test_page_is_saved(folder, snapshot) -> None:
    app = open_alone("why", sentence=SENTENCE, long="own")
    assert picture_names(app) == snapshot
    assert len(mounted(app, "file_link")) == 1
    assert "{" not in mounted(app, "tables")[0]["at"]  # the same at every step


def test_example_is_forced_with_the_translation_of_a_person(folder) -> None:
    """The shipped model writes *la banque de la rivière*, which its page calls a mistake."""
    sentence = "He is sitting on the bank of the river."
    app = open_alone("why", sentence=sentence)
    assert "target" not in address(app)
    assert any(REFERENCE_TRANSLATIONS[sentence].french in html for html in page_html(app))
    assert translate_trio(sentence, None).origin == "reference"
    assert translate_trio(sentence, "Il est assis.").origin == "visitor"
    assert translate_trio(SENTENCE, None).origin == "model"


def test_shades_and_strokes_are_the_judgement_of_the_judge(folder) -> None:
    fixed = fetched(mounted(open_alone("why", sentence=SENTENCE, long="own"), "side_by_side")[0]["at"])["lanes"][0]
    judge_model = Translator.load(folder / LARGE_MODEL, "cpu")
    for version in (fixed["versions"][0], fixed["versions"][-1]):
        source = "".join(word for word, _ in version["source"])
        text = Translator.load(folder / MODELS[0], "cpu").translate_batch([source], beam=5)[0]
        (judged,) = judge(judge_model, [(source, text)])
        assert tuple(word for word, _, _ in version["words"]) == judged.words
        levels = [sum(log < np.log(limit) for limit in (0.5, 0.1, 0.01)) for log in judged.log_probabilities]
        assert [level for _, level, _ in version["words"]] == levels
        assert tuple(k for k, (_, omitted) in enumerate(version["source"]) if omitted) == judged.omitted


def test_missing_model_of_the_three_is_named(folder, snapshot) -> None:
    problems = []
    for name in MODELS:
        (folder / name).rename(folder / "away")
        app = open_alone("why", sentence=SENTENCE)
        problems += panel_texts(app, "why_problem")
        assert not mounted(app, "side_by_side")
        (folder / "away").rename(folder / name)
    assert problems == snapshot
