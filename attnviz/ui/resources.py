"""Models and translations, each loaded or made once for all visitors."""

from __future__ import annotations

import os
from pathlib import Path

import streamlit as st

from attnviz import Trace, Translator
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
