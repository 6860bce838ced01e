"""Links marked by hand: entered or drawn, stored in the address, compared with the model, saved and opened."""

import json
from base64 import b64encode
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.analysis.gold import GoldLinks, link_errors
from attnviz.importing.attention_reader import read_bytes
from tests.conftest import SENTENCES
from tests.snapshots import without_numbers
from tests.ui.opening import ask, field, press, set_field, upload
from tests.ui.shown_payloads import address, fetched, heatmap_of, mounted, panel_texts, texts

SOURCE, TARGET = SENTENCES[0], SENTENCES[1]
LINKS = "0-0 1?2"


def links_payload(app: AppTest, **options: str) -> dict[str, Any] | None:
    """Return the payload of the comparison with the gold links, or None if the page shows none."""
    assert not app.exception
    return next((fetched(one["at"], **options) for one in mounted(app, "findings") if "at" in one), None)


def mark_names(app: AppTest) -> set[str]:
    figure = json.loads(heatmap_of(app)["template"])
    return {trace["name"] for trace in figure["data"] if trace["type"] == "scatter"}


def enter_links(app: AppTest, text: str) -> AppTest:
    set_field(app, "gold_text", text)
    return press(app, "gold_show")


def test_entered_links_are_drawn_summarised_and_removed(page, translator, snapshot) -> None:
    app = page(sentence=SOURCE, target=TARGET)
    assert links_payload(app) is None
    enter_links(app, LINKS)
    found = links_payload(app)
    assert without_numbers(found["summary"]) == snapshot
    words = translator.translate(SOURCE, target=TARGET).words()
    errors = link_errors(words, GoldLinks(frozenset({(0, 0)}), frozenset({(1, 2)})))
    assert [one["kind"] for one in found["findings"]] == ["missed"] * len(errors.missed) + ["false"] * len(errors.false)
    assert {"sure", "possible", "false"} <= mark_names(app)
    linked = address(app)["gold"]
    assert linked.endswith(".0-0.1p2")
    again = page(sentence=SOURCE, target=TARGET, gold=linked)
    assert (links_payload(again), field(again, "gold_text")["value"]) == (found, LINKS)
    assert "The link 1-99 is out of range" in texts(page(sentence=SOURCE, target=TARGET, gold="0-0.1-99"))
    for nonsense in ("x", "0-0" * 5000, "%00", "ffffffffffff.1-1"):
        assert links_payload(page(sentence=SOURCE, target=TARGET, gold=nonsense)) is None
    press(app, "gold_off")
    assert links_payload(app) is None
    assert not mark_names(app)
    assert "gold" not in address(app)


def test_other_translation_hides_links_and_other_sentence_drops_them(page, snapshot) -> None:
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


def bar(app: AppTest) -> dict[str, Any] | None:
    """Return the data of the bar of the mode; None where it is off."""
    assert not app.exception
    return next(iter(mounted(app, "link_drawing")), None)


def draw(app: AppTest, drawn: str, **other: object) -> AppTest:
    shown = bar(app)
    ask(app, shown["request"], {"identity": shown["identity"], "links": drawn} | other)
    return app.run()


def test_drawn_links_are_the_gold_links_of_the_page(page) -> None:
    app = draw(page(sentence=SOURCE, target=TARGET, draw="1"), "0-0 1?2")
    shown = bar(app)
    assert shown["links"] == "0-0 1?2"
    assert address(app)["gold"].endswith(".0-0.1p2")
    assert field(app, "gold_text")["value"] == "0-0 1?2"
    assert not mark_names(app), "the browser draws the marks"
    set_field(app, "draw", False)
    assert {"sure", "possible"} <= mark_names(app)
    set_field(app, "draw", True)
    for change in ({"identity": "another"}, {"links": 3}, {"links": "0-0 99-1"}, {"links": "x" * 20_000}):
        draw(app, "1-1", **change)
        assert bar(app)["links"] == "0-0 1?2"
        assert bool(panel_texts(app, "gold_problem")) == (len(str(change.get("links", ""))) > 1)
    draw(app, "")
    assert "gold" not in address(app)


PAIRS = "the house\tla maison\t0-0 1-1\na dog sleeps\tun chien dort\t0-0 1-1 2-1\nthe house\tla maison\t1-0\n"
"""Three pairs, the first and the last of the same words."""


def go_to_pair(app: AppTest, number: int) -> dict[str, Any]:
    box = next(box for box in app.number_input if box.key.startswith("attention_number"))
    box.set_value(number).run()
    return bar(app)


@pytest.fixture
def pairs(page) -> AppTest:
    """Return the page with the file of PAIRS, in the mode that draws links."""
    return upload(page(draw="1"), "pairs.tsv", PAIRS.encode())


def test_last_edit_of_a_pair_arrives_after_another_pair_was_chosen(pairs) -> None:
    app, first = pairs, bar(pairs)
    go_to_pair(app, 2)
    draw(app, "1-1", identity=first["identity"])
    assert bar(app)["links"] == ""
    assert go_to_pair(app, 1)["links"] == "1-1"
    draw(app, "9-9", identity=go_to_pair(app, 2)["identity"])
    assert panel_texts(app, "gold_problem")


def test_all_pairs_are_saved_with_the_own_links_of_those_not_drawn(pairs) -> None:
    app = draw(pairs, "1?0")
    shown = go_to_pair(app, 3)
    _, every = shown["files"]
    endings = [one["file"].removeprefix("attnviz-pairs-links.") for one in every]
    assert endings == ["pharaoh", "naacl", "json", "csv"]
    saved = {one["label"]: fetched(one["at"]) for one in every}
    assert saved["Pharaoh"] == b"1?0\n0-0 1-1 2-1\n1-0\n"
    assert saved["NAACL"] == b"1 2 1 P\n2 1 1 S\n2 2 2 S\n2 3 2 S\n3 2 1 S\n"
    sides = [line.split("\t")[:2] for line in PAIRS.splitlines()]
    for one in every:
        records = read_bytes(fetched(one["at"]), one["file"])
        found = [{*records.attention(n, *pair).links} for n, pair in enumerate(sides)]
        assert found == [{(1, 0)}, {(0, 0), (1, 1), (2, 1)}, {(1, 0)}]
    draw(app, "0-1")
    (pharaoh,) = (one for one in bar(app)["files"][1] if one["label"] == "Pharaoh")
    assert fetched(pharaoh["at"]) == b"1?0\n0-0 1-1 2-1\n0-1\n"


def test_saved_gold_file_is_opened_line_by_line(pairs, page) -> None:
    app, again = draw(pairs, "0-0 0-1 1?1"), upload(page(draw="1"), "pairs.tsv", PAIRS.encode())
    for every in bar(app)["files"][1]:
        (key,) = (given["key"] for given in mounted(again, "file_choice") if "lesson" not in given["key"])
        ask(again, key, {"name": every["file"], "content": b64encode(fetched(every["at"])).decode("ascii")})
        again.run()
        for number, links in ((3, "1-0"), (2, "0-0 1-1 2-1"), (1, "0-0 0-1 1?1")):
            assert go_to_pair(again, number)["links"] == links
            assert every["file"] in " ".join(panel_texts(again, "notice"))
        again.button(key="gold_close").click().run()
        assert bar(again)["links"] == ""
