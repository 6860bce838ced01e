"""Lab section *Neighbours*: the nearest vectors in a corpus to a state, context or annotation, and their map."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, cast, get_args
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from attnviz import AttnvizError, Trace
from attnviz import lazy_pandas as pd
from attnviz.analysis.neighbours import (
    METRICS,
    VECTOR_KINDS,
    Metric,
    Neighbour,
    PrincipalMap,
    VectorKind,
    VectorPair,
    Vectors,
    metric_names,
    missing_model_reason,
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
from attnviz.figures.spec import Spec
from attnviz.figures.vector_map import vector_map, with_star
from attnviz.installed_models import installed_models
from attnviz.languages import gettext
from attnviz.lru_cache import LRUCache
from attnviz.text import SPACE, piece_name
from attnviz.ui.components.chart import chart, chart_payload
from attnviz.ui.components.component import box, columns, component, html, plain_text
from attnviz.ui.embedding import page_session
from attnviz.ui.examples import SAMPLE, offered_tables
from attnviz.ui.fields import segmented_control, select_box
from attnviz.ui.page_state.selection import selection_of
from attnviz.ui.payloads import PayloadRequest, UnknownPayloadError, address, makes_payload
from attnviz.ui.resources import translator_in, weights_digest_of, weights_of
from attnviz.ui.toolbar.downloads import OfferedFigure
from attnviz.ui.view import View
from attnviz.ui.waiting import TURNS

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
    array = vectors.arrays[kind]
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
        from attnviz.corpora.vectors import vectors_of_pairs  # imports pyarrow

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


VECTOR_KIND, VECTOR_METRIC, VECTOR_CORPUS = "vectors", "near", "among"
"""Names of the choices, in the session state and in the address."""
NEIGHBOUR_COUNT = 12
"""Number of neighbours that are listed."""
_COLOUR_NAMES: dict[VectorKind, str] = {"state": "decoder", "context": "context", "annotation": "encoder"}


def neighbour_list(view: View, at: str, *, waiting: str) -> None:
    """Draw the list from the payload at the address `at`; `waiting` is shown until it has loaded.

    A payload has `heading`, `kind` (the colour of the pieces), `spoken` (the languages of both sides) and `entries`.
    Each entry has `near` (its similarity), `before`, `marked` and `after` (the parts of its sentence), `other` (the
    other side) and `to` (the address that opens it).
    """
    component("neighbours", key=view.key("neighbours"), data={"at": at, "waiting": waiting})


def neighbours_panel(view: View) -> None:
    """Draw the choices, the neighbours of the current step, and the map."""
    if reason := _unavailable_reason(view.trace):
        plain_text(reason)
        return
    kind, metric, corpus = _choices(view.trace)
    html(f'<p class="explanation">{escape(neighbours_caption())}</p>')
    part, version = f"{kind}.{metric}.{corpus}", corpus_version(corpus)
    left, right = columns((1, 1), gap="large")
    with left:
        html(f'<h2 class="section">{escape(gettext("The nearest"))}</h2>')
        payload_address = address(view.trace, "neighbours", every=False, version=version, part=part)
        neighbour_list(view, payload_address, waiting=gettext("Computing…"))
    with right:
        html(f'<h2 class="section">{escape(gettext("Map of all vectors"))}</h2>')
        payload_address = address(view.trace, "vector-map", every=True, version=version, part=part)
        chart(view, payload_address, "vector_map", waiting=gettext("Computing…"))


def _unavailable_reason(trace: Any) -> str:
    """Return why there are no neighbours, as a sentence; empty where there are."""
    if reason := architecture_of(trace).missing.get("neighbours"):
        return reason()
    return "" if weights_of(trace) is not None else missing_model_reason(trace)


def _choices(trace: Trace) -> tuple[str, str, str]:
    """Draw the choices; return kind, metric and corpus."""
    corpora = corpora_of(trace)
    with box("neighbour_choices", row=True):
        offered = (
            (VECTOR_KIND, gettext("Which vectors"), vector_kind_names()),
            (VECTOR_METRIC, gettext("Measure"), metric_names()),
        )
        chosen = [
            segmented_control(
                label,
                names,
                key=key,
                default=next(iter(names)),
                label_visibility="collapsed",
                parameter=key,
            )
            for key, label, names in offered
        ]
        chosen.append(
            select_box(
                gettext("Corpus"),
                corpora,
                key=VECTOR_CORPUS,
                default=SAMPLE_NAME,
                label_visibility="collapsed",
                parameter=VECTOR_CORPUS,
                width=280,
            )
        )
    return chosen[0], chosen[1], chosen[2]


def _requested_vectors(trace: Any, part: str) -> tuple[VectorIndex, Metric]:
    """Return the vectors and the metric that a payload requests; raise UnknownPayloadError where there are none."""
    kind, metric, corpus = (*part.split(".", 2), "", "", "")[:3]
    if kind not in get_args(VectorKind) or metric not in METRICS or _unavailable_reason(trace):
        raise UnknownPayloadError(part)
    try:
        return vector_index(trace, corpus, cast("VectorKind", kind)), metric
    except AttnvizError as error:
        raise UnknownPayloadError(part) from error


def step_vectors(trace: Trace, kind: VectorKind) -> NDArray[np.float32]:
    """Return the vector of each step of `trace` whose neighbours are searched, (number of steps, size).

    For annotations, it is the annotation of the most attended source piece.
    """
    if kind == "annotation":
        attended: NDArray[np.float32] = trace.annotations[trace.alignment.argmax(axis=1)]
        return attended
    return trace.states if kind == "state" else trace.contexts


def _neighbours(trace: Trace, index: VectorIndex, metric: Metric, step: int) -> list[Neighbour]:
    from attnviz.corpora.vectors import to_float32  # imports pyarrow

    excluded = index.vectors.rows_of(index.kind, trace.source_text)
    return nearest(index.array, step_vectors(trace, index.kind)[step], NEIGHBOUR_COUNT, metric, excluded, to_float32)


@makes_payload("neighbours")
def neighbours_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the neighbours of a step, each with its sentence and address.

    Raise UnknownPayloadError where there are none.
    """
    index, metric = _requested_vectors(request.trace, request.part)
    step, *others = request.steps
    if others:
        raise UnknownPayloadError("neighbours")
    entries = []
    for neighbour in _neighbours(request.trace, index, metric, step):
        number, piece = index.vectors.place(index.kind, neighbour.row)
        pair = index.vectors.pairs[number]
        before, piece_text, after = _split_at_piece(pair, index.kind, piece)
        entries.append(
            {
                "near": nearness_text(metric, neighbour),
                "before": before,
                "marked": piece_text,
                "after": after,
                "other": pair.target if index.kind == "annotation" else pair.source,
                "to": _pair_address(request.trace, pair) + _piece_address(index.kind, piece),
            }
        )
    spoken = ["en", "fr"] if index.kind == "annotation" else ["fr", "en"]
    return {
        "heading": _vector_name(request.trace, index.kind, step),
        "entries": entries,
        "kind": _COLOUR_NAMES[index.kind],
        "spoken": spoken,
    }


