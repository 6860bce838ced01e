"""Undo the escapes of Moses' tokenizer: `&apos;s` becomes `'s`, and `well @-@ known` one word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from attnviz.trace.tokens import JOINER

_ESCAPES = {
    "&#124;": "|",
    "&#91;": "[",
    "&#93;": "]",
    "&bar;": "|",
    "&bra;": "[",
    "&ket;": "]",
    "&lt;": "<",
    "&gt;": ">",
    "&apos;": "'",
    "&quot;": '"',
    "&amp;": "&",
}
_ESCAPE = re.compile("|".join(map(re.escape, _ESCAPES)))
_HYPHEN = re.compile("@(\\S)@")
"""A hyphen or slash split off by the tokenizer's option -a."""


def is_escaped(tokens: Iterable[str]) -> bool:
    """Return whether any token has escapes of Moses' tokenizer."""
    return any(_ESCAPE.search(token) or _HYPHEN.fullmatch(token) for token in tokens)


def unescaped(tokens: Sequence[str], joiner: str = JOINER) -> list[str]:
    """Return `tokens` without escapes; `@-@` becomes a hyphen between two of `joiner`, as in `￭-￭`."""
    plain = [_ESCAPE.sub(lambda escape: _ESCAPES[escape[0]], token) for token in tokens]
    return [_HYPHEN.sub(rf"{joiner}\1{joiner}", token) if _HYPHEN.fullmatch(token) else token for token in plain]


def unescaped_text(text: str) -> str:
    """Return a text of tokens separated by spaces without escapes; `@-@` joins the words beside it."""
    return " ".join(unescaped(text.split())).replace(f" {JOINER}", "").replace(f"{JOINER} ", "").replace(JOINER, "")
