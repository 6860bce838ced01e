"""The tour on the page: where it begins and ends, what it leaves as it was, and what its card is given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from attnviz import analysis
from attnviz.checkpoint import save_model
from attnviz.network import TransformerConfig
from attnviz.text import Tokenizer
from attnviz.ui import resources
from attnviz.ui.page_state import depth
from attnviz.ui.page_state.address import address_record, forget_view, keep_page
from attnviz.ui.page_state.selection import choose, open_view, selection_of
from attnviz.ui.page_state.tour import STOPS, answered, begin_tour, go_to, open_tour, tour_of
from attnviz.ui.page_state.view import MAIN, View
from attnviz.wording.tour import stop_titles
from tests.conftest import SENTENCES, ModelFactory
from tests.figures import synthetic
from tests.transformers import random_transformer
from tests.ui.opening import Run
from tests.ui.shown_records import address, fetched, mounted

VIEW = View(MAIN, synthetic.trace())


def opened(**linked: str) -> dict[Any, Any]:
    """Return what a visit has that begins with a link."""
    session: dict[Any, Any] = {}
    open_view(session, VIEW, linked)
    open_tour(session, VIEW, linked)
    keep_page(session, "page", {})
    return session


def stop(session: dict[Any, Any]) -> int | None:
    tour = tour_of(session, VIEW)
    return tour.stop if tour else None


@pytest.mark.parametrize(
    ("linked", "expected"),
    [("1", 1), ("8", 8), ("0", None), ("9", None), ("-1", None), ("x", None), ("١", None), ("", None), ("3.0", None)],
)
def test_a_link_opens_a_stop_that_there_is(linked: str, expected: int | None) -> None:
    assert stop(opened(tour=linked)) == expected
    assert len(stop_titles()) == STOPS


@given(st.lists(st.one_of(st.integers(1, 8).map(str), st.integers(-20, 20), st.sampled_from(["source", "step"]))))
def test_when_it_ends_all_is_as_it_was(acts: list[Any]) -> None:
    session = opened(step="3", source="2")
    before, link = selection_of(session, VIEW), address_record(session, VIEW)
    go_to(session, VIEW, 1)
    for act in acts:
        if isinstance(act, str) and act.isdigit():
            go_to(session, VIEW, act)
            assert stop(session) == int(act)
        else:
            choose(session, VIEW, {"step": act} if isinstance(act, int) else {"source": 1, "word": 4})
        told = address_record(session, VIEW)
        assert told["parameters"] == link["parameters"] | {"tour": str(stop(session))}, "the link has what was before"
        assert told["entry"] != link["entry"], "Back leads out of it"
    go_to(session, VIEW, None)
    assert selection_of(session, VIEW) == before
    assert address_record(session, VIEW) == link


def test_it_goes_on_with_another_translation_and_another_link_is_followed() -> None:
    session, other = opened(tour="4", step="2"), View(MAIN, synthetic.trace(seed=5))
    open_view(session, other, {})
    open_tour(session, other, {})
    tour = tour_of(session, other)
    assert tour
    assert (tour.stop, tour.before.step) == (4, 0)
    forget_view(session, MAIN)
    open_view(session, VIEW, {"step": "2"})
    open_tour(session, VIEW, {"tour": "6", "step": "2"})
    assert stop(session) == 6
    go_to(session, VIEW, None)
    assert selection_of(session, VIEW).step == 1


def test_a_button_begins_it_again_at_the_first_stop() -> None:
    session = opened(tour="4")
    begin_tour(session)
    open_tour(session, VIEW, {"tour": "4"})
    assert stop(session) == 1
    assert answered(session) == "taken"


def server(app: AppTest) -> dict[str, Any]:
    found: dict[str, Any] = mounted(app, "messenger")[0]
    return found


def card(app: AppTest) -> dict[str, Any]:
    return fetched(mounted(app, "tour")[0]["at"])


def test_the_button_begins_it_whatever_the_depth_and_changes_nothing_else(page: Run) -> None:
    app = page(sentence=SENTENCES[0], search="greedy", depth="idea", step="2")
    before = address(app)
    assert server(app)["tour"] is None
    app.button(key="tour_button").click().run()
    assert not app.exception
    assert server(app)["tour"] == {"stop": 1, "step": 1, "source": None}
    assert address(app) == before | {"tour": "1"}
    assert mounted(app, "remembered")[1]["value"] == "taken"
    app.button_group(key="lang").set_value("fr").run()
    assert server(app)["tour"]["stop"] == 1
    assert [one["title"] for one in card(app)["stops"]][-1] == "À vous"


def test_what_its_card_has_is_the_translation(page: Run) -> None:
    app = page(sentence=SENTENCES[0], search="greedy", tour="4")
    assert server(app)["tour"]["stop"] == 4
    trace, record = app.session_state["last_trace"], card(app)
    assert [one["number"] for one in record["stops"]] == list(range(1, STOPS + 1))
    pull, step = record["stops"][3]["pull"], record["stops"][3]["step"]
    powers = np.exp(np.array(pull["energies"]) - max(pull["energies"]))
    np.testing.assert_allclose(powers / powers.sum(), trace.alignment[step], atol=1e-5)
    assert max(row["piece"] == int(trace.alignment[step].argmax()) for row in pull["rows"])
    words, seventh = trace.words(), record["stops"][6]
    after = words.merged(analysis.posterior(trace, resources.weights_of(trace)))
    word = next(k for k, group in enumerate(words.target_groups) if group[0] == seventh["step"])
    largest = np.sort(np.maximum(words.alignment, after)[word])[::-1]
    compared = [max(row["before"], row["after"]) for row in seventh["after"]]
    np.testing.assert_allclose(np.sort(compared)[::-1], largest[: len(compared)], atol=1e-6)
    quiz = record["stops"][7].get("quiz", {"questions": []})
    assert bool(quiz["questions"]) != record["stops"][7]["missing"]
    for one in quiz["questions"]:
        np.testing.assert_allclose(one["shares"], words.alignment[one["word"]], atol=1e-6)
        assert int(np.argmax(one["shares"])) in one["looked"]
        np.testing.assert_allclose(one["later"], after[one["word"]], atol=1e-6)
        assert int(np.argmax(one["later"])) in one["meant"]


@pytest.mark.parametrize("kind", ["none", "transformer"])
def test_other_translators_have_what_they_have(
    kind: str, page: Run, models_folder: Path, make_network: ModelFactory, tokenizer: Tokenizer
) -> None:
    sizes = TransformerConfig(len(tokenizer), 12, 3, 2, 5)
    network = make_network("none") if kind == "none" else random_transformer(sizes, 1)
    save_model(models_folder / "other", network, tokenizer)  # type: ignore[arg-type]
    app = page(model="other", sentence=SENTENCES[0], search="greedy", tour="1")
    record = card(app)
    missing = {one["number"] for one in record["stops"] if one["missing"]}
    assert missing - {8} == ({3, 4, 7} if kind == "none" else {7})
    assert (8 in missing) >= (kind == "none")
    for one in record["stops"]:
        assert one["told"]
    if kind == "transformer":
        assert not record["stops"][3]["pull"]["shown"]
        for one in record["stops"][7].get("quiz", {"questions": []})["questions"]:
            assert one["meant"] == []
            assert one["later"] is None


def test_the_lab_ends_it(page: Run, lab: Run) -> None:
    app = lab(sentence=SENTENCES[0], search="greedy", tour="3", step="2")
    assert "tour" not in address(app)
    assert server(app)["tour"] is None
    assert server(app)["step"] == 1


def offer(app: AppTest) -> list[str]:
    return [button.key for button in app.button if button.key in ("tour_take", "tour_decline")]


def test_a_newcomer_is_offered_it_once(page: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(depth, "NEWCOMER", "idea")
    app = page(sentence=SENTENCES[0], search="greedy")
    assert offer(app) == ["tour_take", "tour_decline"]
    app.button(key="tour_decline").click().run()
    assert offer(app) == []
    assert server(app)["tour"] is None
    assert mounted(app, "remembered")[1]["value"] == "declined"
    taken = page(sentence=SENTENCES[0], search="greedy")
    taken.button(key="tour_take").click().run()
    assert offer(taken) == []
    assert server(taken)["tour"]["stop"] == 1
    assert offer(page(sentence=SENTENCES[0], search="greedy", depth="idea")) == [], "a link says what to show"
    monkeypatch.setattr("attnviz.ui.toolbar.tour_offer.remembered", lambda name: "taken" if name == "tour" else None)
    assert offer(page(sentence=SENTENCES[0], search="greedy")) == []
