"""Exhibits of the page *To the transformer*: a judged sentence pair, all heads of the small transformer, five models.

An `Exhibit` has the functions that compute it, draw it and yield what it offers to save. The exhibit of the row of
weights is in `pages.transformer_page`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz import lazy_pandas as pd
from attnviz.analysis import judgement as texts
from attnviz.analysis.judgement import (
    JudgementVerifier,
    largest_difference,
    matching_positions,
    pair_attention,
    recompute_decomposable,
    with_words_swapped,
)
from attnviz.analysis.labels import decimal, shorten
from attnviz.analysis.models_side_by_side import (
    ModelFacts,
    bleu_gap_sentence,
    by_length_sentence,
    facts_text,
    heatmaps_caption,
)
from attnviz.analysis.transformer_steps import HEAD_STAGES, head_kind_name, head_title, kind_sentence, pair_labels
from attnviz.analysis.verification import not_verified_text
from attnviz.errors import user_error
from attnviz.figures.heads_figure import head_gallery, thumbnail
from attnviz.figures.heatmap import heatmap
from attnviz.figures.judgement_figure import (
    aggregated_table,
    attend_figure,
    bag_figure,
    compared_figure,
    verdict_table,
)
from attnviz.figures.registry import ENERGY_DECOMPOSITION
from attnviz.figures.spec import Spec
from attnviz.figures.subject import Subject
from attnviz.figures.why_attention_figure import bucket_of
from attnviz.installed_models import (
    ADDITIVE_MODEL,
    LARGE_MODEL,
    SHIPPED_MODELS,
    TRANSFORMER_MODEL,
    check_installed,
    installed_models,
)
from attnviz.languages import gettext, language, ngettext
from attnviz.model_folder import count_parameters
from attnviz.trace import Judgement, TransformerTrace
from attnviz.trace.aligned import AttentionView
from attnviz.trace.drawing import LONGEST_LABEL
from attnviz.trace.parts import HEAD_KINDS
from attnviz.trace.transformer_trace import Head
from attnviz.ui.blocks import (
    box,
    chart,
    chart_payload,
    columns,
    component,
    explanation,
    html,
    inline_figure,
    packed,
    plain_text,
    section_heading,
)
from attnviz.ui.controls import on_request, request_button, select_box, text_box
from attnviz.ui.embedding import embedding, page_session, theme_name
from attnviz.ui.inputs import keep_for
from attnviz.ui.payloads import Payload, PayloadRequest, Shown, address
from attnviz.ui.resources import (
    Rows,
    bleu_rows,
    bleu_scores,
    cached_for_all,
    detector_folder,
    judgement_of,
    table_rows,
    translate,
    weights_digest_of,
    weights_of,
)
from attnviz.ui.selection import source_of
from attnviz.ui.side_by_side import lanes, translations_payload
from attnviz.ui.step.stage_panels import draw_stage, inline_equation, stage_figures
from attnviz.ui.step.step_controls import PlayedLanguages, step_controls, view_state
from attnviz.ui.step.verification_badge import badge_payload, verification, verification_rows
from attnviz.ui.toolbar.downloads import NamedTables, OfferedFigure, OfferedPart, offered_bleu
from attnviz.ui.view import View


@dataclass(frozen=True)
class SentenceRequest:
    """The visitor's sentence, and the settings of its translations."""

    view: View
    """The view of the other pages."""
    device: str = "auto"
    beam: int = 5

    @property
    def sentence(self) -> str:
        """The English sentence."""
        return str(self.view.trace.source_text)

    def trace_by(self, model: str) -> Any:
        """Translate by `model`; raise AttnvizError on bad input."""
        return translate(model, self.device, self.sentence, self.beam, None)


@dataclass(frozen=True, kw_only=True)
class Exhibit(OfferedPart):
    """One part of the page."""

    make: Callable[[SentenceRequest], tuple[View, Shown]]
    """Returns the view of the exhibit, and what else it shows; raises AttnvizError where that cannot be computed."""
    draw: Callable[[View, Shown], None]
    """Draws what `make` has returned."""
    parameter: str = ""
    """Name of its choice that has history entries, in the session state and in the address; empty without one."""


