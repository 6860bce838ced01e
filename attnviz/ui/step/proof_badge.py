"""The badge beside a step: whether all its numbers came out the same when computed again, and which did not.

The browser asks for the proof of the step on show; nothing is proved that nobody looks at.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from attnviz.analysis.fit import MisfitError
from attnviz.analysis.proof import Proof, Verifier
from attnviz.analysis.recomputation import Weights
from attnviz.architectures import verifier_of
from attnviz.kept import Kept
from attnviz.languages import gettext
from attnviz.palette import ThemeName
from attnviz.trace import Record
from attnviz.ui.components.proof.proof import proof
from attnviz.ui.page_state.view import View
from attnviz.ui.records import Asked, UnknownRecordError, address
from attnviz.ui.resources import bytes_of, weights_digest_of
from attnviz.wording.numbers import power_of_ten, thousands
from attnviz.wording.proof import (
    badge_text,
    discrepancy_text,
    misfit_text,
    not_proved_text,
    quantity_names,
    what_is_proved,
)

_PROVERS: Kept[Verifier] = Kept(12 << 20, size=lambda prover: 2 * bytes_of(prover.trace))
"""Those of all visitors, each with its translation and what of the proof serves every step: less than as much."""


def proof_badge(view: View, weights: Weights | None, theme: ThemeName, *, after: bool) -> None:
    """Draw the badge of the step on show: green, or red with the name of a number that is wrong; opened, what was
    proved. `after` says that α′ is on show, which is proved only then: it asks all steps."""
    if weights is None:
        st.text(not_proved_text(view.trace))
        return
    proof(view, address(view.trace, "proof", theme, every=False, word=True, after=after))


def proof_record(asked: Asked) -> dict[str, Any]:
    """Return what the badge of a step says, and what was proved; raise UnknownRecordError where the model is not
    here."""
    trace, (step, *others) = asked.trace, asked.steps
    if asked.weights is None or others:
        raise UnknownRecordError("proof")
    try:
        found = prover_for(asked).prove(step, () if asked.word is None else (asked.word,), reading=asked.after)
    except MisfitError:  # altered, or not made by this model
        return misfit_record(trace, step)
    return badge_record(trace, found, step)


def misfit_record(trace: Record, step: int) -> dict[str, Any]:
    """Return what the badge says where the model at hand cannot have made `trace`."""
    return {"holds": False, "told": misfit_text(trace, step), "wrong": [], "about": "", "names": [], "rows": []}


def badge_record(trace: Record, found: Proof, step: int) -> dict[str, Any]:
    """Return what the badge of 0-based `step` says of what was `found`."""
    return {
        "holds": found.holds,
        "told": badge_text(found, step),
        "about": what_is_proved(),
        "wrong": [discrepancy_text(trace, wrong, step) for wrong in found.discrepancies],
        "names": [gettext("quantity"), gettext("numbers"), "max |Δ|", ""],
        "rows": proof_rows(found),
    }


def proof_rows(proof: Proof, names: Mapping[str, str] | None = None) -> list[tuple[str, str, str, str]]:
    """Return what was proved, of each quantity its name, one of `names` where they are given, how many numbers it has,
    the largest difference, and whether it holds."""
    names = names or quantity_names()
    return [
        (
            names[check.quantity],
            thousands(check.numbers),
            power_of_ten(check.largest_difference),
            "✗" if check.discrepancy else "✓",
        )
        for check in proof.checks
    ]


def prover_for(asked: Asked) -> Verifier:
    """Return the prover of a translation, one for all its steps and visitors.

    Its fingerprint is of every number, so that one that was altered is proved for itself.
    """
    trace, weights = asked.trace, asked.weights
    assert weights is not None
    return _PROVERS.get((trace.fingerprint, weights_digest_of(trace)), lambda: verifier_of(trace, weights))
