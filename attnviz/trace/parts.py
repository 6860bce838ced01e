"""Parts of a trace: alignment by words, search settings, hypotheses, selected heads; attributions, gradient norms."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attnviz.bounds import shortened_repr

FloatArray = NDArray[np.float32]
IntArray = NDArray[np.int32]
Array = NDArray[np.float64]
Floating = NDArray[np.floating]
"""Of single or double precision."""
Indices = NDArray[np.intp]
HeadKind = Literal["encoder", "decoder", "cross"]
"""Encoder self-attention, decoder self-attention (causal), or cross-attention."""
HEAD_KINDS: tuple[HeadKind, ...] = get_args(HeadKind)

_LONGEST_REPR = 60
"""Characters of a field in the `repr` of a result."""


def float64(values: ArrayLike) -> Array:
    """Return numbers of any shape in float64."""
    return np.asarray(values, dtype=np.float64)


def fields_of_dataclass(result: Any) -> dict[str, Any]:
    """Return the fields of a dataclass by name, in order."""
    return {field.name: getattr(result, field.name) for field in dataclasses.fields(result)}


class OneLine:
    """Base of dataclasses whose `repr` is one line: an array is its shape, and anything long its number of items."""

    def __repr__(self) -> str:
        """Return the class with its fields."""
        fields = (field for field in dataclasses.fields(self) if field.repr)  # type: ignore[arg-type]
        values = ", ".join(f"{field.name}={_short(getattr(self, field.name))}" for field in fields)
        return f"{type(self).__name__}({values})"


def _short(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"array{value.shape}"
    text = repr(value)
    if isinstance(value, str) or (len(text) <= _LONGEST_REPR and "\n" not in text):
        return shortened_repr(value)
    return f"{len(value)} items" if isinstance(value, Sized) else type(value).__name__


@dataclass(frozen=True, repr=False)
class Words(OneLine):
    """An alignment by words: *sum* over the pieces of a source word, *mean* over those of a target word.

    Each row of `alignment` still sums to 1.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    alignment: FloatArray
    """Attention by words, (target words, source words), in [0, 1]."""
    source_groups: tuple[tuple[int, ...], ...]
    """For each source word, the indices of its pieces."""
    target_groups: tuple[tuple[int, ...], ...]
    links: tuple[tuple[int, int], ...] = ()
    """Links that a file has, pairs of numbers of `linkable` words, possible ones included; empty for weights."""
    special: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())
    """0-based source and target places of special tokens, such as `<s>`; a `</s>` at the end need not be named."""

    @cached_property
    def places(self) -> tuple[list[int], list[int]]:
        """The 0-based place of each source and target word that links may join: of all but special tokens.

        The number of such a word, in links, gold links and Pharaoh files, is its index here.
        """
        sides = zip((self.source, self.target), self.special, strict=True)
        found = [
            [n for n, name in enumerate(names) if n not in special and (n < len(names) - 1 or name != "</s>")]
            for names, special in sides
        ]
        return found[0], found[1]

    @cached_property
    def linkable(self) -> Words:
        """These words without special tokens; rows sum to 1 less what the special tokens get."""
        source, target = self.places
        return Words(
            tuple(self.source[j] for j in source),
            tuple(self.target[i] for i in target),
            self.alignment[np.ix_(target, source)],
            tuple(self.source_groups[j] for j in source),
            tuple(self.target_groups[i] for i in target),
            self.links,
        )

    def word_at(self, step: int) -> int:
        """Return the target word whose piece a step writes, 0-based.

        Args:
            step: Step, 0-based.
        """
        return next(i for i, group in enumerate(self.target_groups) if step in group)

    def merged(self, shares: NDArray[Any]) -> FloatArray:
        """Return weights between pieces as weights between these words.

        Args:
            shares: Weights between pieces, (Ty, Tx).

        Returns:
            Weights, (target words, source words).
        """
        by_source = _group_sums(shares.T, self.source_groups).T
        by_words = _group_sums(by_source, self.target_groups)
        counts = np.array([[len(group)] for group in self.target_groups], by_words.dtype)
        merged: FloatArray = (by_words / counts).astype(np.float32)
        return merged


def _group_sums(rows: NDArray[Any], groups: Sequence[Sequence[int]]) -> NDArray[Any]:
    """Return the sums over the rows (N, M) of each group, (groups, M)."""
    order = [index for group in groups for index in group]
    starts = np.cumsum([0, *map(len, groups)])[:-1]
    sums: NDArray[Any] = np.add.reduceat(rows[order], starts, axis=0)
    return sums


@dataclass(frozen=True)
class Search:
    """How the target was found."""

    method: str
    """One of "greedy", "beam" and "forced" (the target was given)."""
    beam: int = 1
    length_penalty: float = 0.0
    """The exponent a of Ty^a, by which a hypothesis' log probability is divided."""


@dataclass(frozen=True)
class Hypothesis:
    """A finished translation of the beam."""

    translation: str
    score: float
    """Log probability of all its pieces, divided by Ty^length_penalty."""


@dataclass(frozen=True)
class Heads:
    """The cross-attention heads of a transformer whose mean weights are displayed; both numbers are 0-based."""

    layer: int | None = None
    """The layer of the heads; None for all layers."""
    head: int | None = None
    """The head within the layer; None for all of its heads."""

    @property
    def name(self) -> str:
        """Name in an address, counted from 1 as in printed text: "2.3" is head 3 of layer 2; "2", or "all"."""
        return "all" if self.layer is None else ".".join(str(n + 1) for n in (self.layer, self.head) if n is not None)


def heads_in(value: object) -> Heads | None:
    """Return the heads that an object of JSON names as `layer` and `head`; None for any other value."""
    numbers: list[Any] = [value.get(name) for name in ("layer", "head")] if isinstance(value, Mapping) else [""]
    return Heads(*numbers) if all(number is None or type(number) is int for number in numbers) else None


def head_choices(trace: Any) -> dict[str, Heads]:
    """Return the choices for `trace` by their names in the address: means, then heads by layer; empty without heads."""
    weights = getattr(trace, "head_weights", None)
    if weights is None or weights.ndim != 4:
        return {}
    layers, heads = map(range, weights.shape[:2])
    choices = [Heads(), *(Heads(layer) for layer in layers)]
    choices += [Heads(layer, head) for layer in layers for head in heads]
    return {one.name: one for one in choices}


@dataclass(frozen=True, eq=False, repr=False)
class Attributions(OneLine):
    """How much each source piece contributes to log p(y_i), measured through encoder and decoder in two ways."""

    gradient: Array
    """Gradient × input: d log p(y_i) / d E x_j . E x_j, (Ty, Tx), in nats (Denil et al. 2014; Ding et al. 2019)."""
    erased: Array
    """Erasure: drop of log p(y_i) when E x_j becomes the vocabulary's mean embedding, (Ty, Tx), in nats."""


@dataclass(frozen=True, eq=False, repr=False)
class GradientNorms(OneLine):
    """Gradient norms of log p(y_i) by the source embeddings, split by the two paths into the encoder.

    As vectors, the gradients of the two paths add up to the whole gradient; their norms do not.
    """

    whole: Array
    """Norm |d log p(y_i) / d E x_j| of the whole gradient, (Ty, Tx)."""
    start: Array
    """Norm of the gradient that enters the encoder through the initial decoder state s_0, (Ty, Tx)."""
    contexts: Array
    """Norm of the gradient that enters the encoder through the context vectors and their weights, (Ty, Tx)."""
