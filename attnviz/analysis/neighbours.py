"""States, contexts and annotations of a corpus: their file, exact nearest neighbours, a PCA map, and all texts.

`Vectors` has one of these vectors for each piece of the sentence pairs, and the pairs with their pieces.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.labels import decimal, percent, quoted_name
from attnviz.analysis.measures import cosines, ranked
from attnviz.errors import user_error
from attnviz.files import DAMAGED, replacing
from attnviz.languages import gettext, gettexts
from attnviz.trace import Array, FloatArray, Trace, float64

Single = Callable[[NDArray[Any]], FloatArray]
"""Converts a block of vectors to single precision."""
Metric = Literal["cosine", "euclid"]
METRICS: tuple[Metric, ...] = get_args(Metric)
_BLOCK = 1024
"""Vectors of one product: 4 MB in single precision at 1,024 units, which fits a processor's cache."""
_SPARE = 32
"""Extra candidates, whose order single precision may have got wrong."""


@dataclass(frozen=True)
class Neighbour:
    """A vector near the query."""

    row: int
    cosine: float
    """x · q / (|x| |q|), in [-1, 1]; 0 where either is 0."""
    distance: float
    """|x - q|, from 0."""


def nearest(
    vectors: NDArray[Any],
    query: NDArray[Any],
    count: int = 10,
    metric: Metric = "cosine",
    excluded: NDArray[np.bool_] | None = None,
    to_single: Single = lambda block: block.astype(np.float32, copy=False),
) -> list[Neighbour]:
    """Return the `count` vectors of `vectors` (N, d) nearest to `query` (d,), nearest first, of equals the first.

    The search is exact: candidates by cosine or Euclidean distance are found in single precision, block by block, and
    sorted in double precision. Rows in `excluded`, (N,), are skipped. `to_single` converts blocks to single precision,
    for functions faster than NumPy. Raise ValueError for another metric.
    """
    if metric not in METRICS:
        raise ValueError(f"the metric must be one of {', '.join(METRICS)}, not {metric!r}")
    blocks = (to_single(vectors[start : start + _BLOCK]) for start in range(0, len(vectors), _BLOCK))
    single = query.astype(np.float32)
    scores = np.concatenate([np.zeros(0, np.float32), *(_scores(block, single, metric) for block in blocks)])
    if excluded is not None:
        scores[excluded] = -np.inf
    candidate_count = min(count + _SPARE, int(np.isfinite(scores).sum()))
    if not candidate_count or count < 1:
        return []
    # All ties with the last candidate are candidates, so that of equals the first win.
    candidates = np.flatnonzero(
        scores >= np.partition(scores, len(scores) - candidate_count)[len(scores) - candidate_count]
    )
    exact, wanted = float64(vectors[candidates]), float64(query)
    nearness, distances = cosines(exact, wanted), np.linalg.norm(exact - wanted, axis=1)
    order = ranked(nearness if metric == "cosine" else -distances)[:count]
    return [Neighbour(int(candidates[k]), float(nearness[k]), float(distances[k])) for k in order]


def _scores(block: FloatArray, query: FloatArray, metric: Metric) -> FloatArray:
    """Return a score for each vector of a block (B, d) that increases with its nearness to `query` (d,)."""
    if metric == "euclid":
        differences = block - query
        return -np.asarray(np.einsum("ij,ij->i", differences, differences), np.float32)
    norms = np.sqrt(np.einsum("ij,ij->i", block, block))
    return np.divide(block @ query, norms, out=np.zeros(len(block), np.float32), where=norms > 0)


@dataclass(frozen=True)
class PrincipalMap:
    """The plane through many vectors with the largest variance (Pearson 1901)."""

    mean: Array
    """Mean of the vectors, (d,)."""
    axes: Array
    """Orthonormal axes, (2, d), largest variance first; the entry with the largest absolute value is positive."""
    shares: tuple[float, float]
    """Shares of the total variance along each axis, in [0, 1]."""

    def place(self, vectors: NDArray[Any]) -> Array:
        """Return the coordinates of vectors (N, d) on the map, (N, 2)."""
        return (float64(vectors) - self.mean) @ self.axes.T


