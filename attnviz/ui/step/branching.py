"""What comes of the branches of a view: the trace of each, made by the model, or read from a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from attnviz import AttnvizError, Trace
from attnviz.languages import gettext
from attnviz.trace import Branch, Branches
from attnviz.trace.changes import Resolved, resolved
from attnviz.ui.page_state.branch_address import left_out
from attnviz.ui.page_state.branches import leave_out, open_branches, tried_in
from attnviz.ui.page_state.heads import seen_as_chosen
from attnviz.ui.page_state.view import Session, View
from attnviz.ui.resources import models, translate, weights_of

Make = Callable[[Resolved], Trace]


def branch_on_show(
    session: Session,
    view_id: str,
    first: Trace,
    linked: Mapping[str, str],
    *,
    device: str = "auto",
    beam: int | None = None,
    saved: Branches | None = None,
) -> View:
    """Return the view of what is on show of `first` and its branches.

    The model that made `first` makes them, on this `device`, and searches with this `beam`, that of `first` unless
    given; those that were `saved` with it need no model. What cannot be made is left out, and `tried_in` says why.
    """
    going_on = open_branches(session, view_id, first, linked, saved.branches if saved else None)
    branches = _made(session, view_id, first, _maker(first, device, beam), saved, going_on=going_on)
    number = tried_in(session, view_id).on_show
    return View(view_id, seen_as_chosen(session, view_id, branches.trace(number), linked), branches, number)


def _made(
    session: Session, view_id: str, first: Trace, make: Make, saved: Branches | None, *, going_on: bool
) -> Branches:
    """Return the branches that can be made of `first`, and leave out the others; where this is `going_on`, one that
    cannot was tried just now."""
    known = _known(saved) if saved else {}
    traces: dict[int, Trace] = {0: first}
    problems = []
    branches = tried_in(session, view_id).branches
    for number, branch in enumerate(branches, 1):
        if (parent := traces.get(branch.parent)) is None:
            continue
        try:
            found = known.get((parent.fingerprint, branch))
            traces[number] = found or make(resolved(parent, branch.change, held=branch.held))
        except AttnvizError as error:
            problems.append(str(error) if going_on else left_out(number, str(error)))
    if gone := set(range(1, len(branches) + 1)) - set(traces):
        leave_out(session, view_id, gone, (*tried_in(session, view_id).problems, *problems))
    return Branches(first, tried_in(session, view_id).branches, tuple(traces.values())[1:])


def _known(saved: Branches) -> dict[tuple[str, Branch], Trace]:
    """Return the traces of a file, by what each was tried on, and what was tried."""
    found = {}
    for number, branch in enumerate(saved.branches, 1):
        parent = cast("Trace", saved.parent(number))
        found[parent.fingerprint, branch] = saved.trace(number)
    return found


def _maker(first: Trace, device: str, beam: int | None) -> Make:
    """Return what translates the sentence of `first` with something changed by hand."""

    def make(how: Resolved) -> Trace:
        if weights_of(first) is None:
            raise AttnvizError(
                gettext(
                    "What-ifs are made by the model that made this translation, “{model}”, which is not here.",
                    model=first.model,
                )
            )
        folder, width = str(models()[first.model]), first.search.beam if beam is None else beam
        return translate(folder, device, first.source_text, width, how.target, how.interventions)

    return make
