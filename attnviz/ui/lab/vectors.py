"""Load or compute the vectors of corpora in which the lab searches neighbours; cache them for all visitors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from attnviz import AttnvizError, Trace
from attnviz.analysis.neighbours import PrincipalMap, principal_map
from attnviz.analysis.vectors import VectorKind, Vectors, beside
from attnviz.corpora.vectors import vectors_of_pairs
from attnviz.languages import gettext
from attnviz.lru_cache import LRUCache
from attnviz.ui.concurrency import TURNS
from attnviz.ui.corpus_tables import SAMPLE, offered_tables
from attnviz.ui.resources import models, translator_in, weights_digest_of

SAMPLE_NAME = "sample"
_ON_THE_MAP = 2000
"""Largest number of vectors on a map; of more, evenly spaced ones are drawn."""


@dataclass(frozen=True, eq=False)
class VectorIndex:
    """Vectors of one kind, ready for search, and their map."""

    vectors: Vectors
    kind: VectorKind
    array: NDArray[np.float16]
    """Vectors, (N, d)."""
    drawn: NDArray[np.int64]
    """Indices of the vectors on the map, (P,)."""
    map: PrincipalMap
    places: NDArray[np.float64]
    """Their coordinates on the map, (P, 2)."""


def corpora_of(trace: Trace) -> dict[str, str]:
    """Return the display names of the corpora with vectors of the model that made `trace`, by corpus name."""
    digest = weights_digest_of(trace)
    corpora = [name for name, table in offered_tables().items() if _digest(beside(table)) == digest]
    return {SAMPLE_NAME: gettext("The sample of the page Corpus")} | {n: n for n in corpora if n != SAMPLE_NAME}


def stamp_of(name: str) -> str:
    """Return the version of a corpus, for use in cache keys."""
    path = _file(name)
    if path is None:
        return ""
    state = path.stat()
    return f"{state.st_mtime_ns:x}-{state.st_size:x}"


def vector_index(trace: Trace, name: str, kind: VectorKind) -> VectorIndex:
    """Return the index of a corpus; raise AttnvizError if it has no such vectors of the model that made `trace`."""
    digest = weights_digest_of(trace) or ""
    with TURNS.left():
        return _INDEXES.get(
            (name, stamp_of(name), digest, kind), lambda: _build_index(_vectors(trace, name, digest), kind)
        )


_INDEXES: LRUCache[VectorIndex] = LRUCache(600 << 20, size=lambda one: int(one.array.nbytes + one.places.nbytes))
_VECTORS: LRUCache[Vectors] = LRUCache(
    64 << 20, size=lambda one: sum(int(array.nbytes) for array in one.arrays.values())
)
_DIGESTS: LRUCache[str] = LRUCache(1 << 16, size=len)


def _build_index(vectors: Vectors, kind: VectorKind) -> VectorIndex:
    array = vectors.of(kind)
    if not len(array):
        raise AttnvizError(gettext("No pair of this corpus has vectors."))
    drawn = np.unique(np.linspace(0, len(array) - 1, min(len(array), _ON_THE_MAP)).astype(np.int64))
    projection = principal_map(array[drawn])
    return VectorIndex(vectors, kind, array, drawn, projection, projection.place(array[drawn]))


def _vectors(trace: Trace, name: str, digest: str) -> Vectors:
    vectors = _VECTORS.get((name, stamp_of(name), digest), lambda: _load_or_compute(trace, name))
    if vectors.weights_digest != digest:
        raise AttnvizError(gettext("The vectors of {name} come from another model.", name=name))
    return vectors


def _load_or_compute(trace: Trace, name: str) -> Vectors:
    if name == SAMPLE_NAME:
        lines = SAMPLE.read_text(encoding="utf-8").splitlines()
        sides = [line.split("\t") for line in lines]
        pairs = [(number, source, target) for number, (source, target) in enumerate(sides, 1)]
        return vectors_of_pairs(translator_in(str(models()[trace.model]), "cpu"), pairs)
    path = _file(name)
    if path is None:
        raise AttnvizError(gettext("No pair of this corpus has vectors."))
    return Vectors.load(path)


def _file(name: str) -> Path | None:
    """Return the file with the vectors of an offered table, None where there is none."""
    table = offered_tables().get(name) if name != SAMPLE_NAME else None
    path = None if table is None else beside(table)
    return path if path is not None and path.is_file() else None


def _digest(path: Path) -> str:
    """Return the digest of the weights that made the vectors in a file; empty where there is no file."""
    if not path.is_file():
        return ""
    state = path.stat()
    return _DIGESTS.get((str(path), state.st_mtime_ns, state.st_size), lambda: _read_digest(path))


def _read_digest(path: Path) -> str:
    try:
        return Vectors.digest_in(path)
    except AttnvizError:
        return ""
