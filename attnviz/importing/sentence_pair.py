"""`SentencePair`: one pair of a file, which makes an `Attention`; `Sentences`: all pairs; `Options` of reading them.

Tokens of a pair may be missing, and its links are not yet a matrix.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, chain
from typing import Any, Literal

import numpy as np

from attnviz.errors import AttnvizError, user_error
from attnviz.importing.head_dimensions import MEAN_OF_HEADS, choose_heads
from attnviz.languages import gettext
from attnviz.reading import LIMITS
from attnviz.trace import MOST_TOKENS, Array, Attention
from attnviz.trace.attention_builder import Tokens, matrix_size_texts, split_tokens
from attnviz.trace.attention_record import from_fields
from attnviz.trace.parts import Heads, heads_in
from attnviz.trace.tokens import ENDS, unescaped
from attnviz.trace.word_link_text import Counted, Counting, Ends, Links

Orientation = Literal["target", "source", "either"]
"""Side that a matrix row stands for; "either" where the file does not say and sizes or sums decide."""
_NEAR_ONE = 0.02
"""Tolerance on the sum of rows or columns when the orientation of a matrix is inferred."""


@dataclass(frozen=True)
class Options:
    """Options of reading a file, as `read_attention` takes them."""

    heads: Heads = MEAN_OF_HEADS
    """Layer and head to read, from 0; negative numbers count from the last, None averages over all."""
    normalise: bool = False
    transpose: bool = False
    unescape: bool = False
    special: tuple[str, ...] = ()
    """Tokens that are no words, besides those with a known spelling."""


DEFAULT_OPTIONS = Options()


def known_tokens(value: Any) -> list[str] | None:
    """Return the tokens in a text, or in a list of texts; None in anything else."""
    with suppress(AttnvizError):
        return split_tokens(value)
    return None


@dataclass(frozen=True, eq=False)
class SentencePair:
    """One sentence pair of a file."""

    fields: Mapping[str, Any] = field(default_factory=dict)
    """Known fields in the open format (`attnviz.trace.attention_record`).

    The matrix may have dimensions of layer and head before its last two.
    """
    links: Links | None = None
    """Links between tokens, indexed as in the file, where it has links instead of a matrix."""
    remarks: tuple[str, ...] = ()
    line: int | None = None
    """Line of the pair in source and target files, from 0; None where it is the pair's position in this file."""
    rows: Orientation = "target"
    padded: bool = False
    """Whether the matrix comes from a padded batch, and may be larger than its sentences."""
    problem: str = ""
    """Why the pair cannot be read; empty where it can."""

    def tokens(self, side: str) -> list[str] | None:
        """Return the tokens of `side`, "source" or "target": [] for a blank line, None where they are unknown."""
        return known_tokens(self.fields.get(side))

    @cached_property
    def sides(self) -> tuple[list[str] | None, list[str] | None]:
        """Source and target tokens, as `tokens` returns them."""
        return self.tokens("source"), self.tokens("target")

    def counted(self, number: int) -> Counted | None:
        """Return the links with the known numbers of tokens, for the pair with this `number`; None without links."""
        if self.links is None:
            return None
        source, target = (len(tokens or ()) or None for tokens in self.sides)
        return Counted(self.links, source, target, number)

    def with_tokens(self, source: Tokens | None, target: Tokens | None) -> SentencePair:
        """Return the pair with these tokens in place of its own, where given; a blank line replaces no tokens."""
        given = {side: tokens for side, tokens in (("source", source), ("target", target)) if tokens is not None}
        fields = dict(self.fields)
        for side, tokens in given.items():
            own = self.tokens(side) or []
            if tokens and tokens not in (own, " ".join(own)):
                fields[side] = tokens
                fields.pop("words", None)  # they index the replaced tokens
            fields.setdefault(side, tokens)
        return dataclasses.replace(self, fields=fields)

    def complete_fields(self) -> dict[str, Any]:
        """Return the fields, with tokens on both sides; raise AttnvizError where these lack or the pair is damaged."""
        if self.problem:
            raise AttnvizError(self.problem)
        fields = dict(self.fields)
        if fields.get("kind") in ("encoder", "decoder"):  # self-attention needs the tokens once
            known = fields.get("source", fields.get("target"))
            fields = ({} if known is None else {"source": known, "target": known}) | fields
        if missing := [side for side in ("source", "target") if side not in fields]:
            raise AttnvizError(self._missing_message(missing))
        return fields

    def attention(self, counting: Counting, options: Options) -> Attention:
        """Return the pair as an `Attention`; raise AttnvizError as `complete_fields` and `attnviz.attention` do."""
        fields, remarks = self.complete_fields(), list(self.remarks)
        if options.unescape:
            fields |= {side: unescaped(split_tokens(fields[side])) for side in ("source", "target")}
            remarks.append("unescaped")
        links = self.links.moved(-counting.base, -counting.base) if self.links else None
        fields |= _link_matrix(links, fields, counting, remarks) if links else self._matrix(fields, options, remarks)
        fields["special"] = (*fields.get("special", ()), *options.special)
        record = from_fields(fields, normalise=options.normalise)
        if links:
            record = _with_links(record, links)
        return dataclasses.replace(record, remarks=tuple(dict.fromkeys((*record.remarks, *remarks))))

    def _matrix(self, fields: Mapping[str, Any], options: Options, remarks: list[str]) -> dict[str, Any]:
        """Return the weights (…, Ty, Tx) without padding, the heads to show, and the energies.

        Append to `remarks` what was changed. Return no fields for values that are no matrix.
        """
        values = fields["matrix"]
        try:
            array = np.asarray(values, dtype=np.float64)
        except (ValueError, TypeError, OverflowError, RecursionError):
            return {}  # `from_fields` raises the error
        found: dict[str, Any] = {}
        is_record = fields.get("format") == Attention.saved_as.name and array.ndim == 4  # even one head of one layer
        if array.ndim > 2 and not (is_record and options.heads == MEAN_OF_HEADS):
            choice = options.heads if options.heads != MEAN_OF_HEADS else heads_in(fields.get("heads")) or MEAN_OF_HEADS
            array, heads, remark = choose_heads(array, choice)
            remarks += [remark] if remark else []
            if choice != MEAN_OF_HEADS:
                found["heads"] = heads
        elif array.ndim <= 2 and options.heads != MEAN_OF_HEADS:
            raise user_error("The file has one matrix per sentence pair: leave out layer and head.")
        if array.ndim < 2 or not array.size:
            return {}
        mean = array.mean(axis=tuple(range(array.ndim - 2)))  # (Ty, Tx)
        if options.transpose or self._has_source_rows(mean, fields):
            array, mean = array.swapaxes(-1, -2), mean.T
            remarks.append("transposed")
            if fields.get("energies") is not None:
                found["energies"] = np.asarray(fields["energies"], dtype=np.float64).T
        rows, columns = self._size_without_padding(mean, fields)
        if (rows, columns) != mean.shape:
            remarks.append("padding")
        return found | {"matrix": array[..., :rows, :columns]}

    def _has_source_rows(self, matrix: Array, fields: Mapping[str, Any]) -> bool:
        """Return whether the rows of a matrix are source tokens.

        Where the file does not say, the sizes decide: a matrix may have one more row or column for `</s>`, or padding.
        Where both orientations fit, rows are source tokens if columns sum to 1 and rows do not.
        """
        if self.rows != "either":
            return self.rows == "source"
        counts = [len(split_tokens(fields[side])) for side in ("target", "source")]
        straight, transposed = (
            all(count <= size and (self.padded or size <= count + 1) for size, count in zip(shape, counts, strict=True))
            for shape in (matrix.shape, matrix.T.shape)
        )
        if straight != transposed:
            return transposed
        rows = counts[0]
        return _add_up_to_one(matrix.T[:rows].sum(axis=1)) and not _add_up_to_one(matrix[:rows].sum(axis=1))

    def _size_without_padding(self, matrix: Array, fields: Mapping[str, Any]) -> tuple[int, int]:
        """Return the numbers of rows and columns without empty ones past the tokens.

        Of a padded batch, rows past the end of the target are removed too: a decoder goes on after it.
        """
        rows, columns = matrix.shape
        source, target = (split_tokens(fields[side]) for side in ("source", "target"))
        while rows > len(target) and not matrix[rows - 1].any():
            rows -= 1
        while columns > len(source) and not matrix[:, columns - 1].any():
            columns -= 1
        if rows > len(target) > 0 and (self.padded or target[-1] in ENDS):
            rows = len(target) + (target[-1] not in ENDS)
        return rows, columns

    def _missing_message(self, sides: Sequence[str]) -> str:
        """Return the message that says which tokens must be given besides the file."""
        message = gettext(
            {
                "source target": "The file has no tokens. Give the source and target tokens, separated by spaces.",
                "source": "The file has no source tokens. Give the source tokens, separated by spaces.",
                "target": "The file has no target tokens. Give the target tokens, separated by spaces.",
            }[" ".join(sides)]
        )
        try:
            shape = np.shape(self.fields.get("matrix", ()))
        except ValueError:  # rows of different lengths
            shape = ()
        if len(shape) > 2:
            message += " " + gettext(
                "The array has shape {shape}; its last two dimensions are target and source tokens. If the array also "
                "has a dimension for sentences, give the tokens of all sentences, one sentence per line.",
                shape=" × ".join(map(str, shape)),
            )
        if len(shape) == 2:
            message += " " + gettext(
                "The matrix has {rows} for the target tokens and {columns} for the source tokens.",
                **matrix_size_texts(*shape),
            )
        return message


