"""List the nearest neighbours of a state, context or annotation in a corpus, and draw them on a map."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, cast, get_args
from urllib.parse import urlencode

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from attnviz import AttnvizError, Trace
from attnviz.analysis.neighbours import METRICS, Metric, Neighbour, nearest
from attnviz.analysis.vectors import VECTOR_KINDS, VectorKind, VectorPair
from attnviz.corpora.vectors import in_single
from attnviz.figures.template import filled, to_json
from attnviz.figures.vector_map import vector_map_table, vector_map_template, vector_map_values
from attnviz.languages import gettext
from attnviz.palette import ThemeName
from attnviz.text import SPACE, piece_name
from attnviz.ui.components.chart.chart import AtStep, chart, chart_payload
from attnviz.ui.components.neighbours.neighbours import neighbour_list
from attnviz.ui.fields import segmented_control, select_box
from attnviz.ui.lab.vectors import SAMPLE_NAME, Searched, corpora_of, searched, stamp_of
from attnviz.ui.page_state import address as page_address
from attnviz.ui.page_state.selection import selection_of
from attnviz.ui.page_state.view import Session, View
from attnviz.ui.resources import weights_of
from attnviz.ui.shared_payloads import PayloadRequest, UnknownPayloadError, address
from attnviz.ui.toolbar.downloads import Picture
from attnviz.wording.neighbours import (
    about_neighbours,
    kind_names,
    map_sentence,
    metric_names,
    model_is_missing,
    nearness,
    which_vector,
    without_vectors,
)

KIND, METRIC, AMONG = "vectors", "near", "among"
"""Names of the choices, in the session state and in the address."""
COUNT = 12
"""Number of neighbours that are listed."""
_COLOURS: dict[VectorKind, str] = {"state": "decoder", "context": "context", "annotation": "encoder"}


def neighbours_panel(view: View, theme: ThemeName) -> None:
    """Draw the choices, the neighbours of the current step, and the map."""
    if told := _missing(view.trace):
        st.text(told)
        return
    kind, metric, among = _choices(view.trace)
    st.html(f'<p class="reading">{escape(about_neighbours())}</p>')
    part, stamp = f"{kind}.{metric}.{among}", stamp_of(among)
    left, right = st.columns(2, gap="large")
    with left:
        st.html(f'<h2 class="section">{escape(gettext("The nearest"))}</h2>')
        at = address(view.trace, "neighbours", theme, every=False, models=stamp, part=part)
        neighbour_list(view, at, waiting=gettext("Computing…"))
    with right:
        st.html(f'<h2 class="section">{escape(gettext("Map of all vectors"))}</h2>')
        at = address(view.trace, "vector-map", theme, every=True, models=stamp, part=part)
        chart(view, at, "vector_map", waiting=gettext("Computing…"))


def _missing(trace: Any) -> str:
    """Return a sentence about why there are no neighbours; empty where there are."""
    if not trace.recurrent or trace.imported:
        return without_vectors()
    return "" if weights_of(trace) is not None else model_is_missing(trace)


def _choices(trace: Trace) -> tuple[str, str, str]:
    """Draw the choices and write them into the address; return kind, metric and corpus."""
    corpora = corpora_of(trace)
    with st.container(horizontal=True, vertical_alignment="center", key="neighbour_choices"):
        offered = ((KIND, gettext("Which vectors"), kind_names()), (METRIC, gettext("Near how"), metric_names()))
        chosen = [
            segmented_control(
                label,
                names,
                key=key,
                default=next(iter(names)),
                label_visibility="collapsed",
            )
            for key, label, names in offered
        ]
        chosen.append(
            select_box(
                gettext("Among which"),
                corpora,
                key=AMONG,
                default=SAMPLE_NAME,
                label_visibility="collapsed",
                width=280,
            )
        )
    usual = (VECTOR_KINDS[0], METRICS[0], SAMPLE_NAME)
    for key, value, default in zip((KIND, METRIC, AMONG), chosen, usual, strict=True):
        page_address.write_too(st.session_state, {key: None if value == default else value})
    return chosen[0], chosen[1], chosen[2]


def _asked(trace: Any, part: str) -> tuple[Searched, Metric]:
    """Return the vectors and the metric that a payload requests; raise UnknownPayloadError where there are none."""
    kind, metric, among = (*part.split(".", 2), "", "", "")[:3]
    if kind not in get_args(VectorKind) or metric not in METRICS or _missing(trace):
        raise UnknownPayloadError(part)
    try:
        return searched(trace, among, cast("VectorKind", kind)), metric
    except AttnvizError as error:
        raise UnknownPayloadError(part) from error


def own_vectors(trace: Trace, kind: VectorKind) -> NDArray[np.float32]:
    """Return the vector of each step of `trace` that is compared, (Ty, size).

    Among annotations it is that of the most attended source piece.
    """
    if kind == "annotation":
        looked: NDArray[np.float32] = trace.annotations[trace.alignment.argmax(axis=1)]
        return looked
    return trace.states if kind == "state" else trace.contexts


def _found(trace: Trace, kept: Searched, metric: Metric, step: int) -> list[Neighbour]:
    without = kept.vectors.rows_of(kept.kind, trace.source_text)
    return nearest(kept.array, own_vectors(trace, kept.kind)[step], COUNT, metric, without, in_single)


def neighbours_payload(asked: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the neighbours of a step, each with its sentence and address.

    Raise UnknownPayloadError where there are none.
    """
    kept, metric = _asked(asked.trace, asked.part)
    step, *others = asked.steps
    if others:
        raise UnknownPayloadError("neighbours")
    entries = []
    for one in _found(asked.trace, kept, metric, step):
        number, piece = kept.vectors.place(kept.kind, one.row)
        pair = kept.vectors.pairs[number]
        before, marked, after = _parted(pair, kept.kind, piece)
        entries.append(
            {
                "near": nearness(metric, one),
                "before": before,
                "marked": marked,
                "after": after,
                "other": pair.target if kept.kind == "annotation" else pair.source,
                "to": _pair_address(asked.trace, pair) + _piece_address(kept.kind, piece),
            }
        )
    spoken = ["en", "fr"] if kept.kind == "annotation" else ["fr", "en"]
    return {
        "heading": _own_name(asked.trace, kept.kind, step),
        "entries": entries,
        "kind": _COLOURS[kept.kind],
        "spoken": spoken,
    }


