"""The badge beside a step: whether all its numbers came out the same when computed again, and which did not."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from attnviz.analysis.fit import MisfitError
from attnviz.analysis.proof import TOLERANCE, Discrepancy, Proof, Prover
from attnviz.analysis.recomputation import Weights
from attnviz.figures.labels import piece_name, quote
from attnviz.languages import say
from attnviz.trace import Trace
from attnviz.trace.quantities import QUANTITIES
from attnviz.ui import state
from attnviz.ui.components import ASSETS

OF_POSITIONS = tuple(name for name, quantity in QUANTITIES.items() if quantity.of_positions)
"""Quantities whose first index is a source position."""

_PROVER = "prover"


def quantity_names() -> dict[str, str]:
    """Return what the quantities of a proof are called on the page."""
    return {
        "annotations": say("annotations h"),
        "initial_state": say("first state s₀"),
        "keys": say("keys U h"),
        "score_vector": say("vector v"),
        "queries": say("query W s"),
        "energies": say("energies e"),
        "energy sums": say("sums of the microscope"),
        "alignment": say("weights α"),
        "entropy": say("entropy H"),
        "coverage": say("coverage Σ α"),
        "contexts": say("context vector c"),
        "states": say("state s"),
        "reset_gates": say("reset gate r"),
        "update_gates": say("update gate z"),
        "candidates": say("candidate state"),
        "maxout pairs": say("pairs before the maxout"),
        "readouts": say("readout t"),
        "top_probabilities": say("likeliest words’ probabilities"),
        "log_probabilities": say("log probability of the word"),
        "target_ids": say("forced word y"),
        "ledger sums": say("sums of the ledger"),
    }


def proof_badge(trace: Trace, weights: Weights | None, step: int) -> None:
    """Draw the badge of 1-based `step`: green, or red with the name of a number that is wrong; opened, what was
    proved."""
    st.html(f"<style>{(ASSETS / 'proof.css').read_text(encoding='utf-8')}</style>")
    if weights is None:
        st.text(say("Numbers not proved: the model that made them, “{model}”, is not here.", model=trace.model))
        return
    chosen = st.session_state.get(state.WORD)
    pieces = (int(chosen),) if chosen is not None and int(chosen) < len(weights["decoder.output.bias"]) else ()
    try:
        proof = _prover(trace, weights).prove(step - 1, pieces)
    except MisfitError:  # altered, or not made by this model
        with st.container(key="proof_fails"):
            st.text("✗ " + say("Step {step}: this translation does not fit the weights of “{model}”",
                               step=step, model=trace.model))  # fmt: skip
        return
    with st.container(key="proof_holds" if proof.holds else "proof_fails"):
        sign, hue = (":material/check_circle:", "green") if proof.holds else (":material/error:", "red")
        label = f":{hue}[{sign} {badge_text(proof, step)}]"
        box = st.popover(label, type="tertiary", key="proof", on_change="rerun")
        if box.open:
            with box:
                st.text(say(
                    "Every number of this step is computed a second time, in NumPy with 64-bit floats, from the "
                    "weights as saved and from the operands shown beside it, by code that shares nothing with the "
                    "network’s. It counts as right within {tolerance:g} of the largest number of its kind.",
                    tolerance=TOLERANCE,
                ))  # fmt: skip
                for wrong in proof.discrepancies:
                    st.text("✗ " + discrepancy_text(trace, wrong, step))
                st.dataframe(proof_table(proof), hide_index=True, height="content")


def badge_text(proof: Proof, step: int) -> str:
    """Return what the badge of 1-based `step` says; it quotes nobody, so that it may be read as Markdown."""
    if proof.holds:
        return say("All {numbers} numbers of step {step} check out, max |Δ| = {largest}",
                   numbers=f"{proof.numbers:,}".replace(",", " "), step=step,
                   largest=power_of_ten(proof.largest_difference))  # fmt: skip
    first, *others = proof.discrepancies
    what = quantity_names()[first.quantity]
    if first.index:
        what = say("{what}, no. {number}", what=what, number=first.index[0] + 1)
    if others:
        return say("Step {step}: {what} does not check out (nor do {count} other quantities)",
                   step=step, what=what, count=len(others))  # fmt: skip
    return say("Step {step}: {what} does not check out", step=step, what=what)


def discrepancy_text(trace: Trace, wrong: Discrepancy, step: int) -> str:
    """Return which number of 1-based `step` is wrong, and by how much, as plain text."""
    name = quantity_names()[wrong.quantity]
    if not wrong.index:
        return say("{what}: there are not as many numbers as there should be.", what=name)
    if wrong.quantity in OF_POSITIONS:
        piece = quote(piece_name(trace.source_pieces[wrong.index[0]]))
        name = say("{what} of {piece}", what=name, piece=piece)
    return say(
        "{what}, number {number} at step {step}: shown {shown:.6g}, recomputed {recomputed:.6g}, |Δ| = {difference}",
        what=name, number=", ".join(str(index + 1) for index in wrong.index), step=step, shown=wrong.shown,
        recomputed=wrong.recomputed, difference=power_of_ten(abs(wrong.shown - wrong.recomputed)),
    )  # fmt: skip


def proof_table(proof: Proof) -> pd.DataFrame:
    """Return what was proved, one row for each quantity."""
    names = quantity_names()
    return pd.DataFrame(
        {
            say("quantity"): [names[check.quantity] for check in proof.checks],
            say("numbers"): [check.numbers for check in proof.checks],
            "max |Δ|": [power_of_ten(check.largest_difference) for check in proof.checks],
            "": ["✗" if check.discrepancy else "✓" for check in proof.checks],
        }
    )


def power_of_ten(amount: float) -> str:
    """Return an amount as in 3·10⁻⁷, one digit before the power."""
    if not math.isfinite(amount):
        return "∞" if math.isinf(amount) else "?"
    if amount == 0:
        return "0"
    digit, exponent = f"{amount:.0e}".split("e")
    return f"{digit}·10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _prover(trace: Trace, weights: Weights) -> Prover:
    """Return the prover of this very trace, the same at every step.

    Kept by the object, not by what the trace calls itself: one that was altered is to be proved for itself.
    """
    kept = st.session_state.get(_PROVER)
    if not isinstance(kept, Prover) or kept.trace is not trace or kept.weights is not weights:
        kept = st.session_state[_PROVER] = Prover(trace, weights)
    return kept
