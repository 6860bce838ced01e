"""What a format of attention files is: a detector that says why it believes so, and a reader."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.importing.content import Content
from attnviz.importing.found import Found, Sentences
from attnviz.importing.link_text import Links
from attnviz.languages import gettext
from attnviz.trace import MOST_TOKENS

NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
"""A decimal number as a regular expression."""
BAR = "|||"
"""Parts the fields of a line in many formats."""
_WEIGHT = rf"(?:{NUMBER}|[-+]?nan|[-+]?inf)"
WEIGHTS = re.compile(rf"{_WEIGHT}(?:,{_WEIGHT})*")
"""A group of weights with commas between them."""


@dataclass(frozen=True)
class Format:
    """A format of attention files."""

    name: str
    """As `read_attention` and `--format` take it."""
    title: str
    """The programs that write it, for people."""
    detect: Callable[[Content], str | None]
    """Returns why the content is in this format, a sentence; None where it is not."""
    read: Callable[[Content], Sentences]
    """Returns the sentence pairs of a content that was detected; raises AttnvizError where it is damaged."""
    resembles: Callable[[Content], str | None] = lambda _: None
    """Returns what a content that is not in this format resembles and lacks, and how to get it; None where it does not
    resemble it."""
    aliases: tuple[str, ...] = ()
    """Other names that `format=` may have."""


def fields_of(line: str) -> list[str]:
    """Return the fields between the bars of a line, without outer blanks."""
    return [part.strip() for part in line.split(BAR)]


def is_number(text: str) -> bool:
    """Return whether a text is a decimal number."""
    return re.fullmatch(NUMBER, text) is not None


def are_weights(text: str) -> bool:
    """Return whether a text is nothing but groups of weights with commas between them; a mere number, a score, is
    none."""
    groups = text.split()
    return "," in text and all(map(WEIGHTS.fullmatch, groups))


def matrix_of_groups(text: str) -> NDArray[np.float64]:
    """Return the matrix in groups of weights, a row for each; raise AttnvizError where they are of several lengths."""
    rows = [group.split(",") for group in text.split()]
    if len(rows) > MOST_TOKENS + 1 or len(rows[0]) > MOST_TOKENS + 1 or len({*map(len, rows)}) > 1:
        raise AttnvizError(
            gettext(
                "The groups of weights must have one length, and be at most {most} of at most as many.",
                most=MOST_TOKENS + 1,
            )
        )
    return np.array(rows, dtype=np.float64)


def linked(links: Links, remarks: tuple[str, ...] = (), line: int | None = None, **tokens: object) -> Found:
    """Return a pair with links, and the tokens that the file has."""
    return Found({side: text for side, text in tokens.items() if text is not None}, links, remarks, line)


def damaged_line(number: int, line: str) -> AttnvizError:
    """Return the error for a line that does not have the form of the others."""
    return AttnvizError(
        gettext(
            "Line {number} does not have the form of the lines before it: “{line}”.",
            number=number,
            line=line.strip()[:60],
        )
    )
