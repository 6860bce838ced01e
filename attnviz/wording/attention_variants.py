"""Names, symbols and explanations of attention before the word, posterior attention, and their difference."""

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


def about_face(face: Face) -> str:
    """Return what a face shows and how it differs from the others."""
    if face == "before":
        return gettext(
            "Before the word: α, where each step chose to look. It chose without knowing the word that it was to write."
        )
    if face == "after":
        return gettext(
            "After the word: α′, what each look turned out to be about once its word was written, that is α times how "
            "likely the word is where only that column is looked at. Where α is wrong, it mostly is because it had to "
            "look before it knew the word; neither of the two is called a cause. α′ asks the other steps too, while "
            "“After the word” below has one step by itself, as Bayes has it."
        )
    return gettext(
        "The difference, α′ − α: blue where a look turned out to be more about the column than α has it, red where "
        "less. Where α is wrong, it mostly is because it had to look before it knew the word. Neither is called a "
        "cause."
    )
