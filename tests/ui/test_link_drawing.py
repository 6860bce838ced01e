"""Server's side of drawing links on the heatmap: where it is offered, edits, links of the attention, saved files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz import attention
from attnviz.analysis.gold import GoldLinks, link_errors
from attnviz.importing.reading import read_bytes
from attnviz.translator import Translator
from tests.conftest import SENTENCES
from tests.ui.fields import ask, field, fields, set_field
from tests.ui.opening import Run, upload
from tests.ui.shown_payloads import address, mounted, panel_texts, payload
from tests.ui.test_gold import mark_names

SOURCE, TARGET = SENTENCES[0], SENTENCES[1]


def bar(app: AppTest) -> dict[str, Any] | None:
    """Return the data of the bar of the mode; None where it is off."""
    assert not app.exception
    return next(iter(mounted(app, "link_drawing")), None)


def draw(app: AppTest, drawn: str, **other: object) -> AppTest:
    """Send links as the browser draws them."""
    shown = bar(app)
    assert shown is not None
    ask(app, "links", {"view": shown["view"], "identity": shown["identity"], "links": drawn} | other)
    return app.run()


def test_mode_is_hidden_at_idea_and_kept_in_the_address(page: Run) -> None:
    assert "draw" not in fields(page(sentence=SOURCE, depth="idea", draw="1"))
    app = page(sentence=SOURCE, target=TARGET)
    assert bar(app) is None
    set_field(app, "draw", True)
    assert bar(app) is not None
    assert address(app)["draw"] == "1"
    set_field(app, "depth", "idea")
    assert bar(app) is None
    set_field(app, "depth", "everything")
    assert bar(app) is not None
    set_field(app, "draw", False)
    assert bar(app) is None
    assert "draw" not in address(app)


def test_drawn_links_are_the_gold_links_of_the_page(page: Run, translator: Translator) -> None:
    app = draw(page(sentence=SOURCE, target=TARGET, draw="1"), "0-0 1?2")
    shown = bar(app)
    assert shown is not None
    assert shown["links"] == "0-0 1?2"
    assert address(app)["gold"].endswith(".0-0.1p2")
    assert field(app, "gold_text")["value"] == "0-0 1?2"
    assert not mark_names(app), "the browser draws the marks"
    found = payload(shown["at"])
    words = translator.translate(SOURCE, target=TARGET).words()
    assert [tuple(link) for link in found["links"]] == [*link_errors(words, GoldLinks()).found]
    assert (
        payload(shown["at"], face="after")["face"] == payload(shown["at"], face="difference")["face"] != found["face"]
    )
    assert [shown["source"][word] for word in shown["sourceWords"][:1]] == [words.source[0]]
    set_field(app, "draw", False)
    assert {"sure", "possible"} <= mark_names(app)
    draw(set_field(app, "draw", True), "")
    assert "gold" not in address(app)


@pytest.mark.parametrize(
    "change", [{"identity": "another"}, {"view": "other"}, {"links": 3}, {"links": "0-0 99-1"}, {"links": "x" * 20_000}]
)
def test_requests_for_other_translations_and_impossible_links_change_nothing(
    page: Run, change: dict[str, object]
) -> None:
    app = draw(page(sentence=SOURCE, target=TARGET, draw="1"), "0-0")
    draw(app, "1-1", **change)
    shown = bar(app)
    assert shown is not None
    assert shown["links"] == "0-0"
    assert bool(panel_texts(app, "gold_problem")) == (len(str(change.get("links", ""))) > 1)


def test_saved_files_are_read_back_equal(page: Run) -> None:
    record = attention("the green hou@@ se .", "la maison verte .", np.eye(4, 5), sure=[(0, 0)], possible=[(2, 1)])
    app = upload(page(draw="1"), "a.json", record.to_json().encode())
    shown = bar(app)
    assert shown is not None
    assert (shown["links"], shown["sourceWords"]) == ("0-0 2?1", [0, 1, 2, 2, 3]), "the links of the file"
    draw(app, "0-0 2-1 1?2")
    shown = bar(app)
    assert shown is not None
    assert [one["file"] for one in shown["files"]] == [
        f"attnviz-the-green-house-links.{ending}" for ending in ("pharaoh", "naacl", "json", "csv")
    ]
    for file in shown["files"]:
        pair = read_bytes(payload(file["at"]), file["file"]).attention(
            0, " ".join(shown["source"]), " ".join(shown["target"])
        )
        assert set(pair.links) == {(0, 0), (2, 1), (1, 2)}
        assert set(pair.possible) == {(1, 2)}
        assert set(pair.sure) == {(0, 0), (2, 1)}
