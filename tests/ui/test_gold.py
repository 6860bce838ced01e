"""Gold links on the step page: entering, rejecting, storing in the address, and comparing with the model."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from attnviz import attention
from attnviz.analysis.gold import GoldLinks, link_errors, linkable_words
from attnviz.translator import Translator
from tests.conftest import SENTENCES
from tests.snapshots import without_numbers
from tests.ui.fields import field, press, set_field
from tests.ui.opening import Run, upload
from tests.ui.shown_payloads import address, fetched, heatmap_of, mounted, panel_texts, texts

SOURCE, TARGET = SENTENCES[0], SENTENCES[1]
LINKS = "0-0 1?2"


def links_payload(app: AppTest, **options: str) -> dict[str, Any] | None:
    """Return the payload of the comparison with the gold links, or None if the page shows none."""
    assert not app.exception
    return next((fetched(one["at"], **options) for one in mounted(app, "findings") if "at" in one), None)


def mark_names(app: AppTest) -> set[str]:
    """Return the names of the marks on the heatmap."""
    figure = json.loads(heatmap_of(app)["template"])
    return {trace["name"] for trace in figure["data"] if trace["type"] == "scatter"}


def enter_links(app: AppTest, text: str) -> AppTest:
    set_field(app, "gold_text", text)
    return press(app, "gold_show")


def test_entered_links_are_drawn_summarised_and_removed(
    page: Run, translator: Translator, snapshot: SnapshotAssertion
) -> None:
    app = page(sentence=SOURCE, target=TARGET)
    assert links_payload(app) is None
    enter_links(app, LINKS)
    found = links_payload(app)
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
    assert {"sure", "possible", "false"} <= mark_names(app)
    assert address(app)["gold"].endswith(".0-0.1p2")
    press(app, "gold_off")
    assert links_payload(app) is None
    assert not mark_names(app)
    assert "gold" not in address(app)


def test_out_of_range_link_is_reported_and_the_previous_links_stay(page: Run, snapshot: SnapshotAssertion) -> None:
    app = enter_links(page(sentence=SOURCE, target=TARGET), LINKS)
    enter_links(app, "0-0 99-1")
    assert panel_texts(app, "gold_problem") == snapshot
    assert field(app, "gold_text")["value"] == "0-0 99-1", "the text stays for correction"
    assert {"sure", "possible"} <= mark_names(app)
    assert address(app)["gold"].endswith(".0-0.1p2")


def test_links_are_compared_with_the_face_that_is_shown(page: Run) -> None:
    app = enter_links(page(sentence=SOURCE, target=TARGET), LINKS)
    found = {face: links_payload(app, face=face) for face in ("before", "after", "difference")}
    summaries = {face: one["summary"] if one else "" for face, one in found.items()}
    before, after = "Before the word: alignment error rate", "After the word: alignment error rate"
    assert [(before in text, after in text) for text in summaries.values()] == [
        (True, False),
        (False, True),
        (True, True),
    ]


@pytest.mark.parametrize("key", ["lang", "depth"])
def test_links_survive_changes_of_language_and_level(page: Run, key: str) -> None:
    app = enter_links(page(sentence=SOURCE, target=TARGET), LINKS)
    before = address(app)["gold"]
    others = {"lang": ["fr", "en"], "depth": ["idea", "everything"]}
    for value in others[key]:
        set_field(app, key, value)
        assert address(app)["gold"] == before
        assert {"sure", "possible"} <= mark_names(app)
        found = links_payload(app)
        assert (found is None) == (value == "idea")
        if value == "fr":
            assert found is not None
            assert "taux d’erreur d’alignement" in found["summary"]
    assert field(app, "gold_text")["value"] == LINKS


def test_other_translation_hides_links_and_other_sentence_drops_them(page: Run, snapshot: SnapshotAssertion) -> None:
    app = enter_links(page(sentence=SOURCE, target=TARGET), LINKS)
    set_field(app, "target", f"{TARGET} Oui.")
    assert links_payload(app) is None
    assert not mark_names(app)
    assert panel_texts(app, "gold_panel") == snapshot(name="another translation")
    assert address(app)["gold"].endswith(".0-0.1p2"), "the address keeps them"
    set_field(app, "target", TARGET)
    assert links_payload(app) is not None
    set_field(app, "sentence", SENTENCES[2])
    assert links_payload(app) is None
    assert panel_texts(app, "gold_panel") == snapshot(name="another sentence")
    assert "gold" not in address(app)
    set_field(app, "sentence", SENTENCES[4])
    assert panel_texts(app, "gold_panel") == []


def test_address_restores_gold_links_or_reports_what_is_wrong(page: Run) -> None:
    first = enter_links(page(sentence=SOURCE, target=TARGET), LINKS)
    again = page(sentence=SOURCE, target=TARGET, gold=address(first)["gold"])
    assert links_payload(again) == links_payload(first)
    assert field(again, "gold_text")["value"] == LINKS
    assert links_payload(page(sentence=SOURCE, target=TARGET, gold="0-0.1p2")) == links_payload(first), (
        "written by hand"
    )
    wrong = page(sentence=SOURCE, target=TARGET, gold="0-0.1-99")
    assert "The link 1-99 is out of range" in texts(wrong)
    for nonsense in ("x", "." * 50, "0-0" * 5000, "%00", "ffffffffffff.1-1", "ffffffffffff."):
        assert links_payload(page(sentence=SOURCE, target=TARGET, gold=nonsense)) is None


def test_gold_links_of_an_opened_file_are_shown_and_can_be_removed(page: Run) -> None:
    record = attention("the green house .", "la maison verte .", np.eye(4), sure=[(0, 0)], possible=[(2, 1)])
    app = upload(page(), "a.json", record.to_json().encode())
    payload = links_payload(app)
    assert payload is not None
    assert "1 sure link and 1 possible link" in payload["summary"]
    assert linkable_words(record.words())[0] == ("the", "green", "house", ".")
    assert field(app, "gold_text")["value"] == "0-0 2?1"
    press(app, "gold_off")
    assert links_payload(app) is None
    enter_links(app, "1-2")
    assert (payload := links_payload(app)) is not None
    assert "1 sure link and 0 possible links" in payload["summary"]