def _add_up_to_one(sums: Array) -> bool:
    """Return whether every sum is 1 or 0, and at least one is 1."""
    near = np.abs(sums - 1) <= _NEAR_ONE
    return bool(near.any() and (near | (sums == 0)).all())


def _link_matrix(links: Links, fields: Mapping[str, Any], counting: Counting, remarks: list[str]) -> dict[str, Any]:
    """Return the tokens and the matrix that `links`, from 0, make, (Ty, Tx).

    The links of a row share its weight equally, or in proportion to their probabilities. An index past the last token
    adds `</s>` where `counting.ends` is set.
    """
    sides = [split_tokens(fields[side]) for side in ("source", "target")]
    if max(map(len, sides)) > MOST_TOKENS or not min(map(len, sides)):
        return {"source": sides[0], "target": sides[1], "matrix": [[0.0]]}  # `from_fields` raises the error
    for axis, (tokens, remark) in enumerate(zip(sides, ("source-end", "target-end"), strict=True)):
        last = max((link[axis] for link in links.all), default=-1)
        if counting.ends and last == len(tokens) and tokens[-1:] != ["</s>"]:
            tokens.append("</s>")
            remarks.append(f"linked-{remark}")
    matrix = np.zeros((len(sides[1]), len(sides[0])))
    for j, i in links.all:
        matrix[i, j] = links.shares.get((j, i), 1)
    sums = matrix.sum(axis=1, keepdims=True)
    remarks += ["probabilities"] if links.shares else ["links"]
    remarks += [counting.remark] if counting.remark else []
    return {"source": sides[0], "target": sides[1], "matrix": matrix / np.where(sums == 0, 1, sums)}


