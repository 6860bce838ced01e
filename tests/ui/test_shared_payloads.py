"""Shared payloads of a translation: computed once for all visitors, available while it is shown."""

from __future__ import annotations

import dataclasses
import gc
import re
from pathlib import Path

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz import Trace, Translator
from attnviz.architectures import EVERY_TRANSLATION, IMPORTED, RNNSEARCH, TRANSFORMER
from attnviz.languages import set_language
from attnviz.network import TransformerConfig
from attnviz.text import Tokenizer
from attnviz.trace.interventions import ReplaceWeights, forced_prefix
from attnviz.ui import shared_payloads
from attnviz.ui.payload_makers import MAKERS, PAGES
from attnviz.ui.shared_payloads import UnknownPayloadError, address, payload, register_trace
from tests.conftest import SENTENCES
from tests.figures import synthetic
from tests.figures.payloads import figure_at
from tests.snapshots import without_numbers
from tests.transformers import random_transformer
from tests.ui.shown_payloads import fetched

OF_ALL = EVERY_TRANSLATION - {"facts"}
RECURRENT = RNNSEARCH.payloads - IMPORTED.payloads
HEADS = TRANSFORMER.payloads - RNNSEARCH.payloads - {"word"}
WITHOUT_ATTENTION = {
    "state",
    "maxout",
    "candidates",
    "context",
    "verification",
    "logit-attribution",
    "contrast",
    "facts",
    "equation-3",
    "equation-4",
    "equation-5",
}
OF_WEIGHTS = {"verification", "logit-attribution", "contrast", "posterior", "equation-after"}


@pytest.fixture
def trace(en_fr: Path) -> Trace:
    """Return a registered translation whose model is installed."""
    return register_trace(Translator.load(en_fr, device="cpu").translate(SENTENCES[0], beam=1))


def test_payload_has_the_steps_that_its_address_requests(trace: Trace) -> None:
    every = tuple(range(len(trace.target_pieces)))
    for name in {*OF_ALL, *RECURRENT} - {"context", "changed"}:
        for step in (0, every[-1]):
            one = fetched(address(trace, name, "light", every=False), step)
            if "values" in one:
                assert list(one["values"]) == [str(step)]
            if "steps" in one:
                assert one["steps"] == [step]
        if name != "verification":
            whole = fetched(address(trace, name, "light", every=True))
            if "values" in whole and name != "contrast":
                assert list(whole["values"]) == [str(step) for step in every]
                np.testing.assert_equal(figure_at(whole, every[-1]), figure_at(one, every[-1]))
            if "steps" in whole:
                assert tuple(whole["steps"]) == every


def test_payloads_of_another_architecture_are_unavailable(trace: Trace, tokenizer: Tokenizer) -> None:
    network = random_transformer(TransformerConfig(len(tokenizer), 12, 3, 2, 5), 1)
    other = register_trace(Translator(network, tokenizer).translate(SENTENCES[0], beam=1))
    for shown, there, missing in ((trace, "posterior", HEADS), (other, "stream", RECURRENT)):
        assert fetched(address(shown, there, "light", every=True))
        for name in missing:
            with pytest.raises(UnknownPayloadError):
                fetched(address(shown, name, "light", every=False))


