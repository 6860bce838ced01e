"""Models and translations, each loaded or made once for all visitors."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from attnviz import AttnvizError, Trace, Translator
from attnviz.analysis.recomputation import Weights, load_weights
from attnviz.text import Tokenizer
from attnviz.translator import available_devices, available_models

MODELS_VARIABLE = "ATTNVIZ_MODELS"
"""Environment variable with the folder of model folders, where that is not `models`."""

LONGEST_BEAM = 20


def models() -> dict[str, Path]:
    """Return the model folders by name, the default `en-fr` first."""
    folders = available_models(os.environ.get(MODELS_VARIABLE, "models"))
    return {folder.name: folder for folder in sorted(folders, key=lambda f: (f.name != "en-fr", f.name))}


def devices() -> list[str]:
    """Return the choices of device: "auto", then those this machine has."""
    return ["auto", *available_devices()]


@st.cache_resource(max_entries=3, show_spinner=False)
def load_translator(folder: str, device: str) -> Translator:
    """Return the model in `folder` on `device`; raise AttnvizError where it cannot be had."""
    return Translator.load(folder, device=device)


@st.cache_data(max_entries=128, show_spinner=False)
def translate(folder: str, device: str, text: str, beam: int, target: str | None) -> Trace:
    """Return the trace of `text`, with `target` forced where one is given; raise AttnvizError on bad input."""
    return load_translator(folder, device).translate(text, beam=beam, target=target)


def weights_of(trace: Trace) -> Weights | None:
    """Return the weights that made `trace`, or None where that model is not here, or not as it was then.

    All but the embeddings, of which a step reads one row, are in float64, ready for the proof.
    """
    folder = models().get(trace.model)
    if folder is None:
        return None
    try:
        digest, weights = _weights(str(folder))
    except AttnvizError:
        return None
    if trace.weights_digest and trace.weights_digest != digest:
        return None
    # A trace of an early version says no more than its sizes.
    sizes = len(trace.initial_state), trace.readouts.shape[1], trace.keys.shape[1]
    return weights if _sizes(weights) == sizes else None


def tokenizer_of(trace: Trace) -> Tokenizer | None:
    """Return the tokenizer of the model that made `trace`, or None where `weights_of` has none."""
    return None if weights_of(trace) is None else _tokenizer(str(models()[trace.model]))


def _sizes(weights: Weights) -> tuple[int, int, int]:
    """Return hidden, maxout and alignment size."""
    key = weights.get("decoder.attention.key.weight")
    return (
        len(weights["decoder.initial.bias"]),
        weights["decoder.output.weight"].shape[1],
        0 if key is None else len(key),
    )


@st.cache_resource(max_entries=2, show_spinner=False)
def _weights(folder: str) -> tuple[str, dict[str, NDArray[np.floating]]]:
    """Return the SHA-256 of the weights file, and the weights."""
    weights = load_weights(folder)
    digest = hashlib.sha256((Path(folder) / "model.safetensors").read_bytes()).hexdigest()
    exact = {n: value if n.endswith("embedding.weight") else value.astype(np.float64) for n, value in weights.items()}
    return digest, exact


@st.cache_resource(max_entries=2, show_spinner=False)
def _tokenizer(folder: str) -> Tokenizer:
    return Tokenizer.load(Path(folder) / "tokenizer.model")