def principal_map(vectors: NDArray[Any]) -> PrincipalMap:
    """Return the map of `vectors` (N, d), d at least 2, from the two largest eigenvalues of their covariance.

    Raise ValueError without vectors.
    """
    if not len(vectors):
        raise ValueError("there is no vector to draw a map of")
    exact = float64(vectors)
    mean = exact.mean(axis=0)
    centred = exact - mean
    values, axes = np.linalg.eigh(centred.T @ centred)
    first = axes[:, [-1, -2]].T
    first = first * np.sign(first[np.arange(2), np.abs(first).argmax(axis=1)])[:, None]
    whole = max(float(values.sum()), np.finfo(np.float64).tiny)
    return PrincipalMap(mean, first, (max(float(values[-1]), 0) / whole, max(float(values[-2]), 0) / whole))


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
        raise user_error(
            "{name} contains no corpus vectors: {error}.", name=path.name, error=str(error)[:80]
        ) from error


def _pair(fields: Mapping[str, Any]) -> VectorPair:
    sides = [tuple(map(str, fields[name])) for name in ("source_pieces", "target_pieces")]
    return VectorPair(int(fields["number"]), str(fields["source"]), str(fields["target"]), *sides)


def vectors_path(table: Path) -> Path:
    """Return the path of the vectors of a table."""
    return table.with_suffix(".vectors.npz")


def vector_kind_names() -> dict[str, str]:
    """Return the name of each kind of vector."""
    return gettexts({"state": "State s", "context": "Context vector c", "annotation": "Annotation h"})


def metric_names() -> dict[str, str]:
    """Return the name of each metric."""
    return gettexts({"cosine": "By angle (cosine)", "euclid": "By distance (Euclid)"})


def neighbours_caption() -> str:
    """Return what is searched, and what the result does not show."""
    return gettext(
        "The model computed a vector of the kind chosen above for every piece of the corpus. The list shows the "
        "vectors nearest to this step’s vector, each with its sentence. The nearer two vectors are, the more similar "
        "they are for the model. The search covers all vectors of the corpus except those of your sentence. But the "
        "model may use only some of the numbers in a vector, and the list does not show which numbers."
    )


def query_vector_name(trace: Trace, kind: VectorKind, step: int, source: int) -> str:
    """Return which vector of 0-based `step` is the query; an annotation is that of 0-based source piece `source`."""
    piece = quoted_name(trace.target_pieces[step])
    if kind == "state":
        return gettext("The state of step {step} (the step that wrote {piece})", piece=piece, step=step + 1)
    if kind == "context":
        return gettext("The context vector of step {step} (the step that wrote {piece})", piece=piece, step=step + 1)
    return gettext(
        "The annotation of {source}, which step {step} attended to most",
        source=quoted_name(trace.source_surfaces[source]),
        step=step + 1,
    )


def nearness_text(metric: Metric, neighbour: Neighbour) -> str:
    """Return the cosine or distance of a vector."""
    if metric == "cosine":
        return f"cos = {decimal(neighbour.cosine, 3)}"
    return gettext("distance {distance}", distance=decimal(neighbour.distance, 2))


def principal_map_sentence(principal_map: PrincipalMap, shown: int, total: int) -> str:
    """Return the shares of variance that the map shows, and the number of vectors on it."""
    first, second = principal_map.shares
    sentence = gettext(
        "The map shows the plane in which the corpus vectors differ most (principal components). The width of the map "
        "shows {first} of the variance of the vectors, the height {second}. The map cannot show the other {rest} of "
        "the variance. Points that are close on this plane may be far apart in reality.",
        first=percent(first),
        second=percent(second),
        rest=percent(max(1 - first - second, 0)),
    )
    if shown < total:
        sentence += " " + gettext(
            "The map shows {drawn} of {whole} vectors, picked evenly across the corpus.", drawn=shown, whole=total
        )
    return sentence
