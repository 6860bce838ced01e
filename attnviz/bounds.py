"""Whether a setting is of the right kind and within its bounds, which is asked before anything is computed with it."""

from __future__ import annotations

from collections.abc import Mapping

LARGEST_SIZE = 65_536
"""Units of the widest layer of a model."""
LARGEST_VOCABULARY = 1_000_000
MOST_LAYERS = 64
"""Layers of the deepest model, and heads of a layer."""
LARGEST_GUIDANCE = 1000
"""Weight of the pull of attention towards word links, beside a loss of 1."""
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
ARCHITECTURES = (*TRANSLATORS, "decomposable")


def whole(name: str, value: object, least: int, most: int) -> None:
    """Raise ValueError, naming the setting, unless `value` is a whole number, and no bool, from `least` to `most`."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError(f"{name} must be a whole number from {least:,} to {most:,}, not {shown(value)}")


def real(name: str, value: object, least: float, most: float, *, without: float | None = None) -> None:
    """Raise ValueError, naming the setting, unless `value` is a finite number, and no bool, from `least` to `most`;
    `without` is the one of the two that is itself too little or too much."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most or value == without:
        rule = f"from {least:g} to {most:g}" + ("" if without is None else f", {without:g} left out")
        raise ValueError(f"{name} must be a number {rule}, not {shown(value)}")


def one_of(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raise ValueError, naming the setting, unless `value` is one of these words."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, not {shown(value)}")


def check_model(settings: Mapping[str, object]) -> None:
    """Raise ValueError, naming the setting, unless every size and the dropout among a model's `settings` is within its
    bounds; which words the others may be is the network's to say."""
    whole("vocabulary_size", settings["vocabulary_size"], 5, LARGEST_VOCABULARY)  # four pieces are special
    whole("source_vocabulary_size", settings.get("source_vocabulary_size", 5), 5, LARGEST_VOCABULARY)
    for name in SIZES:
        whole(name, settings.get(name, 1), 1, LARGEST_SIZE)
    for name in COUNTS:
        whole(name, settings.get(name, 1), 1, MOST_LAYERS)
    real("dropout", settings.get("dropout", 0.0), 0, 1, without=1)


def shown(value: object) -> str:
    """Return what `value` looks like, cut short where that is long."""
    if isinstance(value, int) and abs(value) >= 10**15:
        return "a number of more than 15 digits"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