def _most_attended(trace: Trace, step: int) -> int:
    return int(trace.alignment[step].argmax())


def _split_at_piece(pair: VectorPair, kind: VectorKind, position: int) -> tuple[str, str, str]:
    """Return the sentence of a vector in three parts: before its piece, the piece, and after it."""
    pieces = pair.source_pieces if kind == "annotation" else pair.target_pieces
    texts = [
        "".join(part).replace(SPACE, " ")
        for part in (pieces[:position], pieces[position : position + 1], pieces[position + 1 :])
    ]
    before, piece_text, after = texts
    if piece_text.startswith(" "):
        before, piece_text = f"{before} ", piece_text[1:]
    return before.lstrip(), piece_text or "␣", after.removesuffix("</s>")


def _pair_address(trace: Trace, pair: VectorPair) -> str:
    """Return the address of a pair's step view, relative to the page."""
    return "./?" + urlencode({"sentence": pair.source, "target": pair.target, "model": trace.model})


def _piece_address(kind: VectorKind, piece: int) -> str:
    return f"#source={piece + 1}" if kind == "annotation" else f"#step={piece + 1}"


def _drawn_map(trace: Trace, index: VectorIndex, *, linked: bool) -> Spec:
    """Return the map, without a star; with `linked`, a click on a point opens its pair."""
    is_annotation = index.kind == "annotation"
    labels, links = [], []
    for row in index.map_rows:
        number, piece = index.vectors.place(index.kind, int(row))
        pair = index.vectors.pairs[number]
        pieces, sentence = (pair.source_pieces, pair.source) if is_annotation else (pair.target_pieces, pair.target)
        labels.append((piece_name(pieces[piece]), sentence))
        links.append((number, _piece_address(index.kind, piece)))
    return vector_map(
        index.coordinates,
        labels,
        index.projection.shares,
        _COLOUR_NAMES[index.kind],
        url_prefixes=[_pair_address(trace, pair) for pair in index.vectors.pairs] if linked else (),
        url_parts=links if linked else (),
    )