SWAP = "swap"
"""Name of the choice in session state and address: the words' numbers from 1, such as "2.5"; none while unswapped."""
FRENCH = "pair"
"""Name of the French sentence, in the session state and, where it differs from the translation, in the address."""


def _make_pair(request: SentenceRequest) -> tuple[View, Shown]:
    """Return the view of the judged pair, and the verdict on the pair with the chosen words swapped, if any."""
    sentence, french = request.sentence, _french(request)
    swap = _chosen_swap(sentence)
    swapped = swap and _judgement(request, with_words_swapped(sentence, *swap), french)
    return View("two", pair_attention(_judgement(request, sentence, french))), {"swapped": swapped}


def _judgement(request: SentenceRequest, english: str, french: str) -> Judgement:
    """Return the verdict on a pair; raise AttnvizError on bad input, and where there is no detector."""
    folder = detector_folder()
    if folder is None:
        raise user_error(
            "This part of the page needs a detector: a model that says whether one sentence translates another. "
            "No detector is installed. Train a detector with attnviz train --architecture decomposable and put "
            "its folder in the folder of the models, for example as models/detector."
        )
    return judgement_of(folder, request.device, english, french)


def _french(request: SentenceRequest) -> str:
    """Draw the box of the French sentence, by default the translation; return its text."""
    session, translation = page_session(), str(request.view.trace.translation)
    keep_for(FRENCH, request.sentence)
    if not str(session.get(FRENCH, translation)).strip():
        session[FRENCH] = translation
    text = text_box(
        gettext("French sentence"),
        key=FRENCH,
        default=translation,
        parameter=FRENCH,
        help=gettext(
            "By default, this box contains the translation of the sentence above. Write another translation and watch "
            "how the verdict changes."
        ),
    )
    return text.strip() or translation


def _draw_pair(view: View, shown: Shown) -> None:
    attention: AttentionView = view.trace
    judgement: Judgement = attention.record
    swapped: Judgement | None = shown["swapped"]
    explanation(texts.detector_caption())
    step_controls(view, PlayedLanguages((gettext("English"), gettext("French")), second_is_written=False))
    component("verification_badge", view.key("verification"), _verification_payload(judgement))
    section_heading(gettext("Attend"), texts.attention_caption())
    left, right = columns((1, 1), gap="large")
    with left:
        inline_figure(view, "heatmap", partial(attend_figure, attention))
    with right:
        inline_figure(view, "other_way", partial(_without_steps, pair_attention(judgement, "source")))
    left, right = columns((1, 1), gap="large")
    with left:
        section_heading(gettext("Compare"))
        component("chart", view.key("compared"), _comparison_payload(judgement))
    with right, box(view.key("equations_verdict")):
        section_heading(gettext("Aggregate, then decide"), f"<b>{texts.verdict(judgement)}</b>")
        inline_equation(view, texts.verdict_equation(judgement, theme_name()), "verdict")
    bag = _bag(judgement, swapped)
    section_heading(bag.title)
    _choose_swap(judgement.source_text)
    if swapped:
        plain_text(swapped.source_text)
    inline_figure(view, bag.name, bag.draw, _bag_sentence(judgement, swapped))


def _bag(judgement: Judgement, other: Judgement | None) -> OfferedFigure:
    return OfferedFigure(gettext("A bag of vectors"), "bag", partial(bag_figure, judgement, other))


@cached_for_all
def _bag_sentence(judgement: Judgement, other: Judgement | None) -> str:
    """Return a description of the bag or, if two words are swapped, of the effect of the swap.

    The latter says whether the recomputation of both gives bitwise equal probabilities.
    """
    if other is None:
        return texts.comparisons_caption()
    positions, weights = matching_positions(judgement, other), weights_of(judgement)
    difference = None if positions is None else largest_difference(judgement, other, positions)
    exact = False
    if positions is not None and weights is not None:
        recomputed = [recompute_decomposable(weights, each.source_ids, each.target_ids) for each in (judgement, other)]
        exact = bool((recomputed[0]["probabilities"] == recomputed[1]["probabilities"]).all())
    return texts.swap_sentence(judgement, other, difference, exact=exact)


