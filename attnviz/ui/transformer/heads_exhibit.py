"""Third exhibit of *To the transformer*: all heads of the small transformer, error rates, and one in detail.

The error rates are read from `heads.csv` in the model's folder. The module draws the exhibit, and makes the
pictures to save.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from attnviz import AttnvizError
from attnviz.analysis.numbers import decimal
from attnviz.analysis.transformer_steps import HEAD_STAGES, head_kind_name, head_title, kind_sentence, pair_labels
from attnviz.analysis.verification import not_verified_text
from attnviz.figures.heads_figure import head_gallery
from attnviz.figures.heatmap import heatmap
from attnviz.figures.registry import ENERGY_DECOMPOSITION
from attnviz.figures.subject import Subject
from attnviz.files import check_regular
from attnviz.installed_models import installed_models
from attnviz.languages import gettext
from attnviz.lru_cache import LRUCache, cached_in, size_of
from attnviz.model_folder import stamp
from attnviz.trace import TransformerTrace
from attnviz.trace.drawing import LONGEST_LABEL
from attnviz.trace.parts import HEAD_KINDS, HeadKind
from attnviz.trace.transformer_trace import Head
from attnviz.ui.components.chart import inline_chart, steady_payload
from attnviz.ui.components.component import box, columns, component, html, plain_text
from attnviz.ui.components.gallery import cell, gallery, group
from attnviz.ui.embedding import page_session
from attnviz.ui.page_state.selection import source_of
from attnviz.ui.payloads import PayloadRequest, address
from attnviz.ui.requests import on_request
from attnviz.ui.resources import cached_for_all, weights_digest_of, weights_of
from attnviz.ui.step.stage_panels import draw_stage
from attnviz.ui.step.stage_payloads import stage_figures
from attnviz.ui.step.step_controls import PlayedLanguages, step_controls
from attnviz.ui.step.verification_badge import verification
from attnviz.ui.toolbar.downloads import OfferedFigure
from attnviz.ui.transformer.exhibit import (
    TRANSFORMER_MODEL,
    Exhibit,
    SentenceRequest,
    missing_exhibit_models,
)
from attnviz.ui.view import View

HEAD = "head"
"""Name of the opened head, in the session state and in the address."""


def _make_view(request: SentenceRequest) -> View:
    if reason := missing_exhibit_models(TRANSFORMER_MODEL):
        raise AttnvizError(reason)
    trace = request.trace_by(TRANSFORMER_MODEL)
    on_request(HEAD, _store_head_name)
    opened_head: Any = trace.head_named(str(page_session()[HEAD])) or best_head(trace)
    page_session()[HEAD] = opened_head.name
    return View(HEADS_EXHIBIT.view_id, opened_head)


def _store_head_name(name: object) -> None:
    page_session()[HEAD] = str(name)


def _draw(view: View, request: SentenceRequest) -> None:  # noqa: ARG001  same signature as the others
    opened_head: Head = view.trace

    errors = head_errors(opened_head.record)
    gallery(view, _groups(opened_head.record, errors), opened_head.name, HEAD)
    if errors:
        html(f'<p class="explanation">{_error_rate_sentence(errors)}</p>')
    html(
        f'<h2 class="section opened">{head_title(opened_head)}</h2>'
        f'<p class="explanation">{kind_sentence(opened_head.kind)}</p>'
    )
    step_controls(view, _player_names(opened_head.kind))
    left, right = columns((11, 10), gap="large")
    with left:
        inline_chart(view, _heatmap_payload(opened_head), "heatmap")
    with right:
        if weights_of(view.trace) is None:
            plain_text(not_verified_text(view.trace))
        else:
            verification(view, {"at": address(view.trace, "verification", every=False)})
        at = address(view.trace, ENERGY_DECOMPOSITION.name, every=True)
        component("energy_decomposition", view.key("energy-decomposition"), {"at": at})
    with box(view.key("stages")):
        for place, stage in enumerate(HEAD_STAGES, 1):
            with box(view.key(f"stage_{stage.number}")):
                draw_stage(view, stage, place)


def _player_names(kind: HeadKind) -> PlayedLanguages:
    spoken = {"encoder": ("en", "en"), "decoder": ("fr", "fr"), "cross": ("en", "fr")}[kind]
    return PlayedLanguages(pair_labels(kind), spoken, second_is_written=kind != "encoder")


@cached_for_all
def _groups(trace: TransformerTrace, errors: HeadErrors | None) -> list[dict[str, object]]:
    groups = []
    for kind in HEAD_KINDS:
        rates = errors.rates if errors and kind == "cross" else {}
        heads = trace.heads_of(kind)
        cells = [_cell(head, rates.get((head.layer, head.head))) for head in heads]
        groups.append(group(head_kind_name(kind), kind_sentence(kind), cells, len(heads) // (heads[-1].layer + 1)))
    return groups


def _cell(head: Head, rate: float | None) -> dict[str, object]:
    note = "" if rate is None else gettext("AER {rate}", rate=decimal(rate))
    label = ", ".join(filter(None, (head_title(head), note)))
    return cell(head.name, head.alignment, f"{head.layer + 1}.{head.head + 1}", note, label)


def _error_rate_sentence(errors: HeadErrors) -> str:
    layer, head = min(errors.rates, key=errors.rates.__getitem__)
    return gettext(
        "The layer and the head are named below each heatmap. Below a cross-attention head, you also see the head’s "
        "alignment error rate (AER). The AER compares the head’s word links with manual word alignments of "
        "{sentences} sentences: it is 0 if all links agree, 1 if no link agrees. Head {head} of layer {layer} aligns "
        "best, with an error rate of {rate}. This transformer was trained without word alignments.",
        sentences=errors.sentences,
        layer=layer + 1,
        head=head + 1,
        rate=decimal(errors.rates[layer, head]),
    )


@cached_for_all
def _heatmap_payload(opened_head: Head) -> dict[str, Any]:
    return steady_payload(heatmap(opened_head, end=True), {})


def _pictures(asked: PayloadRequest) -> Iterator[OfferedFigure]:
    opened_head: Head = asked.trace
    step = asked.selection.step
    name, errors = head_title(opened_head), head_errors(opened_head.record)
    rates = errors.rates if errors else {}
    title, note = gettext("All heads"), _error_rate_sentence(errors) if errors else ""
    gallery = partial(head_gallery, opened_head.record, rates)
    yield OfferedFigure(title, title, "heads", gallery, note=note)
    yield OfferedFigure(
        name,
        name,
        f"head-{opened_head.name}",
        lambda: heatmap(opened_head, end=True),
        note=kind_sentence(opened_head.kind),
    )
    subject = Subject(opened_head, step, source=source_of(asked.selection, asked.trace), longest=LONGEST_LABEL)
    of_stages = [figure for stage in HEAD_STAGES for figure in stage_figures(opened_head, stage)]
    for figure in (ENERGY_DECOMPOSITION, *of_stages):
        heading = gettext("{picture}: {head}, row {row}", picture=figure.title(subject), head=name, row=step + 1)
        yield OfferedFigure(
            figure.title(subject),
            heading,
            f"head-{opened_head.name}-{step + 1}-{figure.name}",
            partial(figure.draw, subject),
        )


HEADS_EXHIBIT = Exhibit(_make_view, _draw, _pictures, "head")


_FILE = "heads.csv"
"""File in the model's folder that `attnviz evaluate --heads --heads-csv` writes."""
LINK_METHOD = "mutual argmax"
"""How the links are derived from the weights in the rows that are read; the file has other methods too."""