def _looked_at(trace: Trace, step: int) -> int:
    return int(trace.alignment[step].argmax())


def _parted(pair: VectorPair, kind: VectorKind, place: int) -> tuple[str, str, str]:
    """Return the sentence of a vector in three parts: before its piece, the piece, and after it."""
    pieces = pair.source_pieces if kind == "annotation" else pair.target_pieces
    texts = [
        "".join(part).replace(SPACE, " ") for part in (pieces[:place], pieces[place : place + 1], pieces[place + 1 :])
    ]
    before, marked, after = texts
    if marked.startswith(" "):
        before, marked = f"{before} ", marked[1:]
    return before.lstrip(), marked or "␣", after.removesuffix("</s>")


def _pair_address(trace: Trace, pair: VectorPair) -> str:
    """Return the address of a pair's step view, relative to the page."""
    return "./?" + urlencode({"sentence": pair.source, "target": pair.target, "model": trace.model})


def _piece_address(kind: VectorKind, piece: int) -> str:
    return f"&source={piece + 1}" if kind == "annotation" else f"&step={piece + 1}"


def _names(kept: Searched) -> tuple[list[tuple[str, str]], list[tuple[int, int]]]:
    """Return word and sentence of each vector on the map, and its pair and piece."""
    places = [kept.vectors.place(kept.kind, int(row)) for row in kept.drawn]
    names = []
    for number, piece in places:
        pair = kept.vectors.pairs[number]
        annotation = kept.kind == "annotation"
        names.append(
            (
                piece_name((pair.source_pieces if annotation else pair.target_pieces)[piece]),
                pair.source if annotation else pair.target,
            )
        )
    return names, places


def _template(trace: Trace, kept: Searched, theme: ThemeName, *, ways: bool) -> dict[str, Any]:
    names, places = _names(kept)
    opens = [_pair_address(trace, pair) for pair in kept.vectors.pairs] if ways else []
    own = [(number, _piece_address(kept.kind, piece)) for number, piece in places] if ways else []
    return vector_map_template(
        kept.places, names, kept.map.shares, _COLOURS[kept.kind], theme=theme, opens=opens, ways=own
    )


def vector_map_payload(asked: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the map, with the place of each step; raise UnknownPayloadError where there is none."""
    kept, _ = _asked(asked.trace, asked.part)
    own = kept.map.place(own_vectors(asked.trace, kept.kind))
    told = map_sentence(kept.map, len(kept.drawn), len(kept.array))
    steps = {
        step: AtStep(to_json(vector_map_values(own[step], _own_name(asked.trace, kept.kind, step))), "", told)
        for step in asked.steps
    }
    return chart_payload(to_json(_template(asked.trace, kept, asked.theme, ways=True)), steps)


def _own_name(trace: Trace, kind: VectorKind, step: int) -> str:
    return which_vector(trace, kind, step, _looked_at(trace, step))


def _on_show(view: View, session: Session) -> tuple[Searched, Metric] | None:
    """Return the chosen vectors and metric; None where there is nothing to show."""
    if _missing(view.trace):
        return None
    names = (session.get(KIND) or VECTOR_KINDS[0], session.get(METRIC) or METRICS[0], session.get(AMONG) or SAMPLE_NAME)
    try:
        return _asked(view.trace, ".".join(names))
    except UnknownPayloadError:
        return None


def neighbours_pictures(view: View, session: Session) -> Iterator[Picture]:
    """Yield the map as it is saved."""
    chosen = _on_show(view, session)
    if chosen is None:
        return
    (kept, _), step = chosen, selection_of(session, view).step
    own = kept.map.place(own_vectors(view.trace, kept.kind)[step : step + 1])[0]
    values = vector_map_values(own, _own_name(view.trace, kept.kind, step))
    title = gettext("Map of all vectors")
    yield Picture(
        title,
        _own_name(view.trace, kept.kind, step),
        f"step-{step + 1}-{kept.kind}-map",
        filled(_template(view.trace, kept, "light", ways=False), values),
        vector_map_table(kept.places, _names(kept)[0]),
    )


def neighbours_tables(view: View, session: Session) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the neighbours of the current step, and the map."""
    chosen = _on_show(view, session)
    if chosen is None:
        return
    (kept, metric), step = chosen, selection_of(session, view).step
    yield _own_name(view.trace, kept.kind, step), _table(kept, _found(view.trace, kept, metric, step))
    yield gettext("Map of all vectors"), vector_map_table(kept.places, _names(kept)[0])


def _table(kept: Searched, found: Sequence[Neighbour]) -> pd.DataFrame:
    rows = []
    for one in found:
        number, piece = kept.vectors.place(kept.kind, one.row)
        pair = kept.vectors.pairs[number]
        pieces = pair.source_pieces if kept.kind == "annotation" else pair.target_pieces
        rows.append(
            {
                gettext("piece"): pieces[piece],
                "cos": one.cosine,
                gettext("distance"): one.distance,
                gettext("line"): pair.number,
                gettext("English"): pair.source,
                gettext("French"): pair.target,
            }
        )
    return pd.DataFrame(rows, index=pd.RangeIndex(1, len(rows) + 1))
