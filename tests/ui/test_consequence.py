"""What a change by hand would do, computed before it is made: it equals what the change then does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from attnviz import AttnvizError, Trace, Translator
from attnviz.analysis.what_if_effects import changed_words
from attnviz.languages import format_share
from attnviz.trace.interventions import ReplaceWeights
from attnviz.trace.what_ifs import TranslatorArguments, translator_arguments
from attnviz.ui.payloads import PayloadRequest
from attnviz.ui.step.intervention_controls import consequence_payload, requested_consequence_payload
from attnviz.ui.step.what_if_panel import requested_intervention
from attnviz.ui.view import MAIN, View
from tests.conftest import SENTENCES


@pytest.fixture
def view(translator: Translator[Trace]) -> View:
    """Return the view of a translation that can be changed."""
    trace = translator.translate(SENTENCES[0], beam=1)

    def translate(change: TranslatorArguments) -> Trace:
        return translator.translate(trace.source_text, target=change.target, interventions=list(change.interventions))

    return View(MAIN, trace, translate_again=translate)


def weights_request(trace: Trace, step: int, piece: int, **more: Any) -> dict[str, Any]:
    """Return the browser's request that gives all the weight of a step to one piece."""
    weights = [float(j == piece) for j in range(len(trace.source_ids))]
    return {"intervention": {"kind": "weights", "weights": weights, "step": step}} | more


def test_consequence_is_what_the_change_then_does(view: View, translator: Translator[Trace]) -> None:
    trace = view.trace
    for step in range(len(trace.target_ids)):
        for piece in (0, len(trace.source_ids) - 1):
            request = weights_request(trace, step, piece)
            payload = consequence_payload(view, request)
            change = requested_intervention(view, request["intervention"])
            done = view.translate_again(translator_arguments(trace, change, held=False))  # type: ignore[misc]
            alone = translator.translate(
                trace.source_text,
                target=tuple(trace.target_ids),
                interventions=[ReplaceWeights(request["intervention"]["weights"], step)],
            )
            after = format_share(float(alone.probabilities[step]))
            assert after in payload["probability"]
            if done.target_ids == trace.target_ids:
                assert payload["words"] == []
            else:
                kept = [word for word in payload["words"] if word["kind"] != "gone"]
                text = "".join(" " * word["space"] + word["text"] for word in kept)
                assert text == done.translation


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("à la fin de la rue", "à la +la fin de la rue"),
        ("très très belle maison", "très -très belle maison"),
        ("de la rue", "de +de rue"),
        ("la rue et la place", "la rue et +le place"),
        ("il est là", "il est là +là"),
        ("il est là là", "il est là -là"),
        ("un chat noir dort", "+le chat noir dort"),
        ("il dort", "il dort"),
    ],
)
def test_of_two_equal_words_the_changed_one_is_marked(before: str, after: str) -> None:
    """Mark a new word with a plus, and one that is left out with a minus."""
    new = [word.removeprefix("+") for word in after.split() if not word.startswith("-")]
    changed = changed_words([(word, True) for word in new], [(word, True) for word in before.split()])
    assert " ".join({"same": "", "other": "+", "gone": "-"}[word.kind] + word.text for word in changed) == after


def test_a_held_translation_changes_its_probability_only(view: View) -> None:
    request = weights_request(view.trace, 2, 0, held=True)
    assert consequence_payload(view, request)["words"] == []


@pytest.mark.parametrize(
    "request_",
    [
        None,
        [],
        {"kind": "undo"},
        {"intervention": {"kind": "weights", "step": 99, "weights": [1.0]}},
        {"intervention": {"kind": "weights", "step": 0, "weights": ["a"]}},
        {"intervention": {"kind": "weights", "step": "0", "weights": [1.0]}},
        {"intervention": {"kind": "temperature", "temperature": 2}},
    ],
)
def test_a_request_that_is_no_change_of_a_step_is_refused(view: View, request_: Any) -> None:
    with pytest.raises(AttnvizError):
        consequence_payload(view, request_)
    asked = PayloadRequest({"view": view}, {"what_if": json.dumps(request_)})
    refused = requested_consequence_payload(asked)
    assert refused["words"] == []
    assert refused["probability"].endswith(".")


@pytest.mark.parametrize("parameters", [{}, {"what_if": "{"}, {"what_if": ""}])
def test_a_request_that_is_no_json_is_refused(view: View, parameters: Mapping[str, str]) -> None:
    assert requested_consequence_payload(PayloadRequest({"view": view}, parameters))["words"] == []


def test_weights_of_another_sentence_are_refused(view: View) -> None:
    weights = [1.0] * (len(view.trace.source_ids) + 1)
    with pytest.raises(AttnvizError):
        consequence_payload(view, {"intervention": {"kind": "weights", "step": 0, "weights": weights}})


def test_the_sentence_has_no_end_mark(view: View) -> None:
    payload = consequence_payload(view, weights_request(view.trace, 0, 0))
    assert all("</s>" not in word["text"] for word in payload["words"])