@makes_payload("vector-map")
def vector_map_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the map, with the coordinates of each step; raise UnknownPayloadError if unavailable."""
    index, _ = _requested_vectors(request.trace, request.part)
    coordinates = index.projection.place(step_vectors(request.trace, index.kind))
    sentence = principal_map_sentence(index.projection, len(index.map_rows), len(index.array))
    drawn = _drawn_map(request.trace, index, linked=True)
    return chart_payload(
        {
            step: with_star(drawn, coordinates[step], _vector_name(request.trace, index.kind, step))
            for step in request.steps
        },
        dict.fromkeys(request.steps, ("", sentence)),
    )


def _vector_name(trace: Trace, kind: VectorKind, step: int) -> str:
    return query_vector_name(trace, kind, step, _most_attended(trace, step))


def _selected_vectors(view: View) -> tuple[VectorIndex, Metric] | None:
    """Return the chosen vectors and metric; None where there is nothing to show."""
    if _unavailable_reason(view.trace):
        return None
    names = (
        page_session().get(VECTOR_KIND) or VECTOR_KINDS[0],
        page_session().get(VECTOR_METRIC) or METRICS[0],
        page_session().get(VECTOR_CORPUS) or SAMPLE_NAME,
    )
    try:
        return _requested_vectors(view.trace, ".".join(names))
    except UnknownPayloadError:
        return None


def neighbours_pictures(view: View) -> Iterator[OfferedFigure]:
    """Yield the map as it is saved."""
    chosen = _selected_vectors(view)
    if chosen is None:
        return
    (index, _), step = chosen, selection_of(view).step
    coordinates = index.projection.place(step_vectors(view.trace, index.kind)[step : step + 1])[0]
    name = _vector_name(view.trace, index.kind, step)
    yield OfferedFigure(
        gettext("Map of all vectors"),
        name,
        f"step-{step + 1}-{index.kind}-map",
        lambda: with_star(_drawn_map(view.trace, index, linked=False), coordinates, name),
    )


def neighbours_tables(view: View) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the neighbours of the current step."""
    chosen = _selected_vectors(view)
    if chosen is None:
        return
    (index, metric), step = chosen, selection_of(view).step
    yield (
        _vector_name(view.trace, index.kind, step),
        _neighbour_table(index, _neighbours(view.trace, index, metric, step)),
    )


def _neighbour_table(index: VectorIndex, neighbours: Sequence[Neighbour]) -> pd.DataFrame:
    rows = []
    for neighbour in neighbours:
        number, piece = index.vectors.place(index.kind, neighbour.row)
        pair = index.vectors.pairs[number]
        pieces = pair.source_pieces if index.kind == "annotation" else pair.target_pieces
        rows.append(
            {
                gettext("piece"): pieces[piece],
                "cos": neighbour.cosine,
                gettext("distance"): neighbour.distance,
                gettext("line"): pair.number,
                gettext("English"): pair.source,
                gettext("French"): pair.target,
            }
        )
    return pd.DataFrame(rows, index=pd.RangeIndex(1, len(rows) + 1))
