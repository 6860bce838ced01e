"""Mark parts of a sentence as words of the source, target or context, and split it into these parts.

The tour colours the parts.
"""

from __future__ import annotations

import re
from typing import Literal

Kind = Literal["", "source", "target", "context"]
"""Colour of a part: none, encoder, decoder or context."""
Spans = list[tuple[Kind, str]]

_OPEN: dict[Kind, str] = {"source": "\x01", "target": "\x02", "context": "\x03"}
_CLOSE = "\x04"
_KINDS: dict[str, Kind] = {sign: kind for kind, sign in _OPEN.items()}
_MARKS = re.compile(f"[{''.join(_KINDS)}{_CLOSE}]")


def coloured(text: str, kind: Kind) -> str:
    """Return `text`, which may be user input, marked as a coloured part of a sentence."""
    return f"{_OPEN[kind]}{_MARKS.sub('', text)}{_CLOSE}"


def coloured_parts(sentence: str) -> Spans:
    """Return the parts of a `sentence` in order, each with its colour."""
    parts: Spans = []
    for part in re.split(f"(?=[{''.join(_KINDS)}])|{_CLOSE}", sentence):
        if part:
            kind = _KINDS.get(part[0], "")
            parts.append((kind, part[1:] if kind else part))
    return parts


def plain(sentence: str) -> str:
    """Return a `sentence` without colour marks."""
    return _MARKS.sub("", sentence)
