"""Draw imported attention beside that of another program: both heatmaps, the difference, links that only one has."""

from __future__ import annotations

from functools import partial

from attnviz.analysis.comparison import (
    ComparedSide,
    Comparison,
    SharedAxis,
    agreement_sentences,
    attention_at_step,
    compare,
    only_one_sentence,
)
from attnviz.errors import AttnvizError
from attnviz.evaluation.two_files import LinkAgreement, link_agreement
from attnviz.figures.side_by_side_figure import comparison
from attnviz.figures.spec import Spec
from attnviz.languages import gettext
from attnviz.trace.drawing import HeatmapChoices
from attnviz.ui.components.chart import chart, fitting_payload
from attnviz.ui.components.component import box, caption, component, html, message
from attnviz.ui.payloads import Payload, PayloadRequest, UnknownPayloadError, makes_payload, shown_address
from attnviz.ui.step.gold_panel import SHOWN_LINKS, cell_link, links_payload
from attnviz.ui.view import Compared, View


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
