"""Load or compute the vectors of corpora for the lab's neighbour search and map; cache them for all visitors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from attnviz import AttnvizError, Trace
from attnviz.analysis.neighbours import PrincipalMap, VectorKind, Vectors, principal_map, vectors_path
from attnviz.installed_models import installed_models
from attnviz.languages import gettext
from attnviz.lru_cache import LRUCache
from attnviz.ui.admission import TURNS
from attnviz.ui.corpus_tables import SAMPLE, offered_tables
from attnviz.ui.resources import translator_in, weights_digest_of

SAMPLE_NAME = "sample"
"""Name of the sample corpus, whose vectors are computed; those of other corpora are loaded."""
_MAX_MAP_POINTS = 2000
"""Largest number of vectors on a map; if a corpus has more, evenly spaced ones are shown."""


@dataclass(frozen=True, eq=False)
class VectorIndex:
    """Vectors of one kind in a corpus, and their projection to a map."""

    vectors: Vectors
    kind: VectorKind
    array: NDArray[np.float16]
    """(Number of vectors, size)."""
    map_rows: NDArray[np.int64]
    """Rows of `array` that are shown on the map."""
    projection: PrincipalMap
    coordinates: NDArray[np.float64]
    """Coordinates of these rows on the map, (number of rows, 2)."""


def corpora_of(trace: Trace) -> dict[str, str]:
    """Return the display names of the corpora with vectors of the model that made `trace`, by corpus name."""
    digest = weights_digest_of(trace)
    corpora = [name for name, table in offered_tables().items() if _weights_digest(vectors_path(table)) == digest]
    return {SAMPLE_NAME: gettext("The sample pairs of the page Corpus")} | {
        corpus: corpus for corpus in corpora if corpus != SAMPLE_NAME
    }


def corpus_version(name: str) -> str:
    """Return modification time and size of a corpus's file of vectors, for use in cache keys."""
    path = _vectors_path(name)
    if path is None:
        return ""
    status = path.stat()
    return f"{status.st_mtime_ns:x}-{status.st_size:x}"


def vector_index(trace: Trace, name: str, kind: VectorKind) -> VectorIndex:
    """Return the index of a corpus; raise AttnvizError if it has no such vectors of the model that made `trace`."""
    digest = weights_digest_of(trace) or ""
    with TURNS.released():
        return _INDEXES.get(
            (name, corpus_version(name), digest, kind), lambda: _build_index(_vectors(trace, name, digest), kind)
        )


_INDEXES: LRUCache[VectorIndex] = LRUCache(
    600 << 20, size=lambda index: int(index.array.nbytes + index.coordinates.nbytes)
)
_VECTORS: LRUCache[Vectors] = LRUCache(
    64 << 20, size=lambda vectors: sum(int(array.nbytes) for array in vectors.arrays.values())
)
_DIGESTS: LRUCache[str] = LRUCache(1 << 16, size=len)


def _build_index(vectors: Vectors, kind: VectorKind) -> VectorIndex:
    array = vectors.of(kind)
    if not len(array):
        raise AttnvizError(gettext("No pair of this corpus has vectors."))
    map_rows = np.unique(np.linspace(0, len(array) - 1, min(len(array), _MAX_MAP_POINTS)).astype(np.int64))
    projection = principal_map(array[map_rows])
    return VectorIndex(vectors, kind, array, map_rows, projection, projection.place(array[map_rows]))


def _vectors(trace: Trace, name: str, digest: str) -> Vectors:
    vectors = _VECTORS.get((name, corpus_version(name), digest), lambda: _load_or_compute(trace, name))
    if vectors.weights_digest != digest:
        raise AttnvizError(gettext("The vectors of {name} come from another model than this translation.", name=name))
    return vectors


def _load_or_compute(trace: Trace, name: str) -> Vectors:
    if name == SAMPLE_NAME:
        from attnviz.corpora.vectors import vectors_of_pairs

        lines = SAMPLE.read_text(encoding="utf-8").splitlines()
        sentence_pairs = [line.split("\t") for line in lines]
        pairs = [(number, source, target) for number, (source, target) in enumerate(sentence_pairs, 1)]
        return vectors_of_pairs(translator_in(str(installed_models()[trace.model]), "cpu"), pairs)
    path = _vectors_path(name)
    if path is None:
        raise AttnvizError(gettext("No pair of this corpus has vectors."))
    return Vectors.load(path)


def _vectors_path(name: str) -> Path | None:
    """Return the file with the vectors of an offered table, None where there is none."""
    table = offered_tables().get(name) if name != SAMPLE_NAME else None
    path = None if table is None else vectors_path(table)
    return path if path is not None and path.is_file() else None


def _weights_digest(path: Path) -> str:
    """Return the digest of the weights that made the vectors in a file; empty where there is no file."""
    if not path.is_file():
        return ""
    status = path.stat()
    return _DIGESTS.get((str(path), status.st_mtime_ns, status.st_size), lambda: _read_digest(path))


def _read_digest(path: Path) -> str:
    try:
        return Vectors.digest_in(path)
    except AttnvizError:
        return ""
