"""Texts about the numbers of a step: verification badge, logit attribution, energies and findings."""

import dataclasses
from typing import Any

import numpy as np
from hypothesis import given
from streamlit.testing.v1 import AppTest

from attnviz import Trace
from attnviz.analysis.logit_attribution import LogitAttribution, idle_sources, logit_attribution_sentence
from attnviz.analysis.verification import (
    Discrepancy,
    RecurrentVerifier,
    Verification,
    badge_text,
    discrepancy_text,
    quantity_names,
)
from attnviz.model_folder import read_weights
from attnviz.text import piece_name
from attnviz.ui import resources
from attnviz.ui.step.logit_attribution_panel import parse_piece
from tests import strategies
from tests.conftest import SENTENCES
from tests.figures.synthetic import trace as make_trace
from tests.ui.shown_payloads import badge, fetched, mounted


def test_a_wrong_weight_turns_the_badge_red_and_names_the_number(page, monkeypatch) -> None:
    def wrong(trace: Trace) -> dict[str, Any]:
        weights = dict(resources.weights_of(trace))
        weights["decoder.attention.query.weight"] = weights["decoder.attention.query.weight"] + 0.05
        return weights

    monkeypatch.setattr("attnviz.ui.step.verification_badge.weights_of", wrong)
    monkeypatch.setattr("attnviz.ui.payloads.weights_digest_of", lambda _: "wrong")
    monkeypatch.setattr("attnviz.ui.step.verification_badge.weights_digest_of", lambda _: "wrong")
    found = badge(page())
    assert not found["holds"]
    assert "query W s, no." in found["summary"]
    assert any("query W s, entry" in summary and "recomputed" in summary for summary in found["wrong"])
    assert next(row[0] for row in found["rows"] if row[-1] == "✗") == "query W s"


def word_boxes(app: AppTest, step: int | None = None, **selection: str) -> dict[str, Any]:
    (given,) = mounted(app, "attributed_word")
    return fetched(given["at"], step, **selection)


def test_word_and_foil_of_the_logit_attribution_can_be_chosen(page, tokenizer, snapshot) -> None:
    app = page()
    usual = word_boxes(app)
    assert [usual["word"], usual["foil"]] == snapshot
    third = usual["likeliest"][2]
    assert piece_name(tokenizer.piece(third["piece"])) == third["name"]
    for box in ("word", "foil"):
        assert word_boxes(app, **{box: str(third["piece"])})[box] == third["name"]
    assert word_boxes(app, word=str(len(tokenizer))) == usual, "an invalid piece, as a link may have it"
    assert word_boxes(app, 1)["likeliest"] != usual["likeliest"]
    chosen = [one["chosen"] for one in mounted(app, "chart") if one.get("chosen")]
    headings = [next(iter(fetched(one, word=str(third["piece"]))["captions"].values()))[0] for one in chosen]
    assert f"“{third['name']}”" in headings[0]


def test_typed_words_are_parsed_into_pieces(tokenizer, snapshot) -> None:
    for index in range(len(tokenizer)):
        assert parse_piece(piece_name(tokenizer.piece(index)), tokenizer)[0] is not None
    first, summary = parse_piece("bicyclettes", tokenizer)
    pieces = [piece_name(tokenizer.piece(index)) for index in tokenizer.encode("bicyclettes")]
    assert piece_name(tokenizer.piece(first)) in pieces[:2]
    assert piece_name(tokenizer.piece(first)) in summary
    assert summary == snapshot(name="several pieces")
    unknown, summary = parse_piece("北京", tokenizer)
    assert unknown is None
    assert summary == snapshot(name="never seen")
    assert parse_piece("   ", tokenizer)[0] is None


@given(strategies.texts)
def test_any_typed_text_gives_a_piece_or_a_message(tokenizer, text: str) -> None:
    index, summary = parse_piece(text, tokenizer)
    assert summary if index is None else 0 <= index < len(tokenizer)


def test_logit_attribution_sentence_names_attention_without_effect(snapshot) -> None:
    trace = make_trace("one two three .")
    alpha = np.array([0.5, 0.3, 0.1, 0.06, 0.04], dtype=np.float32)
    trace = dataclasses.replace(trace, alignment=np.tile(alpha, (len(trace.target_pieces), 1)))
    entries = LogitAttribution(2, 7, 0.5, -1.25, 0.75, np.array([0.001, 2.0, -0.5, 0.0, 0.0]))
    assert idle_sources(entries, alpha) == [0]
    for name, bias, foil in (("one word", 0.5, None), ("as likely", -1.0, "région"), ("less likely", -3.0, "région")):
        entries = dataclasses.replace(entries, bias=bias)
        assert logit_attribution_sentence(trace, entries, "zone", foil) == snapshot(name=name)


def test_badge_text_counts_numbers_and_names_discrepancies(model_folder, translator) -> None:
    trace, weights = translator.translate(SENTENCES[2], beam=1), read_weights(model_folder)
    verification = RecurrentVerifier(trace, weights).verify(0)
    assert f"All {verification.numbers:,} numbers of step 1 are verified" in badge_text(verification, 0)
    assert {check.quantity for check in verification.checks} <= set(quantity_names())
    summary = discrepancy_text(trace, Discrepancy("energies", (1,), 2.5, 2.0), 2)
    assert f"“{piece_name(trace.source_pieces[1])}”, entry 2 at step 3: shown 2.5, recomputed 2, |Δ|" in summary
    for wrong, more in ((1, ""), (2, " (and so did 1 other quantity)"), (3, " (and so did 2 other quantities)")):
        checks = list(verification.checks)
        for number in range(wrong):
            off = Discrepancy(checks[number].quantity, (4,), 2.5, 2.0)
            checks[number] = dataclasses.replace(checks[number], discrepancy=off)
        assert badge_text(Verification(tuple(checks)), 2).endswith(f", no. 5 failed verification{more}")
