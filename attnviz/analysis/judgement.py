"""Decomposable attention (Parikh et al. 2016): recomputation, verification, alignment, swaps, and its texts.

Written from the equations, without code of `attnviz.network`. Every sum over positions is rounded once, at its end
(`math.fsum`), so that the order of the pieces does not change a bit of the verdict.

Symbols and sizes are those of `trace.judgement_record`.

Each number is computed from the saved weights and the recorded operands.

They are the verdict, its equation, captions, the effect of swapping two words, and the verification of the verdict.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from attnviz.analysis.labels import (
    aligned,
    coloured_latex,
    decimal,
    number,
    power_of_ten,
    quoted_name,
    vector,
)
from attnviz.analysis.measures import weight_order
from attnviz.analysis.recomputation import Operand, RecomputedPass, Weights
from attnviz.analysis.step_equations import Equation
from attnviz.analysis.verification import ComparedNumbers, Verification, Verifier
from attnviz.analysis.weight_shapes import Shapes, linear_shapes
from attnviz.languages import gettext, gettexts, ngettext
from attnviz.palette import ThemeName, palette
from attnviz.trace import Array, Judgement, float64
from attnviz.trace.aligned import AttentionView


def recompute_decomposable(
    weights: Weights,
    source_ids: Sequence[int],
    target_ids: Sequence[int],
    operand: Operand = lambda _name, _place, computed: computed,
) -> dict[str, Array]:
    """Return every quantity of a verdict on `source_ids` and `target_ids`, both with `</s>`, in float64.

    Names and shapes are those of `trace.judgement_record`.

    `weights` maps parameter names to arrays. `operand` may replace each quantity by another value, such as the recorded
    one, before the next is computed from it.
    """
    network = _Pass(weights, operand)
    store = network.store
    embedded = [
        store(f"{side}_embeddings", float64(weights["embedding.weight"][list(ids)]))
        for side, ids in (("source", source_ids), ("target", target_ids))
    ]
    sides = list(zip(("source", "target"), embedded, strict=True))
    a, b = (store(f"{side}_projected", network.each(f"{side}_projection", x)) for side, x in sides)
    source, target = (
        store(f"{side}_features", network.forward("attend", x)) for side, x in (("source", a), ("target", b))
    )
    energies = store("energies", np.array([[float(f @ g) for g in target] for f in source]))
    forward, backward = store("source_alignment", _softmax(energies)), store("target_alignment", _softmax(energies.T))
    beta, alpha = store("source_aligned", _weighted(forward, b)), store("target_aligned", _weighted(backward, a))
    v_1 = _total(store("source_comparisons", network.forward("compare", np.concatenate([a, beta], axis=1))))
    v_2 = _total(store("target_comparisons", network.forward("compare", np.concatenate([b, alpha], axis=1))))
    both = np.concatenate([store("source_sum", v_1), store("target_sum", v_2)])
    hidden = store("hidden", np.maximum(network.linear("aggregate", both), 0))
    logits = store("logits", network.linear("output", hidden))
    store("probabilities", _softmax(logits[None])[0])
    return {name: computed for name, (computed,) in network.quantities.items()}


class _Pass(RecomputedPass):
    """One pass through the network."""

    def linear(self, name: str, vector: Array) -> Array:
        """Return W x + c, or W x for a layer without c."""
        product: Array = float64(self.weights[f"{name}.weight"]) @ vector
        bias = self.weights.get(f"{name}.bias")
        return product if bias is None else product + float64(bias)

    def each(self, name: str, vectors: Array) -> Array:
        """Apply `linear` to each row separately, since a matrix product may round differently by row."""
        return np.stack([self.linear(name, vector) for vector in vectors])

    def forward(self, name: str, vectors: Array) -> Array:
        """Return max(0, W_2 max(0, W_1 x + c_1) + c_2) of each row."""
        inner = np.maximum(self.each(f"{name}.inner", vectors), 0)
        return np.maximum(self.each(f"{name}.outer", inner), 0)


def _softmax(energies: Array) -> Array:
    """Return exp(e_j) / sum_k exp(e_k) of each row, (N, M)."""
    powers = np.exp(energies - energies.max(axis=1, keepdims=True))
    return powers / np.array([[math.fsum(row)] for row in powers])


def _total(vectors: Array) -> Array:
    """Return the sum of the rows, (N, d) to (d,)."""
    return np.array([math.fsum(column) for column in vectors.T])


def _weighted(shares: Array, vectors: Array) -> Array:
    """Return the sums of the `vectors` (M, d) weighted by each row of `shares` (N, M): (N, d)."""
    return np.stack([_total(row[:, None] * vectors) for row in shares])


class JudgementVerifier(Verifier):
    """Verifies a verdict, which has one step."""

    @staticmethod
    def weight_shapes(trace: Judgement, weights: Weights) -> Shapes:  # noqa: ARG004
        """Return the shape of every weight of the detector that made `trace`."""
        m, d = int(trace.config["embedding_size"]), int(trace.config["model_size"])
        shapes: Shapes = {
            "embedding.weight": (int(trace.config["vocabulary_size"]), m),
            "source_projection.weight": (d, m),
            "target_projection.weight": (d, m),
            **linear_shapes("aggregate", d, 2 * d),
            **linear_shapes("output", 2, d),
        }
        for name, inputs in (("attend", d), ("compare", 2 * d)):
            shapes |= linear_shapes(f"{name}.inner", d, inputs) | linear_shapes(f"{name}.outer", d, d)
        return shapes

    def pairs(self, *_: object, **__: object) -> ComparedNumbers:
        """Return every recorded quantity, as recorded and as recomputed from the quantities recorded before it.

        These are embeddings, features, energies, both alignments, weighted sums, comparisons, their sums, and the
        probabilities. The arguments have no effect.
        """

        def recorded(name: str, *_: object) -> Array:
            return float64(getattr(self.trace, name))

        recomputed = recompute_decomposable(self.weights, self.trace.source_ids, self.trace.target_ids, recorded)
        return {name: (getattr(self.trace, name), array) for name, array in recomputed.items()}


def pair_attention(judgement: Judgement, query_side: Literal["source", "target"] = "target") -> AttentionView:
    """Return the attention of one of the two sentences to the other: rows are queries, columns are keys."""
    key_side = "source" if query_side == "target" else "target"
    return AttentionView(
        record=judgement,
        name=query_side,
        source_pieces=getattr(judgement, f"{key_side}_pieces"),
        source_surfaces=getattr(judgement, f"{key_side}_surfaces"),
        target_pieces=getattr(judgement, f"{query_side}_pieces"),
        alignment=getattr(judgement, f"{query_side}_alignment"),
    )


def matching_positions(first: Judgement, other: Judgement) -> list[int] | None:
    """Return for each source piece of `other` the 0-based position of the same piece in `first`, each position once.

    None where the pieces are not a permutation of each other.
    """
    places: dict[int, list[int]] = {}
    for place, piece in enumerate(first.source_ids):
        places.setdefault(piece, []).append(place)
    if sorted(first.source_ids) != sorted(other.source_ids):
        return None
    return [places[piece].pop(0) for piece in other.source_ids]


def with_words_swapped(text: str, first: int, second: int) -> str:
    """Return `text` with two of its words, separated by spaces, exchanged; both are 0-based."""
    words = text.split()
    words[first], words[second] = words[second], words[first]
    return " ".join(words)


def largest_difference(judgement: Judgement, other: Judgement, places: list[int]) -> float:
    """Return the largest difference in comparisons, sums and probabilities between two judgements.

    `places` are the positions in `judgement` of the source pieces of `other`.
    """
    pairs = [
        (judgement.source_comparisons[places], other.source_comparisons),
        (judgement.source_sum, other.source_sum),
        (judgement.target_sum, other.target_sum),
        (judgement.probabilities, other.probabilities),
    ]
    return max(float(np.abs(first - second).max()) for first, second in pairs)


def verdict(judgement: Judgement) -> str:
    """Return the verdict in a sentence."""
    share = decimal(judgement.probability, 3)
    return gettext(
        "A translation: p = {share}" if judgement.is_translation else "Not a translation: p = {share}", share=share
    )


def verdict_equation(judgement: Judgement, theme: ThemeName) -> Equation:
    """Return the equation of the verdict from the sums of the comparisons: hidden layer, logits, probabilities."""
    ink = palette(theme)
    first, second = coloured_latex(ink.encoder, "v_1"), coloured_latex(ink.decoder, "v_2")
    rows, columns = len(judgement.source_pieces), len(judgement.target_pieces)
    scores = [number(value) for value in judgement.logits]
    shares = [number(value) for value in judgement.probabilities]
    lines = (
        rf"{first} &= \textstyle\sum_{{i=1}}^{{{rows}}} v_{{1,i}} = {vector(judgement.source_sum)}",
        rf"{second} &= \textstyle\sum_{{j=1}}^{{{columns}}} v_{{2,j}} = {vector(judgement.target_sum)}",
        rf"h &= \max(0, W_H [v_1 ; v_2] + c_H) = {vector(judgement.hidden)}",
        rf"o &= W_o h + c_o = [{scores[0]} ;\; {scores[1]}]",
        rf"p &= \operatorname{{softmax}}(o) = [{shares[0]} ;\; {coloured_latex(ink.context, shares[1])}]",
    )
    note = gettext("In o and p, the first number belongs to “no translation”, the second to “translation”.")
    return Equation(1, aligned(*lines), note)


def attention_caption() -> str:
    """Return how to read the two heatmaps."""
    return gettext(
        "Both heatmaps apply a softmax to the same energies e. One heatmap shows where each French piece looks in the "
        "English sentence; the other shows where each English piece looks in the French sentence."
    )


def compared_sentence(judgement: Judgement, step: int) -> str:
    """Return where 0-based target piece `step` attends, and the length of its comparison."""
    attention = pair_attention(judgement)
    best = weight_order(attention, step)[0]
    lengths = np.linalg.norm(judgement.target_comparisons, axis=1)
    return gettext(
        "{name} attends most to {other}, with weight {weight}. b is the vector of {name}. α is the mean of the English "
        "vectors, weighted by the attention of {name}. The network G compares b with α and returns v, of length "
        "{length}. The vectors v of all {count} pieces are added up.",
        name=quoted_name(judgement.target_pieces[step]),
        other=quoted_name(judgement.source_surfaces[best]),
        weight=decimal(attention.alignment[step, best]),
        length=decimal(lengths[step]),
        count=len(lengths),
    )


def comparisons_caption() -> str:
    """Return how to read the strips of comparisons and their sum."""
    return gettext(
        "Each strip shows v₁ᵢ, the comparison of one English piece with the French pieces that this piece attends to. "
        "The verdict uses the English sentence only through v₁, the sum of these strips."
    )


def swap_sentence(original: Judgement, swapped: Judgement, difference: float | None, *, exact: bool) -> str:
    """Return the effect of a swap: the largest `difference` of any number; None where the pieces differ."""
    before, after = decimal(original.probability, 3), decimal(swapped.probability, 3)
    if difference is None:
        return gettext(
            "Swapping these two words changes how the sentence is cut into pieces, so the vectors change too. p goes "
            "from {before} to {after}.",
            before=before,
            after=after,
        )
    sentence = gettext(
        "The swap of two words only reorders the vectors. p was {before} before the swap and is {after} after it. All "
        "numbers in the sums and in the verdict stay the same up to rounding error (at most {difference}).",
        before=before,
        after=after,
        difference=power_of_ten(difference) if difference else "0",
    )
    if exact:
        sentence += " " + gettext(
            "If every sum is rounded only once, the verdict after the swap is the same as before it, to the last bit."
        )
    return sentence


def verdict_badge_text(verification: Verification) -> str:
    """Return the verification badge of a verdict."""
    if verification.holds:
        return gettext(
            "All {numbers} numbers behind this verdict are verified. The largest error is {largest}.",
            numbers=verification.numbers,
            largest=power_of_ten(verification.largest_difference),
        )
    return ngettext(
        "Verification of this verdict failed for {count} quantity",
        "Verification of this verdict failed for {count} quantities",
        len(verification.discrepancies),
    )


def detector_caption() -> str:
    """Return what the detector was trained on."""
    return gettext(
        "The detector was trained on sentence pairs that are translations of each other, and on false pairs. A false "
        "pair was made from a real pair, with another sentence of similar length, a replaced word, or a missing clause."
    )


def judgement_quantity_names() -> dict[str, str]:
    """Return the names of a verdict's quantities in its verification."""
    sides = gettexts({"source": "English", "target": "French"})
    each = gettexts(
        {
            "embeddings": "embeddings",
            "projected": "vectors a, b",
            "features": "features F",
            "alignment": "weights α",
            "aligned": "aligned vectors",
            "comparisons": "comparisons v",
            "sum": "sum of the comparisons",
        }
    )
    names = {f"{side}_{name}": f"{what}, {where}" for side, where in sides.items() for name, what in each.items()}
    return names | gettexts(
        {
            "energies": "energies e",
            "hidden": "layer h",
            "logits": "scores o",
            "probabilities": "probabilities p",
        }
    )
