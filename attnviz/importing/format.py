"""`Format`, one format of attention files, and the numbers and weights that the text formats share."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import user_error
from attnviz.importing.sentence_pair import Sentences
from attnviz.reading import Content
from attnviz.trace import MOST_TOKENS

NUMBER = r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,6})?"
"""Regular expression of a decimal number."""
_NUMBER = re.compile(NUMBER)
_WEIGHT = re.compile(rf"(?:{NUMBER}|[-+]?nan|[-+]?inf)")


@dataclass(frozen=True)
class Format:
    """A format of attention files."""

    name: str
    """Name for `read_attention(format=…)` and `--format`."""
    title: str
    """Programs that write the format, for display."""
    read: Callable[[Content, int | None], Sentences | None]
    """Return the sentence pairs of a file; None where it is not in this format. Raise AttnvizError where it is damaged.

    The second argument is the number of sentences that were given besides the file, None where none were.
    """
    near_miss_message: Callable[[Content], str | None] = lambda _: None
    """Return what similar content of no known format lacks, and how to get it; None for content that is not similar."""
    aliases: tuple[str, ...] = ()
    """Other names accepted by `format=`."""
    example: str = ""
    """How such a file looks, as Markdown."""
    written_by: str = ""
    """The commands that write it, as Markdown."""


def is_number(text: str) -> bool:
    """Return whether `text` is a decimal number."""
    return _NUMBER.fullmatch(text) is not None


def are_weights(groups: Sequence[str]) -> bool:
    """Return whether every text is a weight: a number, nan or inf; False where there is none."""
    return bool(groups) and all(map(_WEIGHT.fullmatch, groups))


def matrix_of(rows: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    """Return rows of weights as a matrix, (rows, weights of each).

    Raise AttnvizError where rows differ in length, or exceed the largest size.
    """
    if not rows or max(len(rows), len(rows[0])) > MOST_TOKENS + 1 or len({*map(len, rows)}) > 1:
        raise user_error(
            "The rows of weights of a sentence pair must have the same length. A pair may have at most {most} rows "
            "of at most {most} weights.",
            most=MOST_TOKENS + 1,
        )
    for row in rows:
        if not are_weights(row):
            raise user_error("“{text}” is not a row of weights.", text=" ".join(row)[:60])
    return np.array(rows, dtype=np.float64)
