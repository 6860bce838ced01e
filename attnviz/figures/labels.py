"""Words and pieces as Plotly is to draw them: as they are, never read as its markup, never too long for an axis."""

from __future__ import annotations

from collections.abc import Iterable

from attnviz.wording.labels import LONGEST, shorten


def literal(text: str) -> str:
    """Return `text` so that Plotly draws these very characters.

    Plotly reads a little HTML (`<b>`, `<br>`, `<a href>`), character entities, and `$...$` as LaTeX where MathJax is
    loaded, in every label and hover text.
    """
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("$", "&#36;").replace("\n", " ")


def axis_labels(names: Iterable[str], longest: int = LONGEST) -> list[str]:
    """Return tick labels for `names`: shortened, then made literal."""
    return [literal(shorten(name, longest)) for name in names]


def label_stride(count: int, room: int = 260) -> int:
    """Return how many labels to step over so that no more than `room` of `count` are drawn."""
    return -(-count // room)
