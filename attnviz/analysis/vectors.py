"""Vectors of a corpus (decoder states, contexts, annotations), each with its piece, and the file that stores them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.files import DAMAGED, replacing
from attnviz.languages import gettext

VectorKind = Literal["state", "context", "annotation"]
"""s_i and c_i of a target piece; h_j of a source piece."""
VECTOR_KINDS: tuple[VectorKind, ...] = get_args(VectorKind)
MOST_VECTORS = 200_000
"""Largest number of vectors of a kind: an exact search over this many takes a fraction of a second."""
_FORMAT, _VERSION = "attnviz-vectors", 1


@dataclass(frozen=True)
class VectorPair:
    """A sentence pair of the corpus with its pieces."""

    number: int
    """Line number, from 1."""
    source: str
    target: str
    source_pieces: tuple[str, ...]
    """Source pieces, with the typed characters in place of each `<unk>`."""
    target_pieces: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Vectors:
    """The vectors of sentence pairs, by kind, in the order of the pairs."""

    model: str
    weights_digest: str
    pairs: tuple[VectorPair, ...]
    arrays: Mapping[VectorKind, NDArray[np.float16]]
    """States (N, n), contexts (N, c) and annotations (M, 2n), one for each piece."""

    def of(self, kind: VectorKind) -> NDArray[np.float16]:
        """Return the vectors of a kind, (N, size)."""
        return self.arrays[kind]

    def place(self, kind: VectorKind, row: int) -> tuple[int, int]:
        """Return the 0-based pair of a vector and its 0-based piece within the sentence."""
        ends = self._ends[kind]
        pair = int(np.searchsorted(ends, row, side="right"))
        return pair, row - (int(ends[pair - 1]) if pair else 0)

    def rows_of(self, kind: VectorKind, source: str) -> NDArray[np.bool_]:
        """Return which vectors of a kind belong to pairs with this source sentence, (N,)."""
        same = np.array([pair.source.split() == source.split() for pair in self.pairs], dtype=bool)
        return np.repeat(same, np.diff(self._ends[kind], prepend=0))

    @cached_property
    def _ends(self) -> Mapping[VectorKind, NDArray[np.int64]]:
        target = np.cumsum([len(pair.target_pieces) for pair in self.pairs], dtype=np.int64)
        source = np.cumsum([len(pair.source_pieces) for pair in self.pairs], dtype=np.int64)
        return {"state": target, "context": target, "annotation": source}

    def save(self, path: Path) -> None:
        """Write an .npz file; raise AttnvizError where it cannot be written."""
        metadata = {
            "format": _FORMAT,
            "version": _VERSION,
            "model": self.model,
            "weights_digest": self.weights_digest,
            "pairs": [asdict(pair) for pair in self.pairs],
        }
        text = np.frombuffer(json.dumps(metadata, ensure_ascii=False).encode("utf-8", "replace"), np.uint8)
        with replacing(path) as temporary, temporary.open("wb") as file:
            arrays: dict[str, Any] = {kind: self.arrays[kind] for kind in VECTOR_KINDS}
            np.savez(file, told=text, **arrays)  # the key `told` is part of the file format

    @classmethod
    def load(cls, path: Path) -> Vectors:
        """Load what `save` wrote; raise AttnvizError where the file is something else."""
        with _read(path) as (metadata, file):
            arrays = {kind: file[kind] for kind in VECTOR_KINDS}
            pairs = tuple(_pair(fields) for fields in metadata["pairs"])
            vectors = cls(str(metadata["model"]), str(metadata["weights_digest"]), pairs, arrays)
            vectors.check()
        return vectors

    @staticmethod
    def digest_in(path: Path) -> str:
        """Return the SHA-256 of the model's weights named in a file of vectors; raise AttnvizError for another file."""
        with _read(path) as (metadata, _):
            return str(metadata["weights_digest"])

    def check(self) -> None:
        """Raise ValueError unless there is a finite vector for each piece."""
        for kind, ends in self._ends.items():
            array = self.arrays[kind]
            if array.dtype != np.float16 or array.ndim != 2 or len(array) != (ends[-1] if len(ends) else 0):
                raise ValueError(f"its vectors of kind {kind} do not fit its pairs")
            if not all(np.isfinite(array[start : start + 8192]).all() for start in range(0, len(array), 8192)):
                raise ValueError(f"a vector of kind {kind} is not finite")


@contextlib.contextmanager
def _read(path: Path) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield the metadata of a file of vectors, and its arrays, which load lazily."""
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            metadata: dict[str, Any] = json.loads(bytes(file["told"]).decode("utf-8"))
            if (metadata["format"], metadata["version"]) != (_FORMAT, _VERSION):
                raise ValueError("it has another format")
            yield metadata, file
    except DAMAGED as error:
        raise AttnvizError(
            gettext("{name} contains no corpus vectors: {error}.", name=path.name, error=str(error)[:80])
        ) from error


def _pair(fields: Mapping[str, Any]) -> VectorPair:
    sides = [tuple(map(str, fields[name])) for name in ("source_pieces", "target_pieces")]
    return VectorPair(int(fields["number"]), str(fields["source"]), str(fields["target"]), *sides)


def vectors_path(table: Path) -> Path:
    """Return the path of the vectors of a table."""
    return table.with_suffix(".vectors.npz")
