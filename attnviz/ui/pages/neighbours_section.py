"""Lab section *Neighbours*: the nearest vectors in a corpus to a state, context or annotation, and their map."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from attnviz import AttnvizError, Trace
from attnviz import lazy_pandas as pd
from attnviz.analysis.neighbours import (
    Metric,
    Neighbour,
    PrincipalMap,
    VectorKind,
    VectorPair,
    Vectors,
    metric_names,
    nearest,
    nearness_text,
    neighbours_caption,
    principal_map,
    principal_map_sentence,
    query_vector_name,
    vector_kind_names,
    vectors_path,
)
from attnviz.architectures import architecture_of
from attnviz.errors import user_error
from attnviz.extras import IMPORTING
from attnviz.figures.corpus_figure import vector_map, with_star
from attnviz.figures.spec import Spec
from attnviz.languages import gettext
from attnviz.lru_cache import LRUCache, cached_in, stamp
from attnviz.text import SPACE, piece_name
from attnviz.ui.blocks import (
    box,
    chart_payload,
    columns,
    component,
    computed_chart,
    explanation,
    section_heading,
)
from attnviz.ui.controls import segmented_control, select_box
from attnviz.ui.examples import SAMPLE, offered_tables
from attnviz.ui.payloads import Payload, PayloadRequest, Shown, address, makes_payload
from attnviz.ui.resources import missing_model, translator_of, weights_digest_of
from attnviz.ui.toolbar.downloads import LabSection, NamedTables, OfferedFigure
from attnviz.ui.view import View
from attnviz.ui.waiting import TURNS

_SAMPLE_NAME = "sample"
"""Name of the sample corpus, whose vectors are computed; those of other corpora are loaded."""
_MAX_MAP_POINTS = 2000
"""Largest number of vectors on a map; if a corpus has more, evenly spaced ones are shown."""


@dataclass(frozen=True)
class VectorSearch:
    """Which vectors are searched, in which corpus, and by which measure."""

    kind: VectorKind
    metric: Metric
    corpus: str

    @property
    def version(self) -> str:
        """Version of the file of vectors."""
        path = _vectors_file(self.corpus)
        return str(stamp(path, "")) if path else ""


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

    def place(self, row: int) -> tuple[int, int, Sequence[str]]:
        """Return the index of the pair of a vector, and its place among the pieces of its sentence, and these."""
        number, piece = self.vectors.place(self.kind, row)
        pair = self.vectors.pairs[number]
        return number, piece, pair.source_pieces if self.of_source else pair.target_pieces

    @property
    def of_source(self) -> bool:
        """Whether the vectors are of the pieces of the source sentence."""
        return self.kind == "annotation"


def _corpora(trace: Trace) -> dict[str, str]:
    """Return the display names of the corpora with vectors of the model that made `trace`, by corpus name."""
    digest, files = weights_digest_of(trace), {name: _vectors_file(name) for name in offered_tables()}
    sample = {_SAMPLE_NAME: gettext("The sample pairs of the page Corpus")}
    return sample | {name: name for name, path in files.items() if path and _digest_in(path) == digest}


@cached_in(LRUCache(1 << 16, size=len), "")
def _digest_in(path: Path) -> str:
    """Return the digest of the weights that made the vectors in a file; empty where it cannot be read."""
    try:
        return Vectors.digest_in(path)
    except AttnvizError:
        return ""


def _vectors_file(name: str) -> Path | None:
    """Return the file with the vectors of an offered table, None where there is none."""
    table = offered_tables().get(name) if name != _SAMPLE_NAME else None
    path = None if table is None else vectors_path(table)
    return path if path is not None and path.is_file() else None


@cached_in(LRUCache(64 << 20, size=lambda vectors: sum(int(array.nbytes) for array in vectors.arrays.values())))
def _vectors(name: str, version: str, digest: str, _trace: Trace) -> Vectors:  # noqa: ARG001  part of the key
    """Return the vectors of a corpus; raise AttnvizError where they are not of the model with this digest."""
    if name == _SAMPLE_NAME:
        with IMPORTING:
            from attnviz.corpora.vectors import vectors_of_pairs  # imports pyarrow

        sentence_pairs = [line.split("\t") for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
        pairs = [(number, source, target) for number, (source, target) in enumerate(sentence_pairs, 1)]
        return vectors_of_pairs(translator_of(_trace), pairs)
    if (path := _vectors_file(name)) is None:
        raise user_error("No pair of this corpus has vectors.")
    vectors = Vectors.load(path)
    if vectors.weights_digest != digest:
        raise user_error("The vectors of {name} come from another model than this translation.", name=name)
    return vectors


@cached_in(LRUCache(600 << 20, size=lambda index: int(index.array.nbytes + index.coordinates.nbytes)))
def _index(name: str, version: str, digest: str, kind: VectorKind, _trace: Trace) -> VectorIndex:
    """Return the index of a corpus; raise AttnvizError where it has no such vectors of the model with this digest."""
    vectors = _vectors(name, version, digest, _trace)
    array = vectors.arrays[kind]
    if not len(array):
        raise user_error("No pair of this corpus has vectors.")
    map_rows = np.unique(np.linspace(0, len(array) - 1, min(len(array), _MAX_MAP_POINTS)).astype(np.int64))
    projection = principal_map(array[map_rows])
    return VectorIndex(vectors, kind, array, map_rows, projection, projection.place(array[map_rows]))


_KIND, _METRIC, _CORPUS = "vectors", "near", "among"
"""Session state keys of the choices, and address parameters."""
_NEIGHBOUR_COUNT = 12
"""Number of neighbours that are listed."""
_COLOUR_NAMES: dict[VectorKind, str] = {"state": "decoder", "context": "context", "annotation": "encoder"}


def _draw(view: View) -> Shown:
    """Draw the choices, the neighbours of the current step, and the map; return the choices."""
    with box("neighbour_choices", row=True):
        kind = segmented_control(gettext("Which vectors"), vector_kind_names(), key=_KIND, parameter=_KIND)
        metric = segmented_control(gettext("Measure"), metric_names(), key=_METRIC, parameter=_METRIC)
        label, corpora = gettext("Corpus"), _corpora(view.trace)  # the sample is the first
        corpus = select_box(label, corpora, key=_CORPUS, labelled=False, parameter=_CORPUS, width=280)
    explanation(escape(neighbours_caption()))
    search = VectorSearch(cast("VectorKind", kind), cast("Metric", metric), corpus)
    left, right = columns((1, 1), gap="large")
    with left:
        section_heading(escape(gettext("The nearest")))
        at = address(view.trace, "neighbours", every=False, version=search.version, search=search)
        component("neighbours", view.key("neighbours"), {"at": at, "waiting": gettext("Computing…")})
    with right:
        section_heading(escape(_map_title()))
        computed_chart(view, view.trace, "vector-map", "vector_map", version=search.version, search=search)
    return {"search": search}


def _map_title() -> str:
    return gettext("Map of all vectors")


def _missing(trace: Any) -> str:
    """Return why there are no neighbours, as a sentence; empty where there are."""
    reason = architecture_of(trace).missing.get("neighbours")
    return reason() if reason else missing_model(trace)


def _index_of(request: PayloadRequest) -> VectorIndex:
    """Return the vectors that a payload searches; raise AttnvizError where there are none."""
    search, trace = request.shown["search"], request.trace
    with TURNS.released():
        return _index(search.corpus, search.version, weights_digest_of(trace) or "", search.kind, trace)


def _step_vectors(trace: Trace, kind: VectorKind) -> NDArray[np.float32]:
    """Return the vector of each step of `trace` whose neighbours are searched, (number of steps, size).

    For annotations, it is the annotation of the most attended source piece.
    """
    if kind == "annotation":
        attended: NDArray[np.float32] = trace.annotations[trace.alignment.argmax(axis=1)]
        return attended
    return trace.states if kind == "state" else trace.contexts


def _neighbours(
    request: PayloadRequest, index: VectorIndex, step: int
) -> Iterator[tuple[Neighbour, VectorPair, int, Sequence[str]]]:
    """Yield each neighbour of a step, with its pair, and its place among the pieces of its sentence, and these."""
    with IMPORTING:
        from attnviz.corpora.vectors import to_float32  # imports pyarrow

    excluded = index.vectors.rows_of(index.kind, request.trace.source_text)
    query, metric = _step_vectors(request.trace, index.kind)[step], request.shown["search"].metric
    for neighbour in nearest(index.array, query, _NEIGHBOUR_COUNT, metric, excluded, to_float32):
        number, piece, pieces = index.place(neighbour.row)
        yield neighbour, index.vectors.pairs[number], piece, pieces


@makes_payload("neighbours")
def neighbours_payload(request: PayloadRequest) -> Payload:
    """Return the payload of the neighbours of a step, each with its sentence and address.

    Each entry has `near` (its similarity), `before`, `marked` and `after` (the parts of its sentence), `other` (the
    other side) and `to` (the address that opens it); `kind` is the colour of the pieces, and `spoken` has the languages
    of both sides.
    """
    index, step, entries = _index_of(request), request.step, []
    for neighbour, pair, piece, pieces in _neighbours(request, index, step):
        before, piece_text, after = _split_at_piece(pieces, piece)
        entries.append(
            {
                "near": nearness_text(request.shown["search"].metric, neighbour),
                "before": before,
                "marked": piece_text,
                "after": after,
                "other": pair.target if index.of_source else pair.source,
                "to": _pair_address(request.trace, pair) + _piece_address(index, piece),
            }
        )
    return {
        "heading": _vector_name(request.trace, index.kind, step),
        "entries": entries,
        "kind": _COLOUR_NAMES[index.kind],
        "spoken": ["en", "fr"] if index.of_source else ["fr", "en"],
    }


def _split_at_piece(pieces: Sequence[str], position: int) -> tuple[str, str, str]:
    """Return the sentence of a vector in three parts: before its piece, the piece, and after it."""
    parts = pieces[:position], pieces[position : position + 1], pieces[position + 1 :]
    before, piece_text, after = ("".join(part).replace(SPACE, " ") for part in parts)
    if piece_text.startswith(" "):
        before, piece_text = f"{before} ", piece_text[1:]
    return before.lstrip(), piece_text or "␣", after.removesuffix("</s>")


def _pair_address(trace: Trace, pair: VectorPair) -> str:
    """Return the address of a pair's step view, relative to the page."""
    return "./?" + urlencode({"sentence": pair.source, "target": pair.target, "model": trace.model})


