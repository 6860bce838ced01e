"""LaTeX of the energy of additive attention, e = v . tanh(W s + U h), as tables and page write it."""

from __future__ import annotations


def additive_energy(inside: str, left: str = "(", right: str = ")") -> str:
    """Return the energy in LaTeX, given the sum `inside` the tanh and the parentheses around it."""
    return rf"v_a^\top \tanh{left}{inside}{right}"


def query_and_key(state: str = "s_{i-1}", annotation: str = "h_j", more: str = "") -> str:
    """Return the sum inside the tanh in LaTeX; `more` is added to query and key as it is written."""
    return rf"W_a {state} + U_a {annotation}{more}"
