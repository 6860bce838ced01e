"""Controls of a step: weights of other sources, what a change would do, and marks on words that are likely wrong."""

import json
from functools import partial
from typing import Any

import numpy as np
import pytest

from attnviz import AttnvizError, ReplaceWeights, Trace, Translator
from attnviz.analysis import posterior
from attnviz.languages import format_share
from attnviz.model_folder import read_weights
from attnviz.text import EOS
from attnviz.trace.what_ifs import TranslatorArguments, translator_arguments
from attnviz.ui.examples import EXAMPLES
from attnviz.ui.payloads import PayloadRequest
from attnviz.ui.resources import translate
from attnviz.ui.step import step_controls as suspected_errors_module
from attnviz.ui.step.step_controls import suspected_error_payloads
from attnviz.ui.step.what_if_panel import (
    FOILS,
    borrowed_row,
    consequence_payload,
    lenders,
    requested_consequence_payload,
    requested_intervention,
)
from attnviz.ui.view import MAIN, View
from tests.conftest import SENTENCES, SHIPPED_MODEL
from tests.snapshots import refusal
from tests.ui.shown_payloads import mounted, payloads_of

SENTENCE = "Two dogs play in the snow."


def test_other_models_and_the_likeliest_foils_are_offered(three_models, page) -> None:
    app = page(sentence=SENTENCE, search="greedy")
    (controls,) = mounted(app, "intervention_controls")
    assert (controls["models"], controls["undo"]) == (["dotted"], False)
    trace = translate("en-fr", "auto", SENTENCE, 1, None)
    (record,) = payloads_of(app, "other_word")
    assert set(record["offers"]) == {str(i) for i in range(len(trace.target_ids))}
    for step, offered in record["offers"].items():
        chosen, likeliest = trace.target_ids[int(step)], trace.top_ids[int(step)].tolist()
        expected = [piece for piece in likeliest if piece != chosen and piece >= EOS][:FOILS]
        assert [foil["piece"] for foil in offered["foils"]] == expected


def test_borrowed_weights_equal_those_of_their_source(three_models) -> None:
    trace = translate("en-fr", "cpu", SENTENCE, 1, "Deux chiens jouent.")
    np.testing.assert_allclose(borrowed_row(trace, 0, "step", "2"), trace.alignment[2], atol=1e-6)
    after = posterior(trace, read_weights(three_models / "en-fr"))
    np.testing.assert_allclose(borrowed_row(trace, 1, "posterior", ""), after[1], atol=1e-9)
    assert lenders(trace) == ["dotted"]
    other = Translator.load(three_models / "dotted", device="cpu").translate(SENTENCE, target=trace.translation)
    assert other.target_ids == trace.target_ids
    np.testing.assert_allclose(borrowed_row(trace, 1, "model", "dotted"), other.alignment[1], atol=1e-5)
    row = borrowed_row(trace, 0, "links", "1-0")
    assert row[list(trace.words().source_groups[1])].sum() == pytest.approx(1)


def test_invalid_source_of_weights_raises_a_readable_error(three_models, snapshot) -> None:
    trace = translate("en-fr", "cpu", SENTENCE, 1, None)
    messages = {}
    steps, links = (("step", "999"), ("step", "²")), (("links", "gold"), ("links", "0-99"))
    for source, of in (*steps, *links, ("model", "fixed"), ("model", "../en-fr"), ("nowhere", "")):
        messages[f"{source} {of!r}"] = refusal(partial(borrowed_row, trace, 0, source, of))
    assert messages == snapshot


@pytest.fixture
def view(translator) -> View:
    trace = translator.translate(SENTENCES[0], beam=1)

    def translate(change: TranslatorArguments) -> Trace:
        return translator.translate(trace.source_text, target=change.target, interventions=list(change.interventions))

    return View(MAIN, trace, translate_again=translate)


def test_consequence_is_what_the_change_then_does(view, translator) -> None:
    trace = view.trace
    for step in (0, 3, len(trace.target_ids) - 1):
        for piece in (0, len(trace.source_ids) - 1):
            weights = [float(j == piece) for j in range(len(trace.source_ids))]
            intervention = {"kind": "weights", "weights": weights, "step": step}
            payload = consequence_payload(view, {"intervention": intervention})
            change = requested_intervention(view, intervention)
            done = view.translate_again(translator_arguments(trace, change, held=False))
            only = ReplaceWeights(weights, step)
            alone = translator.translate(trace.source_text, target=tuple(trace.target_ids), interventions=[only])
            assert format_share(float(alone.probabilities[step])) in payload["probability"]
            kept = [word for word in payload["words"] if word["kind"] != "gone"]
            text = "".join(" " * word["space"] + word["text"] for word in kept)
            assert text == ("" if done.target_ids == trace.target_ids else done.translation)
            assert bool(payload["words"]) == (done.target_ids != trace.target_ids)


@pytest.mark.parametrize(
    "request_",
    [
        None,
        {"kind": "undo"},
        {"intervention": {"kind": "weights", "step": 99, "weights": [1.0]}},
        {"intervention": {"kind": "weights", "step": "0", "weights": ["a"]}},
        {"intervention": {"kind": "temperature", "temperature": 2}},
    ],
)
def test_a_request_that_is_no_change_of_a_step_is_refused(view, request_: Any) -> None:
    with pytest.raises(AttnvizError):
        consequence_payload(view, request_)
    asked = PayloadRequest({"view": view}, {"what_if": json.dumps(request_)})
    refused = requested_consequence_payload(asked)
    assert refused["words"] == []
    assert refused["probability"].endswith(".")


DOUBTFUL = (*EXAMPLES["Mistakes, and why"], "The squirrel nibbled on a walnut.")


def test_cards_of_suspected_errors_say_what_would_change_and_request_it(
    shipped_translator, monkeypatch, snapshot
) -> None:
    monkeypatch.setattr(suspected_errors_module, "tokenizer_of", lambda _: shipped_translator.tokenizer)
    texts = {}
    for sentence in DOUBTFUL:
        trace = shipped_translator.translate(sentence, beam=5)

        def again(change: Any, text: str = trace.source_text) -> Trace:
            how = {"beam": 1 if change.target else 5, "target": change.target, "interventions": change.interventions}
            return shipped_translator.translate(text, **how)

        texts[sentence] = []
        for suspect in suspected_error_payloads(View(MAIN, trace, translate_again=again)):
            texts[sentence].append([suspect["label"], suspect["title"]])
            for line in suspect["lines"]:
                text = line["text"] or " ".join(word["text"] for word in line["words"])
                texts[sentence][-1].append(f"{line['name']}: {text} [{line.get('button', '')}]")
    assert texts == snapshot
    without_model = View(MAIN, shipped_translator.translate(DOUBTFUL[0], beam=5))
    (suspect,) = suspected_error_payloads(without_model)
    assert not any("whatIf" in line for line in suspect["lines"])


def test_piece_that_the_decoder_cannot_write_has_no_button() -> None:
    trace = Translator.load(SHIPPED_MODEL.parent / "small-additive", device="cpu").translate("Mr Xqzzt has 27 windows.")
    suspects = suspected_error_payloads(View(MAIN, trace))
    unknown = [line for one in suspects for line in one["lines"] if "<unk>" in line["text"]]
    assert unknown
    assert not any("whatIf" in line for line in unknown)
