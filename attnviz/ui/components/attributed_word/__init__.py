"""Mount the text boxes for the word whose logit is attributed and the word it is compared with (the foil)."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.ui.components.loader import component
from attnviz.ui.page_state.view import View


def logit_attribution_choice(view: View, at: str, piece_at: str, words: Mapping[str, str], *, both: bool) -> None:
    """Draw the boxes, with suggestions from the payload at the address `at`; the foil only with `both`.

    The address `piece_at` returns the first piece of a typed text.
    """
    payload = {"at": at, "named": piece_at, "words": dict(words), "both": both}
    component("attributed_word", isolate=False)(key=view.key("logit_attribution_choice"), data=payload)
