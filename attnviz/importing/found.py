"""What a file has of one sentence pair, before it is known to be enough: tokens may be missing, and links are not yet
weights."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.importing.counting import Counted, Counting, Ends
from attnviz.importing.heads import MEAN, HeadChoice, choose_heads
from attnviz.importing.link_text import Links
from attnviz.importing.unescaping import unescaped
from attnviz.languages import gettext
from attnviz.trace import MOST_TOKENS, Attention
from attnviz.trace.given import Tokens, size_of_matrix, split_tokens
from attnviz.trace.open_format import from_fields
from attnviz.trace.tokens import ENDS, to_pieces

Orientation = Literal["target", "source", "either"]
"""What a row of the file's matrix is of; "either" where the file does not say, and sizes or sums tell."""
_NEAR_ONE = 0.02
"""How far rows or columns may add up from 1 to tell the orientation of a matrix."""


@dataclass(frozen=True)
class Options:
    """How the reader wants a file to be read."""

    heads: HeadChoice = MEAN
    normalise: bool = False
    transpose: bool = False
    unescape: bool = False


AS_IT_IS = Options()


@dataclass(frozen=True, eq=False)
class Found:
    """One sentence pair of a file."""

    fields: Mapping[str, Any] = field(default_factory=dict)
    """What is known of it, in the open format (`attnviz.trace.open_format`); the matrix may have dimensions of layer
    and head before its own two."""
    links: Links | None = None
    """Links between tokens, where the file has these instead of a matrix; counted as the file counts."""
    remarks: tuple[str, ...] = ()
    line: int | None = None
    """Its line in files of source and target, from 0; None where that is its place in this file."""
    rows: Orientation = "target"
    padded: bool = False
    """Whether the matrix is of a batch, and may be larger than its sentences."""

    def tokens(self, side: str) -> str | None:
        """Return the tokens of "source" or "target" with blanks between them; None where the file has none."""
        given = self.fields.get(side)
        if isinstance(given, str):
            return given
        return " ".join(map(str, given)) if isinstance(given, Sequence) else None

    def counted(self, number: int, source: Tokens | None = None, target: Tokens | None = None) -> Counted | None:
        """Return the links with the numbers of tokens, as far as they are known; None for a matrix."""
        if self.links is None:
            return None
        sizes = []
        for side, given in (("source", source), ("target", target)):
            tokens = given or self.fields.get(side)
            sizes.append(len(split_tokens(tokens)) if isinstance(tokens, (str, list, tuple)) else None)
        return Counted(self.links, sizes[0], sizes[1], number)

    def attention(
        self, source: Tokens | None, target: Tokens | None, counting: Counting, options: Options
    ) -> Attention:
        """Return it as a record, with the tokens that are given instead of the file's own; raise AttnvizError where
        some are missing, and as `attnviz.attention` does."""
        given = {
            side: tokens
            for side, tokens in (("source", source), ("target", target))
            if tokens and tokens != self.tokens(side)
        }
        fields = {**self.fields, **given}
        if missing := [side for side in ("source", "target") if side not in fields]:
            raise AttnvizError(self._missing(missing))
        for side in ("source", "target"):
            _check_tokens(fields[side])
        if given:
            fields.pop("words", None)  # those were of other tokens
        remarks = list(self.remarks)
        if options.unescape:
            fields |= {side: unescaped(split_tokens(fields[side])) for side in ("source", "target")}
            remarks.append("unescaped")
        if self.links is not None:
            fields |= _linked(self.links, fields, counting, remarks)
        else:
            fields |= self._matrix(fields, options, remarks)
        found = from_fields(fields, normalise=options.normalise)
        if self.links is not None:
            found = _with_links(found, self.links.moved(-counting.base, -counting.base))
        return dataclasses.replace(found, remarks=tuple(dict.fromkeys((*found.remarks, *remarks))))

    def _matrix(self, fields: Mapping[str, Any], options: Options, remarks: list[str]) -> dict[str, Any]:
        """Return the matrix of the layer and head that the options name, a row for each target token, cut to the
        sentence, and energies of the same shape."""
        given = fields["matrix"]
        try:
            array = np.asarray(given, dtype=np.float64)
        except (ValueError, TypeError, OverflowError, RecursionError):
            return {}  # refused with the rest
        if array.ndim > 2:
            array, remark = choose_heads(array, options.heads)
            remarks += [remark] if remark else []
        elif options.heads != MEAN:
            raise AttnvizError(gettext("The file has one matrix a sentence pair: leave out layer and head."))
        if array.ndim != 2 or not array.size:
            return {}
        turned: dict[str, Any] = {}
        if options.transpose or self._is_of_source_rows(array, fields):
            array = array.T
            remarks.append("transposed")
            if fields.get("energies") is not None:
                turned["energies"] = np.asarray(fields["energies"], dtype=np.float64).T
        cut = _without_padding(array, fields, padded=self.padded)
        if cut.shape != array.shape:
            remarks.append("padding")
        return turned | {"matrix": cut}

    def _is_of_source_rows(self, array: NDArray[np.float64], fields: Mapping[str, Any]) -> bool:
        """Return whether the rows of a matrix are source tokens: as the file says or, where it does not, as the sizes
        allow alone, or as its columns add up to 1 and its rows do not."""
        if self.rows != "either":
            return self.rows == "source"
        rows, columns = (len(split_tokens(fields[side])) for side in ("target", "source"))
        straight, turned = self._holds(array, rows, columns), self._holds(array.T, rows, columns)
        if straight != turned:
            return turned
        return _add_up_to_one(array.T[:rows].sum(axis=1)) and not _add_up_to_one(array[:rows].sum(axis=1))

    def _holds(self, array: NDArray[np.float64], rows: int, columns: int) -> bool:
        """Return whether a matrix has the rows and columns of this many tokens, or one more for `</s>`, or padding."""
        return all(
            count <= size and (self.padded or size <= count + 1)
            for size, count in zip(array.shape, (rows, columns), strict=True)
        )

    def _missing(self, sides: Sequence[str]) -> str:
        """Return what must be given besides the file."""
        matrix = self.fields.get("matrix") if self.links is None else None
        shape = matrix.shape if isinstance(matrix, np.ndarray) else _shape_of(matrix)
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