def _without_steps(attention: AttentionView) -> Spec:
    """Return one sentence's attention to the other, whose rows select no steps."""
    spec = attend_figure(attention)
    spec.layout["meta"] = {name: spec.layout["meta"][name] for name in ("narrowest", "widest")}
    return spec


@cached_for_all
def _comparison_payload(judgement: Judgement) -> Payload:
    steps = range(len(judgement.target_pieces))
    return chart_payload(
        {step: compared_figure(judgement, step) for step in steps},
        {step: texts.compared_sentence(judgement, step) for step in steps},
    )


@cached_for_all
def _verification_payload(judgement: Judgement) -> Payload:
    weights = weights_of(judgement)
    if weights is None:
        return badge_payload(not_verified_text(judgement), holds=False)
    verified = JudgementVerifier(judgement, weights).verify(0)
    rows = verification_rows(verified, texts.judgement_quantity_names())
    return badge_payload(texts.verdict_badge_text(verified), rows, holds=verified.holds)


def _pair_pictures(asked: PayloadRequest) -> Iterator[OfferedFigure]:
    attention: AttentionView = asked.view.trace
    judgement, step = attention.record, asked.selection.step
    for each, name in (
        (attention, gettext("French looks at English")),
        (pair_attention(judgement, "source"), gettext("English looks at French")),
    ):
        yield OfferedFigure(name, f"attend-{each.name}", partial(attend_figure, each))
    title = gettext("Comparison of piece {number}", number=step + 1)
    yield OfferedFigure(title, f"compared-{step + 1}", partial(compared_figure, judgement, step))
    yield _bag(judgement, asked.shown["swapped"])


def _verdict_tables(asked: PayloadRequest) -> NamedTables:
    """Yield the numbers of the verdict, which are in no figure."""
    judgement: Judgement = asked.view.trace.record
    yield gettext("The sums of the comparisons, and the hidden layer"), aggregated_table(judgement)
    yield gettext("The verdict"), verdict_table(judgement)


PAIR_EXHIBIT = Exhibit(_pair_pictures, _verdict_tables, make=_make_pair, draw=_draw_pair, parameter=SWAP)


def _chosen_swap(sentence: str) -> tuple[int, int] | None:
    """Return the 0-based indices of the two swapped words; None while unswapped, or where there are no such words."""
    match = re.fullmatch(r"([0-9]{1,3})\.([0-9]{1,3})", str(page_session().get(SWAP)))
    if not match:
        return None
    first, second = (int(text) - 1 for text in match.groups())
    return (first, second) if 0 <= first < second < len(sentence.split()) else None


def _choose_swap(sentence: str) -> None:
    """Draw the choice of two words, and the button that swaps them."""
    session, words, chosen = page_session(), sentence.split(), _chosen_swap(sentence)
    if len(words) < 2 or embedding() is not None:
        return
    defaults = chosen or (min(1, len(words) - 2), max(len(words) - 2, min(1, len(words) - 2) + 1))
    names = {str(index): f"{index + 1} {shorten(word, 24)}" for index, word in enumerate(words)}
    with box("swap_words", row=True):
        labels = gettext("This word"), gettext("and this one")
        indices = []
        for name, default, label in zip(("swap_one", "swap_other"), defaults, labels, strict=True):
            key = f"{name}_{len(words)}"
            if chosen:
                session[key] = str(default)
            index = select_box(label, names, key=key, default=str(default), disabled=chosen is not None, width=220)
            indices.append(int(index))
        request_button(
            gettext("Undo the swap" if chosen else "Swap them"),
            lambda: session.update({SWAP: None if chosen else ".".join(str(k + 1) for k in sorted(indices))}),
            key="swap_button",
            type="primary",
            disabled=indices[0] == indices[1],
        )


def _gallery(view: View, groups: Sequence[Payload], chosen: str = "", request: str = "") -> None:
    """Draw the `groups` of small heatmaps, with the cell `chosen` marked.

    Each has a name, a `caption` and `cells` (`_cell`), so many `across` in a row. When a visitor chooses another cell,
    the browser sends a `request` with its code.
    """
    payload = {"language": language(), "groups": groups, "chosen": chosen, "request": request}
    component("gallery", view.key("gallery"), payload)


