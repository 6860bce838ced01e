"""Texts about the numbers of a step: verification badge, logit attribution, energies and findings."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from attnviz import Trace, Translator
from attnviz.analysis.alignment_summary import step_attention_sentence
from attnviz.analysis.findings import Finding, FindingKind, finding_sentence
from attnviz.analysis.logit_attribution import LogitAttribution, idle_sources, logit_attribution_sentence, odds_text
from attnviz.analysis.numbers import power_of_ten
from attnviz.analysis.verification import (
    Discrepancy,
    RecurrentVerifier,
    Verification,
    badge_text,
    discrepancy_text,
    quantity_names,
)
from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.checkpoint import save_model
from attnviz.figures.subject import Subject
from attnviz.lru_cache import LRUCache
from attnviz.model_folder import read_weights
from attnviz.network.model_config import READOUT_STATES
from attnviz.text import Tokenizer, piece_name
from attnviz.ui import resources
from attnviz.ui.components.energy_decomposition import energy_decomposition_payload
from attnviz.ui.components.findings import SEVERITY, findings_payload
from attnviz.ui.payloads import PayloadRequest
from attnviz.ui.step.logit_attribution_panel import piece_heading
from attnviz.ui.step.subject_boxes import parse_piece, word_and_foil
from attnviz.ui.step.verification_badge import verification_payload, verification_rows
from attnviz.ui.view import MAIN, View
from tests import strategies
from tests.conftest import SENTENCES, ModelFactory
from tests.figures.synthetic import trace as make_trace
from tests.snapshots import without_numbers
from tests.ui.opening import Run, first_page
from tests.ui.shown_payloads import badge, fetched, mounted, payloads_of, plain_texts, texts_with


def test_the_badge_of_every_step_is_green(page: Run, snapshot: SnapshotAssertion) -> None:
    app, summary = page(), set()
    for step in (1, 2, mounted(app, "view_state")[0]["steps"]):
        (found,) = payloads_of(app, "verification_badge", step - 1)
        assert found["holds"]
        numbers, shown, *_ = re.findall(r"\d+(?:,\d+)*", found["summary"])
        assert shown == str(step)
        assert int(numbers.replace(",", "")) > 1000
        summary.add(without_numbers(found["summary"]))
    assert sorted(summary) == snapshot


@pytest.mark.parametrize(("attention", "readout_state"), list(product(ATTENTION_KINDS, READOUT_STATES)))
def test_every_kind_of_model_is_verified_and_decomposed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    make_network: ModelFactory,
    tokenizer: Tokenizer,
    attention: str,
    readout_state: str,
) -> None:
    save_model(tmp_path / "en-fr", make_network(attention, readout_state), tokenizer)
    monkeypatch.setenv("ATTNVIZ_MODELS", str(tmp_path))
    app = first_page()
    app.session_state["logit_attribution_table"] = app.session_state["energy_decomposition_table"] = True
    app.run()
    assert badge(app)["holds"]
    tables = [table for box in mounted(app, "tables") for table in fetched(box["at"])["tables"]]
    entries = [table for table in tables if "adds" in table["columns"]]
    assert len(entries) == 2
    column = entries[0]["columns"].index("entry")
    assert entries[0]["rows"][1][column] == ("through s_i" if readout_state == "current" else "state s_{i-1}")
    assert any("running sum" in table["columns"] for table in tables) == (attention != "none")


def test_unavailable_energy_decomposition_is_explained(snapshot: SnapshotAssertion) -> None:
    def script(attention: str) -> None:
        import dataclasses

        import numpy as np

        from attnviz.ui.components.component import view_blocks
        from attnviz.ui.step.energy_decomposition_panel import energy_decomposition_panel
        from attnviz.ui.view import View
        from tests.figures.synthetic import trace as make_trace

        trace = dataclasses.replace(make_trace(attention=attention), score_vector=np.zeros(0, np.float32))
        with view_blocks("view"):
            energy_decomposition_panel(View("", trace), None, "light")

    none = AppTest.from_function(script, args=("none",)).run()
    assert plain_texts(none) == snapshot(name="no attention")
    early = AppTest.from_function(script, args=("additive",)).run()
    assert not early.exception
    assert plain_texts(early) == snapshot(name="no model")


def test_a_wrong_weight_turns_the_badge_red_and_names_the_number(page: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(trace: Trace) -> dict[str, Any]:
        weights = dict(resources.weights_of(trace))
        weights["decoder.attention.query.weight"] = weights["decoder.attention.query.weight"] + 0.05
        return weights

    monkeypatch.setattr("attnviz.ui.payloads.weights_of", wrong)
    monkeypatch.setattr("attnviz.ui.payloads.weights_digest_of", lambda _: "wrong")
    monkeypatch.setattr("attnviz.ui.step.verification_badge.weights_digest_of", lambda _: "wrong")
    found = badge(page())
    assert not found["holds"]
    assert "query W s, no." in found["summary"]
    assert any("query W s, entry" in summary and "recomputed" in summary for summary in found["wrong"])
    assert next(row[0] for row in found["rows"] if row[-1] == "✗") == "query W s"


def test_a_wrong_number_turns_the_badge_red_and_names_it(
    page: Run, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    true = resources.translate

    def altered(*request: Any) -> Trace:
        trace = true(*request)
        states = trace.layer_states.copy()
        states[1, 0, 3] += 0.01
        return dataclasses.replace(trace, layer_states=states)

    monkeypatch.setattr("attnviz.ui.toolbar.shown_translation.translate", altered)
    app = page()
    (found,) = payloads_of(app, "verification_badge", 1)
    assert not found["holds"]
    assert found["summary"] == snapshot


def test_weights_of_another_kind_fail_verification_and_defects_raise(
    page: Run, make_network: ModelFactory, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    sizes = {"hidden_size": 10, "alignment_size": 10}
    dot = {name: tensor.numpy() for name, tensor in make_network("general", **sizes).state_dict().items()}
    with monkeypatch.context() as patch:
        patch.setattr("attnviz.ui.payloads.weights_of", lambda _: dot)
        found = verification_payload(PayloadRequest({"trace": make_trace(hidden=10)}, {"steps": "0"}))
    assert not found["holds"]
    assert found["summary"] == snapshot

    def broken(*arguments: object) -> None:
        raise ValueError("a defect of the program")

    monkeypatch.setattr("attnviz.analysis.recomputation.RecurrentEquations.logits", broken)
    monkeypatch.setattr("attnviz.ui.payloads._PAYLOADS", LRUCache(1, size=len))  # empty: other tests have filled it
    app = page()
    with pytest.raises(ValueError, match="a defect"):
        badge(app)


def test_altered_numbers_change_the_identity_of_a_translation() -> None:
    trace = make_trace()
    energies = trace.energies.copy()
    energies[0, 0] += 0.01
    altered = dataclasses.replace(trace, energies=energies)
    assert View(MAIN, trace).identity == View(MAIN, make_trace()).identity
    assert View(MAIN, trace).identity != View(MAIN, altered).identity


def test_missing_model_of_a_step_is_named(
    page: Run, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    monkeypatch.setattr("attnviz.ui.step.step_view.weights_of", lambda _: None)
    app = page()
    assert not app.exception
    assert texts_with(app, "“en-fr”") == snapshot


def test_weights_of_another_model_of_the_same_name_are_not_used(
    tmp_path: Path, model_folder: Path, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(model_folder, tmp_path / "tiny")
    monkeypatch.setenv("ATTNVIZ_MODELS", str(tmp_path))
    trace = translator.translate(SENTENCES[2], beam=1)
    weights = resources.weights_of(trace)
    assert weights["decoder.attention.score"].dtype == np.float64
    assert resources.weights_of(dataclasses.replace(trace, weights_digest="0" * 64)) is None
    assert resources.weights_of(dataclasses.replace(trace, model="elsewhere")) is None
    early = dataclasses.replace(trace, weights_digest="")
    assert resources.weights_of(early) is weights
    assert resources.weights_of(dataclasses.replace(early, readouts=trace.readouts[:, :-1])) is None


def word_boxes(app: AppTest, step: int | None = None, **selection: str) -> dict[str, Any]:
    """Return the payload of the word and foil boxes, for the selection in these URL parameters."""
    (given,) = mounted(app, "attributed_word")
    found: dict[str, Any] = fetched(given["at"], step, **selection)
    return found


def test_word_and_foil_of_the_logit_attribution_can_be_chosen(
    page: Run, tokenizer: Tokenizer, snapshot: SnapshotAssertion
) -> None:
    app = page()
    usual = word_boxes(app)
    assert [usual["word"], usual["foil"]] == snapshot
    third = usual["likeliest"][2]
    assert piece_name(tokenizer.piece(third["piece"])) == third["name"]
    assert word_boxes(app, word=str(third["piece"]))["word"] == third["name"]
    assert word_boxes(app, foil=str(third["piece"]))["foil"] == third["name"]
    assert word_boxes(app, word=str(len(tokenizer))) == usual, "an invalid piece, as a link may have it"
    assert word_boxes(app, 1)["likeliest"] != usual["likeliest"]
    drawn = chosen_captions(app, word=str(third["piece"]))
    assert f"“{third['name']}”" in drawn[0]


def chosen_captions(app: AppTest, **selection: str) -> list[str]:
    """Return the headings of the logit attribution and the contrast of the chosen words."""
    charts = [fetched(one["chosen"], **selection) for one in mounted(app, "chart") if one.get("chosen")]
    return [heading for chart in charts for heading, _ in chart["captions"].values()]


def test_typed_words_are_parsed_into_pieces(tokenizer: Tokenizer, snapshot: SnapshotAssertion) -> None:
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
def test_any_typed_text_gives_a_piece_or_a_message(tokenizer: Tokenizer, text: str) -> None:
    index, summary = parse_piece(text, tokenizer)
    assert summary if index is None else 0 <= index < len(tokenizer)


def test_default_foil_is_the_likeliest_other_word() -> None:
    trace = make_trace()
    own = trace.target_ids[0]
    assert word_and_foil(trace, 0, None, None) == (own, next(i for i in trace.top_ids[0] if i != own))
    assert word_and_foil(trace, 0, 9, None) == (9, trace.top_ids[0][0])
    assert word_and_foil(trace, 0, 9, 9) == (9, None)
    assert word_and_foil(trace, 0, None, 11) == (own, 11)


def test_logit_attribution_sentence_names_attention_without_effect(snapshot: SnapshotAssertion) -> None:
    trace = make_trace("one two three .")
    alpha = np.array([0.5, 0.3, 0.1, 0.06, 0.04], dtype=np.float32)
    trace = dataclasses.replace(trace, alignment=np.tile(alpha, (len(trace.target_pieces), 1)))
    entries = LogitAttribution(2, 7, 0.5, -1.25, 0.75, np.array([0.001, 2.0, -0.5, 0.0, 0.0]))
    assert idle_sources(entries, alpha) == [0]
    summary = logit_attribution_sentence(trace, entries, "zone", None)
    assert summary == snapshot(name="one word")
    contrast = logit_attribution_sentence(trace, dataclasses.replace(entries, bias=-1.0), "zone", "région")
    assert contrast == snapshot(name="as likely")
    behind = logit_attribution_sentence(trace, dataclasses.replace(entries, bias=-3.0), "zone", "région")
    assert behind == snapshot(name="less likely")


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (1, "1.0 times"),
        (7.389, "7.4 times"),
        (99.94, "99.9 times"),
        (823.4, "823 times"),
        (6012, "about 6,000 times"),
        (123456, "about 120,000 times"),
    ],
)
def test_odds_are_written_without_powers_of_ten(ratio: float, text: str) -> None:
    assert odds_text(float(np.log(ratio))) == text


def test_large_odds_are_capped(snapshot: SnapshotAssertion) -> None:
    assert odds_text(float(np.log(2e6))) == odds_text(float(np.log(1e300))) == snapshot


def test_words_of_several_pieces_keep_their_names_in_both_boxes(
    page: Run, tokenizer: Tokenizer, snapshot: SnapshotAssertion
) -> None:
    app = page()
    word, foil = (parse_piece(text, tokenizer)[0] for text in ("bicyclettes", "montagnardes"))
    chosen = {"word": str(word), "foil": str(foil), "typed_word": "bicyclettes", "typed_foil": "montagnardes"}
    shown = word_boxes(app, **chosen)
    assert (shown["word"], shown["foil"]) == ("bicyclettes", "montagnardes")
    assert len(shown["feedback"]) == 2
    assert all("“bicyclettes”" in heading for heading in chosen_captions(app, **chosen))
    (given,) = mounted(app, "attributed_word")
    assert fetched(given["named"], word="0", typed_word="bicyclettes")["piece"] == word
    first = piece_name(tokenizer.piece(word))
    assert f"“{first}”" in piece_heading(first, "bicyclettes")
    assert piece_heading("bi", "bicyclettes") == snapshot
    assert piece_heading(first, None) == f"“{first}”"


def test_contrast_logit_equals_the_log_ratio_of_the_probabilities(model_folder: Path, translator: Translator) -> None:
    trace, weights = translator.translate(SENTENCES[2], beam=1), read_weights(model_folder)
    for step in range(len(trace.target_pieces)):
        ids, chances = trace.top_ids[step], trace.top_probabilities[step]
        difference = Subject(trace, step, weights, None, int(ids[0]), int(ids[3])).contrast.logit
        assert difference == pytest.approx(np.log(chances[0] / chances[3]), abs=1e-4)


def test_energy_decomposition_payload_has_the_exact_operands() -> None:
    trace = make_trace()
    record = energy_decomposition_payload(trace, None, "light")
    json.dumps(record)
    import base64

    for name, values in (("queries", trace.queries), ("keys", trace.keys), ("score", trace.score_vector)):
        sent = np.frombuffer(base64.b64decode(record[name]), dtype="<f4")
        assert np.array_equal(sent, values.ravel())
    assert record["peaks"] == [int(row.argmax()) for row in trace.alignment]


def test_badge_text_counts_numbers_and_names_discrepancies(model_folder: Path, translator: Translator) -> None:
    trace, weights = translator.translate(SENTENCES[2], beam=1), read_weights(model_folder)
    verification = RecurrentVerifier(trace, weights).verify(0)
    assert f"All {verification.numbers:,} numbers of step 1 are verified" in badge_text(verification, 0)
    assert {check.quantity for check in verification.checks} <= set(quantity_names())
    assert len(verification_rows(verification)) == len(verification.checks)
    summary = discrepancy_text(trace, Discrepancy("energies", (1,), 2.5, 2.0), 2)
    assert piece_name(trace.source_pieces[1]) in summary
    assert "entry 2 at step 3: shown 2.5, recomputed 2, |Δ| = 5·10⁻¹" in summary
    for wrong, more in ((1, ""), (2, " (and so did 1 other quantity)"), (3, " (and so did 2 other quantities)")):
        checks = list(verification.checks)
        for number in range(wrong):
            off = Discrepancy(checks[number].quantity, (4,), 2.5, 2.0)
            checks[number] = dataclasses.replace(checks[number], discrepancy=off)
        failed_text = badge_text(Verification(tuple(checks)), 2)
        assert failed_text.startswith("Step 3: ")
        assert failed_text.endswith(f", no. 5 failed verification{more}")


@pytest.mark.parametrize(
    ("amount", "text"),
    [(3.14e-7, "3·10⁻⁷"), (0, "0"), (1, "1·10⁰"), (9.9e-8, "1·10⁻⁷"), (float("inf"), "∞"), (2e12, "2·10¹²")],
)
def test_power_of_ten_has_one_significant_digit(amount: float, text: str) -> None:
    assert power_of_ten(amount) == text


def test_every_finding_has_a_sentence() -> None:
    trace = make_trace()
    for kind in FindingKind:
        summary = finding_sentence(trace, Finding(kind, -1.0, target=0, source=1))
        assert "{" not in summary
        words = trace.words()
        assert words.target[0] in summary or words.source[1] in summary
    assert set(SEVERITY) == set(FindingKind)


@pytest.mark.parametrize("attention", ["additive", "general", "none"])
def test_findings_payload_is_serialisable_for_any_translation(attention: str) -> None:
    for seed in range(10):
        trace = make_trace("In Paris all sleep .", "À Paris tous dorment .", attention=attention, seed=seed)
        record = findings_payload(trace)
        json.dumps(record)
        assert record["summary"]
        assert len(record["steps"]) == len(trace.target_pieces)
        for finding in record["findings"]:
            assert 0 <= finding["step"] < len(trace.target_pieces)


def test_findings_summary_describes_constructed_alignments(snapshot: SnapshotAssertion) -> None:
    trace = make_trace("one two three .", "un deux trois .")
    even = np.full((5, 5), 0.01, dtype=np.float32) + 0.95 * np.eye(5, dtype=np.float32)
    record = findings_payload(dataclasses.replace(trace, alignment=even))
    assert record["summary"] == snapshot(name="left to right")
    guessed = np.log(np.full(5, 0.01, dtype=np.float32))
    unsure = findings_payload(dataclasses.replace(trace, alignment=even, log_probabilities=guessed))
    assert unsure["summary"] != record["summary"]
    assert unsure["findings"]
    back = even[[2, 0, 1, 3, 4]]
    summary = findings_payload(dataclasses.replace(trace, alignment=back))["summary"]
    assert summary == snapshot(name="a step back")


def test_step_attention_sentence_describes_constructed_weights(snapshot: SnapshotAssertion) -> None:
    trace = make_trace("one two three .", "un deux trois .")
    rows = np.full((5, 5), 0.01, dtype=np.float32) + 0.95 * np.eye(5, dtype=np.float32)
    rows[2] = [0.01, 0.01, 0.4, 0.28, 0.3]
    chances = np.log(np.full(5, 0.95, dtype=np.float32))
    trace = dataclasses.replace(trace, alignment=rows, log_probabilities=chances)
    assert step_attention_sentence(trace, 2) == snapshot(name="wide")
    assert step_attention_sentence(trace, 1) == snapshot(name="narrow")
