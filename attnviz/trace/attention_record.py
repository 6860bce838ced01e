"""`Attention`: the record of attention that another program computed, made from tokens and a matrix, or from JSON.

The JSON is this program's open format, which any other program can write: an object with these fields.

- `source`, `target`: the tokens as lists of strings, with whatever marks the program uses for subwords;
- `matrix`: a row for each target token with a number from 0 to 1 for each source token; rows sum to 1. Or such a matrix
  for each head of each layer, with dimensions (layers, heads, target tokens, source tokens).

These fields are optional.

- `energies`: numbers of the same shape, before the softmax; `null` for a masked position;
- `states`: a row of numbers for each target token;
- `gradient`, `erased`: attributions of the log probability of each target token to the source tokens, numbers of the
  same shape;
- `kind`: "cross", or "encoder" or "decoder" for self-attention, where `source` and `target` are the same;
- `heads`: `{"layer": …, "head": …}`, both from 0, the heads that are shown where there are several; `null` means all;
- `gold`: links drawn by people, `{"sure": [[0, 0], …], "possible": […]}`, as pairs of a source and a target word, both
  from 0, where a word is the tokens that subword marks join; or Pharaoh text, `0-0` sure and `1?2` possible;
- `links`: the links between tokens that the matrix was made from, pairs of a source and a target token, both from 0;
- `words`: `{"source": […], "target": […]}`, the 0-based word of each token, which overrides subword marks;
- `remarks`: what a reader of this program assumed or changed, keys of REMARKS;
- `origin`: who computed it, a string; `format`: "attnviz-attention" and `version`: 1, which identify the format.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from attnviz.arguments import also_spelled, check_version
from attnviz.errors import AttnvizError, user_error
from attnviz.languages import gettext
from attnviz.text import join_pieces
from attnviz.trace import storage, word_link_text
from attnviz.trace.aligned import Aligned, Groups
from attnviz.trace.attention_builder import (
    LinkTuple,
    Tokens,
    checked_numbers,
    checked_pieces,
    is_distribution,
    pairs_of,
)
from attnviz.trace.head_views import HeadViews, mean_of_heads
from attnviz.trace.parts import HEAD_KINDS, FloatArray, HeadKind, Heads, IntArray, heads_in
from attnviz.trace.quantity import Quantity
from attnviz.trace.tokens import MOST_TOKENS

REMARKS = (
    "source-end",
    "target-end",
    "scaled",
    "empty-rows",
    "links",
    "cut-names",
    "padding",
    "energies-differ",
    "one-head",
    "mean-of-heads",
    "transposed",
    "pair-arrays-ignored",
    "one-of-several",
    "linked-source-end",
    "linked-target-end",
    "counted-from-0",
    "counted-from-1",
    "counted-from-0-assumed",
    "counted-by-format",
    "probabilities",
    "phrases",
    "null-links",
    "target-first",
    "best-only",
    "reordered",
    "margins-dropped",
    "index-dropped",
    "unescaped",
    "special-tokens",
)
"""Keys of the assumptions and changes of a reader; `analysis.imported_file_texts` has the sentences."""

_RECORDED = (
    Quantity("alignment", r"\alpha_{ij}", ("Ty", "Tx"), r"\alpha_{ij}", "attention as given; rows sum to 1 or 0"),
    Quantity("energies", r"e_{ij}", ("Ty", "Tx"), r"e_{ij}", "energies as given", may_be_absent=True),
    Quantity("states", r"s_i", ("Ty", "n"), r"s_i", "decoder states as given", may_be_absent=True),
    Quantity(
        "head_weights",
        r"\alpha_{ij}",
        ("L", "H", "Ty", "Tx"),
        r"\alpha_{ij}",
        "attention of every head of every layer, as given",
        may_be_absent=True,
    ),
    Quantity(
        "gradient",
        r"g_{ij}",
        ("Ty", "Tx"),
        r"\partial \log p(y_i) / \partial E x_j \cdot E x_j",
        "gradient × input, in nats",
        may_be_absent=True,
    ),
    Quantity(
        "erased",
        r"d_{ij}",
        ("Ty", "Tx"),
        r"\log p(y_i) - \log p(y_i \mid E x_j = \bar{e})",
        "drop of log p(y_i) when E x_j becomes the mean embedding, in nats",
        may_be_absent=True,
    ),
    Quantity("source_word_of", "j", ("Tx",), "j", "0-based word of each source piece; -1 for a special token"),
    Quantity("target_word_of", "i", ("Ty",), "i", "0-based word of each target piece; -1 for a special token"),
)


def _none() -> FloatArray:
    return np.zeros(0, np.float32)


FURTHER = ("energies", "states", "gradient", "erased")
"""Fields of further numbers of a pair, which may be absent."""
LONGEST_ORIGIN = 200
OF_HEADS = ("one-head", "mean-of-heads")
"""Remarks that say which heads the alignment is of."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Attention(HeadViews, Aligned):
    """Attention computed by another program: two sentences in pieces, the matrix, and optional further numbers.

    Tx and Ty count source and target pieces; n is the length of a state. With the weights of every head, L is the
    number of layers and H the number of heads of each; `select_heads` returns the record with the alignment of others.
    In self-attention, source and target are the same sequence. `attnviz.attention` makes one from tokens and a matrix.
    """

    saved_as: ClassVar[storage.FileFormat] = storage.FileFormat("attnviz-attention", 1)
    arrays: ClassVar[tuple[Quantity, ...]] = _RECORDED
    translated: ClassVar[bool] = False
    attention_figure: ClassVar[str] = "look"
    architecture: ClassVar[str] = "attention"

    alignment: FloatArray
    """Attention alpha_ij, (Ty, Tx), not negative; rows sum to 1, or to 0 for a target piece without links."""
    energies: FloatArray
    """Energies e_ij, (Ty, Tx), or (0,) where unknown."""
    states: FloatArray
    """Decoder states s_i, (Ty, n), or (0,) where unknown."""
    source_word_of: IntArray
    """0-based word of each source piece, (Tx,); -1 for a special token, such as `<s>`, which is no word."""
    target_word_of: IntArray
    """0-based word of each target piece, (Ty,); -1 for a special token."""
    head_weights: FloatArray = field(default_factory=_none)
    """Weights of every head, (L, H, Ty, Tx), or (0,) where there is one matrix; rows sum to 1 or 0."""
    gradient: FloatArray = field(default_factory=_none)
    """Gradient × input of log p(y_i) by each source piece, (Ty, Tx), in nats, or (0,) where unknown."""
    erased: FloatArray = field(default_factory=_none)
    """Drop of log p(y_i) when the embedding of a source piece becomes the mean, (Ty, Tx), in nats, or (0,)."""
    heads: Heads = field(default_factory=Heads)
    """The heads whose mean is `alignment`, where there are several."""
    kind: str = "cross"
    """One of KINDS."""
    sure: LinkTuple = ()
    """Sure gold links, drawn by people."""
    possible: LinkTuple = ()
    """Possible gold links; sure links are not repeated here."""
    links: LinkTuple = ()
    """Links (source token, target token) of the file, 0-based, possible ones included; empty for a matrix."""
    origin: str = ""
    """The program or model that computed the attention; empty where unknown."""
    remarks: tuple[str, ...] = ()
    """What the reader assumed or changed, as keys of REMARKS."""

    @property
    def is_self_attention(self) -> bool:
        """Whether the tokens of one sequence attend to those of the same sequence."""
        return self.kind != "cross"

    def _changed_fields(self, heads: Heads) -> dict[str, Any]:
        """Return the alignment of `heads`, and the remark that says which heads it is of."""
        others = tuple(remark for remark in self.remarks if remark not in OF_HEADS)
        remark = "mean-of-heads" if heads.head is None else "one-head"
        return {"alignment": mean_of_heads(self.head_weights, heads), "remarks": (*others, remark)}

    @property
    def source_surfaces(self) -> tuple[str, ...]:
        """The source pieces; typed characters are unknown."""
        return self.source_pieces

    @property
    def source_text(self) -> str:
        """The source sentence, without special tokens."""
        return _text(self.source_pieces, self.source_word_of)

    @property
    def translation(self) -> str:
        """The target sentence, without special tokens."""
        return _text(self.target_pieces, self.target_word_of)

    def word_groups(self) -> tuple[Groups, Groups]:
        """Return the indices of the pieces of each word, for source and target, from the recorded word numbers."""
        return _groups(self.source_word_of), _groups(self.target_word_of)

    def _links_between_words(self) -> LinkTuple:
        """Return the links of the file between words."""
        numbers = {(int(self.source_word_of[j]), int(self.target_word_of[i])) for j, i in self.links}
        return tuple(sorted(link for link in numbers if -1 not in link))

    def _are_special(self) -> tuple[Sequence[bool], Sequence[bool]]:
        """Return of each source and target piece whether it is a special token instead of a part of a word."""
        return (self.source_word_of < 0).tolist(), (self.target_word_of < 0).tolist()

    def sizes(self) -> dict[str, int]:
        """Return the value of each size symbol in the table of quantities."""
        width = self.states.shape[1] if self.states.ndim == 2 else 0
        layers, heads = self.head_weights.shape[:2] if self.head_weights.ndim == 4 else (0, 0)
        return {"Tx": len(self.source_pieces), "Ty": len(self.target_pieces), "n": width, "L": layers, "H": heads}

    def check_origin(self) -> None:
        """Raise ValueError unless the origin can be displayed and every remark is known."""
        storage.check_characters((self.origin,))
        if unknown := set(self.remarks) - set(REMARKS):
            raise ValueError(f"the remark {min(unknown)!r} is unknown")
        if self.kind not in HEAD_KINDS:
            raise ValueError(f"the kind of attention {self.kind!r} is unknown")

    def check_texts(self) -> None:
        """Raise ValueError unless words are numbered from 0 without a gap and all links are between existing words."""
        storage.check_characters(self.source_pieces, self.target_pieces)
        if self.is_self_attention and self.source_pieces != self.target_pieces:
            raise ValueError("source and target of self-attention differ")
        for name, words in (("source", self.source_word_of), ("target", self.target_word_of)):
            if [n for group in _groups(words) if (n := int(words[group[0]])) != -1] != [*range(words.max() + 1)]:
                raise ValueError(f"the words of the {name} are not in order")
        for unit, links, source, target in (
            ("words", (*self.sure, *self.possible), self.source_word_of.max() + 1, self.target_word_of.max() + 1),
            ("tokens", self.links, len(self.source_pieces), len(self.target_pieces)),
        ):
            for j, i in links:
                if not (0 <= j < source and 0 <= i < target):
                    raise ValueError(f"the link {j}-{i} is of no {unit}: there are {source} and {target}, from 0")

    def check_numbers(self) -> None:
        """Raise ValueError unless the weights are not negative and each row sums to 1 (within ROUNDED) or to 0."""
        for weights in (self.alignment, self.head_weights):
            sums = weights.astype(np.float64).sum(axis=-1)
            if weights.min(initial=0) < 0 or (weights.size and not is_distribution(sums).all()):
                raise ValueError("a row of the alignment does not sum to 1")
            if self.kind == "decoder" and weights.size and np.triu(weights, 1).any():
                raise ValueError("decoder self-attention must be causal, but a token attends to a later one")

    def to_json(self) -> str:
        """Return the record in the open format, numbers as their shortest decimals."""
        fields: dict[str, Any] = {
            "format": self.saved_as.name,
            "version": self.saved_as.version,
            "origin": self.origin,
            "source": self.source_pieces,
            "target": self.target_pieces,
            "matrix": _plain(self.head_weights if self.head_weights.size else self.alignment),
            "words": {"source": self.source_word_of.tolist(), "target": self.target_word_of.tolist()},
        }
        if self.heads != Heads():
            fields["heads"] = {"layer": self.heads.layer, "head": self.heads.head}
        if self.is_self_attention:
            fields["kind"] = self.kind
        for name in FURTHER:
            if (array := getattr(self, name)).size:
                fields[name] = _plain(array)
        if self.links:
            fields["links"] = self.links
        if self.sure or self.possible:
            fields["gold"] = {"sure": self.sure, "possible": self.possible}
        return json.dumps(fields | {"remarks": self.remarks}, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Attention:
        """Read JSON that `to_json` wrote, or any other JSON in the open format.

        Args:
            text: The JSON.

        Returns:
            The record.

        Raises:
            AttnvizError: The text is neither.
        """
        try:
            fields = json.loads(text)
        except (TypeError, ValueError, RecursionError) as error:
            raise user_error("The text is not JSON: {error}.", error=error) from error
        return from_fields(fields)


def _groups(word_of: IntArray) -> Groups:
    """Return the indices of the pieces of each word, and of each special token, from the word of each piece."""
    starts = np.flatnonzero(np.diff(word_of, prepend=-2) | (word_of == -1))
    return tuple(tuple(group.tolist()) for group in np.split(np.arange(len(word_of)), starts[1:]))


def _text(pieces: Sequence[str], word_of: IntArray) -> str:
    return join_pieces(piece for piece, word in zip(pieces, word_of, strict=True) if word >= 0)


def _plain(array: FloatArray) -> Sequence[Any]:
    """Return float32 numbers of any shape as nested lists of the shortest decimals; null for minus infinity."""
    if array.ndim > 1:
        return [_plain(part) for part in array]
    return [None if x == -np.inf else float(str(x)) for x in array]


@also_spelled(normalize="normalise")
def attention(
    source: Tokens,
    target: Tokens,
    matrix: ArrayLike,
    *,
    energies: ArrayLike | None = None,
    states: ArrayLike | None = None,
    gradient: ArrayLike | None = None,
    erased: ArrayLike | None = None,
    kind: HeadKind = "cross",
    sure: Iterable[tuple[int, int]] = (),
    possible: Iterable[tuple[int, int]] = (),
    normalise: bool = False,
    origin: str = "",
    special: Collection[str] = (),
) -> Attention:
    """Return attention that another program computed as an `Attention`, which draws, saves and analyses like a trace.

    Tokens with a known special spelling (`<s>`, `[CLS]`, `</s>`, language codes at the ends), and those in `special`,
    are no words: links, gold links and Pharaoh files do not count them.

    Args:
        source: The source tokens.
        target: The target tokens.
        matrix: Weights (Ty, Tx), a row for each target token and a column for each source token. One extra row or
            column is taken to be `</s>`. With dimensions (layers, heads, Ty, Tx) the record holds every head: its
            alignment is their mean, and `select_heads` returns the record with that of one layer or head.
        energies: Energies (Ty, Tx), which may be -inf.
        states: States (Ty, n).
        gradient: Attributions (Ty, Tx) of each log p(y_i) to the source tokens, by gradient.
        erased: The same by erasure.
        kind: "cross", "encoder" (self-attention) or "decoder" (causal self-attention). In self-attention, both sides
            are equal.
        sure: Sure gold links between words, pairs (source, target) from 0.
        possible: Possible gold links.
        normalise: Whether to scale rows that do not sum to 1. Without it, rows must sum to 1 within ROUNDED, or to 0
            for a target token without links.
        origin: Name of the program, for display.
        special: Further tokens that are no words.

    Returns:
        The record.

    Raises:
        AttnvizError: Tokens and numbers do not fit; the message names what was found.
    """
    remarks = list[str]()
    left, right, weights = checked_pieces(source, target, matrix, kind, special, remarks, normalise=normalise)
    further = checked_numbers(weights, energies, states, {"gradient": gradient, "erased": erased}, remarks)
    if not isinstance(origin, str) or len(origin) > LONGEST_ORIGIN:
        raise user_error("“origin” must be a string of at most {most} characters.", most=LONGEST_ORIGIN)
    of_heads, sure_links = weights.astype(np.float32), pairs_of(sure)
    return _checked(
        Attention(
            source_pieces=left.pieces,
            target_pieces=right.pieces,
            alignment=of_heads if of_heads.ndim == 2 else mean_of_heads(of_heads, Heads()),
            head_weights=of_heads if of_heads.ndim == 4 else _none(),
            **further,
            kind=kind,
            source_word_of=np.array(left.words, np.int32),
            target_word_of=np.array(right.words, np.int32),
            sure=sure_links,
            possible=tuple(link for link in pairs_of(possible) if link not in sure_links),
            origin=origin,
            remarks=(*remarks, *(["mean-of-heads"] if of_heads.ndim == 4 else ())),
        )
    )


def _checked(record: Attention) -> Attention:
    """Return `record`; raise AttnvizError where its parts do not fit together."""
    try:
        record.check()
    except (ValueError, IndexError) as error:
        raise user_error("The fields of this attention object do not fit together: {error}.", error=error) from error
    return record


def from_fields(fields: object, *, normalise: bool = False) -> Attention:
    """Return the attention in an object of the open format; raise AttnvizError where it is none."""
    if not isinstance(fields, Mapping):
        raise user_error("This JSON does not hold attention: it must have the fields source, target and matrix.")
    if fields.get("format", Attention.saved_as.name) != Attention.saved_as.name:
        raise user_error(
            "This JSON is not in the attention format of attnviz: its field “format” is {format}.",
            format=repr(fields["format"])[:60],
        )
    check_version(gettext("This attention object"), fields.get("version", 1), Attention.saved_as.version)
    if missing := [name for name in ("source", "target", "matrix") if name not in fields]:
        raise user_error("Fields missing from this attention object: {names}.", names=", ".join(missing))
    gold = _gold(fields.get("gold") or {})
    named = (*FURTHER, "kind", "origin", "special")
    record = attention(
        fields["source"],
        fields["target"],
        fields["matrix"],
        sure=gold.get("sure", ()),
        possible=gold.get("possible", ()),
        normalise=normalise,
        **{name: fields[name] for name in named if name in fields},
    )
    if linked := fields.get("links"):
        record = dataclasses.replace(record, links=pairs_of(linked))
    if (chosen := fields.get("heads")) is not None:
        if (heads := heads_in(chosen)) is None:
            raise user_error(
                "The field “heads” must hold “layer” and “head”: each is an index counted from 0, or null."
            )
        record = record.select_heads(heads.layer, heads.head)
    return _with_words_and_remarks(record, fields.get("words"), fields.get("remarks", ()))


def _gold(value: object) -> Mapping[str, Any]:
    """Return gold links as an object; raise AttnvizError where they are neither an object nor Pharaoh text."""
    if isinstance(value, Mapping):
        return value
    try:
        links = word_link_text.parse_links(value) if isinstance(value, str) else word_link_text.Links(frozenset())
    except AttnvizError:
        links = word_link_text.Links(frozenset())
    if not links.all:
        raise user_error('The field "gold" must be an object with two lists of links, "sure" and "possible".')
    return {"sure": links.all - links.possible, "possible": links.possible}


def _with_words_and_remarks(record: Attention, words: object, remarks: object) -> Attention:
    """Return the record with the words and remarks that the file states.

    Raise AttnvizError where they do not fit.
    """
    if not isinstance(remarks, Sequence) or not all(isinstance(remark, str) for remark in remarks):
        raise user_error("“remarks” must be a list of strings.")
    all_remarks = tuple(dict.fromkeys((*remarks, *record.remarks)))
    record = dataclasses.replace(record, remarks=all_remarks)
    if words is not None:
        sides = words if isinstance(words, Mapping) and set(words) == {"source", "target"} else {}
        record = dataclasses.replace(
            record,
            source_word_of=_word_numbers(sides.get("source"), record.source_pieces),
            target_word_of=_word_numbers(sides.get("target"), record.target_pieces),
        )
    return _checked(record)


def _word_numbers(value: object, pieces: Sequence[str]) -> IntArray:
    """Return the word of each piece from a file, -1 for special tokens; a `</s>` at the end is no word."""
    numbers = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [None]
    if len(numbers) + 1 == len(pieces):
        numbers.append(-1)
    elif numbers and pieces[-1] == "</s>":
        numbers[-1] = -1
    if len(numbers) != len(pieces) or not all(type(n) is int and -1 <= n < MOST_TOKENS for n in numbers):
        raise user_error(
            "The field “words” must have two lists, “source” and “target”: for each token, the number of its "
            "word, counted from 0."
        )
    return np.array(numbers, np.int32)
