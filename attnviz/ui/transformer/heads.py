"""Third exhibit of *To the transformer*: all heads of the small transformer, error rates, and one in detail.

The error rates are read from `heads.csv` in the model's folder. The module draws the exhibit, and makes the
payloads of the opened head and the pictures to save.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from attnviz import AttnvizError
from attnviz.analysis.fit import MisfitError
from attnviz.analysis.verification import Verification
from attnviz.figures.build import figure_json
from attnviz.figures.figure_input import Subject
from attnviz.figures.head import head_gallery, head_gallery_table
from attnviz.figures.heatmap import heatmap, heatmap_table
from attnviz.figures.registry import STEP_FIGURES
from attnviz.figures.template import to_json
from attnviz.files import check_regular
from attnviz.installed_models import installed_models
from attnviz.languages import gettext, language
from attnviz.lru_cache import LRUCache, cached_in, size_of
from attnviz.model_folder import stamp
from attnviz.palette import ThemeName
from attnviz.trace import TransformerTrace
from attnviz.trace.parts import KINDS, Kind
from attnviz.trace.transformer_trace import Head
from attnviz.ui.components.chart import AtStep, chart, chart_payload, inline_chart, steady_payload
from attnviz.ui.components.context_growth import context_growth, growth_payload
from attnviz.ui.components.energy_decomposition import energy_decomposition, head_payload
from attnviz.ui.components.equation import equation, equation_payload
from attnviz.ui.components.gallery import cell, gallery, group
from attnviz.ui.components.player import SentencePair
from attnviz.ui.requests import handle
from attnviz.ui.resources import cached_for_all, weights_digest_of, weights_of
from attnviz.ui.shared_payloads import Maker, PayloadRequest, UnknownPayloadError, address
from attnviz.ui.step.step_controls import step_controls
from attnviz.ui.step.verification_badge import badge_payload, misfit_payload, verification, verifier_for
from attnviz.ui.toolbar.downloads import OfferedFigure
from attnviz.ui.transformer.exhibit import (
    TRANSFORMER_MODEL,
    Exhibit,
    ExhibitSelection,
    SentenceRequest,
    missing_models_reason,
)
from attnviz.ui.view import View
from attnviz.wording.equations import texts_of_cells, texts_of_source
from attnviz.wording.head import (
    STAGES,
    head_stage_sentences,
    head_title,
    kind_name,
    kind_sentence,
    opened_head_titles,
    pair_labels,
)
from attnviz.wording.numbers import decimal
from attnviz.wording.transformer_steps import opened_equations, opened_texts_of_step
from attnviz.wording.verification import not_verified_text

HEAD = "head"
"""Name of the opened head, in the session state and in the address."""
FIGURES = ("energy", "softmax", "context", "stream")
"""Figures of the opened head, in the order of the stages; names in the registry `STEP_FIGURES`."""


def _make_view(request: SentenceRequest) -> View:
    if reason := missing_models_reason(TRANSFORMER_MODEL):
        raise AttnvizError(reason)
    trace = request.trace_by(TRANSFORMER_MODEL)
    handle({HEAD: _store_head_name})
    opened_head = trace.head_named(str(st.session_state[HEAD])) or best_head(trace)
    st.session_state[HEAD] = opened_head.name
    return View(EXHIBIT.view_id, opened_head)


def _store_head_name(name: object) -> None:
    st.session_state[HEAD] = str(name)


def _draw(view: View, request: SentenceRequest, theme: ThemeName) -> None:  # noqa: ARG001  same signature as the others
    opened_head: Head = view.trace

    errors = head_errors(opened_head.record)
    gallery(
        view,
        _groups(opened_head.record, opened_head.record.fingerprint, repr(errors), language()),
        opened_head.name,
        HEAD,
    )
    if errors:
        st.html(f'<p class="explanation">{_error_rate_sentence(errors)}</p>')
    st.html(
        f'<h2 class="section opened">{head_title(opened_head)}</h2>'
        f'<p class="explanation">{kind_sentence(opened_head.kind)}</p>'
    )
    step_controls(view, _player_names(opened_head.kind))
    left, right = st.columns([11, 10], gap="large")
    with left:
        figure = _heatmap(opened_head, opened_head.fingerprint, theme, language())
        inline_chart(view, steady_payload(figure, {}), "heatmap")
    with right:
        _verification(view, opened_head, theme)
        energy_decomposition(view, _head_address(opened_head, "open-products", theme))
    with st.container(key=view.key("stages")):
        for number, title in opened_head_titles().items():
            with st.container(key=view.key(f"stage_{number}")):
                _stage(view, opened_head, number, title, theme)


def _head_address(opened_head: Head, name: str, theme: ThemeName, *, every: bool = True) -> str:
    trace: Any = opened_head.record
    return address(trace, name, theme, every=every, part=opened_head.name)


def _stage(view: View, opened_head: Head, number: int, title: str, theme: ThemeName) -> None:
    """Draw a stage of the current row: a sentence, a figure, and an equation with its numbers."""
    st.html(f'<h3><span class="number">{number}</span>{title}</h3>')
    if number == STAGES[2]:
        context_growth(view, _head_address(opened_head, "open-context", theme))
    else:
        name = FIGURES[number - 1]
        chart(view, _head_address(opened_head, f"open-{name}", theme), name)
    equation(view, number, _head_address(opened_head, f"open-equation-{number}", theme))


def _verification(view: View, opened_head: Head, theme: ThemeName) -> None:
    trace: Any = opened_head.record
    if weights_of(trace) is None:
        st.text(not_verified_text(trace))
        return
    payload_address = _head_address(opened_head, "open-verification", theme, every=False)
    # The whole encoder is verified with any step: its positions are not steps.
    verification(
        view, payload_address.replace("steps={step}", "steps=0") if opened_head.kind == "encoder" else payload_address
    )


def _player_names(kind: Kind) -> SentencePair:
    spoken = {"encoder": ("en", "en"), "decoder": ("fr", "fr"), "cross": ("en", "fr")}[kind]
    return SentencePair(pair_labels(kind), spoken, second_is_written=kind != "encoder")


@cached_for_all
def _groups(
    _trace: TransformerTrace,
    identity: str,  # noqa: ARG001
    rates_key: str,  # noqa: ARG001
    code: str,  # noqa: ARG001  part of the cache key
) -> list[dict[str, object]]:
    errors, groups = head_errors(_trace), []
    for kind in KINDS:
        rates = errors.rates if errors and kind == "cross" else {}
        heads = _trace.heads_of(kind)
        cells = [_cell(head, rates.get((head.layer, head.head))) for head in heads]
        groups.append(group(kind_name(kind), kind_sentence(kind), cells, len(heads) // (heads[-1].layer + 1)))
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
def _heatmap(_opened_head: Head, identity: str, theme: ThemeName, code: str) -> str:  # noqa: ARG001  part of the cache key
    return figure_json(heatmap(_opened_head, theme=theme))


def _pictures(
    view: View,
    request: SentenceRequest,  # noqa: ARG001  as others
    selection: ExhibitSelection,
    theme: ThemeName,
) -> Iterator[OfferedFigure]:
    opened_head: Head = view.trace
    name, errors = head_title(opened_head), head_errors(opened_head.record)
    rates = errors.rates if errors else {}
    title, gallery_figure = gettext("All heads"), head_gallery(opened_head.record, rates, theme=theme)
    yield OfferedFigure(
        title,
        title,
        "heads",
        gallery_figure,
        head_gallery_table(opened_head.record, rates),
        _error_rate_sentence(errors) if errors else "",
    )
    yield OfferedFigure(
        name,
        name,
        f"head-{opened_head.name}",
        heatmap(opened_head, theme=theme),
        heatmap_table(opened_head),
        kind_sentence(opened_head.kind),
    )
    subject = Subject(opened_head, selection.step, source=selection.source)
    for figure_name in ("products", *FIGURES):
        figure = STEP_FIGURES[figure_name]
        heading = gettext(
            "{picture}: {head}, row {row}", picture=figure.title(subject), head=name, row=selection.step + 1
        )
        yield OfferedFigure(
            figure.title(subject),
            heading,
            f"head-{opened_head.name}-{selection.step + 1}-{figure_name}",
            figure.draw(subject, theme=theme),
            figure.table(subject),
        )


EXHIBIT = Exhibit(_make_view, _draw, _pictures, "head")


FILE = "heads.csv"
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
        return _read(str(folder), stamp(str(folder), FILE), digest)
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
    check_regular(Path(folder) / FILE)
    with (Path(folder) / FILE).open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["links"] == LINK_METHOD and row["head"]]
    if not rows or any(not row["weights"] or not digest.startswith(row["weights"]) for row in rows):
        return None
    selected = [row for row in rows if row["file"] == rows[0]["file"]]
    rates = {(int(row["layer"]) - 1, int(row["head"]) - 1): float(row["aer"]) for row in selected}
    return HeadErrors(selected[0]["file"], int(selected[0]["sentences"]), rates)


_STAGE_BY_FIGURE = {"energy": 1, "softmax": 2, "stream": 4}
"""Stage of the computation that a figure shows, by the figure's name; stage 3 is `_context_payload`."""


