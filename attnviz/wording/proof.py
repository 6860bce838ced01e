"""What the badge of a step says: what was proved, and which number is wrong and by how much."""

from __future__ import annotations

from attnviz.analysis.proof import TOLERANCE, Discrepancy, Proof
from attnviz.languages import say
from attnviz.text import piece_name
from attnviz.trace import Record
from attnviz.trace.quantities import QUANTITIES
from attnviz.wording.labels import quote
from attnviz.wording.numbers import power_of_ten, thousands

OF_POSITIONS = (
    *(name for name, quantity in QUANTITIES.items() if quantity.of_positions),
    "likelihood", "log_likelihood", "posterior", "reading",
)  # fmt: skip
"""Quantities whose first index is a source position."""


def quantity_names() -> dict[str, str]:
    """Return what the quantities of a proof are called on the page."""
    return {
        "annotations": say("annotations"),
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
        "gates": say("gates and candidate"),
        "memories": say("memory m"),
        "layer_states": say("state s, all layers"),
        "maxout pairs": say("pairs before the maxout"),
        "readouts": say("readout t"),
        "top_probabilities": say("likeliest words’ probabilities"),
        "log_probabilities": say("log probability of the word"),
        "target_ids": say("forced word y"),
        "ledger sums": say("sums of the ledger"),
        "likelihood": say("likelihoods p(y | h)"),
        "log_likelihood": say("logarithms of the likelihoods"),
        "posterior": say("posterior p(j | y)"),
        "reading": say("α′ of the heatmap"),
        "encoder_streams": say("the encoder’s residual stream"),
        "decoder_streams": say("the decoder’s residual stream"),
    } | {f"{kind}_{name}": f"{what}, {where}" for kind, where in _attentions().items() for name, what in _of_a_head()}


def _attentions() -> dict[str, str]:
    """Return what a transformer's three kinds of attention are called."""
    return {
        "encoder": say("English to itself"), "decoder": say("French to itself"), "cross": say("French to English"),
    }  # fmt: skip


def _of_a_head() -> list[tuple[str, str]]:
    """Return the numbers of a head of a transformer, by their names in the table of quantities."""
    return [
        ("queries", say("queries q")), ("keys", say("keys k")), ("values", say("values v")),
        ("scores", say("scores s")), ("weights", say("weights α")),
    ]  # fmt: skip


def not_proved_text(trace: Record) -> str:
    """Return why there is no proof where the weights are not at hand."""
    return say("Numbers not proved: the model that made them, “{model}”, is not here.", model=trace.model)


def misfit_text(trace: Record, step: int) -> str:
    """Return what there is to say of 0-based `step` where the trace was altered, or another model made it."""
    return say("Step {step}: this translation does not fit the weights of “{model}”",
               step=step + 1, model=trace.model)  # fmt: skip


def what_is_proved() -> str:
    """Return what the badge stands for."""
    return say(
        "Every number of this step is computed a second time, in NumPy with 64-bit floats, from the weights as saved "
        "and from the operands shown beside it, by code that shares nothing with the network’s. It counts as right "
        "within {tolerance:g} of the largest number of its kind.", tolerance=TOLERANCE,
    )  # fmt: skip


def badge_text(proof: Proof, step: int) -> str:
    """Return what the badge of `step` says; it quotes nobody, so that it may be read as Markdown."""
    if proof.holds:
        return say("All {numbers} numbers of step {step} check out against NumPy in 64 bits, max |Δ| = {largest}",
                   numbers=thousands(proof.numbers), step=step + 1,
                   largest=power_of_ten(proof.largest_difference))  # fmt: skip
    first, *others = proof.discrepancies
    what = quantity_names()[first.quantity]
    if first.index:
        what = say("{what}, no. {number}", what=what, number=first.index[0] + 1)
    if len(others) == 1:
        return say("Step {step}: {what} does not check out (nor does 1 other quantity)", step=step + 1, what=what)
    if others:
        return say("Step {step}: {what} does not check out (nor do {count} other quantities)",
                   step=step + 1, what=what, count=len(others))  # fmt: skip
    return say("Step {step}: {what} does not check out", step=step + 1, what=what)


def discrepancy_text(trace: Record, wrong: Discrepancy, step: int) -> str:
    """Return which number of `step` is wrong, and by how much, as plain text."""
    name = quantity_names()[wrong.quantity]
    if not wrong.index:
        return say("{what}: there are not as many numbers as there should be.", what=name)
    if wrong.quantity in OF_POSITIONS:
        piece = quote(piece_name(trace.source_pieces[wrong.index[0]]))
        name = say("{what} of {piece}", what=name, piece=piece)
    return say(
        "{what}, number {number} at step {step}: shown {shown:.6g}, recomputed {recomputed:.6g}, |Δ| = {difference}",
        what=name, number=", ".join(str(index + 1) for index in wrong.index), step=step + 1, shown=wrong.shown,
        recomputed=wrong.recomputed, difference=power_of_ten(abs(wrong.shown - wrong.recomputed)),
    )  # fmt: skip
