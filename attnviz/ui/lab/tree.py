"""Lab section *The beam as a tree*: the beam search with all hypotheses; a click makes one the translation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attnviz import AttnvizError, Trace
from attnviz.analysis.beam_sentences import position_sentence, score_computation, search_sentence, winner_sentence
from attnviz.figures.beam_tree_figure import beam_tree
from attnviz.languages import gettext
from attnviz.trace import BeamTree
from attnviz.trace.interventions import ForceWords
from attnviz.ui.components.chart import chart, steady_payload
from attnviz.ui.components.component import box, component, explanation, plain_text, section_heading
from attnviz.ui.embedding import page_session
from attnviz.ui.fields import segmented_control
from attnviz.ui.lab import LabSection
from attnviz.ui.payloads import PayloadRequest, UnknownPayloadError, address, makes_payload
from attnviz.ui.resources import cached_analysis, missing_model, translator_of
from attnviz.ui.toolbar.downloads import OfferedFigure, OfferedPart
from attnviz.ui.view import View

_WIDTH = "width"
"""Name of the chosen beam width, in the session state and in the address."""
_WIDTHS = tuple(map(str, range(1, 13)))
"""Beam widths that can be chosen."""


def _draw(view: View) -> None:
    """Draw the search of the chosen width, and its finished hypotheses."""
    search = view.trace.search
    with box("width_of_beam", row=True):
        label = gettext("Width of the beam")
        plain_text(label)
        default = str(search.beam) if search.method != "forced" and str(search.beam) in _WIDTHS else "5"
        options = dict(zip(_WIDTHS, _WIDTHS, strict=True))
        chosen = segmented_control(label, options, key=_WIDTH, default=default, parameter=_WIDTH)
    if reason := _no_tree_reason(view.trace, int(chosen)):
        plain_text(reason)
        return
    explanation(_how_to_read(int(chosen)))
    tree_address, hypotheses_address = (
        address(view.trace, name, every=True, part=chosen) for name in ("tree", "hypotheses")
    )
    chart(view, tree_address, "tree")
    section_heading(gettext("Finished hypotheses"))
    component("hypotheses", key=view.key("hypotheses"), data={"at": hypotheses_address})


def _how_to_read(beam: int) -> str:
    if beam == 1:
        return gettext("Greedy search takes the likeliest piece at each step: its tree is a single line.")
    return gettext(
        "Each column is a step. Each path from the left is a hypothesis, a translation made of the pieces on the "
        'path. At each step, the search keeps the {beam} likeliest hypotheses. <span class="decoder">The chosen '
        "hypothesis is on top</span>; the other finished hypotheses show their rank and score. Small print on dotted "
        "lines marks pieces that the search tried and dropped at once. Hypotheses on solid grey lines were kept for a "
        "while, then dropped. Click the end of a hypothesis to make it the translation; if the hypothesis was "
        "dropped, the search first finishes it. Click a piece that does not end a hypothesis to go to its step.",
        beam=beam,
    )


def _tree(trace: Trace, beam: int) -> BeamTree:
    """Return the beam search tree for the sentence of `trace`, searched with its interventions.

    Raise AttnvizError where the model is not installed, or the search does not reach the step of an intervention.
    """
    penalty = trace.search.length_penalty if trace.search.method == "beam" else 1.0
    return cached_analysis(
        f"beam tree {beam}",
        trace,
        lambda _: translator_of(trace).beam_tree(
            trace.source_text, beam=beam, length_penalty=penalty, interventions=trace.interventions
        ),
    )


def _no_tree_reason(trace: Trace, beam: int) -> str:
    """Return why there is no tree, or "": the search may end before a step whose attention was changed by hand."""
    if all(intervention.step is None or isinstance(intervention, ForceWords) for intervention in trace.interventions):
        return ""
    try:
        _tree(trace, beam)
    except AttnvizError as error:
        return str(error)
    return ""


def _requested_tree(request: PayloadRequest) -> BeamTree:
    if request.part not in _WIDTHS:
        raise UnknownPayloadError("tree")
    return _tree(request.trace, int(request.part))


@makes_payload("tree")
def tree_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the search tree of a width."""
    tree, ids = _requested_tree(request), request.trace.target_ids
    sentences = winner_sentence(tree), position_sentence(tree, ids), search_sentence(tree)
    return steady_payload(beam_tree(tree, shown=ids), "\n".join(filter(None, sentences)))


@makes_payload("hypotheses")
def finished_hypotheses_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of all finished hypotheses, plain text."""
    tree, current_ids, entries = _requested_tree(request), tuple(request.trace.target_ids), []
    for index, hypothesis in zip(tree.finished, tree.hypotheses, strict=True):
        ids = tree.ids(index)
        notes = [
            gettext("likeliest without length normalisation") if index == tree.likeliest != tree.winner else "",
            gettext("shown") if ids == current_ids else "",
        ]
        entries.append(
            {
                "text": hypothesis.translation or gettext("the empty translation"),
                "score": score_computation(tree, index),
                "note": ", ".join(filter(None, notes)),
                "shown": ids == current_ids,
                "pieces": ids,
            }
        )
    unit = gettext("score = log p per piece") if tree.length_penalty == 1 else gettext("score")
    return {"unit": unit, "entries": entries, "replaced": len(current_ids)}


def _pictures(request: PayloadRequest) -> Iterator[OfferedFigure]:
    beam, step = int(page_session()[_WIDTH]), request.selection.step
    if not _no_tree_reason(request.trace, beam):
        title = gettext("Beam search, width {width}", width=beam)
        yield OfferedFigure(title, f"beam-{beam}", lambda: beam_tree(_tree(request.trace, beam), step=step))


TREE_SECTION = LabSection(
    lambda: gettext("The beam as a tree"), _draw, OfferedPart(_pictures, missing=missing_model), (_WIDTH,)
)
