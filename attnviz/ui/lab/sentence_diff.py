"""HTML of the sentences and translations of a comparison, with the words that only one of the two has highlighted."""

from __future__ import annotations

from html import escape

from attnviz import Trace
from attnviz.analysis.shared_words import shared_axis
from attnviz.languages import gettext
from attnviz.text import SPACE, SPECIAL_PIECES
from attnviz.ui.lab.compared_translation import Pair


def differing_sentences_html(pair: Pair) -> str:
    """Return the sentences of a pair and its translations as HTML, each only where they differ."""
    return "".join(
        _lines(pair, title, source) for title, source in ((gettext("English"), True), (gettext("French"), False))
    )


def _lines(pair: Pair, title: str, source: bool) -> str:
    first, second = (_words(trace, source) for trace in (pair.first, pair.other))
    axis = shared_axis([word for word, _ in first], [word for word, _ in second])
    if axis.same:
        return ""
    removed = [place for place, other in zip(axis.first, axis.other, strict=True) if other is None]
    added = [place for place, other in zip(axis.other, axis.first, strict=True) if other is None]
    css_class, language = ("encoder", "en") if source else ("decoder", "fr")
    return "".join(
        f'<p><span class="name">{escape(title)}, {escape(name)}</span> '
        f'<span class="{css_class}" lang="{language}">{_highlighted(words, highlighted, tag)}</span></p>'
        for name, words, highlighted, tag in (
            (pair.names[0], first, removed, "del"),
            (pair.names[1], second, added, "ins"),
        )
    )


def _words(trace: Trace, source: bool) -> list[tuple[str, bool]]:
    """Return the words of a sentence without </s>, each with whether a blank precedes it."""
    words = trace.words()
    names, groups = (words.source, words.source_groups) if source else (words.target, words.target_groups)
    pieces = trace.source_surfaces if source else trace.target_pieces
    return [
        (name, pieces[group[0]].startswith(SPACE) or pieces[group[0]] in SPECIAL_PIECES)
        for name, group in zip(names, groups, strict=True)
        if name != "</s>"
    ]


def _highlighted(words: list[tuple[str, bool]], highlighted: list[int | None], tag: str) -> str:
    return "".join(
        (" " if has_space and index else "")
        + (f"<{tag}>{escape(word)}</{tag}>" if index in highlighted else escape(word))
        for index, (word, has_space) in enumerate(words)
    )
