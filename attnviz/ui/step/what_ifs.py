"""Make the traces of a view's what-ifs, by the model or from a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from attnviz import AttnvizError, Trace
from attnviz.languages import gettext
from attnviz.trace import WhatIf, WhatIfs
from attnviz.trace.changes import Resolved, resolved
from attnviz.ui.page_state.heads import seen_as_chosen
from attnviz.ui.page_state.view import Session, View
from attnviz.ui.page_state.what_if_address import left_out
from attnviz.ui.page_state.what_ifs import leave_out, open_what_ifs, tried_in
from attnviz.ui.resources import models, translate, weights_of

Make = Callable[[Resolved], Trace]


def what_if_on_show(
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
    that were `saved` need no model. What-ifs that fail are left out, and `tried_in` has the errors.
    """
    going_on = open_what_ifs(session, view_id, first, linked, saved.what_ifs if saved else None)
    what_ifs = _made(session, view_id, first, _maker(first, device, beam), saved, going_on=going_on)
    number = tried_in(session, view_id).on_show
    return View(view_id, seen_as_chosen(session, view_id, what_ifs.trace(number), linked), what_ifs, number)


def _made(
    session: Session, view_id: str, first: Trace, make: Make, saved: WhatIfs | None, *, going_on: bool
) -> WhatIfs:
    """Return the what-ifs of `first` that can be made, and leave out the others.

    With `going_on`, a failed one is the visitor's latest change, and its error is reported as such.
    """
    known = _known(saved) if saved else {}
    traces: dict[int, Trace] = {0: first}
    problems = []
    what_ifs = tried_in(session, view_id).what_ifs
    for number, what_if in enumerate(what_ifs, 1):
        if (parent := traces.get(what_if.parent)) is None:
            continue
        try:
            found = known.get((parent.fingerprint, what_if))
            traces[number] = found or make(resolved(parent, what_if.change, held=what_if.held))
        except AttnvizError as error:
            problems.append(str(error) if going_on else left_out(number, str(error)))
    if gone := set(range(1, len(what_ifs) + 1)) - set(traces):
        leave_out(session, view_id, gone, (*tried_in(session, view_id).problems, *problems))
    return WhatIfs(first, tried_in(session, view_id).what_ifs, tuple(traces.values())[1:])


def _known(saved: WhatIfs) -> dict[tuple[str, WhatIf], Trace]:
    """Return the traces of a file, by the fingerprint of the parent and the what-if."""
    found = {}
    for number, what_if in enumerate(saved.what_ifs, 1):
        parent = cast("Trace", saved.parent(number))
        found[parent.fingerprint, what_if] = saved.trace(number)
    return found


def _maker(first: Trace, device: str, beam: int | None) -> Make:
    """Return a function that translates the sentence of `first` with interventions."""

    def make(how: Resolved) -> Trace:
        if weights_of(first) is None:
            raise AttnvizError(
                gettext(
                    "What-ifs need the model “{model}”, which made this translation. It is not installed: add "
                    "its model folder.",
                    model=first.model,
                )
            )
        folder, width = str(models()[first.model]), first.search.beam if beam is None else beam
        return translate(folder, device, first.source_text, width, how.target, how.interventions)

    return make