def _cell(weights: NDArray[np.floating], **texts: Any) -> Payload:
    """Return a small heatmap of `weights`, (rows, columns), in [0, 1], shaded by their square roots.

    Its `texts` are its `code`, `name` and `note` below it, its text alternative as `label`, and the words of its rows
    and columns, `rows_of` and `columns_of`, which name the cell under the pointer.
    """
    shades = np.round(255 * np.sqrt(np.clip(thumbnail(weights), 0, 1)))
    return {"columns": shades.shape[1], "bytes": packed(shades, "u1"), "rows_of": (), "columns_of": (), **texts}


HEAD = "head"
"""Name of the opened head, in the session state and in the address."""


def _make_heads(request: SentenceRequest) -> tuple[View, Shown]:
    check_installed(TRANSFORMER_MODEL)
    trace = request.trace_by(TRANSFORMER_MODEL)
    session = page_session()
    on_request(HEAD, lambda name: session.update({HEAD: str(name)}))
    opened_head: Any = trace.head_named(str(session[HEAD])) or best_head(trace)
    session[HEAD] = opened_head.name
    return View("head", opened_head), {}


def _draw_heads(view: View, shown: Shown) -> None:  # noqa: ARG001  same signature as the others
    opened_head: Head = view.trace
    errors = _head_errors(opened_head.record)
    _gallery(view, _head_groups(opened_head.record, errors), opened_head.name, HEAD)
    if errors:
        layer, head = min(errors.rates, key=errors.rates.__getitem__)
        explanation(
            gettext(
                "The layer and the head are named below each heatmap. Below a cross-attention head, you also see the "
                "head’s alignment error rate (AER). The AER compares the head’s word links with manual word alignments "
                "of {sentences} sentences: it is 0 if all links agree, 1 if no link agrees. Head {head} of layer "
                "{layer} aligns best, with an error rate of {rate}. This transformer was trained without word "
                "alignments.",
                sentences=errors.sentences,
                layer=layer + 1,
                head=head + 1,
                rate=decimal(errors.rates[layer, head]),
            )
        )
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
        verification(view, [opened_head])
        chart(view, address(opened_head, ENERGY_DECOMPOSITION.name), ENERGY_DECOMPOSITION.name)
    with box(view.key("stages")):
        for place, stage in enumerate(HEAD_STAGES, 1):
            with box(view.key(f"stage_{stage.number}")):
                draw_stage(view, stage, place)


@cached_for_all
def _head_groups(trace: TransformerTrace, errors: HeadErrors | None) -> list[Payload]:
    groups = []
    for kind in HEAD_KINDS:
        rates = errors.rates if errors and kind == "cross" else {}
        heads = trace.heads_of(kind)
        cells = []
        for head in heads:
            rate, name = rates.get((head.layer, head.head)), f"{head.layer + 1}.{head.head + 1}"
            note = "" if rate is None else gettext("AER {rate}", rate=decimal(rate))
            label = ", ".join(filter(None, (head_title(head), note)))
            cells.append(_cell(head.alignment, code=head.name, name=name, note=note, label=label))
        name, across = head_kind_name(kind), len(heads) // (heads[-1].layer + 1)
        groups.append({"name": name, "caption": kind_sentence(kind), "across": across, "cells": cells})
    return groups


def _head_pictures(asked: PayloadRequest) -> Iterator[OfferedFigure]:
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


HEADS_EXHIBIT = Exhibit(_head_pictures, make=_make_heads, draw=_draw_heads, parameter=HEAD)

_ERRORS_FILE = "heads.csv"
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
        rows = [row for row in table_rows(folder, _ERRORS_FILE) if row["links"] == LINK_METHOD and row["head"]]
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


_WARM_UP_SENTENCE = "What is computed first takes longer."
"""Translated before the visitor's sentence, so that the warm-up does not count in a model's duration."""


