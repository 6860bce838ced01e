"""`Record`: what every record of a translation holds, whatever network made it, and ways to look at it."""

from __future__ import annotations

import dataclasses
import hashlib
import zlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_type_hints

import numpy as np

from attnviz.errors import AttnvizError
from attnviz.languages import say
from attnviz.text import BOS, join_pieces, word_groups
from attnviz.trace import storage
from attnviz.trace.interventions import Intervention
from attnviz.trace.parts import FloatArray, Hypothesis, IntArray, Search, Words
from attnviz.trace.quantity import Quantity

STORED_CANDIDATES = 100
"""How many of the likeliest pieces of each step a record keeps."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Record(ABC):
    """The translation of one sentence, and who made it how.

    Tx and Ty count pieces, `</s>` included. Row i of a target-side array belongs to step i + 1 of the equations, which
    chose `target_pieces[i]`. All arrays are read-only copies, float32 but for the ids.
    """

    saved_as: ClassVar[storage.Format]
    """The mark of its files."""
    arrays: ClassVar[tuple[Quantity, ...]]
    """The rows of its table of quantities that it keeps."""

    source_text: str
    """The sentence as typed."""
    translation: str
    source_pieces: tuple[str, ...]
    target_pieces: tuple[str, ...]
    source_ids: tuple[int, ...]
    target_ids: tuple[int, ...]
    source_surfaces: tuple[str, ...]
    """The source pieces, but with the characters that each `<unk>` stands for."""
    unknown_characters: tuple[str, ...]
    """The stretches of text the tokenizer never saw, each once; every one is an `<unk>` among the pieces."""

    log_probabilities: FloatArray
    """log p(y_i | y_<i, x) of each target piece, (Ty,)."""
    top_ids: IntArray
    """Ids of the likeliest pieces of each step, likeliest first, (Ty, min(100, K)), int32."""
    top_probabilities: FloatArray
    """Their probabilities, (Ty, min(100, K))."""
    top_pieces: tuple[tuple[str, ...], ...]

    search: Search
    score: float
    """Log probability of the target, divided by Ty^length_penalty."""
    hypotheses: tuple[Hypothesis, ...]
    """What the beam finished, best first; one entry for greedy and forced decoding."""
    config: Mapping[str, Any]
    """The config of the model as a read-only mapping."""
    model: str
    """Name of the model folder."""
    weights_digest: str
    """SHA-256 of the model's `model.safetensors` in hexadecimal: tells whether a model at hand is the one that made
    this record. Empty where it is unknown."""
    device: str
    """The torch device it ran on, as in "cpu" or "cuda:0"."""
    seconds: float
    """Wall time of the translation with all that is recorded here; of several computed together, that of all of them up
    to this one."""
    interventions: tuple[Intervention, ...] = ()
    """What was changed by hand on the way, in its order; energies are those before it, the alignment after."""

    def __post_init__(self) -> None:
        """Take copies that nobody else can change."""
        for quantity in self.arrays:
            array = getattr(self, quantity.name).copy()
            array.setflags(write=False)
            object.__setattr__(self, quantity.name, array)
        object.__setattr__(self, "config", MappingProxyType(dict(self.config)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and unpickle through the constructor, so that what comes back is as immutable."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return _restore, (type(self), fields | {"config": dict(self.config)})

    if TYPE_CHECKING:
        # Some keep it as a field; a property here would pass for that field's default.
        @property
        def alignment(self) -> FloatArray:
            """Where each step looked, (Ty, Tx), rows sum to 1."""

    @property
    @abstractmethod
    def attends(self) -> bool:
        """Whether the model has one attention, which chose where to look at each step, so that it can be changed."""

    @abstractmethod
    def sizes(self) -> dict[str, int]:
        """Return the numbers that the symbols of the table's shapes stand for.

        Raise IndexError or KeyError where an array lacks a dimension or the config a size.
        """

    @abstractmethod
    def check_numbers(self) -> None:
        """Raise ValueError, KeyError or IndexError unless config and arrays, of the right shapes, make sense."""

    @property
    def previous_pieces(self) -> tuple[str, ...]:
        """y_{i-1} of each step: `<s>`, then the target pieces but the last."""
        return ("<s>", *self.target_pieces[:-1])

    @property
    def previous_ids(self) -> tuple[int, ...]:
        """Ids of y_{i-1} of each step."""
        return (BOS, *self.target_ids[:-1])

    @property
    def probabilities(self) -> FloatArray:
        """p(y_i | y_<i, x) of each target piece, (Ty,)."""
        return np.exp(self.log_probabilities)

    def words(self) -> Words:
        """Return the merged view: source words, target words and the (words, words) matrix."""
        return self._words

    @cached_property
    def _words(self) -> Words:
        source, target = word_groups(self.source_pieces), word_groups(self.target_pieces)
        words = Words(
            source=tuple(join_pieces(self.source_surfaces[i] for i in group) or "<unk>" for group in source),
            target=tuple(join_pieces(self.target_pieces[i] for i in group) for group in target),
            alignment=self.alignment,
            source_groups=source,
            target_groups=target,
        )
        merged = words.merged(self.alignment)
        merged.setflags(write=False)
        return dataclasses.replace(words, alignment=merged)

    def top(self, i: int, k: int = 10) -> list[tuple[str, float]]:
        """Return the `k` likeliest pieces at step index `i` (0-based) with their probabilities, likeliest first.

        Raises IndexError where there is no such step and ValueError unless 1 <= k <= the number stored (100, or the
        whole vocabulary where that is smaller).
        """
        stored = len(self.top_pieces[i])
        if not 1 <= k <= stored:
            raise ValueError(f"k must be from 1 to {stored}, the number of candidates a trace keeps, not {k}")
        return [(piece, float(p)) for piece, p in zip(self.top_pieces[i][:k], self.top_probabilities[i], strict=False)]

    def to_json(self) -> str:
        """Return all of it as one JSON object; arrays are compressed little-endian bytes in base64."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return storage.encode(fields, self.saved_as)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return what `to_json` wrote; raise AttnvizError where `text` is not a record of this kind."""
        hints = get_type_hints(cls)
        kinds = {field.name: hints[field.name] for field in dataclasses.fields(cls)}
        try:
            record = cls(**storage.decode(text, kinds, cls.saved_as))
            storage.check(record)
        except (KeyError, ValueError, TypeError, IndexError, AttributeError, RecursionError, zlib.error) as error:
            message = say("This trace is damaged ({kind}: {error}). Save it again.",
                          kind=type(error).__name__, error=error)  # fmt: skip
            raise AttnvizError(message) from error
        return record

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of all that is recorded, but for the time it took: two records of one fingerprint look the same."""
        digest = hashlib.sha256()
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                digest.update(repr(value.shape).encode() + value.tobytes())
            elif field.name != "seconds":
                value = dict(value) if isinstance(value, Mapping) else value
                digest.update(repr(value).encode("utf-8", "backslashreplace"))
        return digest.hexdigest()

    def save(self, path: str | Path) -> None:
        """Write the whole record to `path`."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a record from `path`; raise AttnvizError, naming the file, where that fails."""
        try:
            return cls.from_json(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise AttnvizError(f"{path} cannot be read: {error.strerror}.") from error
        except UnicodeDecodeError as error:
            raise AttnvizError(f"{path} is not a text file, so not a saved trace.") from error
        except AttnvizError as error:
            raise AttnvizError(f"{path}: {error}") from error


def _restore(kind: type[Record], fields: dict[str, Any]) -> Record:
    return kind(**fields)
