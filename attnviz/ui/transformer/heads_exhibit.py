"""Third exhibit of *To the transformer*: all heads of the small transformer, error rates, and one in detail.

The error rates are read from `heads.csv` in the model's folder. The module draws the exhibit, and makes the
pictures to save.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from attnviz.analysis.numbers import decimal
from attnviz.analysis.transformer_steps import HEAD_STAGES, head_kind_name, head_title, kind_sentence, pair_labels
from attnviz.figures.heads_figure import head_gallery
from attnviz.figures.heatmap import heatmap
from attnviz.figures.registry import ENERGY_DECOMPOSITION
from attnviz.figures.subject import Subject
from attnviz.installed_models import TRANSFORMER_MODEL, check_installed, installed_models
from attnviz.languages import gettext
from attnviz.trace import TransformerTrace
from attnviz.trace.drawing import LONGEST_LABEL
from attnviz.trace.parts import HEAD_KINDS
from attnviz.trace.transformer_trace import Head
from attnviz.ui.components.chart import inline_figure
from attnviz.ui.components.component import box, columns, component, explanation, html
from attnviz.ui.components.gallery import cell, gallery, group
from attnviz.ui.embedding import page_session
from attnviz.ui.page_state.selection import source_of
from attnviz.ui.payloads import Payload, PayloadRequest, Shown, address
from attnviz.ui.requests import on_request
from attnviz.ui.resources import cached_for_all, table_rows, weights_digest_of
from attnviz.ui.step.stage_panels import draw_stage, stage_figures
from attnviz.ui.step.step_controls import PlayedLanguages, step_controls
from attnviz.ui.step.verification_badge import trace_verification
from attnviz.ui.toolbar.downloads import OfferedFigure, OfferedPart
from attnviz.ui.transformer import Exhibit, SentenceRequest
from attnviz.ui.view import View

HEAD = "head"
"""Name of the opened head, in the session state and in the address."""


def _make(request: SentenceRequest) -> tuple[View, Shown]:
    check_installed(TRANSFORMER_MODEL)
    trace = request.trace_by(TRANSFORMER_MODEL)
    session = page_session()
    on_request(HEAD, lambda name: session.update({HEAD: str(name)}))
    opened_head: Any = trace.head_named(str(session[HEAD])) or best_head(trace)
    session[HEAD] = opened_head.name
    return View("head", opened_head), {}


def _draw(view: View, shown: Shown) -> None:  # noqa: ARG001  same signature as the others
    opened_head: Head = view.trace
    errors = _head_errors(opened_head.record)
    gallery(view, _groups(opened_head.record, errors), opened_head.name, HEAD)
    if errors:
        explanation(_error_rate_sentence(errors))
    html(
        f'<h2 class="section opened">{head_title(opened_head)}</h2>'
        f'<p class="explanation">{kind_sentence(opened_head.kind)}</p>'
    )
    kind = opened_head.kind
    spoken = {"encoder": ("en", "en"), "decoder": ("fr", "fr"), "cross": ("en", "fr")}[kind]
    step_controls(view, PlayedLanguages(pair_labels(kind), spoken, second_is_written=kind != "encoder"))
    left, right = columns((11, 10), gap="large")
    with left:
        inline_figure(view, "heatmap", partial(heatmap, opened_head, end=True))
    with right:
        trace_verification(view, opened_head)
        at = address(opened_head, ENERGY_DECOMPOSITION.name)
        component("energy_decomposition", view.key("energy-decomposition"), {"at": at})
    with box(view.key("stages")):
        for place, stage in enumerate(HEAD_STAGES, 1):
            with box(view.key(f"stage_{stage.number}")):
                draw_stage(view, stage, place)


@cached_for_all
def _groups(trace: TransformerTrace, errors: HeadErrors | None) -> list[Payload]:
    groups = []
    for kind in HEAD_KINDS:
        rates = errors.rates if errors and kind == "cross" else {}
        heads = trace.heads_of(kind)
        cells = [_cell(head, rates.get((head.layer, head.head))) for head in heads]
        groups.append(group(head_kind_name(kind), kind_sentence(kind), cells, len(heads) // (heads[-1].layer + 1)))
    return groups


def _cell(head: Head, rate: float | None) -> Payload:
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


def _pictures(asked: PayloadRequest) -> Iterator[OfferedFigure]:
    opened_head: Head = asked.view.trace
    step, name, errors = asked.selection.step, head_title(opened_head), _head_errors(opened_head.record)
    rates = errors.rates if errors else {}
    yield OfferedFigure(gettext("All heads"), "heads", partial(head_gallery, opened_head.record, rates))
    yield OfferedFigure(name, f"head-{opened_head.name}", partial(heatmap, opened_head, end=True))
    subject = Subject(opened_head, step, source=source_of(asked.selection, asked.view.trace), longest=LONGEST_LABEL)
    of_stages = [figure for stage in HEAD_STAGES for figure in stage_figures(opened_head, stage)]
    for figure in (ENERGY_DECOMPOSITION, *of_stages):
        title, file = figure.title(subject), f"head-{opened_head.name}-{step + 1}-{figure.name}"
        heading = gettext("{picture}: {head}, row {row}", picture=title, head=name, row=step + 1)
        yield OfferedFigure(title, file, partial(figure.draw, subject), heading)


HEADS_EXHIBIT = Exhibit(_make, _draw, OfferedPart(_pictures), HEAD)

_FILE = "heads.csv"
"""File in the model's folder that `attnviz evaluate --heads --heads-csv` writes."""
LINK_METHOD = "mutual argmax"
"""How the links are derived from the weights in the rows that are read; the file has other methods too."""


@dataclass(frozen=True)
class HeadErrors:
    """Alignment error rates of all cross-attention heads, on one file of gold links."""

    sentences: int
    """Number of sentence pairs in the file."""
    rates: Mapping[tuple[int, int], float]
    """By 0-based layer and head, each in [0, 1]."""


def _head_errors(trace: Any) -> HeadErrors | None:
    """Return the rates of the model that made `trace`, on the first file of gold links in the table.

    Return None if they are missing or damaged, or belong to other weights.
    """
    folder, digest = installed_models().get(trace.model), weights_digest_of(trace)
    if folder is None or not digest:
        return None
    try:
        rows = [row for row in table_rows(folder, _FILE) if row["links"] == LINK_METHOD and row["head"]]
        if not rows or any(not row["weights"] or not digest.startswith(row["weights"]) for row in rows):
            return None
        selected = [row for row in rows if row["file"] == rows[0]["file"]]
        rates = {(int(row["layer"]) - 1, int(row["head"]) - 1): float(row["aer"]) for row in selected}
        return HeadErrors(int(selected[0]["sentences"]), rates)
    except (ValueError, KeyError, TypeError):
        return None


def best_head(trace: TransformerTrace) -> Head:
    """Return the cross-attention head with the lowest alignment error rate; the first if the rates are unknown."""
    heads, errors = trace.heads_of("cross"), _head_errors(trace)
    rates = errors.rates if errors else {}
    if {(head.layer, head.head) for head in heads} != set(rates):
        return heads[0]
    return min(heads, key=lambda head: rates[head.layer, head.head])