def _requested_head(request: PayloadRequest) -> Head:
    """Return the requested head; raise UnknownPayloadError where there is none."""
    opened_head: Head | None = request.trace.head_named(request.part) if request.trace.has_heads else None
    if opened_head is None:
        raise UnknownPayloadError(request.part)
    return opened_head


def _rows(opened_head: Head) -> range:
    return range(len(opened_head.target_pieces))


def _figure_payload(name: str, request: PayloadRequest) -> dict[str, Any]:
    opened_head, picture = _requested_head(request), STEP_FIGURES[name].picture
    subjects = [Subject(opened_head, row) for row in _rows(opened_head)]
    sentences = {row: head_stage_sentences(opened_head, row)[_STAGE_BY_FIGURE[name]] for row in _rows(opened_head)}
    return chart_payload(
        to_json(picture.template(subjects[0], request.theme)),
        {
            subject.step: AtStep(to_json(picture.values(subject, request.theme)), "", sentences[subject.step])
            for subject in subjects
        },
    )


def _context_payload(request: PayloadRequest) -> dict[str, Any]:
    opened_head = _requested_head(request)
    return growth_payload(
        opened_head, {row: head_stage_sentences(opened_head, row)[3] for row in _rows(opened_head)}, request.theme
    )


def _products_payload(request: PayloadRequest) -> dict[str, Any]:
    return head_payload(_requested_head(request), request.theme)


