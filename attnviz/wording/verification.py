"""Texts of the verification badge: names of quantities, what was verified, and which number is wrong by how much."""

from __future__ import annotations

from attnviz.analysis.verification import TOLERANCE, Discrepancy, Verification
from attnviz.languages import gettext, ngettext
from attnviz.text import piece_name
from attnviz.trace import Record
from attnviz.trace.trace import QUANTITIES
from attnviz.wording.labels import quote
from attnviz.wording.numbers import power_of_ten, thousands

POSITION_QUANTITIES = (
    *(name for name, quantity in QUANTITIES.items() if quantity.of_positions),
    "likelihood",
    "log_likelihood",
    "posterior",
    "heatmap_posterior",
)
"""Quantities whose first index is a source position."""


def quantity_names() -> dict[str, str]:
    """Return the names of the verified quantities on the page."""
    return {
        "annotations": gettext("annotations"),
        "initial_states": gettext("first state s₀"),
        "initial_memories": gettext("first cell states"),
        "keys": gettext("keys U h"),
        "score_vector": gettext("vector v"),
        "features": gettext("features f of the previous step’s weights"),
        "feature_weight": gettext("matrix L, which multiplies the features"),
        "queries": gettext("query W s"),
        "energies": gettext("energies e"),
        "energy sums": gettext("energy decomposition sums"),
        "alignment": gettext("weights α"),
        "entropy": gettext("entropy H"),
        "coverage": gettext("coverage Σ α"),
        "contexts": gettext("context vector c"),
        "states": gettext("state s"),
        "reset_gates": gettext("reset gate r"),
        "update_gates": gettext("update gate z"),
        "input_gates": gettext("input gate e"),
        "forget_gates": gettext("forget gate f"),
        "output_gates": gettext("output gate o"),
        "candidates": gettext("candidate state"),
        "memories": gettext("memory m"),
        "maxout pairs": gettext("pairs before the maxout"),
        "readouts": gettext("readout t"),
        "top_probabilities": gettext("likeliest words’ probabilities"),
        "log_probabilities": gettext("log probability of the word"),
        "target_ids": gettext("forced word y"),
        "attribution sums": gettext("attribution sums"),
        "likelihood": gettext("likelihoods p(y | h)"),
        "log_likelihood": gettext("logarithms of the likelihoods"),
        "posterior": gettext("posterior p(j | y)"),
        "heatmap_posterior": gettext("α′ of the heatmap"),
        "encoder_streams": gettext("the encoder’s residual stream"),
        "decoder_streams": gettext("the decoder’s residual stream"),
    } | {
        f"{kind}_{name}": f"{what}, {where}"
        for kind, where in _attention_names().items()
        for name, what in _head_quantities()
    }


def _attention_names() -> dict[str, str]:
    """Return the names of a transformer's three kinds of attention."""
    return {
        "encoder": gettext("English to itself"),
        "decoder": gettext("French to itself"),
        "cross": gettext("French to English"),
    }


def _head_quantities() -> list[tuple[str, str]]:
    """Return the quantities of a transformer head, by their names in the table of quantities."""
    return [
        ("queries", gettext("queries q")),
        ("keys", gettext("keys k")),
        ("values", gettext("values v")),
        ("energies", gettext("energies e")),
        ("alignment", gettext("weights α")),
    ]


def not_verified_text(trace: Record) -> str:
    """Return why nothing was verified where the weights are not available."""
    return gettext(
        "Numbers not verified: the model that computed them, “{model}”, is not installed.", model=trace.model
    )


def misfit_text(trace: Record, step: int) -> str:
    """Return the message that 0-based `step` does not match the weights: altered, or made by another model."""
    return gettext(
        "Step {step}: this translation does not match the weights of “{model}”", step=step + 1, model=trace.model
    )


def verification_caption() -> str:
    """Return what the badge means."""
    return gettext(
        "Every number of this step is computed a second time, in NumPy with 64-bit floats. The check uses the saved "
        "weights, the operands shown beside the number, and code separate from the network’s. A number passes if it "
        "is almost equal to the recomputed number: the difference may be {tolerance:g} of the largest number of its "
        "kind, or {tolerance:g} if that largest number is below 1.",
        tolerance=TOLERANCE,
    )


def badge_text(verification: Verification, step: int) -> str:
    """Return the badge of 0-based `step`; it contains no user input, so that it may be Markdown."""
    if verification.holds and verification.missing:
        return gettext(
            "{numbers} numbers of step {step} are verified with NumPy in 64 bits; the recomputed numbers differ by at "
            "most {largest}. {missing}",
            numbers=thousands(verification.numbers),
            step=step + 1,
            largest=power_of_ten(verification.largest_difference),
            missing=verification.missing,
        )
    if verification.holds:
        return gettext(
            "All {numbers} numbers of step {step} are verified with NumPy in 64 bits; the recomputed numbers differ "
            "by at most {largest}",
            numbers=thousands(verification.numbers),
            step=step + 1,
            largest=power_of_ten(verification.largest_difference),
        )
    first, *others = verification.discrepancies
    what = quantity_names()[first.quantity]
    if first.index:
        what = gettext("{what}, no. {number}", what=what, number=first.index[0] + 1)
    if others:
        return ngettext(
            "Step {step}: {what} failed verification (and so did {count} other quantity)",
            "Step {step}: {what} failed verification (and so did {count} other quantities)",
            len(others),
            step=step + 1,
            what=what,
        )
    return gettext("Step {step}: {what} failed verification", step=step + 1, what=what)


def discrepancy_text(trace: Record, discrepancy: Discrepancy, step: int) -> str:
    """Return which number of 0-based `step` is wrong, and by how much, as plain text."""
    name = quantity_names()[discrepancy.quantity]
    if not discrepancy.index:
        return gettext("{what}: the number of values is wrong.", what=name)
    if discrepancy.quantity in POSITION_QUANTITIES:
        piece = quote(piece_name(trace.source_pieces[discrepancy.index[0]]))
        name = gettext("{what} of {piece}", what=name, piece=piece)
    return gettext(
        "{what}, entry {number} at step {step}: shown {shown:.6g}, recomputed {recomputed:.6g}, |Δ| = {difference}",
        what=name,
        number=", ".join(str(index + 1) for index in discrepancy.index),
        step=step + 1,
        shown=discrepancy.shown,
        recomputed=discrepancy.recomputed,
        difference=power_of_ten(abs(discrepancy.shown - discrepancy.recomputed)),
    )
