"""Word links as text, in the format of the Pharaoh decoder that alignment tools exchange: `i-j i-j …`."""

from __future__ import annotations

from attnviz.analysis.measures import links
from attnviz.trace import Words


def pharaoh(words: Words, threshold: float | None = None) -> str:
    """Return the links of a translation as `i-j`, source before target, both from 0, `</s>` left out.

    Each target word is linked to the source word with the largest share in `words.alignment` (of attention, or, from
    `words_after`, of the posterior), and to none where that is `</s>`; with a `threshold`, to all with at least that
    share.
    """
    # </s> is the last word of both sides. Its row goes; its column stays until the links are drawn, for a word that
    # looked most at the end of the sentence has no counterpart.
    last = len(words.source) - 1
    return " ".join(f"{i}-{j}" for i, j in links(words.alignment[:-1], threshold) if i < last)
