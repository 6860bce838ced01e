"""Find the words that other hypotheses of the beam search have in place of a word of the translation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from attnviz.trace import Words
from attnviz.trace.parts import Hypothesis

_TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True)
class OtherHypothesis:
    """Another finished hypothesis, with the words that it has in place of one target word."""

    hypothesis: Hypothesis
    words: str
    """Empty where the hypothesis leaves the word out."""
    differs_elsewhere: bool
    """Whether the hypothesis differs from the translation in other words, too."""


def other_hypotheses(words: Words, hypotheses: Sequence[Hypothesis], target: int) -> list[OtherHypothesis]:
    """Return the hypotheses that have other words than the translation at its word `target`, best first.

    The first of `hypotheses` is the translation itself.
    """
    groups = [_TOKEN.findall(word) if word != "</s>" else [] for word in words.target]
    tokens = [token for group in groups for token in group]
    first = sum(len(group) for group in groups[:target])
    last = first + len(groups[target])
    found = []
    for hypothesis in hypotheses[1:]:
        others = _TOKEN.findall(hypothesis.translation)
        matcher = SequenceMatcher(None, tokens, others, autojunk=False)
        changes = [change for change in matcher.get_opcodes() if change[0] != "equal"]
        here = [change for change in changes if change[1] < last and change[2] > first]
        if here:
            instead = " ".join(token for _, _, _, start, end in here for token in others[start:end])
            differs_elsewhere = any(change[1] < first or change[2] > last for change in changes)
            found.append(OtherHypothesis(hypothesis, instead, differs_elsewhere))
    return found
