"""What-ifs: a translation, the interventions tried on it, the trace of each, their file, their edits, and their link.

In a file, in a link and in the browser a what-if is the same JSON object; in a link the list of them is compressed.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import json
import math
import zlib
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from attnviz.arguments import checked_path
from attnviz.errors import AttnvizError, user_error
from attnviz.files import replace_text
from attnviz.languages import gettext
from attnviz.text import EOS
from attnviz.trace.attention_record import Attention
from attnviz.trace.drawing import drawing
from attnviz.trace.interventions import (
    AttentionIntervention,
    ExcludePosition,
    ForceWords,
    Intervention,
    ReplaceWeights,
    Temperature,
    forced_prefix,
    from_json_dict,
    to_json_dict,
)
from attnviz.trace.record import Record
from attnviz.trace.storage import LARGEST, read_file
from attnviz.trace.trace import Trace
from attnviz.trace.transformer_trace import TransformerTrace

MOST_WHAT_IFS = 12
"""Largest number of what-ifs of a translation."""
_FIELD = "what_ifs"


@dataclass(frozen=True)
class WhatIf:
    """One what-if: a translation of the same sentence with one more intervention."""

    parent: int
    """What it changes: 0 for the first translation, or the number of an earlier what-if, from 1."""
    intervention: Intervention
    held: bool = False
    """Whether the parent's words are forced, so that only the numbers change."""

    def to_json_dict(self) -> dict[str, Any]:
        """Return the what-if as a dictionary for JSON."""
        return {"parent": self.parent, "held": self.held, "intervention": to_json_dict(self.intervention)}

    @classmethod
    def from_json_dict(cls, record: object) -> WhatIf:
        """Return the what-if that `to_json_dict` wrote; raise AttnvizError for anything else."""
        fields = record if isinstance(record, Mapping) else {}
        parent, held = fields.get("parent"), fields.get("held")
        if len(fields) != 3 or type(parent) is not int or parent < 0 or type(held) is not bool:
            raise user_error("This what-if cannot be read.")
        return cls(parent, from_json_dict(fields.get("intervention")), held)


class TranslatorArguments(NamedTuple):
    """Arguments for the translator that implement an intervention on an earlier translation."""

    interventions: tuple[Intervention, ...]
    target: tuple[int, ...] | None
    """Ids of the forced translation, EOS last; None where the translator searches."""


def translator_arguments(parent: Record, intervention: Intervention, *, held: bool) -> TranslatorArguments:
    """Return the interventions and the forced target that add `intervention` to the translation `parent`.

    With `held`, the words stay and only the numbers change. Otherwise the words before the changed step and the
    interventions on the attention up to it stay, and the search continues from there; an intervention on all steps
    restarts the search. Raise AttnvizError where the step is none of `parent`.
    """
    earlier, target = [one for one in parent.interventions if not isinstance(one, ForceWords)], tuple(parent.target_ids)
    step, words = intervention.step or 0, tuple[ForceWords, ...]()
    if step >= len(target):
        raise user_error("There is no step {found}.", found=step + 1)
    if not isinstance(intervention, ForceWords):
        earlier = [one for one in earlier if not intervention.undoes(one)]
        # A temperature of all steps goes first, so that replaced rows stay as they are.
        first = isinstance(intervention, Temperature) and intervention.step is None
        earlier.insert(0 if first else len(earlier), intervention)
    elif held:
        earlier, target = _with_words(earlier, target, intervention)
    else:
        words = (intervention,)
    if held:
        return TranslatorArguments(_until(earlier, len(target) - 1), target)
    return TranslatorArguments((*_kept_words(parent, step), *words, *_until(earlier, step)), None)


def _with_words(
    earlier: Sequence[AttentionIntervention], target: tuple[int, ...], words: ForceWords
) -> tuple[list[AttentionIntervention], tuple[int, ...]]:
    """Return interventions and target with other `words`; what follows them shifts by the change in length."""
    end, shift = words.step + words.replaced, len(words.pieces) - words.replaced
    ids = (*target[: words.step], *words.pieces, *target[end:], EOS)
    shifted = [
        one if one.step is None or one.step < end else dataclasses.replace(one, step=one.step + shift)
        for one in earlier
        if one.step is None or one.step < words.steps.stop or one.step >= end
    ]
    return shifted, ids[: ids.index(EOS) + 1]


def _kept_words(parent: Record, step: int) -> tuple[ForceWords, ...]:
    """Return interventions that keep the words before 0-based `step`; words that a visitor forced remain forced."""
    words = (one for one in parent.interventions if isinstance(one, ForceWords) and not one.kept)
    forced = range(step) if parent.search.method == "forced" else [i for one in words for i in one.steps]
    return forced_prefix(parent.target_ids, step, forced)


