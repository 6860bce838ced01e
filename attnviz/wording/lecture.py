"""Texts of the lecture file (a translation exported as an HTML page): its controls, and how to read its figures."""

from __future__ import annotations

from attnviz.analysis.grid import By, Face
from attnviz.languages import gettext
from attnviz.trace import Aligned, Attention
from attnviz.wording.attention_forms import face_explanation
from attnviz.wording.imported_attention import missing_values_reason, remark_sentences
from attnviz.wording.posterior_attention import posterior_caption


def lecture_labels() -> dict[str, str | dict[str, str]]:
    """Return the heading of a step, with `{i}` and `{n}` for the script to fill, and the labels of the controls."""
    return {
        "heading": gettext("Step {i} of {n}"),
        "labels": {
            "previous": gettext("Previous step"),
            "next": gettext("Next step"),
            "step": gettext("Step"),
            "grid": gettext("Alignment"),
            "faces": gettext("Before or after the word"),
        },
    }


def lecture_footer(
    trace: Aligned,
    by: By,
    *,
    face: Face,
    root: bool,
    margins: bool,
    logit_attributions: bool,
    whose: str,
    how: str,
    faces: bool = False,
) -> str:
    """Return how to read the figures of `trace`, by words or by pieces, and how it was made.

    `whose` and `how`: the architecture's clauses on which attention is displayed and how it was made. `root`:
    brightness is the square root of the weight. `margins`: sums and entropies are displayed.
    `logit_attributions`: there are logit attributions. `faces`: the heatmap has several faces, and `face` is displayed.
    """
    shade = gettext("the square root of the weight") if root else gettext("the weight")
    if not trace.attends:
        sentences = [
            gettext(
                "Without attention there is no alignment. Every step gets the same vector, the last forward "
                "annotation, which summarises the whole sentence."
            )
        ]
    elif face != "before":
        rows = (
            gettext("A row for each target word, a column for each source word.")
            if by == "words"
            else gettext("A row for each target piece, a column for each source piece.")
        )
        sentences = [rows, face_explanation(face)]
    elif by == "words":
        sentences = [
            gettext(
                "Each row is a target word, each column a source word. The brighter a cell, the larger {shade} "
                "that its target word gives to its source word.",
                shade=shade,
            )
        ]
    else:
        sentences = [
            gettext(
                "Each row is a target piece, each column a source piece. The brighter a cell, the larger {shade} "
                "that its target piece gives to its source piece.",
                shade=shade,
            )
        ]
    if whose:
        sentences.append(
            gettext(
                "A transformer has many attention distributions at each step. The heatmap shows one head, or the "
                "mean of several: {heads}.",
                heads=whose,
            )
        )
    if margins and trace.attends:
        sentences.append(_margins_caption(face))
    if faces:
        sentences.append(
            gettext(
                "Press B or a button above the heatmap to see attention before the word, attention after the "
                "word, or their difference."
            )
        )
        sentences.append(posterior_caption())
    if isinstance(trace, Attention):
        sentences += [*remark_sentences(trace), missing_values_reason()]
    elif not logit_attributions and not whose:
        sentences.append(gettext("Without the model's weights, this page has no logit attribution."))
    sentences.append(gettext("← and → change the step. {how}; made with attnviz.", how=how))
    return " ".join(sentences)


def _margins_caption(face: Face) -> str:
    """Return how to read the sums and entropies beside the heatmap."""
    if face == "after":
        return gettext(
            "Σ α′ is the sum of a column, roughly the number of steps aligned with it. H is the entropy of a row "
            "of α′ (how widely the row spreads)."
        )
    if face == "difference":
        return gettext(
            "Σ Δ is how much attention a column gains or loses once the words are known. ΔH is the entropy of α′ "
            "minus that of α."
        )
    return gettext(
        "Σ α is the sum of a column, all the attention that the column gets. H is the entropy of a row (how "
        "widely its attention spreads)."
    )
