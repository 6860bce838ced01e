"""Mount the choice of the word whose logit is attributed, and of its foil."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.ui.components.loader import component
from attnviz.ui.page_state.view import View


def logit_attribution_choice(view: View, at: str, named: str, words: Mapping[str, str], *, both: bool) -> None:
    """Draw the select boxes with options from the address `at`; `named` maps typed text to a piece."""
    payload = {"at": at, "named": named, "words": dict(words), "both": both}
    component("attributed_word", isolate=False)(key=view.key("logit_attribution_choice"), data=payload)
