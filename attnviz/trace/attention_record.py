"""`Attention`: the record of attention that another program computed: its quantities, remarks, checks and JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.text import join_pieces
from attnviz.trace import storage
from attnviz.trace.aligned import Aligned, Groups
from attnviz.trace.drawing import drawing, step_index
from attnviz.trace.head_views import HeadViews, mean_of_heads
from attnviz.trace.parts import KINDS, FloatArray, Heads, IntArray
from attnviz.trace.quantity import Quantity

Links = tuple[tuple[int, int], ...]
"""Links (source word, target word), both 0-based."""
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
"""Keys of the assumptions and changes of a reader; `wording.imported_attention` has the sentences."""

RECORDED = (
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


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Attention(HeadViews, Aligned):
    """Attention computed by another program: two sentences in pieces, the matrix, and optional further numbers.

    Tx and Ty count source and target pieces; n is the length of a state. With the weights of every head, L is the
    number of layers and H the number of heads of each; `select_heads` returns the record with the alignment of others.
    In self-attention, source and target are the same sequence. `attnviz.attention` makes one from tokens and a matrix.
    """

    saved_as: ClassVar[storage.FileFormat] = storage.FileFormat("attnviz-attention", 1)
    arrays: ClassVar[tuple[Quantity, ...]] = RECORDED
    translated: ClassVar[bool] = False

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
    sure: Links = ()
    """Sure gold links, drawn by people."""
    possible: Links = ()
    """Possible gold links; sure links are not repeated here."""
    links: Links = ()
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

    def _links_between_words(self) -> Links:
        """Return the links of the file between words."""
        numbers = {(int(self.source_word_of[j]), int(self.target_word_of[i])) for j, i in self.links}
        return tuple(sorted(link for link in numbers if -1 not in link))

    def _special_words(self, source: Groups, target: Groups) -> tuple[frozenset[int], frozenset[int]]:
        """Return which of the groups of pieces are special tokens instead of words, for source and target."""
        sides = zip((self.source_word_of, self.target_word_of), (source, target), strict=True)
        found = [frozenset(n for n, group in enumerate(groups) if words[group[0]] < 0) for words, groups in sides]
        return found[0], found[1]

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
        if self.kind not in KINDS:
            raise ValueError(f"the kind of attention {self.kind!r} is unknown")

    def check_texts(self) -> None:
        """Raise ValueError unless words are numbered from 0 without a gap and all links are between existing words."""
        storage.check_characters(self.source_pieces, self.target_pieces)
        if self.is_self_attention and self.source_pieces != self.target_pieces:
            raise ValueError("source and target of self-attention differ")
        for name, words in (("source", self.source_word_of), ("target", self.target_word_of)):
            if [n for group in _groups(words) if (n := int(words[group[0]])) != -1] != [*range(words.max() + 1)]:
                raise ValueError(f"the words of the {name} are not in order")
        source, target = int(self.source_word_of.max()) + 1, int(self.target_word_of.max()) + 1
        for j, i in (*self.sure, *self.possible):
            if not (0 <= j < source and 0 <= i < target):
                raise ValueError(f"the link {j}-{i} is of no words: there are {source} and {target}, from 0")
        source, target = len(self.source_pieces), len(self.target_pieces)
        for j, i in self.links:
            if not (0 <= j < source and 0 <= i < target):
                raise ValueError(f"the link {j}-{i} is of no tokens: there are {source} and {target}, from 0")

    def check_numbers(self) -> None:
        """Raise ValueError unless the weights are not negative and each row sums to 1 (within ROUNDED) or to 0."""
        for weights in (self.alignment, self.head_weights):
            sums = weights.astype(np.float64).sum(axis=-1)
            if weights.min(initial=0) < 0 or (weights.size and not is_distribution(sums).all()):
                raise ValueError("a row of the alignment does not sum to 1")
            if self.kind == "decoder" and weights.size and np.triu(weights, 1).any():
                raise ValueError("decoder self-attention must be causal, but a token attends to a later one")

    def to_json(self) -> str:
        """Return the record in the open format (`attnviz.trace.open_format`), numbers as their shortest decimals."""
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
        for name in ("energies", "states", "gradient", "erased"):
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

        Raise AttnvizError where it is neither.
        """
        from attnviz.trace.open_format import from_fields  # imported here: open_format imports this module

        try:
            fields = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise AttnvizError(gettext("The text is not JSON: {error}.", error=error)) from error
        return from_fields(fields)

    def heatmap(self, **choices: Any) -> Any:
        """Return the alignment as a Plotly figure; `choices` as for `figures.heatmap`."""
        return drawing().heatmap(self, **choices)

    def step_figure(self, i: int, picture: str = "look", **choices: Any) -> Any:
        """Return the figure `picture` of target piece `i` (0-based), a name from `figures.STEP_FIGURES`.

        Raise AttnvizError where there is no such piece or picture.
        """
        return drawing().step_figure(self, step_index(self, i), picture, **choices)

    def _repr_html_(self) -> str:
        """Return the heatmap as an HTML table without scripts, which notebooks display."""
        return drawing().table_html(self)


ROUNDED = 0.01
"""Largest accepted distance of a row's sum from 1.

Other programs print a few digits of each weight, or compute in half precision.
"""
OF_HEADS = ("one-head", "mean-of-heads")
"""Remarks that say which heads the alignment is of."""


def is_distribution(sums: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether each sum of a row, in an array of any shape, is 1 within ROUNDED, or 0."""
    found: NDArray[np.bool_] = (np.abs(sums - 1) <= ROUNDED) | (sums == 0)
    return found


def _groups(word_of: IntArray) -> Groups:
    """Return the indices of the pieces of each word, and of each special token, from the word of each piece."""
    starts = np.flatnonzero(np.diff(word_of, prepend=-2) | (word_of == -1))
    return tuple(tuple(group.tolist()) for group in np.split(np.arange(len(word_of)), starts[1:]))


def _text(pieces: Sequence[str], word_of: IntArray) -> str:
    return join_pieces(piece for piece, word in zip(pieces, word_of, strict=True) if word >= 0)


def _plain(array: NDArray[np.float32]) -> Sequence[Any]:
    """Return float32 numbers of any shape as nested lists of the shortest decimals; null for minus infinity."""
    if array.ndim > 1:
        return [_plain(part) for part in array]
    return [None if x == -np.inf else float(str(x)) for x in array]
