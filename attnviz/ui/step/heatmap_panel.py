"""Draw the alignment heatmap of the step view, with an introduction, display options and gold links.

Imported attention has that of another program beside it: both heatmaps, their difference, links that only one has.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from typing import Literal

from attnviz import figures
from attnviz import lazy_streamlit as st
from attnviz.analysis.comparison import (
    ComparedSide,
    Comparison,
    SharedAxis,
    agreement_sentences,
    attention_at_step,
    compare,
    only_one_sentence,
)
from attnviz.analysis.gold import GoldLinks
from attnviz.analysis.grid import FACES, grid
from attnviz.analysis.imported_file_texts import self_attention_sentences
from attnviz.analysis.labels import (
    LONGEST,
    bracket_sentence,
    capitalised,
    face_explanation,
    face_names,
    merged_words_sentence,
)
from attnviz.analysis.learning import guidance_sentence, unguided_model
from attnviz.analysis.measures import is_uniform
from attnviz.analysis.transformer_steps import heads_name
from attnviz.architectures import step_texts
from attnviz.errors import AttnvizError
from attnviz.evaluation.two_files import LinkAgreement, link_agreement
from attnviz.figures.side_by_side_figure import comparison
from attnviz.figures.spec import Spec
from attnviz.languages import gettext, gettexts, ngettext
from attnviz.palette import SCALES
from attnviz.trace import Aligned, Attention, Record, Trace
from attnviz.trace.drawing import HeatmapChoices
from attnviz.trace.parts import head_choices
from attnviz.ui.blocks import (
    Box,
    Width,
    box,
    caption,
    chart,
    columns,
    component,
    details,
    fitting_payload,
    html,
    message,
    steady_payload,
)
from attnviz.ui.controls import by_unit, option_field, request_button, select_box, shown_if
from attnviz.ui.embedding import embedding
from attnviz.ui.payloads import Payload, PayloadRequest, UnknownPayloadError, makes_payload, shown_address
from attnviz.ui.resources import cached_for_all, face_posterior, has_posterior, model_configs, weights_digest_of
from attnviz.ui.selection import HEADS
from attnviz.ui.step.gold_panel import (
    SHOWN_LINKS,
    cell_link,
    drawn_gold,
    draws_links,
    gold_box,
    gold_panel,
    has_links,
    link_drawing,
    link_drawing_switch,
    link_entries,
    links_payload,
)
from attnviz.ui.view import Compared, View

MOST_EQUAL = 32
"""Largest number of columns with which the heatmap is about as wide as the panel of the step; beyond, it is wider."""


def heatmap_panel(view: View) -> None:
    """Draw the heatmap and its options; it is the same at every step, and the browser moves the frame.

    For a model without attention, the figure of its one vector is drawn instead.
    """
    attends = view.trace.attends
    title, draws = _title(view.trace), draws_links(view)
    gold, shown = drawn_gold(view), {"view": view, "session": link_entries(view)}
    at = shown_address("heatmap", shown, "{options}")
    with box(view.key("alignment"), gap="xsmall"):
        with box(view.key("heatmap_title"), row=True):
            html(f'<h2 class="section">{title}</h2>', width="content")
            if attends and view.shows("numbers") and embedding() is None:
                link_drawing_switch(view)
        html(f'<p class="explanation">{_introduction(view, only_words=draws or gold is not None)}</p>')
        _guidance(view)
        if draws:  # the link drawing below the heatmap writes into it
            html('<div class="drawn-score"></div>')
        if view.shows("numbers"):
            _heads_box(view)
        data = {}
        if embedding() is None:
            payload = heatmap_payload(PayloadRequest(shown, {}))
            data["sent"] = {"at": at.replace("{options}", ""), "payload": payload}
        chart(view, at, "heatmap", **data)
    if view.simple:
        return
    with box(view.key("link_drawing")):  # always present: otherwise the parts below are mounted again
        if draws:
            link_drawing(view)
    if attends:
        with details(gettext("How to read the heatmap"), view.key("how_to_read")):
            html(f'<p class="explanation">{_details(view.trace)}</p>')
    _switches(view, only_words=draws or gold is not None)
    if attends:
        gold_panel(view, listed=not draws)  # the bar of the drawing mode has the score


@makes_payload("heatmap")
def heatmap_payload(request: PayloadRequest) -> Payload:
    """Return the payload of the heatmap."""
    view, chosen = request.view, shown_choices(request)
    digest, gold = "" if chosen.face == "before" else weights_digest_of(view.trace) or "", drawn_gold(view)
    return _heatmap_payload(view.trace, digest, chosen, gold)


def _guidance(view: View) -> None:
    """Draw that the attention was guided in training, and a button that shows an unguided model's beside it."""
    if not view.trace.translated or not (sentence := guidance_sentence(view.trace.config)):
        return
    with box(view.key("guidance"), row=True, gap="xsmall"):
        html(f'<p class="explanation">{escape(sentence)}</p>', width="content")
        other = unguided_model(view.trace.config, model_configs()) if view.show_beside else None
        if view.show_beside and other:
            beside = partial(view.show_beside, view, other)
            request_button(gettext("See unguided attention"), beside, key=view.key("unguided"), type="tertiary")


