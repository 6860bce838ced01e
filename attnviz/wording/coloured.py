"""Sentences in which words of the translation, and what is made of them, bear their colour: parts with a kind each."""

from __future__ import annotations

import re
from typing import Literal

Kind = Literal["", "source", "target", "context"]
"""What a part of a sentence is of: plain words, the encoder's, the decoder's, a context."""
Spans = list[tuple[Kind, str]]

_OPEN: dict[Kind, str] = {"source": "\x01", "target": "\x02", "context": "\x03"}
_CLOSE = "\x04"
_KINDS: dict[str, Kind] = {sign: kind for kind, sign in _OPEN.items()}
_SIGNS = re.compile(f"[{''.join(_KINDS)}{_CLOSE}]")


def coloured(text: str, kind: Kind) -> str:
    """Return `text`, which may be a visitor's, to be put into a sentence as one part of this `kind`."""
    return f"{_OPEN[kind]}{_SIGNS.sub('', text)}{_CLOSE}"


def spans(sentence: str) -> Spans:
    """Return the parts of a `sentence` with coloured ones in it, in their order."""
    found: Spans = []
    for part in re.split(f"(?=[{''.join(_KINDS)}])|{_CLOSE}", sentence):
        if part:
            kind = _KINDS.get(part[0], "")
            found.append((kind, part[1:] if kind else part))
    return found


def plain(sentence: str) -> str:
    """Return a `sentence` without its colours."""
    return _SIGNS.sub("", sentence)
