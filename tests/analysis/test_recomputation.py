"""Traces against their recomputation in NumPy float64 from the saved weights."""

from __future__ import annotations

import dataclasses
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from attnviz.analysis.measures import coverage, entropy
from attnviz.analysis.recomputation import recompute
from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.checkpoint import save_model
from attnviz.errors import AttnvizError
from attnviz.model_folder import read_weights
from attnviz.network.model_config import READOUT_STATES
from attnviz.text import Tokenizer
from attnviz.trace import Trace
from attnviz.trace.trace import RECORDED
from attnviz.translator import Translator
from tests.analysis.given import deviation
from tests.conftest import SENTENCES, ModelFactory

ARRAYS = {
    "annotations",
    "initial_states",
    "initial_memories",
    "keys",
    "queries",
    "features",
    "energies",
    "alignment",
    "contexts",
    "gates",
    "memories",
    "layer_states",
    "readouts",
    "log_probabilities",
    "top_probabilities",
}
MEASURES = {"entropy", "coverage"}


def _deviations(folder: Path, trace: Trace) -> dict[str, float]:
    """Return, for each quantity, the largest difference to the recomputation over the largest number in it."""
    found = recompute(read_weights(folder), trace.config, trace.source_ids, trace.target_ids)
    expected = dict(found)
    expected["top_probabilities"] = np.take_along_axis(found["distributions"], trace.top_ids.astype(np.int64), axis=1)
    chosen = found["distributions"][np.arange(len(trace.target_ids)), list(trace.target_ids)]
    expected["log_probabilities"] = np.log(chosen)
    shown = {quantity.name: getattr(trace, quantity.name) for quantity in RECORDED if quantity.name in expected}
    shown |= {"entropy": entropy(trace.alignment), "coverage": coverage(trace.alignment)}
    return {name: deviation(values, expected[name]) for name, values in shown.items()}


@pytest.mark.parametrize(("attention", "readout_state"), list(product(ATTENTION_KINDS, READOUT_STATES)))
@pytest.mark.parametrize("how", [{"beam": 1}, {"beam": 4}, {"target": SENTENCES[1]}], ids=["greedy", "beam", "forced"])
def test_every_number_of_a_trace_matches_the_recomputation(
    tmp_path: Path, make_network: ModelFactory, tokenizer: Tokenizer, attention: str, readout_state: str, how: dict
) -> None:
    save_model(tmp_path, make_network(attention, readout_state), tokenizer)
    trace = Translator.load(tmp_path, device="cpu").translate(SENTENCES[0], **how)
    found = _deviations(tmp_path, trace)
    assert set(found) == ARRAYS | MEASURES
    assert max(found.values()) < 1e-4, found


@pytest.mark.parametrize("attention", ["additive", "location-aware"])
def test_a_wrong_number_of_a_trace_is_detected(
    tmp_path: Path, make_network: ModelFactory, tokenizer: Tokenizer, attention: str
) -> None:
    save_model(tmp_path, make_network(attention), tokenizer)
    trace = Translator.load(tmp_path, device="cpu").translate(SENTENCES[2], beam=1)
    for name in filter(lambda name: getattr(trace, name).size, ARRAYS):
        changed = getattr(trace, name).copy()
        changed.flat[np.nanargmax(np.where(np.isfinite(changed), np.abs(changed), np.nan))] *= 1.01
        assert _deviations(tmp_path, dataclasses.replace(trace, **{name: changed}))[name] > 1e-3, name


def test_deviation_is_infinite_when_masks_differ(model_folder: Path, translator: Translator) -> None:
    trace = translator.translate(SENTENCES[2], beam=1)
    energies = trace.energies.copy()
    energies[0, 0] = -np.inf
    assert _deviations(model_folder, dataclasses.replace(trace, energies=energies))["energies"] == np.inf


def test_trace_of_the_shipped_model_matches_the_recomputation(shipped_model: Path) -> None:
    trace = Translator.load(shipped_model, device="cpu").translate("A girl is riding a red bicycle.", beam=5)
    found = _deviations(shipped_model, trace)
    assert max(found.values()) < 1e-4, found


def test_missing_or_damaged_weights_are_named(tmp_path: Path) -> None:
    with pytest.raises(AttnvizError, match=r"model\.safetensors"):
        read_weights(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"\x00" * 50)
    with pytest.raises(AttnvizError, match=r"model\.safetensors"):
        read_weights(tmp_path)