def _piece_address(index: VectorIndex, piece: int) -> str:
    return f"#{'source' if index.of_source else 'step'}={piece + 1}"


def _drawn_map(trace: Trace, index: VectorIndex, *, linked: bool) -> Spec:
    """Return the map, without a star; with `linked`, a click on a point opens its pair."""
    labels, links, pairs = [], [], index.vectors.pairs
    for row in index.map_rows:
        number, piece, pieces = index.place(int(row))
        sentence = pairs[number].source if index.of_source else pairs[number].target
        labels.append((piece_name(pieces[piece]), sentence))
        links.append((number, _piece_address(index, piece)))
    return vector_map(
        index.coordinates,
        labels,
        index.projection.shares,
        _COLOUR_NAMES[index.kind],
        url_prefixes=[_pair_address(trace, pair) for pair in pairs] if linked else (),
        url_parts=links if linked else (),
    )


@makes_payload("vector-map")
def vector_map_payload(request: PayloadRequest) -> Payload:
    """Return the payload of the map, with the coordinates of each step."""
    index = _index_of(request)
    coordinates = index.projection.place(_step_vectors(request.trace, index.kind))
    sentence = principal_map_sentence(index.projection, len(index.map_rows), len(index.array))
    drawn = _drawn_map(request.trace, index, linked=True)
    figures = {
        step: with_star(drawn, coordinates[step], _vector_name(request.trace, index.kind, step))
        for step in request.steps
    }
    return chart_payload(figures, sentence)


