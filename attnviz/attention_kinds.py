"""The kinds of attention of recurrent translators, as options, model folders and traces name them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ATTENTION_KINDS = ("additive", "general", "none")
"""Values of `ModelConfig.attention`."""
IMPORTED_KINDS = ("additive", "general")
"""Values of `Seq2SeqConfig.attention`."""


def renamed(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return `config` with the attention e = s · P h (Luong's *general*) renamed from its former name "dot"."""
    return {**config, "attention": "general"} if config.get("attention") == "dot" else dict(config)
