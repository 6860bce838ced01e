"""The badge beside a step: whether all its numbers came out the same when computed again, and which did not."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import streamlit as st

from attnviz.analysis.fit import MisfitError
from attnviz.analysis.proof import Proof, Prover
from attnviz.analysis.recomputation import Weights
from attnviz.languages import say
from attnviz.ui.page_state.selection import selection_of
from attnviz.ui.page_state.view import View
from attnviz.wording.proof import (
    badge_text,
    discrepancy_text,
    misfit_text,
    not_proved_text,
    power_of_ten,
    quantity_names,
    what_is_proved,
)

_PROVER = "prover"


def proof_badge(view: View, weights: Weights | None) -> None:
    """Draw the badge of the step on show: green, or red with the name of a number that is wrong; opened, what was
    proved."""
    trace, selection = view.trace, selection_of(st.session_state, view)
    st.html(f"<style>{Path(__file__).with_name('proof_badge.css').read_text(encoding='utf-8')}</style>")
    if weights is None:
        st.text(not_proved_text(trace))
        return
    step, word = selection.step, selection.word
    pieces = (word,) if word is not None and word < len(weights["decoder.output.bias"]) else ()
    try:
        proof = _prover(view, weights).prove(step, pieces)
    except MisfitError:  # altered, or not made by this model
        with st.container(key=view.key("proof_fails")):
            st.text("✗ " + misfit_text(trace, step))
        return
    with st.container(key=view.key("proof_holds" if proof.holds else "proof_fails")):
        sign, hue = (":material/check_circle:", "green") if proof.holds else (":material/error:", "red")
        label = f":{hue}[{sign} {badge_text(proof, step)}]"
        box = st.popover(label, type="tertiary", key=view.key("proof"), on_change="rerun")
        if box.open:
            with box:
                st.text(what_is_proved())
                for wrong in proof.discrepancies:
                    st.text("✗ " + discrepancy_text(trace, wrong, step))
                st.dataframe(proof_table(proof), hide_index=True, height="content")


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


def _prover(view: View, weights: Weights) -> Prover:
    """Return the prover of this very trace, the same at every step.

    Kept by the object, not by what the trace calls itself: one that was altered is to be proved for itself.
    """
    key, trace = view.key(_PROVER), view.trace
    kept = st.session_state.get(key)
    if not isinstance(kept, Prover) or kept.trace is not trace or kept.weights is not weights:
        kept = st.session_state[key] = Prover(trace, weights)
    return kept
