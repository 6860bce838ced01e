"""Names, symbols and explanations of the three matrices of the heatmap: attention, posterior attention, difference."""

from __future__ import annotations

from attnviz.analysis.grid import Face
from attnviz.languages import gettext

SYMBOLS: dict[Face, str] = {"before": "α", "after": "α′", "difference": "α′ − α"}
"""Symbol of each face's values."""


def face_names() -> dict[str, str]:
    """Return the name of each `Face`."""
    return {
        "before": gettext("Before the word"),
        "after": gettext("After the word"),
        "difference": gettext("Difference"),
    }


def face_explanation(face: Face) -> str:
    """Return what a face shows and how it differs from the others."""
    if face == "before":
        return gettext(
            "Before the word: α, the attention weights of each step. The step computes these weights before it "
            "knows the word that it will write."
        )
    if face == "after":
        return gettext(
            "After the word: α′, the posterior attention, computed once the word is known. For each column, "
            "Bayes’ rule multiplies α by the probability that the word would have if the step looked only at "
            "that column. When α is wrong, the usual reason is that the step computes α before it knows the "
            "word. Neither α nor α′ is the cause of the word. α′ also uses the other steps, unlike the stage "
            "“After the word” below, which uses only one step."
        )
    return gettext(
        "The difference, α′ − α: blue where the word raises the weight of the column, red where the word lowers "
        "this weight. When α is wrong, the usual reason is that the step computes α before it knows the word. "
        "Neither α nor α′ is the cause of the word."
    )