def _title(trace: Record | Attention) -> str:
    """Return the title of the heatmap, or of the figure that replaces it."""
    if not trace.attends:
        return gettext("A single vector for all steps")
    return gettext("Self-attention" if trace.is_self_attention else "Alignment")


def _heads_box(view: View) -> None:
    """Draw the choice of a transformer's heads, which applies to the whole page; in an embedded view, their name."""
    choices = head_choices(view.trace)
    if not choices:
        return
    if embedding() is not None:
        caption(gettext("Shown: {heads}.", heads=heads_name(view.trace.heads)))
        return
    names = {code: capitalised(heads_name(heads)) for code, heads in choices.items()}
    label, current = gettext("Heads"), view.trace.heads.name
    if select_box(label, names, key=view.key(HEADS), default=current, labelled=False, width=260) != current:
        st.rerun()


def shown_choices(request: PayloadRequest) -> HeatmapChoices:
    """Return the chosen options that can be drawn.

    There is the prior α where there is no posterior, which needs attention and the model's weights, and there are words
    where links, which join words, are drawn on the heatmap.
    """
    chosen, view = request.selection.choices, request.view
    return dataclasses.replace(
        chosen,
        face=chosen.face if has_posterior(view.trace) else "before",
        by="words" if has_links(view) else chosen.by,
    )


@cached_for_all
def _heatmap_payload(
    trace: Trace,
    digest: str,  # noqa: ARG001  of the weights, which the posterior depends on
    chosen: HeatmapChoices,
    gold: GoldLinks | None,
) -> Payload:
    posterior = face_posterior(trace, chosen.face)
    return steady_payload(figures.heatmap(trace, chosen, gold=gold, posterior=posterior, longest=LONGEST), {})


def display_options(view: View, *names: str) -> None:
    """Draw the choices of these options of the heatmap (`ui.selection.OPTIONS`)."""
    fields: dict[str, tuple[Literal["segments", "select", "switch"], str, Mapping[str, str], str]] = {
        "face": ("segments", gettext("Attention before or after the word"), face_names(), ""),
        "by": ("segments", gettext("Rows and columns"), gettexts({"steps": "steps", "words": "words"}), ""),
        "root": (
            "switch",
            "√α",
            {},
            gettext("Colour by the square root of the weights, so that small weights can be seen."),
        ),
        "end": (
            "switch",
            gettext("End mark"),
            {},
            gettext(
                "Show `</s>`, the end of the sentence. This end mark is a position like any other and gets a "
                "share of the attention in every row. When the end mark is hidden, the rows add up to less than "
                "1."
            ),
        ),
        "margins": (
            "switch",
            gettext("Margins"),
            {},
            gettext(
                "Bars below the heatmap show the total attention on each English word: Σ α down its column. Bars "
                "on the right show the entropy H of each row in bits: how widely the row spreads its attention. "
                "The sums and the entropies follow the choice shown in the heatmap: α, α′ or their difference. H "
                "is always computed over pieces, even when the heatmap shows words."
            ),
        ),
        "values": ("switch", gettext("Numbers"), {}, gettext("Write its number into each cell.")),
        "colours": ("select", gettext("Colours"), {key: scale.name() for key, scale in SCALES.items()}, ""),
    }
    for name in names:
        kind, label, choices, help_text = fields[name]
        width: Width = 260 if kind == "select" else "content"
        option_field(view, name, kind, label, choices, help=help_text, width=width)


