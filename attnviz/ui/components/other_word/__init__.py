"""Mount the choice of another word at a step: one of the ten likeliest, or one that is typed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from attnviz.languages import gettext
from attnviz.text import EOS, piece_name
from attnviz.trace import Trace
from attnviz.ui.components.loader import component
from attnviz.ui.page_state.view import View
from attnviz.wording.labels import quoted_name, shorten
from attnviz.wording.numbers import percent

FOILS = 10
"""Number of likeliest alternatives that are offered."""


def other_word(view: View, at: str) -> None:
    """Draw the choice of another word for the current step, from the payload at the address `at`."""
    component("other_word", isolate=False)(key=view.key("other_word"), data={"at": at})


def foils_payload(trace: Trace, steps: Sequence[int]) -> dict[str, Any]:
    """Return the payload of the choices at each of `steps`."""
    return {
        "words": {
            "write": gettext("Write this instead"),
            "typed": gettext("or type a word"),
            "foils": gettext("Likeliest other pieces"),
            "then": gettext(
                "The choice “Then”, beside the weights, decides whether the decoder rewrites the rest of the "
                "translation or keeps it."
            )
            if trace.attends_once
            else gettext("The decoder then rewrites all later words."),
        },
        "offers": {
            str(step): {
                "instead": gettext("Instead of {name}:", name=quoted_name(trace.target_pieces[step])),
                "foils": _foils(trace, step),
            }
            for step in steps
        },
    }


def _foils(trace: Trace, step: int) -> list[dict[str, Any]]:
    likeliest = zip(trace.top_ids[step].tolist(), trace.top_pieces[step], trace.top_probabilities[step], strict=True)
    # PAD, UNK and BOS cannot be written.
    others = (one for one in likeliest if one[0] != trace.target_ids[step] and one[0] >= EOS)
    return [
        {"piece": index, "name": f"{shorten(piece_name(piece), 30)} · {percent(float(p))}"}
        for index, piece, p in islice(others, FOILS)
    ]
