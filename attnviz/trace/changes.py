"""Changes: what a visitor does by hand to a translation that is there, and what a translator is told to do for it.

A change is made to a *parent*, the translation it was tried on. It says what was done, as a card tells it, in numbers
that an address or a file gives back bit for bit; `resolved` turns it into interventions. Steps and pieces count from 0.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.text import EOS, word_groups
from attnviz.trace.interventions import (
    AttentionIntervention,
    ExcludePosition,
    ForceWord,
    Intervention,
    ReplaceWeights,
    Temperature,
    from_json,
    in_json,
    keep_words,
)
from attnviz.trace.record import Record

WHOLE = 4095
"""Weights set by hand are whole shares of this many: two signs of base64 each in an address."""
LENDERS = ("", "step", "posterior", "links", "model")
"""Where a row of weights may be borrowed from; nowhere, where it was set by hand."""
LONGEST_LENDER = 80
"""Characters of what tells one lender from another."""
MOST_PIECES = 2000
"""Pieces of a translation or of a row that a change may name: more than any that is shown has."""


@dataclass(frozen=True)
class SetWeights:
    """The weights of `step` are these `shares` of WHOLE, (Tx,), which sum to it; `lender` and `of` tell whose they are
    where they were borrowed."""

    step: int
    shares: tuple[int, ...]
    lender: str = ""
    of: str = ""
    """Which step (from 0), or which model."""

    def __post_init__(self) -> None:
        """Raise AttnvizError unless these are shares."""
        _check_step(self.step)
        object.__setattr__(self, "shares", _whole_numbers(self.shares))
        if sum(self.shares) != WHOLE:
            raise AttnvizError(gettext("Weights must sum to 1, not to {total:.4g}.", total=sum(self.shares) / WHOLE))
        texts = isinstance(self.of, str) and len(self.of) <= LONGEST_LENDER and self.lender in LENDERS
        if not texts or (self.lender == "step" and not (self.of.isascii() and self.of.isdigit())):
            raise AttnvizError(gettext("There is no look of {found} to borrow.", found=repr(self.of)[:LONGEST_LENDER]))


@dataclass(frozen=True)
class LookOnly:
    """At `step` the one source piece `source` has all the weight."""

    step: int
    source: int

    def __post_init__(self) -> None:
        """Raise AttnvizError where these cannot be places."""
        _check_step(self.step)
        _check_source(self.source)


@dataclass(frozen=True)
class LookAway:
    """At `step` the source piece `source` has no weight, and the rest is renormalised."""

    step: int
    source: int

    def __post_init__(self) -> None:
        """Raise AttnvizError where these cannot be places."""
        _check_step(self.step)
        _check_source(self.source)


@dataclass(frozen=True)
class LookAlike:
    """At `step` all source pieces have the same weight."""

    step: int

    def __post_init__(self) -> None:
        """Raise AttnvizError where this cannot be a step."""
        _check_step(self.step)


@dataclass(frozen=True)
class SetTemperature:
    """Energies of `step` (None: of every step) are divided by this, in whole thousandths or infinite, as
    `Temperature` says."""

    temperature: float
    step: int | None = None

    def __post_init__(self) -> None:
        """Raise AttnvizError where `Temperature` would."""
        exact = Temperature(self.temperature, self.step).temperature
        object.__setattr__(self, "temperature", round(exact, 3))


@dataclass(frozen=True)
class WriteWords:
    """From `step` on these pieces, by their ids, are written instead of so many that are `replaced`."""

    step: int
    pieces: tuple[int, ...]
    replaced: int = 1

    def __post_init__(self) -> None:
        """Raise AttnvizError where these cannot be pieces."""
        _check_step(self.step)
        object.__setattr__(self, "pieces", _whole_numbers(self.pieces))
        if type(self.replaced) is not int or not 1 <= self.replaced <= MOST_PIECES:
            raise AttnvizError(gettext("A change replaces at least one piece."))
        for i, piece in enumerate(self.pieces):
            ForceWord(piece, i)


@dataclass(frozen=True)
class TakeHypothesis:
    """The translation is made of these pieces, by their ids, EOS last: one that the search dropped, say."""

    pieces: tuple[int, ...]

    def __post_init__(self) -> None:
        """Raise AttnvizError where these cannot be a translation."""
        object.__setattr__(self, "pieces", _whole_numbers(self.pieces))
        if self.pieces[-1] != EOS or EOS in self.pieces[:-1]:
            raise AttnvizError(gettext("A translation ends with </s>, and nowhere before."))


Change = SetWeights | LookOnly | LookAway | LookAlike | SetTemperature | WriteWords | TakeHypothesis

KINDS: Mapping[str, type[Change]] = {
    "weights": SetWeights,
    "only": LookOnly,
    "without": LookAway,
    "alike": LookAlike,
    "temperature": SetTemperature,
    "words": WriteWords,
    "hypothesis": TakeHypothesis,
}
"""What each kind is called in a file and by the browser."""


class Resolved(NamedTuple):
    """What a translator is told."""

    interventions: tuple[Intervention, ...]
    target: tuple[int, ...] | None
    """Ids of the translation that the decoder is led through, EOS last; None where it is searched for."""


def shares_of(weights: ArrayLike) -> tuple[int, ...]:
    """Return weights (Tx,), which sum to 1, as the whole shares of WHOLE nearest to them that sum to it.

    What rounding down leaves over goes to the largest remainders, the first of them where they are equal. Raise
    AttnvizError where these are no weights.
    """
    try:
        row = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        row = np.zeros(0)
    if row.ndim != 1 or not len(row) or not np.isfinite(row).all() or row.min() < 0 or not row.sum() > 0:
        raise AttnvizError(gettext("Weights and energies must be finite numbers, one for each source piece."))
    exact = row / row.sum() * WHOLE
    whole = np.floor(exact).astype(int)
    largest = np.argsort(whole - exact, kind="stable")
    whole[largest[: WHOLE - int(whole.sum())]] += 1
    return tuple(whole.tolist())


def resolved(parent: Record, change: Change, *, held: bool) -> Resolved:
    """Return what makes `change` to the translation `parent`.

    Where the translation is `held`, its words stay and only the numbers change. Otherwise the words before the changed
    step are kept, with what was done to the attention up to and at that step, and the search goes on from there; for a
    temperature of all steps, from the first. Raise AttnvizError where the change names what `parent` has not.
    """
    before = tuple(one for one in parent.interventions if not isinstance(one, ForceWord))
    if isinstance(change, TakeHypothesis):
        return Resolved(_until(before, len(change.pieces) - 1), change.pieces)
    if change.step is not None and change.step >= len(parent.target_ids):
        raise AttnvizError(gettext("There is no step {found}.", found=change.step + 1))
    if isinstance(change, WriteWords):
        return _rewritten(parent, before, change, held=held)
    after = _changed(before, change, len(parent.source_pieces))
    if held:
        return Resolved(after, tuple(parent.target_ids))
    step = change.step or 0
    return Resolved((*keep_words(parent.target_ids, step), *_until(after, step)), None)


def replaced_by(trace: Record, step: int) -> int:
    """Return how many pieces a word takes the place of that is written from 0-based `step` on: the rest of the one
    there."""
    group = next(group for group in word_groups(trace.target_pieces) if step in group)
    return group[-1] - step + 1


def to_record(change: Change) -> dict[str, Any]:
    """Return a change as a dictionary fit for JSON."""
    kind = next(name for name, kind in KINDS.items() if isinstance(change, kind))
    return {"kind": kind} | in_json(dataclasses.asdict(change))


def from_record(record: object) -> Change:
    """Return the change that `to_record` wrote; raise AttnvizError where this is none."""
    fields = from_json(record) if isinstance(record, Mapping) else {}
    kind = KINDS.get(str(fields.pop("kind", None)))
    if kind is None or set(fields) != {field.name for field in dataclasses.fields(kind)}:
        raise AttnvizError(gettext("This is no change that can be made here."))
    return kind(**fields)


def _changed(
    before: tuple[AttentionIntervention, ...], change: Change, source_pieces: int
) -> tuple[AttentionIntervention, ...]:
    """Return the interventions on the attention, with `change` among them; weights of its step that were set are no
    longer, and temperatures do not add up. One of all steps goes first: rows that were set stay as they are."""
    match change:
        case SetTemperature(temperature=temperature, step=step):
            others = tuple(one for one in before if not (isinstance(one, Temperature) and one.step == step))
            made = Temperature(temperature, step)
            return (made, *others) if step is None else (*others, made)
        case LookAway(step=step, source=source):
            return (*before, ExcludePosition(source, step))
        case LookOnly(step=step, source=source):
            if source >= source_pieces:
                raise AttnvizError(gettext("There is no source piece {found}.", found=source + 1))
            row = tuple(float(j == source) for j in range(source_pieces))
        case LookAlike(step=step):
            row = (1 / source_pieces,) * source_pieces
        case SetWeights(step=step, shares=shares):
            row = tuple(share / WHOLE for share in shares)
        case _:
            raise TypeError(change)
    return (*(one for one in before if one.step != step), ReplaceWeights(row, step))


def _rewritten(
    parent: Record, before: tuple[AttentionIntervention, ...], change: WriteWords, *, held: bool
) -> Resolved:
    """Return what writes other words: what stands behind them is written anew, or moves up or down where it is held."""
    step, ids = change.step, tuple(parent.target_ids)
    if not held:
        words = (ForceWord(piece, step + k) for k, piece in enumerate(change.pieces))
        return Resolved((*keep_words(ids, step), *words, *_until(before, step)), None)
    target = (*ids[:step], *change.pieces, *ids[step + change.replaced :], EOS)
    target = target[: target.index(EOS) + 1]
    moved = len(change.pieces) - change.replaced
    kept = []
    for one in before:
        if one.step is None or one.step <= step:
            kept.append(one)
        elif one.step >= step + change.replaced:
            kept.append(dataclasses.replace(one, step=one.step + moved))
    return Resolved(_until(kept, len(target) - 1), target)


def _until(interventions: Iterable[AttentionIntervention], step: int) -> tuple[AttentionIntervention, ...]:
    """Return those at 0-based `step`, before it, and of all steps."""
    return tuple(one for one in interventions if one.step is None or one.step <= step)


def _check_step(step: object) -> None:
    if type(step) is not int or step < 0:
        raise AttnvizError(gettext("There is no step {found}.", found=repr(step)[:LONGEST_LENDER]))


def _check_source(source: object) -> None:
    if type(source) is not int or source < 0:
        raise AttnvizError(gettext("There is no source piece {found}.", found=repr(source)[:LONGEST_LENDER]))


def _whole_numbers(values: Sequence[int]) -> tuple[int, ...]:
    """Return at least one whole number from 0; raise AttnvizError where there are none."""
    found = tuple(values) if isinstance(values, (list, tuple)) else ()
    if not 1 <= len(found) <= MOST_PIECES or any(type(value) is not int or value < 0 for value in found):
        raise AttnvizError(gettext("This is no change that can be made here."))
    return found