def _switches(view: View, *, only_words: bool) -> None:
    """Draw the options; with `only_words`, without the choice of rows and columns."""
    if has_posterior(view.trace):
        display_options(view, "face")
    with box(view.key("heatmap_choices"), row=True):
        if not only_words:
            display_options(view, "by")
        if view.trace.attends:
            display_options(view, "root", "end", "margins", "values", "colours")
            if embedding() is None:
                gold_box(view)


def _introduction(view: View, *, only_words: bool) -> str:
    """Return what rows and columns are, or that there is one vector without attention, and what to click first.

    `only_words`: links are drawn on the heatmap, which therefore shows words.
    """
    if not view.trace.translated:
        return _imported_introduction(view.trace, only_words=only_words)
    trace, start = view.trace, gettext("Press Play, or click a French word.")
    if not trace.attends:
        one_vector = gettext(
            'This model has no attention. The model reads the <span class="encoder">English sentence</span> in '
            'order. The encoder’s state after the last piece, <span class="context">one vector of {units} numbers'
            '</span>, must hold the whole sentence. Every step that writes a <span class="decoder">French piece</span> '
            "gets this same vector, so no step looks at one word more than at another.",
            units=trace.contexts.shape[1],
        )
        return f"{one_vector} {start}"
    uniform = trace.attends_once and all(is_uniform(trace, step) for step in range(len(trace.target_pieces)))
    alike = gettext("All cells are alike: each French word looked equally at all English words.") if uniform else ""
    if view.simple:
        axes = gettext(
            'A <span class="decoder">row</span> is a French word, a <span class="encoder">column</span> an English '
            "word."
        )
        brightness = shown_if("bright", gettext("Bright cell: the translator looked at the English word.")) + shown_if(
            "dark", gettext("Dark cell: the translator looked at the English word.")
        )
        sentences = [axes, alike or brightness, escape(gettext("</s> is the end."))]
        return " ".join([*sentences, *_piece_sentences(trace, only_words=only_words)])
    sentences = [
        grid_sentences(only_words) + shown_if("before", f" {_brightness_sentences(only_words)} {alike}".rstrip())
    ]
    sentences += _piece_sentences(trace, only_words=only_words)
    if _has_pieces(trace):
        sentences.append(gettext("A thin line in a word separates its pieces."))
    if "</s>" in (trace.words().source[-1], trace.words().target[-1]):
        sentences.append(escape(gettext("The sign </s> marks the end of a sentence.")))
    return " ".join((*sentences, start))


def _has_pieces(trace: Aligned) -> bool:
    """Return whether a word has several pieces."""
    words = trace.words()
    return any(len(group) > 1 for group in (*words.source_groups, *words.target_groups))


def _piece_sentences(trace: Aligned, *, only_words: bool) -> list[str]:
    """Return what a bracket is, or the number of a word of several pieces; and why there are only words."""
    found = [by_unit(merged_words_sentence(), bracket_sentence(), only_words)] if _has_pieces(trace) else []
    if only_words:
        found.append(gettext("Links join words, so the heatmap shows words."))
    return found


