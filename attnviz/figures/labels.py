"""Escape words and pieces for Plotly, shorten them for axes, and thin out axis labels."""

from __future__ import annotations

from collections.abc import Iterable

from attnviz.wording.labels import LONGEST, shorten


def literal(text: str) -> str:
    """Return `text` escaped so that Plotly draws these characters.

    In labels and hover texts Plotly interprets some HTML (`<b>`, `<br>`, `<a href>`), character entities, and `$...$`
    as LaTeX where MathJax is loaded.
    """
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("$", "&#36;").replace("\n", " ")


def axis_labels(names: Iterable[str], longest: int = LONGEST) -> list[str]:
    """Return tick labels for `names`: shortened, then escaped."""
    return [literal(shorten(name, longest)) for name in names]


def label_stride(count: int, most_labels: int = 260) -> int:
    """Return the stride at which at most `most_labels` of `count` labels are drawn."""
    return -(-count // most_labels)