@pytest.mark.parametrize("attention", ["additive", "general", "none"])
def test_payloads_that_need_no_weights_work_without_the_model(
    attention: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTNVIZ_MODELS", str(tmp_path))
    trace = register_trace(synthetic.trace(attention=attention))
    names = WITHOUT_ATTENTION if attention == "none" else {*OF_ALL, *RECURRENT} - {"context", "changed"}
    for name in sorted(names):
        at = address(trace, name, "dark", every=name != "verification")
        if name in OF_WEIGHTS:
            with pytest.raises(UnknownPayloadError):
                fetched(at)
        else:
            assert fetched(at)


def test_changes_are_described_relative_to_a_shown_parent_translation(
    trace: Trace, translator: Translator, snapshot: SnapshotAssertion
) -> None:
    count = len(trace.source_ids)
    row = ReplaceWeights(tuple(float(j == 0) for j in range(count)), 1)
    made = register_trace(
        translator.translate(SENTENCES[0], interventions=[*forced_prefix(trace.target_ids, 1), row], beam=1)
    )
    found = fetched(address(made, "changed", "light", every=True, parent=trace))
    sentences = [found["captions"][str(step)][1] for step in range(len(made.target_ids))]
    assert [without_numbers(re.sub("“.*?”", "“…”", sentence)) for sentence in sentences[:2]] == snapshot
    one = fetched(address(made, "changed", "light", every=False, parent=trace), 1)
    np.testing.assert_equal(figure_at(one, 1), figure_at(found, 1))
    other = register_trace(translator.translate(SENTENCES[2], beam=1))
    gone = synthetic.trace(seed=78)
    for parent in (None, other, gone):
        with pytest.raises(UnknownPayloadError):
            fetched(address(made, "changed", "light", every=True, parent=parent))


def test_payloads_differ_by_theme_and_language(trace: Trace) -> None:
    light, dark = (fetched(address(trace, "energy", theme, every=True)) for theme in ("light", "dark"))
    assert light["template"] != dark["template"]
    english = fetched(address(trace, "energy", "light", every=True))
    set_language("fr")
    french = fetched(address(trace, "energy", "light", every=True))
    assert english["captions"] != french["captions"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "nothing"},
        {"fingerprint": "0" * 64},
        {"theme": "pink"},
        {"lang": "de"},
        {"steps": "-1"},
        {"steps": "99999"},
        {"steps": "²"},
        {"steps": ""},
        {"word": "-1"},
        {"word": "999999"},
        {"word": "x"},
    ],
    ids=str,
)
def test_invalid_request_raises_unknown_payload_error(trace: Trace, wrong: dict[str, str]) -> None:
    asked = {"theme": "light", "lang": "en", "steps": "all", "word": ""} | wrong
    with pytest.raises(UnknownPayloadError):
        payload(MAKERS, asked.pop("fingerprint", trace.fingerprint), asked.pop("name", "energy"), asked)


def test_payload_is_computed_once_for_all_visitors(trace: Trace) -> None:
    calls = []

    def counted(asked: shared_payloads.Asked) -> dict[str, int]:
        calls.append(asked)
        return {"made": len(calls)}

    asked = {"theme": "light", "lang": "en", "steps": "0"}
    first, second = (payload({"counted": counted}, trace.fingerprint, "counted", asked) for _ in range(2))
    assert first == second
    assert len(calls) == 1
    payload({"counted": counted}, trace.fingerprint, "counted", asked | {"lang": "fr"})
    assert len(calls) == 2


def test_translation_is_available_while_it_is_shown() -> None:
    trace = synthetic.trace(seed=77)
    shown = register_trace(trace)
    twin = synthetic.trace(seed=77)
    assert register_trace(twin) is shown, "visitors of the same translation show one object"
    at = address(trace, "energy", "light", every=True)
    assert fetched(at)
    del trace, shown, twin
    gc.collect()
    with pytest.raises(UnknownPayloadError):
        fetched(at)


def test_altered_translation_has_its_own_payload(trace: Trace) -> None:
    energies = trace.energies.copy()
    energies[0, 0] += 1
    altered = register_trace(dataclasses.replace(trace, energies=energies))
    one, other = (fetched(address(each, "energy", "light", every=True)) for each in (trace, altered))
    assert one["values"]["0"] != other["values"]["0"]
    assert one["values"]["1"] == other["values"]["1"]
    assert not np.shares_memory(trace.energies, altered.energies)


def test_posterior_heatmap_is_verified_when_it_is_shown(trace: Trace) -> None:
    at = address(trace, "verification", "light", every=False, word=True, options=("face", "after_word"))
    for shown in ({}, {"face": "after"}, {"face": "difference"}, {"after_word": "1"}):
        found = fetched(at, **shown)
        assert found["holds"]
        assert ("α′ of the heatmap" in [row[0] for row in found["rows"]]) == bool(shown)
        assert "posterior p(j | y)" in [row[0] for row in found["rows"]]


def test_attribution_of_the_chosen_word_is_verified(trace: Trace) -> None:
    at = address(trace, "verification", "light", every=False, word=True)
    rare = int(np.argmin(trace.log_probabilities)) % 5 + 40
    assert rare not in trace.top_ids[0, :10]
    without, with_it = fetched(at), fetched(at.replace("{word}", str(rare)))
    assert without["holds"]
    assert with_it["holds"]
    logit_attributions = [
        next(row for row in found["rows"] if row[0] == "attribution sums") for found in (without, with_it)
    ]
    assert int(logit_attributions[1][1]) == int(logit_attributions[0][1]) + 1


def test_payload_names_are_unique_across_pages() -> None:
    names = [name for page in PAGES for name in page]
    assert sorted(names) == sorted(MAKERS)
