"""Branches: a translation with what was tried on it by hand, and what came of each change; saved as one file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.trace.attention_record import Attention
from attnviz.trace.changes import Change, from_record, to_record
from attnviz.trace.record import Record
from attnviz.trace.seq2seq_trace import Seq2SeqTrace
from attnviz.trace.storage import LARGEST, read_file, write_file
from attnviz.trace.trace import Trace
from attnviz.trace.transformer_trace import TransformerTrace

MOST = 12
"""Branches of a translation."""
_FIELD = "branches"
_OWN = frozenset({"parent", "change", "held", "trace"})


@dataclass(frozen=True)
class Branch:
    """A translation of the same sentence with one thing more changed by hand."""

    parent: int
    """What it was tried on: 0 for the first translation, or the number of an earlier branch, from 1."""
    change: Change
    held: bool = False
    """Whether the parent's words stay, and only the numbers change."""


@dataclass(frozen=True)
class Branches:
    """A translation, its branches, and the trace of each."""

    first: Any
    """A `Trace`, a `TransformerTrace` or an `Attention`."""
    branches: tuple[Branch, ...] = ()
    traces: tuple[Any, ...] = ()
    """One for each branch."""

    def trace(self, number: int) -> Any:
        """Return the trace of a branch by its number, from 1; 0 is the first translation."""
        return self.traces[number - 1] if number else self.first

    def parent(self, number: int) -> Any:
        """Return what the branch `number` was tried on; the first translation has none."""
        return self.trace(self.branches[number - 1].parent) if number else None

    def to_json(self) -> str:
        """Return all of it as one JSON object: that of the first translation, which opens as such a record too, and of
        each branch what is other in its own."""
        text: str = self.first.to_json()
        if not self.branches:
            return text
        first, written = json.loads(text), []
        for branch, trace in zip(self.branches, self.traces, strict=True):
            other = {name: value for name, value in json.loads(trace.to_json()).items() if value != first[name]}
            written.append(
                {"parent": branch.parent, "change": to_record(branch.change), "held": branch.held, "trace": other}
            )
        return json.dumps(first | {_FIELD: written}, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Branches:
        """Return what `to_json` wrote; a saved trace has no branches. Raise AttnvizError where it is neither."""
        kind = _kind(text)
        if kind is Attention:
            return cls(Attention.from_json(text))  # of which nothing can be tried
        first = kind.from_json(text)
        record = json.loads(text)
        written = record.pop(_FIELD, [])
        if not isinstance(written, list) or len(written) > MOST:
            raise _damaged()
        branches, traces, held = [], [], _bytes(first)
        for number, one in enumerate(written):
            branch, trace = _read(one, number, record, type(first))
            held += _bytes(trace)
            same = (trace.source_ids, dict(trace.config)) == (first.source_ids, dict(first.config))
            if not same or held > LARGEST:
                raise _damaged()
            branches.append(branch)
            traces.append(trace)
        return cls(first, tuple(branches), tuple(traces))

    def save(self, path: str | Path) -> None:
        """Write all of it to `path`."""
        write_file(path, self.to_json())

    @classmethod
    def load(cls, path: str | Path) -> Branches:
        """Read them from `path`; raise AttnvizError, naming the file, where that fails."""
        return read_file(path, cls.from_json)


def _kind(text: str) -> type[Any]:
    """Return the kind of record that a file says it holds, or that which says what is wrong with it."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        record = None
    mark = record.get("format") if isinstance(record, dict) else None
    return {kind.saved_as.mark: kind for kind in (TransformerTrace, Seq2SeqTrace, Attention)}.get(str(mark), Trace)


def _read(written: object, number: int, first: Mapping[str, Any], kind: type[Record]) -> tuple[Branch, Record]:
    """Return the branch that stands after `number` others in the file of `first`, a record of this `kind`."""
    if not isinstance(written, Mapping) or set(written) != _OWN or not isinstance(written["trace"], Mapping):
        raise _damaged()
    parent, held = written["parent"], written["held"]
    if type(parent) is not int or not 0 <= parent <= number or type(held) is not bool:
        raise _damaged()
    branch = Branch(parent, from_record(written["change"]), held)
    return branch, kind.from_json(json.dumps({**first, **written["trace"]}))


def _bytes(trace: Record) -> int:
    return sum(int(getattr(trace, quantity.name).nbytes) for quantity in trace.arrays)


def _damaged() -> AttnvizError:
    return AttnvizError(gettext("The what-ifs in this file are damaged. Save it again."))