def _with_links(record: Attention, links: Links) -> Attention:
    """Return `record` with the links of its tokens; links annotated by people also become gold links between words."""
    record = dataclasses.replace(record, links=tuple(sorted(links.all)))
    if not links.annotated:
        return record
    sure, possible = (
        {link for j, i in group if -1 not in (link := (int(record.source_word_of[j]), int(record.target_word_of[i])))}
        for group in (links.all - links.possible, links.possible)
    )
    return dataclasses.replace(record, sure=tuple(sorted(sure)), possible=tuple(sorted(possible - sure)))


@dataclass(frozen=True, eq=False)
class Sentences:
    """Sentence pairs of a file, each parsed on access."""

    items: Sequence[Any] = field(repr=False)
    """Unparsed data of each pair."""
    read: Callable[[Any], SentencePair] = field(default=lambda pair: pair, repr=False)
    """Parse one item, unless it is a pair already; raise AttnvizError where it is damaged."""
    title: str = ""
    """Program or format, for display; empty: the title of the format."""
    ends: Ends = "consistent"
    """Whether links past the last token may mean `</s>`."""
    base: int | None = None
    """Index of the first token by the format; None where it is inferred from all links."""
    remarks: tuple[str, ...] = ()
    """Keys of remarks that hold for every pair."""
    first: int | None = None
    """Number of the first pair, from 1, where the file numbers its pairs."""
    format: str = ""
    """Name of the format; empty: that of the `Format` that read them."""
    reason: str = ""
    """Why the file is in this format."""
    digest: str = ""
    """SHA-256 of the content of the file, or of each file."""
    size: int = 0
    """Bytes of that content."""

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.items)

    def __getitem__(self, index: int) -> SentencePair:
        """Return the pair at 0-based `index`."""
        try:
            pair = self.read(self.items[index])
        except AttnvizError as error:  # one damaged pair does not stop a file
            return SentencePair({}, Links(frozenset()), problem=str(error))
        return dataclasses.replace(pair, remarks=(*self.remarks, *pair.remarks)) if self.remarks else pair

    def __iter__(self) -> Iterator[SentencePair]:
        """Yield each pair."""
        return (self[index] for index in range(len(self)))


def check_numbers(first: int, last: int, most: int = LIMITS.lines) -> None:
    """Raise AttnvizError where pairs of these numbers, each with a line, are more than `most`."""
    if last - first >= most:
        raise user_error(
            "The sentence pairs are numbered up to {last}, which is more than attnviz reads. Split the file.", last=last
        )


def join_sentences(parts: Sequence[Sentences]) -> Sentences:
    """Return the pairs of several files of one format as those of one file.

    The lines of a file count on from those of the file before it, unless the files number their pairs on: then no
    number is in them twice. Raise AttnvizError where the files count the first token by different numbers.
    """
    if len(parts) == 1:
        return parts[0]
    lines = [[pair.line for pair in pairs if pair.line is not None] for pairs in parts]
    given = [*chain(*lines)]
    numbered_on = len({*given}) == len(given)
    starts = accumulate((0 if numbered_on else max(found, default=-1) + 1 for found in lines), initial=0)
    items = [(pairs, index, start) for pairs, start in zip(parts, starts, strict=False) for index in range(len(pairs))]

    def read(item: tuple[Sentences, int, int]) -> SentencePair:
        pairs, index, before = item
        pair = pairs[index]
        return pair if pair.line is None else dataclasses.replace(pair, line=pair.line + before)

    if len({part.base for part in parts}) > 1:
        raise user_error("Some of the files count tokens from 0, and other files from 1. Read the files one by one.")
    digest, size = " ".join(part.digest for part in parts), sum(part.size for part in parts)
    return dataclasses.replace(parts[0], items=items, read=read, remarks=(), first=None, digest=digest, size=size)
