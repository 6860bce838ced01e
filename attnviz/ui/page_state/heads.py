"""Which heads of a transformer a view shows, as its visitor or his link chose: one, or the mean of several.

Counted from 1 in the address, as in what is printed: "2.3" is head 3 of layer 2, "2" the mean of its heads, "all" that
of all layers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attnviz.trace.parts import Heads
from attnviz.ui.page_state.view import Session, View, view_key

HEADS = "heads"
"""The choice, in the session and in the address."""


def seen_as_chosen(session: Session, view_id: str, trace: Any, linked: Mapping[str, str]) -> Any:
    """Return a translation as it is seen by the heads that were chosen in a view, at first by those of the link; what
    has no heads, or not these, stays as it is."""
    key = view_key(view_id, HEADS)
    chosen = session.setdefault(key, linked.get(key))
    heads = head_choices(trace).get(str(chosen))
    return trace if heads is None else trace.seen_by(heads.layer, heads.head)


def head_choices(trace: Any) -> dict[str, Heads]:
    """Return what can be chosen for `trace`, by its name in the address: the means, then the heads layer by layer;
    nothing where there are no heads."""
    if not getattr(trace, "has_heads", False):
        return {}
    layers, heads = map(range, trace.cross_weights.shape[:2])
    found = [Heads(), *(Heads(layer) for layer in layers)]
    found += [Heads(layer, head) for layer in layers for head in heads]
    return {heads_in_address(one): one for one in found}


def heads_in_address(heads: Heads) -> str:
    """Return what heads are called in the address."""
    if heads.layer is None:
        return "all"
    return str(heads.layer + 1) if heads.head is None else f"{heads.layer + 1}.{heads.head + 1}"


def heads_address(view: View) -> dict[str, str | None]:
    """Return the address parameter of what is on show; None for the mean of all heads, and where there are none."""
    trace = view.trace
    chosen = getattr(trace, "heads", Heads()) != Heads()  # of a single head, or a pair, there are no others
    return {view.key(HEADS): heads_in_address(trace.heads) if chosen else None}


def forget_heads(session: Session, view_id: str) -> None:
    """Forget what was chosen in a view: another link is to be followed."""
    session.pop(view_key(view_id, HEADS), None)
