"""Texts about the detector, a model that judges whether two sentences are translations of each other.

They are the verdict, its equation, captions, the effect of swapping two words, and the verification of the verdict.
"""

from __future__ import annotations

from attnviz.analysis.verification import Verification
from attnviz.languages import gettext, ngettext
from attnviz.palette import ThemeName, palette
from attnviz.trace import Judgement
from attnviz.wording.equations import Equation
from attnviz.wording.numbers import aligned, coloured, decimal, number, power_of_ten, thousands, vector


def verdict(judgement: Judgement) -> str:
    """Return the verdict in a sentence."""
    share = decimal(judgement.probability, 3)
    if judgement.is_translation:
        return gettext("A translation: p = {share}", share=share)
    return gettext("Not a translation: p = {share}", share=share)


def verdict_equation(judgement: Judgement, theme: ThemeName) -> Equation:
    """Return the equation of the verdict from the sums of the comparisons: hidden layer, logits, probabilities."""
    ink = palette(theme)
    first, second = coloured(ink.encoder, "v_1"), coloured(ink.decoder, "v_2")
    rows, columns = len(judgement.source_pieces), len(judgement.target_pieces)
    scores = [number(float(value)) for value in judgement.logits]
    shares = [number(float(value)) for value in judgement.probabilities]
    lines = (
        rf"{first} &= \textstyle\sum_{{i=1}}^{{{rows}}} v_{{1,i}} = {vector(judgement.source_sum)}",
        rf"{second} &= \textstyle\sum_{{j=1}}^{{{columns}}} v_{{2,j}} = {vector(judgement.target_sum)}",
        rf"h &= \max(0, W_H [v_1 ; v_2] + c_H) = {vector(judgement.hidden)}",
        rf"o &= W_o h + c_o = [{scores[0]} ;\; {scores[1]}]",
        rf"p &= \operatorname{{softmax}}(o) = [{shares[0]} ;\; {coloured(ink.context, shares[1])}]",
    )
    note = gettext("In o and p, the first number belongs to “no translation”, the second to “translation”.")
    return Equation(1, aligned(*lines), note)


def attention_caption() -> str:
    """Return how to read the two heatmaps."""
    return gettext(
        "Both heatmaps apply a softmax to the same energies e. One heatmap shows where each French piece looks in the "
        "English sentence; the other shows where each English piece looks in the French sentence."
    )


def comparisons_caption() -> str:
    """Return how to read the strips of comparisons and their sum."""
    return gettext(
        "Each strip shows v₁ᵢ, the comparison of one English piece with the French pieces that this piece "
        "attends to. The verdict uses the English sentence only through v₁, the sum of these strips."
    )


def swap_sentence(original: Judgement, swapped: Judgement, difference: float | None, *, exact: bool) -> str:
    """Return the effect of a swap: the largest `difference` of any number; None where the pieces differ."""
    before, after = decimal(original.probability, 3), decimal(swapped.probability, 3)
    if difference is None:
        return gettext(
            "Swapping these two words changes how the sentence is cut into pieces, so the vectors change too. p "
            "goes from {before} to {after}.",
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
            numbers=thousands(verification.numbers),
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
        "The detector was trained on sentence pairs that are translations of each other, and on false pairs. A "
        "false pair was made from a real pair, with another sentence of similar length, a replaced word, or a "
        "missing clause."
    )


def quantity_names() -> dict[str, str]:
    """Return the names of a verdict's quantities in its verification."""
    sides = {"source": gettext("English"), "target": gettext("French")}
    each = {
        "embeddings": gettext("embeddings"),
        "projected": gettext("vectors a, b"),
        "features": gettext("features F"),
        "alignment": gettext("weights α"),
        "aligned": gettext("aligned vectors"),
        "comparisons": gettext("comparisons v"),
        "sum": gettext("sum of the comparisons"),
    }
    names = {f"{side}_{name}": f"{what}, {where}" for side, where in sides.items() for name, what in each.items()}
    return names | {
        "energies": gettext("energies e"),
        "hidden": gettext("layer h"),
        "logits": gettext("scores o"),
        "probabilities": gettext("probabilities p"),
    }
