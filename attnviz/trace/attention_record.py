"""`Attention`: an alignment that another program computed, saved in an open format."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.text import join_pieces
from attnviz.trace import storage
from attnviz.trace.aligned import Aligned, Groups
from attnviz.trace.drawing import drawing, step_index
from attnviz.trace.parts import FloatArray, IntArray
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
    "unescaped",
)
"""Keys of the assumptions and changes of a reader; `wording.imported_attention` has the sentences."""

RECORDED = (
    Quantity("alignment", r"\alpha_{ij}", ("Ty", "Tx"), r"\alpha_{ij}", "attention as given; rows sum to 1 or 0"),
    Quantity("energies", r"e_{ij}", ("Ty", "Tx"), r"e_{ij}", "energies as given", may_be_absent=True),
    Quantity("states", r"s_i", ("Ty", "n"), r"s_i", "decoder states as given", may_be_absent=True),
    Quantity("source_word_of", "j", ("Tx",), "j", "0-based word of each source piece"),
    Quantity("target_word_of", "i", ("Ty",), "i", "0-based word of each target piece"),
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Attention(Aligned):
    """Attention computed by another program: two sentences in pieces, the matrix, and optional energies and states.

    Tx and Ty count source and target pieces; n is the length of a state. `attnviz.attention` makes one from tokens and
    a matrix.
    """

    saved_as: ClassVar[storage.Format] = storage.Format("attnviz-attention", 1)
    arrays: ClassVar[tuple[Quantity, ...]] = RECORDED
    translated: ClassVar[bool] = False

    alignment: FloatArray
    """Attention alpha_ij, (Ty, Tx), not negative; rows sum to 1, or to 0 for a target piece without links."""
    energies: FloatArray
    """Energies e_ij, (Ty, Tx), or (0,) where unknown."""
    states: FloatArray
    """Decoder states s_i, (Ty, n), or (0,) where unknown."""
    source_word_of: IntArray
    """0-based word of each source piece, (Tx,)."""
    target_word_of: IntArray
    """0-based word of each target piece, (Ty,)."""
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
    def attends(self) -> bool:
        """True: the record is an attention matrix."""
        return True

    @property
    def attends_once(self) -> bool:
        """False: the model that computed the attention cannot be run here."""
        return False

    @property
    def vocabulary_size(self) -> int:
        """0: the vocabulary is unknown."""
        return 0

    @property
    def source_surfaces(self) -> tuple[str, ...]:
        """The source pieces; typed characters are unknown."""
        return self.source_pieces

    @property
    def source_text(self) -> str:
        """The source sentence, without `<s>` and `</s>`."""
        return join_pieces(piece for piece in self.source_pieces if piece not in ("<s>", "</s>"))

    @property
    def translation(self) -> str:
        """The target sentence, without `<s>` and `</s>`."""
        return join_pieces(piece for piece in self.target_pieces if piece not in ("<s>", "</s>"))

    def word_groups(self) -> tuple[Groups, Groups]:
        """Return the indices of the pieces of each word, for source and target, from the recorded word numbers."""
        return _groups(self.source_word_of), _groups(self.target_word_of)

    def sizes(self) -> dict[str, int]:
        """Return the value of each size symbol in the table of quantities."""
        width = self.states.shape[1] if self.states.ndim == 2 else 0
        return {"Tx": len(self.source_pieces), "Ty": len(self.target_pieces), "n": width}

    def check_origin(self) -> None:
        """Raise ValueError unless the origin can be displayed and every remark is known."""
        storage.check_characters((self.origin,))
        if unknown := set(self.remarks) - set(REMARKS):
            raise ValueError(f"the remark {min(unknown)!r} is unknown")

    def check_texts(self) -> None:
        """Raise ValueError unless word numbers rise by at most 1 from 0 and all links are between existing words."""
        storage.check_characters(self.source_pieces, self.target_pieces)
        for name, words in (("source", self.source_word_of), ("target", self.target_word_of)):
            steps = np.diff(words)
            if words[0] != 0 or not np.isin(steps, (0, 1)).all():
                raise ValueError(f"the words of the {name} are not in order")
        source, target = int(self.source_word_of[-1]) + 1, int(self.target_word_of[-1]) + 1
        for j, i in (*self.sure, *self.possible):
            if not (0 <= j < source and 0 <= i < target):
                raise ValueError(f"the link {j}-{i} is of no words: there are {source} and {target}, from 0")
        source, target = len(self.source_pieces), len(self.target_pieces)
        for j, i in self.links:
            if not (0 <= j < source and 0 <= i < target):
                raise ValueError(f"the link {j}-{i} is of no tokens: there are {source} and {target}, from 0")

    def check_numbers(self) -> None:
        """Raise ValueError unless the weights are not negative and each row sums to 1 (within ROUNDED) or to 0."""
        sums = self.alignment.astype(np.float64).sum(axis=1)
        if self.alignment.min() < 0 or not ((np.abs(sums - 1) <= ROUNDED) | (sums == 0)).all():
            raise ValueError("a row of the alignment does not sum to 1")

    def to_json(self) -> str:
        """Return the record in the open format (`attnviz.trace.open_format`), numbers as their shortest decimals."""
        fields: dict[str, Any] = {
            "format": self.saved_as.mark,
            "version": self.saved_as.version,
            "origin": self.origin,
            "source": self.source_pieces,
            "target": self.target_pieces,
            "matrix": _plain(self.alignment),
            "words": {"source": self.source_word_of.tolist(), "target": self.target_word_of.tolist()},
        }
        for name in ("energies", "states"):
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


def _groups(word_of: IntArray) -> Groups:
    """Return the indices of the pieces of each word, from the word of each piece."""
    starts = np.flatnonzero(np.diff(word_of, prepend=-1))
    return tuple(tuple(group.tolist()) for group in np.split(np.arange(len(word_of)), starts[1:]))


def _plain(array: NDArray[np.float32]) -> Sequence[Any]:
    """Return float32 numbers as lists of the shortest decimals that read back as the same; null for minus infinity."""
    return [[None if x == -np.inf else float(str(x)) for x in row] for row in array]
