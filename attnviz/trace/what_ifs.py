"""What-ifs: a translation, the changes tried on it, the trace of each, their file, their edits, and text for links.

In text, what-ifs are joined by `*`, their parts by `.`: the number of the parent, a letter for the kind (followed by
`h` where the translation is held), and the arguments of that kind. Steps and source pieces count from 1 there.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from attnviz.errors import AttnvizError
from attnviz.files import replace_text
from attnviz.languages import gettext
from attnviz.trace.attention_record import Attention
from attnviz.trace.changes import (
    MOST_PIECES,
    AttendOnly,
    Change,
    ExcludeSource,
    FreezeContext,
    SetTemperature,
    SetWeights,
    TakeHypothesis,
    UniformAttention,
    WriteWords,
    from_json_dict,
    to_json_dict,
)
from attnviz.trace.record import Record
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
    """The first translation: a `Trace`, `TransformerTrace` or `Attention`."""
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
    format_name = fields.get("format") if isinstance(fields, dict) else None
    return {kind.saved_as.name: kind for kind in (TransformerTrace, Attention)}.get(str(format_name), Trace)


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


@dataclass(frozen=True)
class StoredWhatIfs:
    """The what-ifs of a translation; the methods return changed ones."""

    identity: str = ""
    """Identity of the original translation."""
    what_ifs: tuple[WhatIf, ...] = ()
    current: int = 0
    """0 for the original translation, or the number of a what-if, from 1."""
    linked: bool = True
    """Whether they are in the address; those from a file are not."""
    problems: tuple[str, ...] = ()
    """Sentences about errors, until the next change."""

    def adding(self, what_if: WhatIf) -> StoredWhatIfs:
        """Add a what-if and show it; raise AttnvizError where there are already MOST.

        If the current one set the same weights or temperature, it is replaced, so that dragging a bar again makes no
        second what-if. A what-if that exists already is shown.
        """
        current, what_ifs = self.current, self.what_ifs
        if what_if in what_ifs:
            return self.showing(what_ifs.index(what_if) + 1)
        if current and what_if.parent == current and self._sets_again(what_if):
            changed = dataclasses.replace(what_if, parent=what_ifs[current - 1].parent)
            return self._with((*what_ifs[: current - 1], changed, *what_ifs[current:]), current)
        if len(what_ifs) == MOST:
            raise AttnvizError(gettext("There are {count} what-ifs already: remove one of them first.", count=MOST))
        if what_if.parent > len(what_ifs):  # the parent was removed meanwhile
            return self
        return self._with((*what_ifs, what_if), len(what_ifs) + 1)

    def showing(self, number: int) -> StoredWhatIfs:
        """Show a what-if by its number, from 1, or with 0 the original translation; ignore invalid numbers."""
        return self._with(self.what_ifs, number) if 0 <= number <= len(self.what_ifs) else self

    def removing(self, number: int) -> StoredWhatIfs:
        """Remove a what-if and all that derive from it; if the current one is removed, show its parent."""
        return self.without(with_descendants(self.what_ifs, number)) if 1 <= number <= len(self.what_ifs) else self

    def without(self, removed: Set[int], problems: Sequence[str] = ()) -> StoredWhatIfs:
        """Remove the what-ifs with these numbers, which must include their descendants; add sentences about why."""
        current = self.current
        while current in removed:
            current = self.what_ifs[current - 1].parent
        new_numbers, what_ifs = {0: 0}, list[WhatIf]()
        for number, what_if in enumerate(self.what_ifs, 1):
            if number not in removed:
                what_ifs.append(dataclasses.replace(what_if, parent=new_numbers[what_if.parent]))
                new_numbers[number] = len(what_ifs)
        return self._with(what_ifs, new_numbers[current], problems)

    def undoing(self) -> StoredWhatIfs:
        """Remove the current what-if and show its parent; keep it if others derive from it."""
        if not self.current:
            return self
        if self._is_leaf(self.current):
            return self.removing(self.current)
        return self.showing(self.what_ifs[self.current - 1].parent)

    def _with(self, what_ifs: Sequence[WhatIf], current: int, problems: Sequence[str] = ()) -> StoredWhatIfs:
        return dataclasses.replace(self, what_ifs=tuple(what_ifs), current=current, problems=tuple(problems))

    def _is_leaf(self, number: int) -> bool:
        return all(what_if.parent != number for what_if in self.what_ifs)

    def _sets_again(self, what_if: WhatIf) -> bool:
        """Return whether `what_if` sets the same weights or temperature as the current what-if, a leaf, again."""
        last, change = self.what_ifs[self.current - 1], what_if.change
        if last.held != what_if.held or not self._is_leaf(self.current):
            return False
        if isinstance(last.change, SetWeights) and isinstance(change, SetWeights):
            return last.change.step == change.step and not last.change.lender and not change.lender
        if isinstance(last.change, SetTemperature) and isinstance(change, SetTemperature):
            return last.change.step == change.step
        return False


def identity_of(first: Trace) -> str:
    """Return the identity of an original translation: model, sentence, search and result.

    It leaves out computed numbers, whose last digits depend on the other sentences in their batch.
    """
    inputs = (first.model, first.weights_digest, first.device, first.source_text, first.search, first.target_ids)
    return repr((*inputs, first.interventions))


_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def encode_what_ifs(what_ifs: Sequence[WhatIf]) -> str:
    """Return what-ifs as text; `decode_what_ifs` decodes it."""
    return "*".join(".".join((str(one.parent), *_encoded_parts(one))) for one in what_ifs)


def decode_what_ifs(text: str) -> tuple[tuple[WhatIf, ...], tuple[str, ...]]:
    """Return the what-ifs in a text, and a sentence for each that is left out.

    Left out are unreadable what-ifs, those that derive from one left out, and those beyond MOST.
    """
    what_ifs: list[WhatIf] = []
    problems: list[str] = []
    new_numbers = {0: 0}  # number among the readable what-ifs, by number in the text
    for number, part in enumerate(text.split("*") if text else [], 1):
        if number > MOST:
            problems.append(gettext("This link has too many what-ifs: only the first {count} are used.", count=MOST))
            break
        try:
            what_if = _decoded(part)
            if what_if.parent not in new_numbers:
                raise AttnvizError(gettext("This what-if starts from another what-if, which is missing."))
        except AttnvizError as error:
            problems.append(left_out_sentence(number, str(error)))
            continue
        what_ifs.append(dataclasses.replace(what_if, parent=new_numbers[what_if.parent]))
        new_numbers[number] = len(what_ifs)
    return tuple(what_ifs), tuple(problems)


def left_out_sentence(number: int, why: str) -> str:
    """Return a sentence about why a what-if of a link, by its number from 1, is left out."""
    return gettext("What-if {number} of this link is left out. {why}", number=number, why=why)


def _encoded_parts(what_if: WhatIf) -> tuple[str, ...]:
    """Return the parts of a what-if, except its parent."""
    form = next(form for form in _FORMS if form.fits(what_if.change))
    arguments = (encode(getattr(what_if.change, name)) for name, (encode, _) in form.arguments.items())
    return form.letter + ("h" if what_if.held else ""), *arguments


def _decoded(text: str) -> WhatIf:
    """Decode one what-if; raise AttnvizError where it is invalid."""
    parent, kind, *parts = (*text.split("."), "")
    held, parts = kind[1:] == "h", parts[:-1]
    for form in _FORMS:
        if kind in (form.letter, form.letter + "h") and len(parts) == len(form.arguments):
            decoded = zip(form.arguments.items(), parts, strict=True)
            change = form.kind(**{name: decode(part) for (name, (_, decode)), part in decoded})
            return WhatIf(_number(parent), change, held)
    raise _unreadable()


def _unreadable() -> AttnvizError:
    return AttnvizError(gettext("This what-if cannot be read."))


def _number(text: str) -> int:
    if not re.fullmatch("[0-9]{1,6}", text):
        raise _unreadable()
    return int(text)


def _index(text: str) -> int:
    number = _number(text)
    if not number:
        raise _unreadable()
    return number - 1


def _row(shares: Sequence[int]) -> str:
    """Return whole numbers below 4096 as two characters each of the URL-safe base64 alphabet."""
    return "".join(_DIGITS[share >> 6] + _DIGITS[share & 63] for share in shares)


def _from_row(text: str) -> tuple[int, ...]:
    if not re.fullmatch("([A-Za-z0-9_-]{2})+", text) or len(text) > 2 * MOST_PIECES:
        raise _unreadable()
    digits = [_DIGITS.index(digit) for digit in text]
    return tuple(64 * high + low for high, low in zip(digits[::2], digits[1::2], strict=True))


def _text(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode("utf-8", "replace")).decode("ascii").rstrip("=")


def _from_text(text: str) -> str:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True).decode("utf-8")
    except (binascii.Error, ValueError) as error:
        raise _unreadable() from error


class _Codec(NamedTuple):
    """How an argument is encoded and decoded; `decode` raises AttnvizError where it is invalid."""

    encode: Callable[[Any], str]
    decode: Callable[[str], Any]

    def or_word(self, word: str, value: object) -> _Codec:
        """Return the codec that encodes `value` as `word`."""
        return _Codec(
            lambda argument: word if argument == value else self.encode(argument),
            lambda text: value if text == word else self.decode(text),
        )


_COUNT = _Codec(str, _number)
_INDEX = _Codec(lambda index: str(index + 1), _index)
_IDS = _Codec(lambda ids: "-".join(map(str, ids)), lambda text: tuple(map(_number, text.split("-"))))
_ROW = _Codec(_row, _from_row)
_WORD = _Codec(str, str)
_TEXT = _Codec(_text, _from_text)
_TEMPERATURE = _Codec(lambda number: str(round(1000 * number)), lambda text: _number(text) / 1000)


class _Form(NamedTuple):
    """A kind of change as text: its letter, and the codecs of its arguments, in their order; others have defaults."""

    letter: str
    kind: type[Any]
    arguments: Mapping[str, _Codec]

    def fits(self, change: Change) -> bool:
        """Return whether `change` is of this kind, and its other arguments have their defaults."""
        return type(change) is self.kind and all(
            getattr(change, field.name) == field.default
            for field in dataclasses.fields(change)
            if field.name not in self.arguments
        )


_FORMS = (
    _Form("w", SetWeights, {"step": _INDEX, "shares": _ROW}),
    _Form("w", SetWeights, {"step": _INDEX, "shares": _ROW, "lender": _WORD, "of": _TEXT}),
    _Form("o", AttendOnly, {"step": _INDEX, "source": _INDEX}),
    _Form("x", ExcludeSource, {"step": _INDEX, "source": _INDEX}),
    _Form("a", UniformAttention, {"step": _INDEX}),
    _Form("f", FreezeContext, {"step": _INDEX}),
    _Form(
        "t",
        SetTemperature,
        {"step": _INDEX.or_word("all", None), "temperature": _TEMPERATURE.or_word("inf", math.inf)},
    ),
    _Form("v", WriteWords, {"step": _INDEX, "replaced": _COUNT, "pieces": _IDS}),
    _Form("y", TakeHypothesis, {"pieces": _IDS}),
)
