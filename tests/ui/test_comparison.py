"""Comparison section of the lab, without a browser: links, difference texts, address and saved figures."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from attnviz.analysis.comparison import compare
from attnviz.checkpoint import save_model
from attnviz.installed_models import installed_models
from attnviz.text import Tokenizer
from attnviz.trace import WhatIf, WhatIfs
from attnviz.trace.interventions import Temperature
from attnviz.ui.lab.compared_translation import COMPARED_KINDS, ComparedPair, chosen_partner, other_what_ifs
from attnviz.ui.lab.comparison_experiment import differing_sentences_html
from attnviz.ui.page_state.linked import keep_for
from attnviz.ui.view import MAIN, View
from tests.conftest import SENTENCES, ModelFactory
from tests.figures import synthetic
from tests.figures.payloads import fitting_figures
from tests.strategies import texts as odd_texts
from tests.ui.fields import field, fields, press, set_field
from tests.ui.opening import Run
from tests.ui.shown_payloads import address, fetched, mounted, page_html, panel_texts, texts
from tests.what_if_links import link

TRACE = synthetic.trace()
MODELS = ["one", "two"]


def a_view(number: int = 0, count: int = 0) -> View:
    """Return a view of a translation with `count` what-ifs, of which what-if `number` is shown."""
    traces = tuple(synthetic.trace(seed=k + 1) for k in range(count))
    what_ifs = WhatIfs(TRACE, tuple(WhatIf(0, Temperature(2.0, k)) for k in range(count)), traces)
    return View(MAIN, what_ifs.trace(number), what_ifs, number)


CHOICES = st.fixed_dictionaries(
    {},
    optional={
        "compare": st.sampled_from([*COMPARED_KINDS, "x", ""]),
        "other_model": st.sampled_from([*MODELS, "three", ""]),
        "other_sentence": odd_texts,
        "held": st.booleans(),
        "other_what_if": st.sampled_from(["0", "1", "2", "9", "-1", "x", ""]),
    },
)


@given(chosen=CHOICES, models=st.sampled_from([MODELS, []]), number=st.integers(0, 2), count=st.integers(2, 3))
def test_any_choice_is_used_if_it_is_offered(
    chosen: dict[str, Any], models: list[str], number: int, count: int
) -> None:
    view = a_view(number, count)
    partner, what_ifs = chosen_partner(chosen, view, models), [str(other) for other in other_what_ifs(view)]
    assert partner.kind == (chosen["compare"] if chosen.get("compare") in COMPARED_KINDS else "model")
    assert partner.model == (chosen["other_model"] if chosen.get("other_model") in models else next(iter(models), None))
    assert partner.sentence == chosen.get("other_sentence", TRACE.source_text)
    assert partner.held == chosen.get("held", False)
    assert str(partner.what_if) in what_ifs
    if chosen.get("other_what_if") in what_ifs:
        assert str(partner.what_if) == chosen["other_what_if"]


def test_another_first_sentence_resets_the_other_sentence() -> None:
    session: dict[Any, Any] = {"compare": "sentence"}
    view = a_view()
    keep_for(session, "other_sentence", view.trace.source_text)
    session["other_sentence"] = "The agreement ."
    keep_for(session, "other_sentence", view.trace.source_text)
    assert chosen_partner(session, view, MODELS).sentence == "The agreement ."
    other = View(MAIN, synthetic.trace("Nobody knows ."))
    keep_for(session, "other_sentence", other.trace.source_text)
    assert chosen_partner(session, other, MODELS).sentence == "Nobody knows ."


def test_current_model_or_what_if_is_never_compared_with_itself() -> None:
    session = {"other_model": "two", "other_what_if": "2"}
    partner = chosen_partner(session, a_view(2, 2), ["one"])
    assert (partner.model, partner.what_if) == ("one", 0)


@given(text=odd_texts)
def test_differing_sentences_are_escaped(text: str) -> None:
    one, two = synthetic.trace("The agreement"), synthetic.trace(f"The {text} agreement", f"{text} accord")
    html = differing_sentences_html(ComparedPair(one, two, (text, "<b>"), "first"))
    assert set(re.findall(r"</?(\w+)", html)) <= {"p", "span", "del", "ins"}


def test_differing_words_are_marked_and_equal_sentences_left_out() -> None:
    one = synthetic.trace("The agreement was signed .", "Accord signé .")
    two = synthetic.trace("The new agreement signed .", "Accord signé .")
    html = differing_sentences_html(ComparedPair(one, two, ("a", "b"), "first"))
    assert re.findall("<(del|ins)>(.*?)</", html) == [("del", "was"), ("ins", "new")]
    assert "Accord" not in html
    assert "The agreement <del>was</del> signed" in html
    assert differing_sentences_html(ComparedPair(one, one, ("a", "b"), "first")) == ""


@pytest.fixture
def two_models(models_folder: Any, make_network: ModelFactory, tokenizer: Tokenizer) -> Any:
    save_model(models_folder / "dotted", make_network("general"), tokenizer)
    save_model(models_folder / "plain", make_network("none"), tokenizer)
    return models_folder


def picture(app: AppTest, **options: str) -> dict[str, Any]:
    """Return the payload of the chart of the section, with these display options."""
    assert not app.exception
    ((found),) = [fetched(one["at"], **options) for one in mounted(app, "chart")]
    return dict(found)


def test_two_models_are_compared_on_the_same_translation(two_models: Any, lab: Run) -> None:
    app = lab(section="comparison", sentence=SENTENCES[6])
    shown = picture(app)
    widths = [one["narrowest"] for one in picture(app, by="words")["fits"]]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] <= 390
    names = [trace["name"] for trace in orjson.loads(shown["template"])["data"] if trace["type"] == "heatmap"]
    assert names == ["first", "other", "difference"]
    assert len(shown["captions"]) == sum(len(word["steps"]) for word in mounted(app, "player")[0]["target"])
    assert "dotted" in shown["captions"]["1"][1]
    assert address(app) == {"section": "comparison", "sentence": SENTENCES[6]}
    before = shown["template"]
    assert picture(app, face="after")["template"] != before


def test_model_without_attention_is_compared_without_heatmaps(
    two_models: Any, lab: Run, snapshot: SnapshotAssertion
) -> None:
    app = lab(section="comparison", sentence=SENTENCES[6], other_model="plain")
    texts_without_attention = panel_texts(app, "compare_told_looks")
    assert texts_without_attention == snapshot
    kinds = {trace["type"] for trace in orjson.loads(picture(app)["template"])["data"]}
    assert kinds == {"scatter"}
    assert not {"face", "by"} & fields(app).keys()
    assert address(app)["other_model"] == "plain"
    assert panel_texts(lab(section="comparison", model="plain"), "compare_told_looks") == texts_without_attention


def test_dropped_and_swapped_words_change_the_other_sentence_and_the_address(
    two_models: Any, lab: Run, snapshot: SnapshotAssertion
) -> None:
    app = lab(section="comparison", compare="sentence", sentence=SENTENCES[0])
    same = panel_texts(app, "compare_told")
    assert same == snapshot
    set_field(app, "edited_word", "5")
    press(app, "drop_word")
    without_red = SENTENCES[0].replace(" red", "")
    assert field(app, "other_sentence")["value"] == without_red
    assert address(app)["other_sentence"] == without_red
    assert "riding a <del>red</del> bicycle" in "".join(element for element in page_html(app))
    set_field(app, "edited_word", "0")
    press(app, "swap_words")
    assert field(app, "other_sentence")["value"] == without_red.replace("A girl", "girl A")
    set_field(app, "other_sentence", SENTENCES[6])
    assert picture(app)
    set_field(app, "held", True)
    assert address(app)["held"] == "1"
    first = mounted(app, "player")[0]["target"]
    words = fitting_figures(picture(app, by="words"))[0]["data"][-1]["text"]
    assert len(words) == len(first)  # the same words, from another sentence
    press(app, "undo_edits")
    assert panel_texts(app, "compare_told") == same
    assert "other_sentence" not in address(app)


@pytest.mark.parametrize("sentence", [" ", "字", "x " * 300])
def test_untranslatable_other_sentence_shows_a_message(two_models: Any, lab: Run, sentence: str) -> None:
    app = lab(section="comparison", compare="sentence", sentence=SENTENCES[0], other_sentence=sentence)
    assert not app.exception
    assert texts(app).strip()


def test_bad_link_values_and_missing_partners_show_a_message(lab: Run, snapshot: SnapshotAssertion) -> None:
    app = lab(section="comparison", compare="nonsense", other_model="nobody", held="7", other_what_if="8")
    assert not app.exception
    assert mounted(app, "link_messages")[0]["problems"] == snapshot(name="link")
    assert panel_texts(app, "compare_told") == snapshot(name="no other model")
    app = lab(section="comparison", compare="what-if")
    assert panel_texts(app, "compare_told") == snapshot(name="nothing tried")


def test_what_if_is_compared_step_by_step_with_the_first_translation(two_models: Any, lab: Run) -> None:
    app = lab(
        section="comparison", compare="what-if", sentence=SENTENCES[6], what_ifs=link(Temperature(2.0, 1)), what_if="1"
    )
    shown = picture(app)
    (player,) = mounted(app, "player")
    meta = fitting_figures(shown)[0]["layout"]["meta"]
    assert len(meta["rows"]) == sum(len(word["steps"]) for word in player["target"]) == len(shown["captions"])
    assert "as translated" in shown["captions"]["0"][1]
    assert "what-if 1" in shown["captions"]["0"][1]
    assert "what-if 1: " in texts(app)  # and what was changed


def test_saved_comparison_has_the_figure_and_its_numbers(two_models: Any, lab: Run) -> None:
    from attnviz.ui.lab.comparison_experiment import comparison_pictures

    app = lab(section="comparison", sentence=SENTENCES[6])
    assert not app.exception
    session = {"compare": "model", "other_model": "dotted", "other_sentence": "", "held": False, "other_what_if": "0"}
    trace = _trace_of(SENTENCES[6])
    (one,) = comparison_pictures(View(MAIN, trace), session)
    assert one.name == "comparison"
    assert "dotted" in one.heading
    compared = compare(trace, trace)
    np.testing.assert_allclose(one.draw().frame()[trace.model].sum(), np.nansum(compared.first), rtol=1e-5)
    assert list(comparison_pictures(View(MAIN, trace), session | {"compare": "what-if"})) == []


def _trace_of(sentence: str) -> Any:
    from attnviz.ui.resources import translate

    return translate(str(installed_models()["en-fr"]), "cpu", sentence, 1, None)