def _until(interventions: Iterable[AttentionIntervention], step: int) -> tuple[AttentionIntervention, ...]:
    """Return the interventions of all steps and of steps up to 0-based `step`."""
    return tuple(one for one in interventions if one.step is None or one.step <= step)


def replaced_by(trace: Record, step: int) -> int:
    """Return how many pieces a word written at 0-based `step` replaces: the rest of the word there."""
    group = next(group for group in trace.word_groups()[1] if step in group)
    return group[-1] - step + 1


def whole_weights(weights: ArrayLike, total: int = 4000) -> tuple[int, ...]:
    """Return weights (Tx,), not negative and not all 0, as whole numbers that sum to `total`: short in a link.

    Rounds by largest remainder; of equal remainders the first wins.
    """
    row = np.asarray(weights, dtype=np.float64)
    exact = row / row.sum() * total
    whole = np.floor(exact).astype(int)
    largest = np.argsort(whole - exact, kind="stable")
    whole[largest[: total - int(whole.sum())]] += 1
    return tuple(whole.tolist())


@dataclass(frozen=True)
class WhatIfs:
    """A translation, its what-ifs, and the trace of each."""

    first: Any
    """The first translation: a `Trace`, `TransformerTrace` or `Attention`."""
    what_ifs: tuple[WhatIf, ...] = ()
    traces: tuple[Any, ...] = ()
    """The trace of each what-if."""

    def trace(self, number: int) -> Any:
        """Return the trace of a what-if.

        Args:
            number: Number of the what-if, from 1; 0 is the first translation.
        """
        return self.traces[number - 1] if number else self.first

    def parent(self, number: int) -> Any:
        """Return the trace that a what-if changed; None for the first translation.

        Args:
            number: Number of the what-if, from 1.
        """
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
            written.append(what_if.to_json_dict() | {"trace": differing})
        return json.dumps(first | {_FIELD: written}, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> WhatIfs:
        """Read JSON that `to_json` wrote; a saved trace reads as one without what-ifs.

        Args:
            text: The JSON.

        Returns:
            The translation with its what-ifs.

        Raises:
            AttnvizError: The text is neither.
        """
        fields = None
        with contextlib.suppress(ValueError, RecursionError):  # `from_json` of a result explains them
            fields = json.loads(text)
        format_name = fields.get("format") if isinstance(fields, dict) else None
        kinds: dict[object, type[Any]] = {kind.saved_as.name: kind for kind in (TransformerTrace, Attention)}
        first = kinds.get(str(format_name), Trace).from_json(text)
        if fields is None or isinstance(first, Attention):  # without a model there are no what-ifs
            return cls(first)
        written = fields.pop(_FIELD, [])
        if not isinstance(written, list) or len(written) > MOST_WHAT_IFS:
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
        """Write everything to a file.

        Args:
            path: The file. If its name ends in .html, it is a page with the step view of the first translation and a
                card for each what-if; otherwise, it is JSON, which `load` reads.
        """
        given = checked_path(path)
        is_page = given.suffix.lower() == ".html"
        replace_text(given, drawing().draw_page(self.first, what_ifs=self) if is_page else self.to_json())

    @classmethod
    def load(cls, path: str | Path) -> WhatIfs:
        """Read what `save` wrote.

        Args:
            path: The file.

        Returns:
            The translation with its what-ifs.

        Raises:
            AttnvizError: The file cannot be read; the message names it.
        """
        return read_file(path, cls.from_json)


def with_descendants(what_ifs: Sequence[WhatIf], number: int) -> set[int]:
    """Return the numbers of a what-if and of all its descendants."""
    numbers = {number}
    for child, what_if in enumerate(what_ifs, 1):
        if what_if.parent in numbers:  # a parent precedes its children
            numbers.add(child)
    return numbers


def _read(written: object, number: int, first: Mapping[str, Any], kind: type[Record]) -> tuple[WhatIf, Record]:
    """Return what-if `number` (0-based) and its trace, from the file of `first`, a record of this `kind`."""
    fields = dict(written) if isinstance(written, Mapping) else {}
    differing, what_if = fields.pop("trace", None), WhatIf.from_json_dict(fields)
    if not isinstance(differing, Mapping) or what_if.parent > number:
        raise _damaged()
    return what_if, kind.from_json(json.dumps({**first, **differing}))


def _bytes(trace: Record) -> int:
    return sum(int(getattr(trace, quantity.name).nbytes) for quantity in trace.arrays)


def _damaged() -> AttnvizError:
    return user_error("The what-ifs in this file are damaged. Save the file again.")


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
        if len(what_ifs) == MOST_WHAT_IFS:
            raise user_error("There are {count} what-ifs already: remove one of them first.", count=MOST_WHAT_IFS)
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
        last = self.what_ifs[self.current - 1]
        old, new = last.intervention, what_if.intervention
        if last.held != what_if.held or not self._is_leaf(self.current):
            return False
        if isinstance(old, ReplaceWeights) and isinstance(new, ReplaceWeights):
            return old.step == new.step and old.by_hand and new.by_hand
        return isinstance(new, Temperature) and new.undoes(old)


def what_ifs_identity(first: Trace) -> str:
    """Return the identity of an original translation: model, sentence, search and result.

    It leaves out computed numbers, whose last digits depend on the other sentences in their batch.
    """
    inputs = (first.model, first.weights_digest, first.device, first.source_text, first.search, first.target_ids)
    return repr((*inputs, first.interventions))


_TYPICAL = (
    WhatIf(1, ReplaceWeights((10, 11, 12), 3, "model", "small-"), held=True),
    WhatIf(1, ReplaceWeights((0, 0, 1), 2, "step", "1"), held=True),
    WhatIf(1, Temperature(math.inf), held=True),
    WhatIf(0, ForceWords((10, 20), 2, 2)),
    WhatIf(0, ExcludePosition(1, 1)),
    WhatIf(0, Temperature(2.5)),
    WhatIf(0, ReplaceWeights((0, 0, 0, 0, 1, 0, 1, 0, 1, 10, 12, 13), 1)),
)
"""One what-if of each kind, the likeliest last."""
_LONGEST_JSON = 2**17
"""Bytes of the longest list of what-ifs in a link, uncompressed."""
_RAW = -15
"""zlib's number for compressed bytes without header and checksum."""


def encode_what_ifs(what_ifs: Sequence[WhatIf]) -> str:
    """Return what-ifs as text for a link: their JSON, compressed, in URL-safe base64; `decode_what_ifs` decodes it."""
    if not what_ifs:
        return ""
    packer = zlib.compressobj(9, wbits=_RAW, zdict=_LIKELY)
    packed = packer.compress(_json(what_ifs)) + packer.flush()
    return base64.urlsafe_b64encode(packed).decode("ascii").rstrip("=")


def decode_what_ifs(text: str) -> tuple[tuple[WhatIf, ...], tuple[str, ...]]:
    """Return the what-ifs in the text of a link, and a sentence for each that is left out.

    Left out are unreadable what-ifs, those that derive from one left out, and those beyond MOST.
    """
    what_ifs: list[WhatIf] = []
    problems: list[str] = []
    new_numbers = {0: 0}  # number among the readable what-ifs, by number in the text
    try:
        records = _unpacked(text) if text else []
    except (ValueError, RecursionError, zlib.error):
        return (), (gettext("The what-ifs of this link cannot be read."),)
    for number, record in enumerate(records, 1):
        if number > MOST_WHAT_IFS:
            problems.append(
                gettext("This link has too many what-ifs: only the first {count} are used.", count=MOST_WHAT_IFS)
            )
            break
        try:
            what_if = WhatIf.from_json_dict(record)
            if what_if.parent not in new_numbers:
                raise user_error("This what-if starts from another what-if, which is missing.")
        except AttnvizError as error:
            problems.append(left_out_sentence(number, str(error)))
            continue
        what_ifs.append(dataclasses.replace(what_if, parent=new_numbers[what_if.parent]))
        new_numbers[number] = len(what_ifs)
    return tuple(what_ifs), tuple(problems)


def left_out_sentence(number: int, why: str) -> str:
    """Return a sentence about why a what-if of a link, by its number from 1, is left out."""
    return gettext("What-if {number} of this link is left out. {why}", number=number, why=why)


def _json(what_ifs: Sequence[WhatIf]) -> bytes:
    return json.dumps([what_if.to_json_dict() for what_if in what_ifs], separators=(",", ":")).encode("ascii")


_LIKELY = _json(_TYPICAL)
"""Text that what-ifs are likely to contain, so that a link with few of them is short (zlib's `zdict`)."""


def _unpacked(text: str) -> list[Any]:
    """Return the list in the text of a link; raise ValueError, RecursionError or zlib.error where it is damaged."""
    packed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    unpacker = zlib.decompressobj(_RAW, zdict=_LIKELY)
    records = json.loads(unpacker.decompress(packed, _LONGEST_JSON))
    if not unpacker.eof or unpacker.unused_data or not isinstance(records, list):
        raise ValueError("this is no list of what-ifs")
    return records
