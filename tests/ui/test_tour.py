"""The tour on the page: where it begins and ends, what it leaves as it was, and what its card is given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz import analysis
from attnviz.checkpoint import save_model
from attnviz.network import TransformerConfig
from attnviz.text import Tokenizer
from attnviz.ui import resources
from attnviz.ui.page_state import detail_level
from attnviz.ui.page_state.parameters import STOPS
from attnviz.wording.tour import stop_titles
from tests.conftest import SENTENCES, ModelFactory
from tests.transformers import random_transformer
from tests.ui.fields import set_field
from tests.ui.opening import Run
from tests.ui.shown_payloads import fetched, mounted


def test_there_is_a_title_for_each_stop() -> None:
    assert len(stop_titles()) == STOPS


def server(app: AppTest) -> dict[str, Any]:
    found: dict[str, Any] = mounted(app, "view_state")[0]
    return found


def card(app: AppTest) -> dict[str, Any]:
    return fetched(mounted(app, "tour")[0]["at"])


def test_its_card_is_in_the_language_of_the_page(page: Run) -> None:
    app = page(sentence=SENTENCES[0], search="greedy", depth="idea", step="2")
    assert server(app)["hasTour"]
    assert [button.key for button in app.button if button.key == "tour_button"]
    set_field(app, "lang", "fr")
    assert [one["title"] for one in card(app)["stops"]][-1] == "À vous"


def test_what_its_card_has_is_the_translation(page: Run) -> None:
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
        assert one["texts"]
    if kind == "transformer":
        assert not record["stops"][3]["pull"]["shown"]
        for one in record["stops"][7].get("quiz", {"questions": []})["questions"]:
            assert one["meant"] == []
            assert one["later"] is None


def test_there_is_none_in_the_lab(lab: Run) -> None:
    app = lab(sentence=SENTENCES[0], search="greedy", tour="3", step="2")
    assert not server(app)["hasTour"]
    assert mounted(app, "tour") == []


def offer(app: AppTest) -> list[str]:
    return [button.key for button in app.button if button.key in ("tour_take", "tour_decline")]


def test_a_newcomer_is_offered_it_once(page: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detail_level, "NEWCOMER", "idea")
    app = page(sentence=SENTENCES[0], search="greedy")
    assert offer(app) == ["tour_take", "tour_decline"]
    assert offer(page(sentence=SENTENCES[0], search="greedy", depth="idea")) == [], "a link says what to show"
    monkeypatch.setattr("attnviz.ui.toolbar.tour_offer.remembered", lambda name: "taken" if name == "tour" else None)
    assert offer(page(sentence=SENTENCES[0], search="greedy")) == []
