"""Sentences about the figures of the page *Why attention?*."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attnviz.analysis.clauses import Growth
from attnviz.analysis.forced_words import ForcedWords
from attnviz.analysis.gradient_decay import Reach
from attnviz.languages import gettext, ngettext
from attnviz.wording.labels import quote, shorten
from attnviz.wording.numbers import decimal, percent, significant, small
from attnviz.wording.scorers import texts_of

_APART = 10
"""Ratio of a word's probabilities from which two models are said to differ on it."""
_MOST_NAMED = 3


def attention_name(kind: str) -> str:
    """Return the name of a kind of attention."""
    return texts_of(kind).name


def short_name(kind: str) -> str:
    """Return the short name of a kind of attention, for a legend."""
    return texts_of(kind).short_name


def forgetting_sentences(found: ForcedWords, ahead: int) -> list[str]:
    """Return where the model without attention falls behind model `ahead` (an index); empty if all have attention."""
    behind = found.fixed
    if behind is None:
        return []
    lag, name = found.lag(behind, ahead), short_name(found.attentions[ahead])
    parts = []
    if len(lag) >= 4:
        half = len(lag) // 2
        first, second = (float(np.exp(part.mean())) for part in (lag[:half], lag[half:]))
        parts.append(
            gettext(
                "In the first half of the words, the model with attention ({attention}) gives a word {first} "
                "times the probability that the fixed vector gives it. In the second half, it gives {second} "
                "times that probability (geometric means).",
                attention=name,
                first=significant(first),
                second=significant(second),
            )
        )
        if second > first and second > 1:
            parts.append(gettext("The fixed vector falls further and further behind."))
        elif first > 1:
            parts.append(gettext("The fixed vector is behind from the beginning."))
        else:
            parts.append(gettext("For this sentence one vector is enough."))
    parts.append(_apart(found, lag, behind, ahead))
    return parts


def _apart(found: ForcedWords, lag: np.ndarray, behind: int, ahead: int) -> str:
    """Return the words on which the two models differ most."""
    far = [int(place) for place in np.argsort(-lag, kind="stable")[:_MOST_NAMED] if lag[place] >= np.log(_APART)]
    if not far:
        return gettext("No word is ten times less likely with the fixed vector.")
    named = [
        gettext(
            "{word} ({fixed} against {other})",
            word=quote(shorten(found.words[place], 20)),
            fixed=small(float(np.exp(found.log_probabilities[behind, place]))),
            other=small(float(np.exp(found.log_probabilities[ahead, place]))),
        )
        for place in far
    ]
    count = int((lag >= np.log(_APART)).sum())
    return gettext(
        "Words at least ten times less likely with the fixed vector than with attention: {count} of {all}, above "
        "all {listed}.",
        count=count,
        all=len(lag),
        listed=", ".join(named),
    )


def reach_sentences(kinds: Sequence[str], found: Sequence[Reach], shares: Sequence[tuple[float, float] | None]) -> str:
    """Return how gradients decay in models with these `kinds` of attention, one line each.

    `shares` are the share of the gradient that reaches the piece that additive attention attends to most, and the share
    that a uniform gradient would have; None where unknown.
    """
    lines = [
        gettext("Median length of the gradient, for the nearest quarter of the pairs and for the farthest quarter:")
    ]
    lines += [_reach(kind, one) for kind, one in zip(kinds, found, strict=True)]
    known = [(kind, share) for kind, share in zip(kinds, shares, strict=True) if share is not None]
    if known:
        listed = ", ".join(f"{short_name(kind)} {percent(share[0])}" for kind, share in known)
        lines.append(
            gettext(
                "Share of the gradient that reaches the piece with the most additive attention: {listed}. A "
                "uniform gradient would give this piece {alike}.",
                listed=listed,
                alike=percent(known[0][1][1]),
            )
        )
    return "\n\n".join(lines)


def _reach(kind: str, found: Reach) -> str:
    """Return how gradients decay in a model with this kind of attention."""
    near, far = (tuple(map(small_length, ends)) for ends in (found.near, found.far))
    told = {"name": attention_name(kind), "start_near": near[0], "start_far": far[0], "near": near[1], "far": far[1]}
    told["fall"] = ""
    if np.isfinite(found.tenth):
        told["fall"] = " " + ngettext(
            "(falls to a tenth every {count:.0f} step)", "(falls to a tenth every {count:.0f} steps)", found.tenth
        )
    if kind == "none":
        return gettext(
            "{name}: by the recurrence alone {start_near} and {start_far}{fall}, by the vector {near} and {far}.",
            **told,
        )
    return gettext(
        "{name}: by the recurrence alone {start_near} and {start_far}{fall}, by attention {near} and {far}.", **told
    )


def small_length(length: float) -> str:
    """Return the norm of a gradient to two digits."""
    return small(length) if length < 1 else significant(length)


def growth_sentence(found: Growth) -> str:
    """Return how translation quality changes as the sentence grows."""
    words = found.words
    listed = [
        gettext(
            "{name} from {first} to {last}",
            name=short_name(kind),
            first=decimal(float(row[0]), 0),
            last=decimal(float(row[-1]), 0),
        )
        for kind, row in zip(found.attentions, found.scores, strict=True)
    ]
    told = gettext(
        "chrF as the sentence grows from {first} to {last} words: {listed}.",
        first=words[0],
        last=words[-1],
        listed=", ".join(listed),
    )
    ends = (decimal(float(end), 0) for end in (found.floor.min(), found.floor.max()))
    told += " " + gettext("An unrelated text scores {first} to {last}.", first=next(ends), last=next(ends))
    if "none" not in found.attentions or "additive" not in found.attentions:
        return told
    fixed, other = (found.scores[found.attentions.index(kind)] for kind in ("none", "additive"))
    broken = [count for count, one, two in zip(words, fixed, other, strict=True) if one < two / 2]
    if broken:
        return (
            told
            + " "
            + gettext(
                "At {listed} words the fixed vector fails: its chrF is less than half that of additive attention.",
                listed=", ".join(map(str, broken)),
            )
        )
    return (
        told
        + " "
        + gettext(
            "The fixed vector never fails on this sentence: at every length, its chrF is at least half that of "
            "additive attention."
        )
    )


def length_sentence(words: int, bucket: str, scores: dict[str, float]) -> str:
    """Return the length bucket of a sentence, and the BLEU of each kind of attention there."""
    listed = ", ".join(f"{short_name(kind)} {decimal(score, 1)}" for kind, score in scores.items())
    return ngettext(
        "Your sentence has {count} word. BLEU for sentences of {bucket} words: {listed}.",
        "Your sentence has {count} words. BLEU for sentences of {bucket} words: {listed}.",
        words,
        bucket=bucket,
        listed=listed,
    )