def _make_models(request: SentenceRequest) -> tuple[View, Shown]:
    folders, traces = installed_models(), []
    for name in SHIPPED_MODELS:
        if name in folders:
            translate(name, request.device, _WARM_UP_SENTENCE, 1, None)
            traces.append(request.trace_by(name))
    if not traces:
        raise user_error(
            "This part of the page compares the models {names}. None of these models is installed: install at "
            "least one of them.",
            names=", ".join(SHIPPED_MODELS),
        )
    return View("answers", max(traces, key=lambda trace: len(trace.target_pieces))), {"traces": traces}


def _draw_models(view: View, shown: Shown) -> None:
    traces = shown["traces"]
    if absent := [name for name in SHIPPED_MODELS if name not in installed_models()]:
        plain_text(gettext("Models not installed: {absent}.", absent=", ".join(absent)))
    rows = bleu_rows(SHIPPED_MODELS)
    scores, folders, compared = bleu_scores(rows), installed_models(), (ADDITIVE_MODEL, TRANSFORMER_MODEL)
    if {*compared} <= folders.keys():
        additive, transformer = (scores.get(name, {}) for name in compared)
        parameters = count_parameters(folders[ADDITIVE_MODEL]), count_parameters(folders[TRANSFORMER_MODEL])
        if sentence := bleu_gap_sentence(additive, transformer, parameters):
            explanation(sentence)
    lanes(view, translations_payload(traces, lambda trace: (facts_text(_model_facts(trace, rows)), "")))
    view_state(view)
    verification(view, traces)
    section_heading(gettext("Where the models look"), heatmaps_caption())
    cells = []
    for trace in traces:
        if trace.attends:
            words, model = trace.words(), trace.model
            label = gettext(
                "{model}: alignment of {target} and {source}",
                model=model,
                target=ngettext("{count} French word", "{count} French words", len(words.target)),
                source=ngettext("{count} English word", "{count} English words", len(words.source)),
            )
            sides: dict[str, Any] = {"rows_of": words.target, "columns_of": words.source}
            cells.append(_cell(words.alignment, code=model, name=model, note="", label=label, **sides))
    _gallery(view, [{"name": "", "caption": "", "across": len(cells), "cells": cells}])
    if rows:
        by_length = offered_bleu(rows, view.trace.source_text)
        section_heading(by_length.title)
        unmeasured = [name for name in SHIPPED_MODELS if name not in scores]
        inline_figure(view, "by_length", by_length.draw, by_length_sentence(unmeasured, LARGE_MODEL))


def _model_facts(trace: Any, rows: Rows) -> ModelFacts:
    """Return the facts about the model that made `trace`, and about this translation."""
    bleu = bleu_scores(rows).get(trace.model, {})
    bucket = bucket_of(len(trace.source_text.split()), list(bleu)) or ""
    return ModelFacts(count_parameters(installed_models()[trace.model]), 1000 * trace.seconds, bucket, bleu.get(bucket))


def _model_pictures(asked: PayloadRequest) -> Iterator[OfferedFigure]:
    for trace in asked.shown["traces"]:
        if trace.attends:
            title, draw = gettext("Heatmap, {model}", model=trace.model), partial(heatmap, trace, end=True)
            yield OfferedFigure(title, f"heatmap-{trace.model}", draw)
    if rows := bleu_rows(SHIPPED_MODELS):
        yield offered_bleu(rows, asked.view.trace.source_text)


def _model_tables(asked: PayloadRequest) -> NamedTables:
    """Yield the translations as a table, one row for each model."""
    rows = bleu_rows(SHIPPED_MODELS)
    frame = []
    for trace in asked.shown["traces"]:
        facts = _model_facts(trace, rows)
        frame.append(
            {
                gettext("model"): trace.model,
                gettext("translation"): trace.translation,
                gettext("parameters"): facts.parameters,
                gettext("milliseconds"): facts.milliseconds,
                gettext("BLEU at this sentence length"): facts.bleu,
                gettext("log probability per piece"): float(np.mean(trace.log_probabilities)),
            }
        )
    yield gettext("The translations"), pd.DataFrame(frame).set_index(gettext("model"))


FIVE_MODELS = Exhibit(_model_pictures, _model_tables, make=_make_models, draw=_draw_models)
