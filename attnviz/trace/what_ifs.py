"""What-ifs: a translation, the changes tried on it, and the trace of each; saved as one file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnviz.errors import AttnvizError
from attnviz.files import replace_text
from attnviz.languages import gettext
from attnviz.trace.attention_record import Attention
from attnviz.trace.changes import Change, from_json_dict, to_json_dict
from attnviz.trace.record import Record
from attnviz.trace.seq2seq_trace import Seq2SeqTrace
from attnviz.trace.storage import LARGEST, read_file
from attnviz.trace.trace import Trace
from attnviz.trace.transformer_trace import TransformerTrace

MOST = 12
"""Largest number of what-ifs of a translation."""
_FIELD = "branches"
_WHAT_IF_KEYS = frozenset({"parent", "change", "held", "trace"})


@dataclass(frozen=True)
class WhatIf:
    """One what-if: a translation of the same sentence with one more change."""

    parent: int
    """What the change was made to: 0 for the first translation, or the number of an earlier what-if, from 1."""
    change: Change
    held: bool = False
    """Whether the parent's words are forced, so that only the numbers change."""


@dataclass(frozen=True)
class WhatIfs:
    """A translation, its what-ifs, and the trace of each."""

    first: Any
    """The first translation: a `Trace`, `TransformerTrace`, `Seq2SeqTrace` or `Attention`."""
    what_ifs: tuple[WhatIf, ...] = ()
    traces: tuple[Any, ...] = ()
    """The trace of each what-if."""

    def trace(self, number: int) -> Any:
        """Return the trace of a what-if by its number, from 1; 0 is the first translation."""
        return self.traces[number - 1] if number else self.first

    def parent(self, number: int) -> Any:
        """Return the trace that what-if `number` changed; None for the first translation."""
        return self.trace(self.what_ifs[number - 1].parent) if number else None

    def to_json(self) -> str:
        """Return everything as one JSON object.

        It is the object of the first translation, which also loads as such. A field lists the what-ifs, each with the
        fields of its trace that differ from the first.
        """
        text: str = self.first.to_json()
        if not self.what_ifs:
            return text
        first, written = json.loads(text), []
        for what_if, trace in zip(self.what_ifs, self.traces, strict=True):
            differing = {name: value for name, value in json.loads(trace.to_json()).items() if value != first[name]}
            written.append(
                {
                    "parent": what_if.parent,
                    "change": to_json_dict(what_if.change),
                    "held": what_if.held,
                    "trace": differing,
                }
            )
        return json.dumps(first | {_FIELD: written}, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> WhatIfs:
        """Read JSON that `to_json` wrote; a saved trace reads as one without what-ifs.

        Raise AttnvizError where it is neither.
        """
        kind = _kind(text)
        if kind is Attention:
            return cls(Attention.from_json(text))  # without a model there are no what-ifs
        first = kind.from_json(text)
        fields = json.loads(text)
        written = fields.pop(_FIELD, [])
        if not isinstance(written, list) or len(written) > MOST:
            raise _damaged()
        what_ifs, traces, size = [], [], _bytes(first)
        for number, entry in enumerate(written):
            what_if, trace = _read(entry, number, fields, type(first))
            size += _bytes(trace)
            same = (trace.source_ids, dict(trace.config)) == (first.source_ids, dict(first.config))
            if not same or size > LARGEST:
                raise _damaged()
            what_ifs.append(what_if)
            traces.append(trace)
        return cls(first, tuple(what_ifs), tuple(traces))

    def save(self, path: str | Path) -> None:
        """Write everything to `path`."""
        replace_text(Path(path), self.to_json())

    @classmethod
    def load(cls, path: str | Path) -> WhatIfs:
        """Read what `save` wrote; raise AttnvizError, naming the file, where that fails."""
        return read_file(path, cls.from_json)


def with_descendants(what_ifs: Sequence[WhatIf], number: int) -> set[int]:
    """Return the numbers of a what-if and of all its descendants."""
    numbers = {number}
    for child, what_if in enumerate(what_ifs, 1):
        if what_if.parent in numbers:  # a parent precedes its children
            numbers.add(child)
    return numbers


def _kind(text: str) -> type[Any]:
    """Return the class that the file's "format" field names; `Trace`, whose errors explain, where it is unknown."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        fields = None
    mark = fields.get("format") if isinstance(fields, dict) else None
    return {kind.saved_as.mark: kind for kind in (TransformerTrace, Seq2SeqTrace, Attention)}.get(str(mark), Trace)


def _read(written: object, number: int, first: Mapping[str, Any], kind: type[Record]) -> tuple[WhatIf, Record]:
    """Return what-if `number` (0-based) and its trace, from the file of `first`, a record of this `kind`."""
    if not isinstance(written, Mapping) or set(written) != _WHAT_IF_KEYS or not isinstance(written["trace"], Mapping):
        raise _damaged()
    parent, held = written["parent"], written["held"]
    if type(parent) is not int or not 0 <= parent <= number or type(held) is not bool:
        raise _damaged()
    what_if = WhatIf(parent, from_json_dict(written["change"]), held)
    return what_if, kind.from_json(json.dumps({**first, **written["trace"]}))


def _bytes(trace: Record) -> int:
    return sum(int(getattr(trace, quantity.name).nbytes) for quantity in trace.arrays)


def _damaged() -> AttnvizError:
    return AttnvizError(gettext("The what-ifs in this file are damaged. Save the file again."))
