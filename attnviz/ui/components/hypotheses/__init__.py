"""Mount the finished hypotheses of a beam search, best first: each is a button that makes it the translation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attnviz.languages import gettext
from attnviz.trace import BeamTree
from attnviz.ui.components.loader import component
from attnviz.ui.page_state.view import View
from attnviz.wording.beam_tree import score_computation


def hypotheses(view: View, at: str) -> None:
    """Draw the list from the payload (`hypotheses_payload`) at the address `at`."""
    component("hypotheses", isolate=False)(key=view.key("hypotheses"), data={"at": at})


def hypotheses_payload(tree: BeamTree, current_ids: Sequence[int]) -> dict[str, Any]:
    """Return the payload of all finished hypotheses, plain text; that with the ids `current_ids` is the current one."""
    entries = []
    for index, hypothesis in zip(tree.finished, tree.hypotheses, strict=True):
        ids = tree.ids(index)
        notes = [
            gettext("likeliest if log p is not divided by the length")
            if index == tree.likeliest != tree.winner
            else "",
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
    unit = gettext("score = log p / pieces") if tree.length_penalty == 1 else gettext("score")
    return {"unit": unit, "entries": entries}
