"""Bounds and allowed values of the settings of models and training, and functions that check settings."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import SupportsIndex

LARGEST_SIZE = 65_536
"""Units of the widest accepted layer."""
LARGEST_VOCABULARY = 1_000_000
MOST_LAYERS = 64
"""Largest number of layers of a model, and of heads of a layer."""
LONGEST_PADDING = 1000
"""Largest number of pieces up to which an encoder reads padding."""
LARGEST_GUIDANCE = 1000
"""Largest weight of the guided-attention loss, relative to a translation loss of weight 1."""
SIZES = (
    "embedding_size",
    "hidden_size",
    "alignment_size",
    "maxout_size",
    "model_size",
    "feedforward_size",
    "source_embedding_size",
    "encoder_size",
)
COUNTS = ("heads", "layers", "encoder_layers")
TRANSLATORS = ("rnnsearch", "transformer", "seq2seq")
WIDEST_BEAM = 100
"""Largest width of a beam search."""
PRECISIONS = ("auto", "bf16", "fp32")
"""Number formats of training."""
COARSE_PRECISIONS = ("auto", "int8", "fp32")
"""Number formats of the first pass over all pieces, which selects those that are computed in float32."""


def is_whole(value: object, least: int, most: int) -> bool:
    """Return whether `value` is an integer (not a bool) from `least` to `most`."""
    return isinstance(value, SupportsIndex) and type(value) is not bool and least <= operator.index(value) <= most


def is_real(value: object, least: float, most: float) -> bool:
    """Return whether `value` is a finite number (not a bool) from `least` to `most`."""
    return isinstance(value, (int, float)) and type(value) is not bool and least <= value <= most


def check_whole(name: str, value: object, least: int, most: int) -> None:
    """Raise ValueError, naming the setting, unless `value` is an integer (not a bool) from `least` to `most`."""
    if not is_whole(value, least, most):
        raise ValueError(f"{name} must be a whole number from {least:,} to {most:,}, not {shortened_repr(value)}")


def check_real(name: str, value: object, least: float, most: float, *, without: float | None = None) -> None:
    """Raise ValueError, naming the setting, unless `value` is a finite number (not a bool) from `least` to `most`.

    `without` excludes one of the two bounds.
    """
    if not is_real(value, least, most) or value == without:
        rule = f"from {least:g} to {most:g}" + ("" if without is None else f", {without:g} left out")
        raise ValueError(f"{name} must be a number {rule}, not {shortened_repr(value)}")


def check_one_of(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raise ValueError, naming the setting, unless `value` is one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, not {shortened_repr(value)}")


def check_model(settings: Mapping[str, object]) -> None:
    """Raise ValueError, naming the setting, unless all sizes and the dropout in a model's `settings` are within bounds.

    The network's config class checks the settings that are words.
    """
    check_whole(
        "vocabulary_size", settings["vocabulary_size"], 5, LARGEST_VOCABULARY
    )  # four special pieces and one other
    check_whole("source_vocabulary_size", settings.get("source_vocabulary_size", 5), 5, LARGEST_VOCABULARY)
    for name in SIZES:
        check_whole(name, settings.get(name, 1), 1, LARGEST_SIZE)
    for name in COUNTS:
        check_whole(name, settings.get(name, 1), 1, MOST_LAYERS)
    check_real("dropout", settings.get("dropout", 0.0), 0, 1, without=1)


def shortened_repr(value: object) -> str:
    """Return `value` as text, shortened to 60 characters."""
    if isinstance(value, int) and abs(value) >= 10**15:
        return "a number of more than 15 digits"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
