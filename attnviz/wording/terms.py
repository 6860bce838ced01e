"""What stands beside states, annotations and words in the equations of a recurrent translator's step: the equations are
written with it, and the picture of the machine names its parts by it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from attnviz.trace import Recurrent

NEW, OLD = "⟦i⟧", "⟦before⟧"
"""The number of a step, counted from 1, and of the one before it: places that are filled step by step."""


@dataclass(frozen=True)
class Taken:
    """The learned weights, in LaTeX, with which state, context and word are taken in; empty where they are taken as
    they are, or not at all. Several of one letter are that letter alone."""

    state: str = ""
    context: str = ""
    word: str = ""
    bias: str = ""


@dataclass(frozen=True)
class Terms:
    """What the equations of a translator have besides x, h, e, α, c, s, t and y, in LaTeX; empty where it has none."""

    query: str = ""
    """The weights of the state that asks."""
    key: str = ""
    """Those of an annotation."""
    key_bias: str = ""
    energy: str = ""
    """Those that make an energy of query and key."""
    embedded: str = f"E y_{{{OLD}}}"
    """The word before, as a vector."""
    inside: tuple[str, ...] = ()
    """What the recurrence reckons before the new state: gates, candidate."""
    moving: Taken = Taken()
    """The weights of the recurrence, where they are written out."""
    readout: Taken = Taken()
    scores: str = ""
    """The weights of the logits."""
    scores_bias: str = ""


_MOVED = {"gru": ("x", "z", "r", r"\tilde s"), "lstm": ("x", "e", "f", r"\tilde m", "o", "m")}
"""What an imported recurrence reckons with, in the order of its equations."""


def terms(trace: Recurrent) -> Terms:
    """Return what the equations of `trace` have."""
    from attnviz.wording.scorers import texts_of  # which has terms itself

    asked = texts_of(trace.config["attention"]).terms
    if trace.imported:
        return replace(
            asked,
            key_bias="b_a" if trace.asks_before else "",
            inside=_at_step(_MOVED[trace.config["cell"]]),
            moving=Taken("U", "W", "W", "b"),
            readout=Taken() if trace.linear else Taken("W_t", "W_t", bias="b_t"),
            scores="W_o",
            scores_bias="b_o" if trace.linear else "",
        )
    return replace(
        asked,
        inside=_at_step(("z", r"\tilde s")),
        readout=Taken("U_o", "C_o", "V_o", "b"),
        scores="W_o",
        scores_bias="b_o",
    )


def _at_step(letters: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{letter}_{{{NEW}}}" for letter in letters)


_SIGN = re.compile(r"(\\tilde )?([A-Za-z])(?:_(?:\{([^}]*)\}|(\w)))?|(\S)")
Sign = tuple[str, str]
"""A symbol and its index, or whatever stands between symbols and nothing."""


def signs(latex: str) -> list[Sign]:
    """Return the symbols of a row of terms, each with its index, and whatever stands between them, with none."""
    found = []
    for tilde, letter, index, short, other in _SIGN.findall(latex):
        found.append((other or f"{letter}{chr(0x303) if tilde else ''}", index or short))
    return found
