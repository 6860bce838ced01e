"""The choice of the word that a logit is taken apart for, and of the one it is compared with."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.ui.components.loader import component
from attnviz.ui.page_state.view import View


def ledger_choice(view: View, at: str, named: str, words: Mapping[str, str], *, both: bool) -> None:
    """Draw the boxes: what stands in them lies at the address `at`, which piece a typed text names at `named`."""
    record = {"at": at, "named": named, "words": dict(words), "both": both}
    component("ledger_choice", isolate=False)(key=view.key("ledger_choice"), data=record)