def _check_tokens(tokens: object) -> None:
    """Raise AttnvizError unless these are a text or a list of texts."""
    fine = isinstance(tokens, str) or (isinstance(tokens, Sequence) and all(isinstance(one, str) for one in tokens))
    if not fine:
        raise AttnvizError(gettext("Tokens must be a list of texts, or one text with blanks between them."))


def _shape_of(matrix: object) -> tuple[int, ...]:
    """Return the numbers of rows and columns of a list of lists; nothing where it is none."""
    if isinstance(matrix, list) and matrix and all(isinstance(row, list) for row in matrix):
        return (len(matrix), len(matrix[0]))
    return ()


def _add_up_to_one(sums: NDArray[np.float64]) -> bool:
    """Return whether all these sums are 1, or nothing, and some is 1."""
    near = np.abs(sums - 1) <= _NEAR_ONE
    return bool(near.any() and (near | (sums == 0)).all())


def _linked(links: Links, fields: Mapping[str, Any], counting: Counting, remarks: list[str]) -> dict[str, Any]:
    """Return tokens and the matrix that links make of them: a row's links share it alike, or by their probabilities.
    A place past the last token is `</s>`, where the file counts so."""
    sides = [split_tokens(fields[side]) for side in ("source", "target")]
    if max(map(len, sides)) > MOST_TOKENS or not min(map(len, sides)):
        return {"source": sides[0], "target": sides[1], "matrix": [[0.0]]}  # it is refused with the rest
    here = links.moved(-counting.base, -counting.base)
    for place, (tokens, remark) in enumerate(zip(sides, ("source-end", "target-end"), strict=True)):
        last = max((link[place] for link in here.all), default=-1)
        if counting.ends and last == len(tokens) and tokens[-1:] != ["</s>"]:
            tokens.append("</s>")
            remarks.append(f"linked-{remark}")
    matrix = np.zeros((len(sides[1]), len(sides[0])))
    for j, i in here.all:
        matrix[i, j] = here.shares.get((j, i), 1)
    sums = matrix.sum(axis=1, keepdims=True)
    remarks += ["probabilities"] if links.shares else ["links"]
    remarks += [counting.remark] if counting.remark else []
    return {"source": sides[0], "target": sides[1], "matrix": matrix / np.where(sums == 0, 1, sums)}


def _with_links(found: Attention, links: Links) -> Attention:
    """Return a record with the links of its tokens; those that people marked are its gold links too, between words."""
    found = dataclasses.replace(found, links=tuple(sorted(links.all)))
    if not links.marked:
        return found
    by_words = [
        {(int(found.source_word_of[j]), int(found.target_word_of[i])) for j, i in some}
        for some in (links.all - links.possible, links.possible)
    ]
    return dataclasses.replace(
        found, sure=tuple(sorted(by_words[0])), possible=tuple(sorted(by_words[1] - by_words[0]))
    )


def _without_padding(matrix: NDArray[np.float64], fields: Mapping[str, Any], *, padded: bool) -> NDArray[np.float64]:
    """Return the matrix of a batch cut to its sentence: columns past the source that have no weight, and rows past the
    target's end."""
    columns, target = len(split_tokens(fields["source"])) + 1, split_tokens(fields["target"])
    cut = matrix
    if target and target[-1] in ENDS and len(cut) > len(target):
        cut = cut[: len(target)]
    elif padded and target and len(cut) > len(target):
        cut = cut[: len(target) + 1]
        cut = cut if cut[-1].any() else cut[:-1]
    if cut.shape[1] > columns and not cut[:, columns:].any():
        cut = cut[:, :columns]
    if padded and cut.shape[1] == columns and not cut[:, -1].any():
        cut = cut[:, :-1]
    return cut


@dataclass(frozen=True, eq=False)
class Sentences(Sequence[Found]):
    """The sentence pairs of a file, each read when it is asked for."""

    items: Sequence[Any] = field(repr=False)
    """What each is read from."""
    read: Callable[[Any], Found] = field(repr=False)
    """Raises AttnvizError where an item is damaged."""
    title: str = ""
    """The program or format, for people; that of the format where this is empty."""
    ends: Ends = "consistent"
    """Whether links past the last token are of `</s>`."""
    base: int | None = None
    """What links count from by the format; None where all of them together tell."""
    remarks: tuple[str, ...] = ()
    """What is to be said of every pair."""

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.items)

    def __getitem__(self, index: Any) -> Any:
        """Return what the file has of the pair at an index from 0."""
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        found = self.read(self.items[index])
        return dataclasses.replace(found, remarks=(*self.remarks, *found.remarks)) if self.remarks else found

    def __iter__(self) -> Iterator[Found]:
        """Yield what the file has of each pair."""
        return (self[index] for index in range(len(self)))


def words_of(tokens: Sequence[str]) -> tuple[int, ...]:
    """Return the word of each token, from 0, as the tokens' marks have it."""
    return to_pieces(tokens).words
