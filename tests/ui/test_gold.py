"""Links that people drew in the step room: given, refused, kept in the address, and told against those of the model."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from attnviz import attention
from attnviz.analysis.gold import GoldLinks, counted_words, link_errors
from attnviz.translator import Translator
from tests.conftest import SENTENCES
from tests.snapshots import without_numbers
from tests.ui.fields import field, set_field
from tests.ui.opening import Run
from tests.ui.shown_payloads import address, mounted, panel_texts, texts

SOURCE, TARGET = SENTENCES[0], SENTENCES[1]
LINKS = "0-0 1?2"


def told(app: AppTest) -> dict[str, Any] | None:
    """Return what is told of the links, None where nothing is."""
    assert not app.exception
    return next((one for one in mounted(app, "findings") if not one["steps"]), None)


def drawn(app: AppTest) -> set[str]:
    """Return the names of the marks on the heatmap."""
    figure = json.loads(next(one["template"] for one in mounted(app, "chart") if "template" in one))
    return {trace["name"] for trace in figure["data"] if trace["type"] == "scatter"}


def give(app: AppTest, text: str) -> AppTest:
    set_field(app, "gold_text", text)
    return app.button(key="gold_show").click().run()


def test_links_are_given_shown_told_and_taken_off(
    page: Run, translator: Translator, snapshot: SnapshotAssertion
) -> None:
    app = page(sentence=SOURCE, target=TARGET)
    assert told(app) is None
    give(app, LINKS)
    found = told(app)
    assert found is not None
    assert re.findall(r"\d+", found["summary"])[:2] == ["1", "1"]  # sure and possible links
    assert without_numbers(found["summary"]) == snapshot
    words = translator.translate(SOURCE, target=TARGET).words()
    errors = link_errors(words, GoldLinks(frozenset({(0, 0)}), frozenset({(1, 2)})))
    assert [one["kind"] for one in found["findings"]] == ["missed"] * len(errors.missed) + ["false"] * len(errors.false)
    first = found["findings"][len(errors.missed)]
    j, i = errors.false[0]
    assert (first["source"], first["step"]) == (words.source_groups[j][0], words.target_groups[i][0])
    assert f"“{words.source[j]}” → “{words.target[i]}” ({j}-{i}) is false" in first["text"]
    assert {"sure", "possible", "false"} <= drawn(app)
    assert address(app)["gold"].endswith(".0-0.1p2")
    app.button(key="gold_off").click().run()
    assert told(app) is None
    assert not drawn(app)
    assert "gold" not in address(app)


def test_a_link_out_of_range_is_named_and_the_links_before_stay(page: Run, snapshot: SnapshotAssertion) -> None:
    app = give(page(sentence=SOURCE, target=TARGET), LINKS)
    give(app, "0-0 99-1")
    assert panel_texts(app, "gold_problem") == snapshot
    assert field(app, "gold_text")["value"] == "0-0 99-1", "to be mended"
    assert {"sure", "possible"} <= drawn(app)
    assert address(app)["gold"].endswith(".0-0.1p2")


@pytest.mark.parametrize("key", ["face", "lang", "depth"])
def test_links_outlive_every_switch(page: Run, key: str) -> None:
    app = give(page(sentence=SOURCE, target=TARGET), LINKS)
    before = address(app)["gold"]
    others = {"face": ["after", "difference", "before"], "lang": ["fr", "en"], "depth": ["idea", "everything"]}
    for value in others[key]:
        set_field(app, key, value)
        assert address(app)["gold"] == before
        assert {"sure", "possible"} <= drawn(app)
        found = told(app)
        assert (found is None) == (value == "idea")
        if value == "difference":
            assert found is not None
            assert "Before the word: alignment error rate" in found["summary"]
            assert "After the word: alignment error rate" in found["summary"]
        if value == "fr":
            assert found is not None
            assert "taux d’erreur d’alignement" in found["summary"]
    assert field(app, "gold_text")["value"] == LINKS


def test_another_translation_sets_links_aside_and_another_sentence_drops_them(
    page: Run, snapshot: SnapshotAssertion
) -> None:
    app = give(page(sentence=SOURCE, target=TARGET), LINKS)
    set_field(app, "target", f"{TARGET} Oui.")
    assert told(app) is None
    assert not drawn(app)
    assert panel_texts(app, "gold_panel") == snapshot(name="another translation")
    assert address(app)["gold"].endswith(".0-0.1p2"), "a link still has them"
    set_field(app, "target", TARGET)
    assert told(app) is not None
    set_field(app, "sentence", SENTENCES[2])
    assert told(app) is None
    assert panel_texts(app, "gold_panel") == snapshot(name="another sentence")
    assert "gold" not in address(app)
    set_field(app, "sentence", SENTENCES[4])
    assert panel_texts(app, "gold_panel") == []


def test_a_link_opens_with_its_links_or_says_what_is_wrong(page: Run) -> None:
    first = give(page(sentence=SOURCE, target=TARGET), LINKS)
    again = page(sentence=SOURCE, target=TARGET, gold=address(first)["gold"])
    assert told(again) == told(first)
    assert field(again, "gold_text")["value"] == LINKS
    assert told(page(sentence=SOURCE, target=TARGET, gold="0-0.1p2")) == told(first), "written by hand"
    wrong = page(sentence=SOURCE, target=TARGET, gold="0-0.1-99")
    assert "The link 1-99 is out of range" in texts(wrong)
    for nonsense in ("x", "." * 50, "0-0" * 5000, "%00", "ffffffffffff.1-1", "ffffffffffff."):
        assert told(page(sentence=SOURCE, target=TARGET, gold=nonsense)) is None


def test_links_of_a_record_are_shown_and_can_be_taken_off(page: Run) -> None:
    record = attention("the green house .", "la maison verte .", np.eye(4), sure=[(0, 0)], possible=[(2, 1)])
    app = page()
    app.session_state["downloads"] = True  # the box
    app.run().get("file_uploader")[0].set_value(("a.json", record.to_json().encode(), "application/json")).run()
    found = told(app)
    assert found is not None
    assert "1 sure link and 1 possible link" in found["summary"]
    assert counted_words(record.words())[0] == ("the", "green", "house", ".")
    assert field(app, "gold_text")["value"] == "0-0 2?1"
    app.button(key="gold_off").click().run()
    assert told(app) is None
    give(app, "1-2")
    assert (found := told(app)) is not None
    assert "1 sure link and 0 possible links" in found["summary"]