def _details(trace: Trace) -> str:
    """Return the details of the heatmap: α or α′, rows of several steps, sums of rows, and what is clickable."""
    cells = grid(trace, "words")
    steps, rows = sum(map(len, cells.steps)), len(cells.steps)
    faces = FACES if has_posterior(trace) else ()
    sentences = [shown_if(face, face_explanation(face)) for face in faces]
    if heads := step_texts(trace).heads_text(trace):  # empty if a step has only one
        sentences.append(
            gettext(
                "A transformer computes attention many times at each step, once with each head of each layer. The "
                "heatmap shows the {heads}.",
                heads=heads,
            )
        )
    if steps > rows:
        several_steps = ngettext(
            "The decoder took {steps} steps to write this word: each step writes one piece. The row of a "
            "word with several pieces is the mean of the rows of its pieces.",
            "The decoder took {steps} steps to write these {count} words: each step writes one piece. The "
            "row of a word with several pieces is the mean of the rows of its pieces.",
            rows,
            steps=steps,
        )
        sentences.append(shown_if("words", several_steps))
    sentences.append(_row_sum_sentences())
    if trace.translated:
        sentences.append(
            gettext(
                "Click a word, a cell or a bar to show its step; the numbers beside and below the heatmap change "
                "with the step. In the English sentence at the top, the stronger the shade of a word, the more the "
                "chosen step looked at it."
            )
        )
    return " ".join(sentences)


def _row_sum_sentences() -> str:
    """Return a sentence about the sum of a row, for each of the display options it depends on."""
    distribution = shown_if("end", gettext("Every row adds up to 1.")) + shown_if(
        "no-end", gettext("Every row adds up to 1 if you count the hidden &lt;/s&gt;.")
    )
    difference = shown_if("end", gettext("Every row adds up to 0.")) + shown_if(
        "no-end", gettext("Every row adds up to 0 if the hidden column &lt;/s&gt; is included.")
    )
    return shown_if("distribution", distribution) + shown_if("difference", difference)


def grid_sentences(only_words: bool = False) -> str:
    """Return what rows and columns are, as HTML: a sentence for words and one for steps."""
    words = gettext(
        'Each <span class="decoder">row</span> is a French word, in the order of writing; each <span '
        'class="encoder">column</span> is an English word.'
    )
    steps = gettext(
        'Each <span class="decoder">row</span> is a French piece, written in one step; each <span '
        'class="encoder">column</span> is an English piece.'
    )
    return by_unit(words, steps, only_words)


def _brightness_sentences(only_words: bool = False) -> str:
    """Return what the brightness of a cell means, as HTML: for words and for steps, on dark and on white scales."""

    def sentence(brighter: str) -> str:
        words = gettext(
            "The {brighter} a cell, the more attention the word of its row gave to the word of its column.",
            brighter=brighter,
        )
        steps = gettext(
            "The {brighter} a cell, the more attention the piece of its row gave to the piece of its column.",
            brighter=brighter,
        )
        return by_unit(words, steps, only_words)

    return shown_if("bright", sentence(gettext("brighter"))) + shown_if("dark", sentence(gettext("darker")))


def _imported_introduction(trace: Attention, *, only_words: bool) -> str:
    """Return what rows and columns of imported attention are, and what to click first."""
    if trace.is_self_attention:
        start = gettext("Press Play, or click a row.")
        return f"{self_attention_sentences(trace)} {_brightness_sentences(only_words)} {start}"
    words = gettext(
        'Each <span class="decoder">row</span> is a target word; each <span class="encoder">column</span> is a '
        "source word."
    )
    steps = gettext(
        'Each <span class="decoder">row</span> is a target piece; each <span class="encoder">column</span> is a '
        "source piece."
    )
    sentences = [by_unit(words, steps, only_words), _brightness_sentences(only_words)]
    sentences += _piece_sentences(trace, only_words=only_words)
    return " ".join([*sentences, gettext("Press Play, or click a target word.")])


