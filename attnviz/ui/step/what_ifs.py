"""Compute the traces of a view's what-ifs, or take them from a file, and return the view of the current one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from attnviz import AttnvizError, Trace
from attnviz.installed_models import installed_models
from attnviz.languages import gettext
from attnviz.trace import WhatIf, WhatIfs
from attnviz.trace.changes import Resolved, resolved
from attnviz.trace.what_ifs import left_out_sentence
from attnviz.ui.examples import first_step
from attnviz.ui.page_state.heads import with_chosen_heads
from attnviz.ui.page_state.linked import Session
from attnviz.ui.page_state.what_ifs import WHAT_IFS, open_what_ifs, stored_what_ifs
from attnviz.ui.resources import translate, weights_of
from attnviz.ui.view import View, view_key

MakeTrace = Callable[[Resolved], Trace]
"""Translates with these interventions."""


def current_view(
    session: Session,
    view_id: str,
    first: Trace,
    linked: Mapping[str, str],
    *,
    device: str = "auto",
    beam: int | None = None,
    saved: WhatIfs | None = None,
) -> View:
    """Return the view of the current what-if of `first`, or of `first` itself.

    The model that made `first` computes them on `device`, with beam width `beam`, by default that of `first`; those
    that were `saved` need no model. What-ifs that fail are left out, and `stored_what_ifs` has the errors.
    """
    same_original = open_what_ifs(session, view_id, first, linked, saved.what_ifs if saved else None)
    make = _trace_maker(first, device, beam)
    what_ifs = _computed_what_ifs(session, view_id, first, make, saved, same_original=same_original)
    number = stored_what_ifs(session, view_id).current
    trace = with_chosen_heads(session, view_id, what_ifs.trace(number), linked)
    return View(view_id, trace, what_ifs, number, first_step=first_step(trace), translate_again=make)


def _computed_what_ifs(
    session: Session, view_id: str, first: Trace, make: MakeTrace, saved: WhatIfs | None, *, same_original: bool
) -> WhatIfs:
    """Return the what-ifs of `first` that can be computed, and remove the others.

    With `same_original`, a what-if that fails is the visitor's latest change; otherwise it comes from a link, and the
    error says that it is left out.
    """
    saved_traces = _traces_by_what_if(saved) if saved else {}
    traces: dict[int, Trace] = {0: first}
    problems = []
    stored = stored_what_ifs(session, view_id)
    for number, what_if in enumerate(stored.what_ifs, 1):
        if (parent := traces.get(what_if.parent)) is None:
            continue
        try:
            trace = saved_traces.get((parent.fingerprint, what_if))
            traces[number] = trace or make(resolved(parent, what_if.change, held=what_if.held))
        except AttnvizError as error:
            problems.append(str(error) if same_original else left_out_sentence(number, str(error)))
    if removed := set(range(1, len(stored.what_ifs) + 1)) - set(traces):
        stored = stored.without(removed, (*stored.problems, *problems))
        session[view_key(view_id, WHAT_IFS)] = stored
    return WhatIfs(first, stored.what_ifs, tuple(traces.values())[1:])


def _traces_by_what_if(saved: WhatIfs) -> dict[tuple[str, WhatIf], Trace]:
    """Return the traces of a file, by the fingerprint of the parent and the what-if."""
    traces = {}
    for number, what_if in enumerate(saved.what_ifs, 1):
        parent = cast("Trace", saved.parent(number))
        traces[parent.fingerprint, what_if] = saved.trace(number)
    return traces


def _trace_maker(first: Trace, device: str, beam: int | None) -> MakeTrace:
    """Return a function that translates the sentence of `first` with interventions."""

    def make(change: Resolved) -> Trace:
        if weights_of(first) is None:
            raise AttnvizError(
                gettext(
                    "What-ifs need the model “{model}”, which made this translation. This model is not "
                    "installed: add its model folder.",
                    model=first.model,
                )
            )
        folder, width = str(installed_models()[first.model]), first.search.beam if beam is None else beam
        return translate(folder, device, first.source_text, width, change.target, change.interventions)

    return make
