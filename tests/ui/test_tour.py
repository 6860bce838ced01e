"""Guided tour on the page: when it is offered, its language, and the numbers on its card."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz import analysis
from attnviz.analysis.tour import stop_titles
from attnviz.checkpoint import save_model
from attnviz.network import TransformerConfig
from attnviz.text import Tokenizer
from attnviz.ui import resources
from attnviz.ui.page_state import detail_level
from attnviz.ui.page_state.selection import STOPS
from tests.conftest import SENTENCES, ModelFactory
from tests.figures import synthetic
from tests.transformers import random_transformer
from tests.ui.fields import set_field
from tests.ui.opening import Run
from tests.ui.shown_payloads import fetched, mounted


def test_every_stop_of_the_tour_has_a_title() -> None:
    assert len(stop_titles(synthetic.trace())) == STOPS


def view_state(app: AppTest) -> dict[str, Any]:
    found: dict[str, Any] = mounted(app, "view_state")[0]
    return found


def card(app: AppTest) -> dict[str, Any]:
    return fetched(mounted(app, "tour")[0]["at"])


def test_tour_card_is_in_the_language_of_the_page(page: Run) -> None:
    app = page(sentence=SENTENCES[0], search="greedy", depth="idea")
    assert view_state(app)["hasTour"]
    assert [button.key for button in app.button if button.key == "tour_button"]
    set_field(app, "lang", "fr")
    assert [one["title"] for one in card(app)["stops"]][-1] == "À vous"


def test_bayes_is_a_stop_at_the_level_numbers_only(page: Run) -> None:
    stops = {}
    for name in ("idea", "numbers"):
        app = page(sentence=SENTENCES[0], search="greedy", depth=name)
        stops[name] = card(app)["stops"]
    assert [one["title"] for one in stops["numbers"]] == list(stop_titles(app.session_state["last_trace"]).values())
    assert [one["title"] for one in stops["idea"]] == [one["title"] for one in stops["numbers"] if one["number"] != 7]
    assert [one["number"] for one in stops["idea"]] == list(range(1, STOPS))
    assert "α′" not in str(stops["idea"])
    assert "α′" in str(stops["numbers"])


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


@pytest.mark.parametrize("kind", ["none", "transformer"])
def test_tour_of_other_architectures_marks_missing_stops(
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
        assert one["texts"]
    if kind == "transformer":
        assert not record["stops"][3]["pull"]["shown"]
        for one in record["stops"][7].get("quiz", {"questions": []})["questions"]:
            assert one["meant"] == []
            assert one["later"] is None


def test_lab_has_no_tour(lab: Run) -> None:
    app = lab(sentence=SENTENCES[0], search="greedy", tour="3")
    assert not view_state(app)["hasTour"]
    assert mounted(app, "tour") == []


def is_offered(app: AppTest) -> bool:
    (button,) = (button for button in app.button if button.key == "tour_button")
    return button.proto.type == "secondary"


def test_tour_is_offered_to_a_new_visitor(page: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detail_level, "DEFAULT_LEVEL", "idea")
    assert is_offered(page(sentence=SENTENCES[0], search="greedy"))
    assert not is_offered(page(sentence=SENTENCES[0], search="greedy", depth="idea")), "a link says what to show"
    monkeypatch.setattr("attnviz.ui.toolbar.controls.remembered", lambda name: "taken" if name == "tour" else None)
    assert not is_offered(page(sentence=SENTENCES[0], search="greedy"))
