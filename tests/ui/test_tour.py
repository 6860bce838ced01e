"""Guided tour on the page: when it is offered, its language, and the numbers on its card."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz import analysis
from attnviz.ui import resources
from attnviz.ui.page_state import inputs
from attnviz.ui.page_state.selection import STOPS
from tests.conftest import SENTENCES
from tests.ui.opening import Run
from tests.ui.shown_payloads import fetched, mounted


def card(app: AppTest) -> dict[str, Any]:
    return fetched(mounted(app, "tour")[0]["at"])


def test_tour_card_has_the_numbers_of_the_translation(page: Run) -> None:
    app = page(sentence=SENTENCES[0], search="greedy", tour="4")
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
        assert int(np.argmax(one["shares"])) in one["attended"]
        np.testing.assert_allclose(one["later"], after[one["word"]], atol=1e-6)
        assert int(np.argmax(one["later"])) in one["meant"]


def is_offered(app: AppTest) -> bool:
    (button,) = (button for button in app.button if button.key == "tour_button")
    return button.proto.type == "secondary"


def test_tour_is_offered_to_a_new_visitor(page: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "DEFAULT_LEVEL", "idea")
    assert is_offered(page(sentence=SENTENCES[0], search="greedy"))
    assert not is_offered(page(sentence=SENTENCES[0], search="greedy", depth="idea")), "a link says what to show"
    monkeypatch.setattr("attnviz.ui.page_state.inputs.remembered", lambda name: "taken" if name == "tour" else None)
    assert not is_offered(page(sentence=SENTENCES[0], search="greedy"))
