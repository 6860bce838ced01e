"""`Format`, the detector and reader of one format of attention files, and helpers that the formats share."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.importing.link_text import Links
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.reading import Content
from attnviz.trace import MOST_TOKENS

NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
"""Regular expression of a decimal number."""
BAR = "|||"
"""Separator of fields in many line formats."""
_WEIGHT = rf"(?:{NUMBER}|[-+]?nan|[-+]?inf)"
WEIGHTS = re.compile(rf"{_WEIGHT}(?:,{_WEIGHT})*")
"""Weights separated by commas, without blanks."""


@dataclass(frozen=True)
class Format:
    """A format of attention files."""

    name: str
    """Name for `read_attention(format=…)` and `--format`."""
    title: str
    """Programs that write the format, for display."""
    detect: Callable[[Content], str | None]
    """Return a sentence that says why the content is in this format; None where it is not."""
    read: Callable[[Content], Sentences]
    """Return the sentence pairs of detected content; raise AttnvizError where it is damaged."""
    near_miss_message: Callable[[Content], str | None] = lambda _: None
    """Return what similar content of no known format lacks, and how to get it; None for content that is not similar."""
    aliases: tuple[str, ...] = ()
    """Other names accepted by `format=`."""


def fields_of(line: str) -> list[str]:
    """Return the fields of a line separated by `BAR`, stripped."""
    return [part.strip() for part in line.split(BAR)]


def is_number(text: str) -> bool:
    """Return whether `text` is a decimal number."""
    return re.fullmatch(NUMBER, text) is not None


def are_weights(text: str) -> bool:
    """Return whether `text` consists only of comma-separated groups of weights.

    A single number, such as a score, is not a group of weights.
    """
    groups = text.split()
    return "," in text and all(map(WEIGHTS.fullmatch, groups))


def matrix_of_groups(text: str) -> NDArray[np.float64]:
    """Return the matrix whose rows are the comma-separated groups in `text`, (groups, weights in each).

    Raise AttnvizError where groups differ in length or exceed the largest size.
    """
    rows = [group.split(",") for group in text.split()]
    if len(rows) > MOST_TOKENS + 1 or len(rows[0]) > MOST_TOKENS + 1 or len({*map(len, rows)}) > 1:
        raise AttnvizError(
            gettext(
                "In a line, all groups of comma-separated weights must have the same length. A line may have at "
                "most {most} groups of at most {most} weights.",
                most=MOST_TOKENS + 1,
            )
        )
    return np.array(rows, dtype=np.float64)


def linked(links: Links, remarks: tuple[str, ...] = (), line: int | None = None, **tokens: object) -> SentencePair:
    """Return a sentence pair with `links` and those of its `tokens` that are not None."""
    return SentencePair({side: text for side, text in tokens.items() if text is not None}, links, remarks, line)


def damaged_line(number: int, line: str) -> AttnvizError:
    """Return the error for a line that does not match the format of the others."""
    return AttnvizError(
        gettext(
            "Line {number} does not have the same format as the lines before it: “{line}”.",
            number=number,
            line=line.strip()[:60],
        )
    )
