"""The kinds of attention of recurrent translators: their names in options, model folders and traces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ATTENTION_KINDS = ("additive", "general", "none")
"""Values of `ModelConfig.attention`."""
IMPORTED_KINDS = ("additive", "general")
"""Values of `Seq2SeqConfig.attention`."""


def renamed(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a `config` that was written when e = s · P h, Luong's *general*, was called "dot" by its present name."""
    return {**config, "attention": "general"} if config.get("attention") == "dot" else dict(config)