def heatmap_with_columns(view: View) -> Sequence[Box]:
    """Draw the heatmap; return the containers below and beside it."""
    if view.simple:  # the diagram beside it needs more width, and a wide heatmap scrolls
        with box(view.key("idea_columns")):
            left, right = columns([5, 7], gap="medium")
        with left, box(view.key("fits_window")):
            heatmap_panel(view)
        return left, right
    is_wide = view.trace.attends and len(grid(view.trace, "words").source) > MOST_EQUAL
    left, right = columns([8, 5] if is_wide else [11, 10], gap="large")
    with left:
        heatmap_panel(view)
    return left, right


def compared_attention_panel(view: View) -> None:
    """Draw the comparison of `view`, or why it cannot be made."""
    compared = view.compared
    if compared is None:
        return
    with box(view.key("compared_attention")):
        html(f'<h2 class="section">{gettext("Side by side")}</h2>')
        try:
            agreement = link_agreement([view.trace], [compared.other])
        except AttnvizError as error:
            message(str(error), view.key("compare_told_files"))
            return
        for remark in agreement.remarks:
            caption(remark)
        caption(gettext("Links join words, so both heatmaps show words."))
        component("findings", view.key("compared_links"), _links_payload(view, compared, agreement))
        at = shown_address("compared", {"view": view}, "{options}")
        chart(view, at, "compared", waiting=gettext("Computing…"))


def _links_payload(view: View, compared: Compared, agreement: LinkAgreement) -> Payload:
    """Return the payload of a summary, and of the links that only one has, each a link to its cell."""
    (pair,) = agreement.pairs
    words, theirs, both = view.trace.words(), compared.other.words(), compare(view.trace, compared.other)
    source_words, target_words = _own_words(both.source), _own_words(both.target)
    found = [
        cell_link(
            only_one_sentence(theirs.source[j], theirs.target[i], (j, i), name),
            kind,
            words.target_groups[target_words[i]][0] if i in target_words else None,
            words.source_groups[source_words[j]][0] if j in source_words else None,
        )
        for links, name, kind in (
            (pair.only_first, compared.names[0], "only-first"),
            (pair.only_other, compared.names[1], "only-other"),
        )
        for j, i in sorted(links, key=lambda link: link[::-1])
    ]
    return links_payload(" ".join(agreement_sentences([pair], compared.names)), found, SHOWN_LINKS)


def _own_words(axis: SharedAxis) -> dict[int, int]:
    """Return the word of the first by the same word of the other, between whose words links are compared."""
    pairs = zip(axis.other, axis.first, strict=True)
    return {other: first for other, first in pairs if other is not None and first is not None}


@makes_payload("compared")
def compared_payload(request: PayloadRequest) -> Payload:
    """Return the payload of both heatmaps and their difference; raise UnknownPayloadError where there is one file."""
    view, compared = request.view, request.view.compared
    if compared is None:
        raise UnknownPayloadError("compared")
    both = compare(view.trace, compared.other)
    captions = {step: ("", attention_at_step(both, compared.names, step)) for step in range(view.steps)}
    layouts = comparison_layouts(both, compared.names, request.selection.choices)
    return fitting_payload(layouts, captions)


_LAYOUTS = {4: 1380, 2: 900, 1: 390}
"""Panels side by side, and the width in pixels they are laid out for, the widest first."""


def comparison_layouts(
    compared: Comparison,
    names: tuple[str, str],
    choices: HeatmapChoices,
    leads: ComparedSide = "first",
) -> list[Spec]:
    """Return the figure in each layout, the widest first."""
    draw = drawn_comparison(compared, names, choices, leads)
    return [draw(across=across, width=width) for across, width in _LAYOUTS.items()]


def drawn_comparison(
    compared: Comparison, names: tuple[str, str], choices: HeatmapChoices, leads: ComparedSide = "first"
) -> partial[Spec]:
    """Return what draws the figure with these display options."""
    return partial(
        comparison, compared, names, end=bool(choices.end), root=choices.root, colours=choices.colours, leads=leads
    )
