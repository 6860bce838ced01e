"""Payloads of suspected errors: their texts, and the requests of their buttons."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz import Trace, Translator
from attnviz.text import EOS
from attnviz.trace.interventions import ForceWords
from attnviz.trace.what_ifs import translator_arguments
from attnviz.ui.examples import EXAMPLES
from attnviz.ui.step import suspected_errors_panel as suspected_errors_module
from attnviz.ui.step.suspected_errors_panel import suspected_error_payloads
from attnviz.ui.step.what_if_panel import requested_intervention
from attnviz.ui.view import MAIN, View

UNSURE = "The squirrel nibbled on a walnut."
SENTENCES = (*EXAMPLES["Mistakes, and why"], UNSURE)


@pytest.fixture
def make_view(shipped_model: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., View]:
    """Return a function that translates a sentence with the shipped model and returns its view."""
    translator: Translator[Trace] = Translator.load(shipped_model, device="cpu")
    monkeypatch.setattr(suspected_errors_module, "tokenizer_of", lambda _: translator.tokenizer)

    def make(sentence: str, *, can_change: bool = True, **more: Any) -> View:
        trace = translator.translate(sentence, beam=5)

        def again(change: Any) -> Trace:
            return translator.translate(
                sentence, beam=1 if change.target else 5, target=change.target, interventions=change.interventions
            )

        return View(MAIN, trace, translate_again=again if can_change else None, **more)

    return make


@pytest.mark.usefixtures("each_language")
@pytest.mark.parametrize("sentence", SENTENCES)
def test_cards_say_where_the_step_looked_and_what_would_change(
    make_view: Callable[..., View], sentence: str, snapshot: SnapshotAssertion
) -> None:
    texts = [
        [suspect["label"], suspect["title"]]
        + [
            f"{line['name']}: {line['text'] or ' '.join(word['text'] for word in line['words'])} "
            f"[{line.get('button', '')}]"
            for line in suspect["lines"]
        ]
        for suspect in suspected_error_payloads(make_view(sentence))
    ]
    assert texts == snapshot


@pytest.mark.parametrize("sentence", SENTENCES)
def test_every_button_requests_something_possible(make_view: Callable[..., View], sentence: str) -> None:
    view = make_view(sentence)
    suspects = suspected_error_payloads(view)
    assert suspects
    for suspect in suspects:
        for line in suspect["lines"]:
            if "whatIf" in line:
                asked = line["whatIf"]
                change = requested_intervention(view, asked["intervention"])
                changed = view.translate_again(translator_arguments(view.trace, change, held=asked["held"]))  # type: ignore[misc]
                if isinstance(change, ForceWords) and change.pieces[-1] == EOS:
                    assert changed.translation in {one.translation for one in view.trace.hypotheses[1:]}
            elif "choice" in line:
                assert 0 <= line["choice"]["step"] < view.steps


def test_without_the_model_a_card_has_no_what_ifs(make_view: Callable[..., View]) -> None:
    (suspect,) = suspected_error_payloads(make_view(SENTENCES[0], can_change=False))
    assert not any("whatIf" in line for line in suspect["lines"])
    assert [line["choice"]["step"] for line in suspect["lines"] if "choice" in line] == [5]


def test_form_of_stage_five_is_offered_where_it_is_shown(make_view: Callable[..., View]) -> None:
    for level, offered in (("idea", False), ("numbers", True)):
        (suspect,) = suspected_error_payloads(make_view(SENTENCES[0], detail_level=level))
        assert (suspect["lines"][-1].get("choice", {}).get("stage") == 5) is offered
