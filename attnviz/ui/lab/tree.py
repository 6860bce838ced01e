"""Lab section *The beam as a tree*: the beam search with all hypotheses; a click makes one the translation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from attnviz import AttnvizError, Trace
from attnviz.analysis.beam_sentences import position_sentence, score_computation, search_sentence, winner_sentence
from attnviz.figures.beam_tree_figure import beam_tree
from attnviz.languages import gettext
from attnviz.trace import BeamTree
from attnviz.trace.interventions import ForceWords
from attnviz.ui.components.chart import chart, steady_payload
from attnviz.ui.components.component import box, component, html, plain_text
from attnviz.ui.embedding import page_session
from attnviz.ui.fields import segmented_control
from attnviz.ui.lab.cached_analyses import cached_beam_tree
from attnviz.ui.page_state.selection import selection_of
from attnviz.ui.payloads import PayloadRequest, UnknownPayloadError, address, makes_payload
from attnviz.ui.resources import weights_of
from attnviz.ui.toolbar.downloads import OfferedFigure
from attnviz.ui.view import View

TREE_WIDTH = "width"
"""Name of the chosen beam width, in the session state and in the address."""
TREE_WIDTHS = range(1, 13)
"""Beam widths that can be chosen."""
_DEFAULT_WIDTH = 5


def hypotheses(view: View, at: str) -> None:
    """Draw the list from the payload (`hypotheses_payload`) at the address `at`."""
    component("hypotheses", key=view.key("hypotheses"), data={"at": at})


def hypotheses_payload(tree: BeamTree, current_ids: Sequence[int]) -> dict[str, Any]:
    """Return the payload of all finished hypotheses, plain text; that with the ids `current_ids` is the current one."""
    entries = []
    for index, hypothesis in zip(tree.finished, tree.hypotheses, strict=True):
        ids = tree.ids(index)
        notes = [
            gettext("likeliest without length normalisation") if index == tree.likeliest != tree.winner else "",
            gettext("shown") if ids == tuple(current_ids) else "",
        ]
        entries.append(
            {
                "text": hypothesis.translation or gettext("the empty translation"),
                "score": score_computation(tree, index),
                "note": ", ".join(filter(None, notes)),
                "shown": ids == tuple(current_ids),
                "pieces": ids,
            }
        )
    unit = gettext("score = log p per piece") if tree.length_penalty == 1 else gettext("score")
    return {"unit": unit, "entries": entries, "replaced": len(current_ids)}


def tree_panel(view: View) -> None:
    """Draw the search of the chosen width, and its finished hypotheses."""
    if weights_of(view.trace) is None:
        plain_text(_missing_model_reason(view.trace))
        return
    beam = _chosen_width(view)
    if reason := _no_tree_reason(view.trace, beam):
        plain_text(reason)
        return
    html(f'<p class="explanation">{_how_to_read(beam)}</p>')
    chart(view, address(view.trace, "tree", every=True, part=str(beam)), "tree")
    html(f'<h2 class="section">{gettext("Finished hypotheses")}</h2>')
    hypotheses(view, address(view.trace, "hypotheses", every=True, part=str(beam)))


def _chosen_width(view: View) -> int:
    """Draw the choice of the width; return it."""
    default_width = (
        view.trace.search.beam
        if view.trace.search.beam in TREE_WIDTHS and _made_by_search(view.trace)
        else _DEFAULT_WIDTH
    )
    with box("width_of_beam", row=True):
        plain_text(gettext("Width of the beam"))
        chosen = segmented_control(
            gettext("Width of the beam"),
            {str(beam): str(beam) for beam in TREE_WIDTHS},
            key=TREE_WIDTH,
            default=str(default_width),
            label_visibility="collapsed",
            parameter=TREE_WIDTH,
        )
    return int(chosen)


def _made_by_search(trace: Trace) -> bool:
    return trace.search.method != "forced"


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


def _missing_model_reason(trace: Trace) -> str:
    return gettext(
        "The beam search needs the model “{model}”, which made this translation. This model is not installed: "
        "add its model folder.",
        model=trace.model,
    )


def _no_tree_reason(trace: Trace, beam: int) -> str:
    """Return why there is no tree, or "": the search may end before a step whose attention was changed by hand."""
    if all(intervention.step is None or isinstance(intervention, ForceWords) for intervention in trace.interventions):
        return ""
    try:
        cached_beam_tree(trace, beam)
    except AttnvizError as error:
        return str(error)
    return ""


@makes_payload("tree")
def tree_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the search tree of a width; raise UnknownPayloadError where there is none."""
    trace = request.trace
    tree = _requested_tree(request)
    sentences = "\n".join(
        filter(None, (winner_sentence(tree), position_sentence(tree, trace.target_ids), search_sentence(tree)))
    )
    figure = beam_tree(tree, shown=trace.target_ids)
    return steady_payload(figure, dict.fromkeys(request.steps, ("", sentences)))


@makes_payload("hypotheses")
def finished_hypotheses_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the finished hypotheses; raise UnknownPayloadError where there are none."""
    return hypotheses_payload(_requested_tree(request), request.trace.target_ids)


def _title(beam: int) -> str:
    return gettext("Beam search, width {width}", width=beam)


def _requested_tree(request: PayloadRequest) -> Any:
    beam = next((width for width in TREE_WIDTHS if str(width) == request.part), 0)
    if not beam or request.weights is None or _no_tree_reason(request.trace, beam):
        raise UnknownPayloadError("tree")
    return cached_beam_tree(request.trace, beam)


def tree_pictures(view: View) -> Iterator[OfferedFigure]:
    """Yield the figure of the tree as it is saved."""
    beam = int(page_session().get(TREE_WIDTH) or _DEFAULT_WIDTH)
    if weights_of(view.trace) is None or _no_tree_reason(view.trace, beam):
        return
    tree, step = cached_beam_tree(view.trace, beam), selection_of(view).step
    yield OfferedFigure(_title(beam), _title(beam), f"beam-{beam}", lambda: beam_tree(tree, step=step))