def _vector_name(trace: Trace, kind: VectorKind, step: int) -> str:
    return query_vector_name(trace, kind, step, int(trace.alignment[step].argmax()))


def _pictures(request: PayloadRequest) -> Iterator[OfferedFigure]:
    index, trace, step = _index_of(request), request.trace, request.selection.step
    coordinates = index.projection.place(_step_vectors(trace, index.kind)[step : step + 1])[0]
    name = _vector_name(trace, index.kind, step)
    yield OfferedFigure(
        _map_title(),
        f"step-{step + 1}-{index.kind}-map",
        lambda: with_star(_drawn_map(trace, index, linked=False), coordinates, name),
        name,
    )


def _tables(request: PayloadRequest) -> NamedTables:
    """Yield the neighbours of the current step."""
    index, step = _index_of(request), request.selection.step
    rows = [
        {
            gettext("piece"): pieces[piece],
            "cos": neighbour.cosine,
            gettext("distance"): neighbour.distance,
            gettext("line"): pair.number,
            gettext("English"): pair.source,
            gettext("French"): pair.target,
        }
        for neighbour, pair, piece, pieces in _neighbours(request, index, step)
    ]
    yield _vector_name(request.trace, index.kind, step), pd.DataFrame(rows, index=pd.RangeIndex(1, len(rows) + 1))


NEIGHBOURS_SECTION = LabSection(_pictures, _tables, _missing, title=lambda: gettext("Neighbours"), draw=_draw)
