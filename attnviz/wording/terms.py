"""Symbols of the weights and intermediate values in the equations of a recurrent translator.

The equations use them, and the diagram labels its parts with them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from attnviz.trace import Recurrent

NEW, OLD = "⟦i⟧", "⟦before⟧"
"""Placeholders of the number of a step, from 1, and of the step before."""


@dataclass(frozen=True)
class WeightSymbols:
    """Symbols of the weights of state, context and word, in LaTeX; empty where there is no weight.

    Several weights with the same letter are that letter alone.
    """

    state: str = ""
    context: str = ""
    word: str = ""
    bias: str = ""


@dataclass(frozen=True)
class Terms:
    """Symbols besides x, h, e, α, c, s, t and y, in LaTeX; empty where a translator has none."""

    query: str = ""
    """Weights of the querying state."""
    key: str = ""
    """Weights of an annotation."""
    key_bias: str = ""
    energy: str = ""
    """Weights of an energy's units."""
    embedded: str = f"E y_{{{OLD}}}"
    """Embedding of the previous word."""
    intermediates: tuple[str, ...] = ()
    """Intermediate values of the recurrence: gates, candidate."""
    recurrence: WeightSymbols = WeightSymbols()
    """Weights of the recurrence, where they are written out."""
    readout: WeightSymbols = WeightSymbols()
    logit_weights: str = ""
    """Weights of the logits."""
    logit_bias: str = ""


_INTERMEDIATE = {"gru": ("x", "z", "r", r"\tilde s"), "lstm": ("x", "e", "f", r"\tilde m", "o", "m")}
"""Intermediate values of an imported recurrence, in the order of its equations."""


def terms(trace: Recurrent) -> Terms:
    """Return the symbols in the equations of `trace`."""
    from attnviz.wording.scorers import texts_of  # imported here, since `scorers` imports this module

    attention_terms = texts_of(trace.config["attention"]).terms
    if trace.imported:
        return replace(
            attention_terms,
            key_bias="b_a" if trace.config["key_bias"] else "",
            intermediates=_at_step(_INTERMEDIATE[trace.config["cell"]]),
            recurrence=WeightSymbols("U", "W", "W", "b"),
            readout=WeightSymbols("W_t", "W_t", bias="b_t" if trace.config["readout_bias"] else "")
            if trace.config["readout"] in ("affine", "tanh")
            else WeightSymbols(),
            logit_weights="W_o",
            logit_bias="b_o" if trace.config["output_bias"] else "",
        )
    return replace(
        attention_terms,
        intermediates=_at_step(("z", r"\tilde s")),
        readout=WeightSymbols("U_o", "C_o", "V_o", "b"),
        logit_weights="W_o",
        logit_bias="b_o",
    )


def _at_step(letters: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{letter}_{{{NEW}}}" for letter in letters)


_SYMBOL = re.compile(r"(\\tilde )?([A-Za-z])(?:_(?:\{([^}]*)\}|(\w)))?|(\S)")
Symbol = tuple[str, str]
"""A symbol and its index; for text between symbols the index is empty."""


def symbols(latex: str) -> list[Symbol]:
    """Return the symbols of a LaTeX expression, each with its index, and the text between them."""
    parts = []
    for tilde, letter, index, short, other in _SYMBOL.findall(latex):
        parts.append((other or f"{letter}{chr(0x303) if tilde else ''}", index or short))
    return parts