def _equation_payload(stage: int, request: PayloadRequest) -> dict[str, Any]:
    opened_head = _requested_head(request)
    template = next(equation for equation in opened_equations(opened_head, request.theme) if equation.stage == stage)
    rows = _rows(opened_head)
    return equation_payload(
        template,
        list(rows),
        [opened_texts_of_step(opened_head, row, request.theme) for row in rows],
        [texts_of_source(opened_head, column) for column in range(len(opened_head.source_pieces))],
        [texts_of_cells(opened_head, row) for row in rows],
    )


def _verification_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the checks of the opened head's kind of attention, and of its residual stream."""
    opened_head, (step, *others) = _requested_head(request), request.steps
    if request.weights is None or others:
        raise UnknownPayloadError("open-verification")
    try:
        verification = verifier_for(request).verify(step)
    except MisfitError:
        return misfit_payload(request.trace, step)
    side = "encoder" if opened_head.kind == "encoder" else "decoder"
    prefixes = (f"{opened_head.kind}_", f"{side}_streams")
    return badge_payload(
        request.trace,
        Verification(tuple(check for check in verification.checks if check.quantity.startswith(prefixes))),
        step,
    )


MAKERS: Mapping[str, Maker] = {
    "open-context": _context_payload,
    "open-products": _products_payload,
    "open-verification": _verification_payload,
    **{f"open-{name}": partial(_figure_payload, name) for name in _STAGE_BY_FIGURE},
    **{f"open-equation-{stage}": partial(_equation_payload, stage) for stage in STAGES},
}
"""By the payload names in addresses; the address parameter `part` names the head."""
