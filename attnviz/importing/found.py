"""What a file has of one sentence pair, before it is known to be enough: tokens may be lacking, and links are no
weights yet."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.trace import MOST_TOKENS, Attention
from attnviz.trace.given import Tokens, size_of_matrix, split_tokens
from attnviz.trace.open_format import from_fields
from attnviz.trace.tokens import ENDS

Links = Sequence[tuple[int, int]]
"""0-based (source token, target token)."""


@dataclass(frozen=True, eq=False)
class Found:
    """One sentence pair of a file."""

    fields: Mapping[str, Any]
    """What is known of it, in the open format (`attnviz.trace.open_format`)."""
    links: Links | None = None
    """Links between tokens, where the file has these in the place of a matrix."""
    remarks: tuple[str, ...] = ()

    def tokens(self, side: str) -> str | None:
        """Return the tokens of "source" or "target" with blanks between them; None where the file lacks them."""
        given = self.fields.get(side)
        if isinstance(given, str):
            return given
        return " ".join(map(str, given)) if isinstance(given, Sequence) else None

    def attention(
        self, source: Tokens | None = None, target: Tokens | None = None, *, normalise: bool = False
    ) -> Attention:
        """Return it as a record, with the tokens that are given in the place of the file's own; raise AttnvizError
        where some are lacking, and as `attnviz.attention` does."""
        given = {
            side: tokens
            for side, tokens in (("source", source), ("target", target))
            if tokens and tokens != self.tokens(side)
        }
        fields = {**self.fields, **given}
        if lacking := [side for side in ("source", "target") if side not in fields]:
            raise AttnvizError(self._lacking(lacking))
        if given:
            fields.pop("words", None)  # those were of other tokens
        if self.links is not None:
            fields |= _linked(self.links, fields)
        fields, padded = _without_padding(fields)
        found = from_fields(fields, normalise=normalise)
        remarks = dict.fromkeys((*found.remarks, *self.remarks, *(("padding",) if padded else ())))
        return dataclasses.replace(found, remarks=tuple(remarks))

    def _lacking(self, sides: Sequence[str]) -> str:
        """Return what is to be given besides the file."""
        shape: tuple[int, ...] = np.shape(self.fields["matrix"]) if self.links is None else ()
        if len(sides) == 2:
            told = gettext("The file has no tokens: give those of both sides, with blanks between them.")
        elif sides[0] == "source":
            told = gettext("The file has no source tokens: give them, with blanks between them.")
        else:
            told = gettext("The file has no target tokens: give them, with blanks between them.")
        if len(shape) != 2:
            return told
        size = gettext(
            "The matrix has {rows}, of target tokens, and {columns}, of source tokens.",
            **size_of_matrix(shape[0], shape[1]),
        )
        return f"{told} {size}"


def _linked(links: Links, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the matrix that links make of tokens: a row's links share it alike. What is linked one place past the last
    token is `</s>`."""
    sides = [split_tokens(fields[side]) for side in ("source", "target")]
    for place, tokens in enumerate(sides):
        if len(tokens) > MOST_TOKENS:
            break  # it is refused with the rest
        last = max((link[place] for link in links), default=-1)
        if last == len(tokens) and tokens[-1:] != ["</s>"]:
            tokens.append("</s>")
        if last >= len(tokens):
            raise AttnvizError(
                gettext(
                    "A link names token {number} of a side that has {count}; links count tokens from 0.",
                    number=last,
                    count=len(tokens),
                )
            )
    matrix = np.zeros((max(len(sides[1]), 1), max(len(sides[0]), 1)) if max(map(len, sides)) <= MOST_TOKENS else (1, 1))
    for j, i in links if matrix.size > 1 or max(map(len, sides)) == 1 else ():
        matrix[i, j] = 1
    sums = matrix.sum(axis=1, keepdims=True)
    return {"source": sides[0], "target": sides[1], "matrix": matrix / np.where(sums == 0, 1, sums)}


def _without_padding(fields: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return the fields with the matrix of a batch cut to its sentence: columns past the source that nobody looks at,
    and rows past the target's own end."""
    matrix = _plain(fields.get("matrix"))
    if matrix is None:
        return fields, False
    columns, target = len(split_tokens(fields["source"])) + 1, split_tokens(fields["target"])
    cut = matrix
    if target and target[-1] in ENDS and len(cut) > len(target):
        cut = cut[: len(target)]
    if cut.shape[1] > columns and not cut[:, columns:].any():
        cut = cut[:, :columns]
        cut = cut if cut[:, -1].any() else cut[:, :-1]
    return (fields | {"matrix": cut}, True) if cut.shape != matrix.shape else (fields, False)


def _plain(matrix: object) -> NDArray[Any] | None:
    """Return a matrix of an array file; None for what is still to be checked."""
    return matrix if isinstance(matrix, np.ndarray) and matrix.ndim == 2 else None


@dataclass(frozen=True, eq=False)
class AttentionFile:
    """What a file holds: one sentence pair, or many."""

    kind: str
    """The program or format, for people."""
    sentences: Sequence[Any] = field(repr=False)
    """What each is read from."""
    read: Any = field(repr=False)
    """Returns what one of `sentences` holds, a `Found`; raises AttnvizError."""

    def sentence(self, number: int) -> Found:
        """Return one by its number, from 1; raise AttnvizError where there is none, or it is damaged."""
        if not 1 <= number <= len(self.sentences):
            raise AttnvizError(
                gettext(
                    "There is no sentence {number}: the file has {count}.", number=number, count=len(self.sentences)
                )
            )
        found: Found = self.read(self.sentences[number - 1])
        return found