@dataclass(frozen=True)
class HeadErrors:
    """Alignment error rates of all cross-attention heads, on one file of gold links."""

    file: str
    """Name of the file of gold links."""
    sentences: int
    """Number of sentence pairs in it."""
    rates: Mapping[tuple[int, int], float]
    """By 0-based layer and head, each in [0, 1]."""


def head_errors(trace: Any) -> HeadErrors | None:
    """Return the rates of the model that made `trace`, on the first file of gold links in the table.

    Return None if they are missing or damaged, or belong to other weights.
    """
    folder, digest = installed_models().get(trace.model), weights_digest_of(trace)
    if folder is None or not digest:
        return None
    try:
        return _read(str(folder), stamp(str(folder), _FILE), digest)
    except (OSError, ValueError, KeyError, AttnvizError):
        return None


def best_head(trace: TransformerTrace) -> Head:
    """Return the cross-attention head with the lowest alignment error rate; the first if the rates are unknown."""
    heads, errors = trace.heads_of("cross"), head_errors(trace)
    rates = errors.rates if errors else {}
    if {(head.layer, head.head) for head in heads} != set(rates):
        return heads[0]
    return min(heads, key=lambda head: rates[head.layer, head.head])


@cached_in(LRUCache(1 << 18, size=size_of))
def _read(folder: str, file: tuple[tuple[int, ...], ...], digest: str) -> HeadErrors | None:  # noqa: ARG001  part of the cache key
    check_regular(Path(folder) / _FILE)
    with (Path(folder) / _FILE).open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["links"] == LINK_METHOD and row["head"]]
    if not rows or any(not row["weights"] or not digest.startswith(row["weights"]) for row in rows):
        return None
    selected = [row for row in rows if row["file"] == rows[0]["file"]]
    rates = {(int(row["layer"]) - 1, int(row["head"]) - 1): float(row["aer"]) for row in selected}
    return HeadErrors(selected[0]["file"], int(selected[0]["sentences"]), rates)
