"""Changes that a user makes to a translation (attention weights, temperature, words), and their interventions.

A change is made to a *parent*, the translation on display. It describes the action in numbers that a URL or a file
restores bit for bit; `translator_arguments` turns it into interventions. Steps and pieces count from 0.
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
from attnviz.text import EOS
from attnviz.trace.interventions import (
    AttentionIntervention,
    ExcludePosition,
    ForceWord,
    Intervention,
    ReplaceWeights,
    Temperature,
    decode_infinity,
    encode_infinity,
    forced_prefix,
)
from attnviz.trace.record import Record

SHARE_TOTAL = 4095
"""Denominator of weights set by hand: each share takes two base64 characters in a URL."""
LENDERS = ("", "step", "posterior", "links", "model")
"""Sources from which a row of weights may be copied; "" for weights set by hand."""
LONGEST_LENDER = 80
"""Characters of the longest identifier of a source of weights."""
MOST_PIECES = 2000
"""Largest number of pieces in a change; no translation on display has as many."""


@dataclass(frozen=True)
class SetWeights:
    """Replace the weights of `step` by `shares`, (Tx,), numerators over SHARE_TOTAL, which sum to it.

    `lender` and `of` say where the weights were copied from.
    """

    step: int
    shares: tuple[int, ...]
    lender: str = ""
    of: str = ""
    """The step (from 0) or the model that the weights come from."""

    def __post_init__(self) -> None:
        """Raise AttnvizError unless the shares are whole numbers that sum to SHARE_TOTAL and the lender is known."""
        _check_step(self.step)
        object.__setattr__(self, "shares", _whole_numbers(self.shares))
        if sum(self.shares) != SHARE_TOTAL:
            raise AttnvizError(
                gettext("Weights must sum to 1, not to {total:.4g}.", total=sum(self.shares) / SHARE_TOTAL)
            )
        texts = isinstance(self.of, str) and len(self.of) <= LONGEST_LENDER and self.lender in LENDERS
        if not texts or (self.lender == "step" and not (self.of.isascii() and self.of.isdigit())):
            raise AttnvizError(
                gettext("Attention weights cannot be copied from {found}.", found=repr(self.of)[:LONGEST_LENDER])
            )


@dataclass(frozen=True)
class AttendOnly:
    """Give source piece `source` all the weight at `step`."""

    step: int
    source: int

    def __post_init__(self) -> None:
        """Raise AttnvizError unless both are whole numbers from 0."""
        _check_step(self.step)
        _check_source(self.source)


@dataclass(frozen=True)
class ExcludeSource:
    """Exclude source piece `source` at `step` and renormalise the other weights."""

    step: int
    source: int

    def __post_init__(self) -> None:
        """Raise AttnvizError unless both are whole numbers from 0."""
        _check_step(self.step)
        _check_source(self.source)


@dataclass(frozen=True)
class UniformAttention:
    """Give all source pieces the same weight at `step`."""

    step: int

    def __post_init__(self) -> None:
        """Raise AttnvizError unless `step` is a whole number from 0."""
        _check_step(self.step)


@dataclass(frozen=True)
class FreezeContext:
    """Give every step the context vector of `step`, as in a translator without attention: its weights replace all."""

    step: int

    def __post_init__(self) -> None:
        """Raise AttnvizError unless `step` is a whole number from 0."""
        _check_step(self.step)


@dataclass(frozen=True)
class SetTemperature:
    """Divide the energies of `step` (None: of every step) by `temperature`, rounded to thousandths or infinite.

    See `interventions.Temperature`.
    """

    temperature: float
    step: int | None = None

    def __post_init__(self) -> None:
        """Raise AttnvizError where `Temperature` does."""
        exact = Temperature(self.temperature, self.step).temperature
        object.__setattr__(self, "temperature", round(exact, 3))


@dataclass(frozen=True)
class WriteWords:
    """Write these `pieces` (ids) from `step` on, in place of the `replaced` pieces there."""

    step: int
    pieces: tuple[int, ...]
    replaced: int = 1

    def __post_init__(self) -> None:
        """Raise AttnvizError unless step, pieces and count are in range."""
        _check_step(self.step)
        object.__setattr__(self, "pieces", _whole_numbers(self.pieces))
        if type(self.replaced) is not int or not 1 <= self.replaced <= MOST_PIECES:
            raise AttnvizError(gettext("A change must replace at least one piece."))
        for i, piece in enumerate(self.pieces):
            ForceWord(piece, i)


@dataclass(frozen=True)
class TakeHypothesis:
    """Take these pieces (ids, EOS last) as the translation, such as a hypothesis that the search dropped."""

    pieces: tuple[int, ...]

    def __post_init__(self) -> None:
        """Raise AttnvizError unless EOS is the last piece and occurs only there."""
        object.__setattr__(self, "pieces", _whole_numbers(self.pieces))
        if self.pieces[-1] != EOS or EOS in self.pieces[:-1]:
            raise AttnvizError(gettext("A translation must have one </s>, at its end."))


Change = (
    SetWeights
    | AttendOnly
    | ExcludeSource
    | UniformAttention
    | FreezeContext
    | SetTemperature
    | WriteWords
    | TakeHypothesis
)

KINDS: Mapping[str, type[Change]] = {
    "weights": SetWeights,
    "only": AttendOnly,
    "without": ExcludeSource,
    "alike": UniformAttention,
    "frozen": FreezeContext,
    "temperature": SetTemperature,
    "words": WriteWords,
    "hypothesis": TakeHypothesis,
}
"""Name of each kind of change in files and in the browser."""


class TranslatorArguments(NamedTuple):
    """Arguments for the translator that implement a change."""

    interventions: tuple[Intervention, ...]
    target: tuple[int, ...] | None
    """Ids of the forced translation, EOS last; None where the translator searches."""


def shares_of(weights: ArrayLike) -> tuple[int, ...]:
    """Return weights (Tx,), scaled to sum to 1, as whole numerators over SHARE_TOTAL, which sum to it.

    Rounds by largest remainder; of equal remainders the first wins. Raise AttnvizError where the input is no
    distribution.
    """
    try:
        row = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        row = np.zeros(0)
    if row.ndim != 1 or not len(row) or not np.isfinite(row).all() or row.min() < 0 or not row.sum() > 0:
        raise AttnvizError(
            gettext("Give one finite weight of at least 0 for each source piece, and at least one weight above 0.")
        )
    exact = row / row.sum() * SHARE_TOTAL
    whole = np.floor(exact).astype(int)
    largest = np.argsort(whole - exact, kind="stable")
    whole[largest[: SHARE_TOTAL - int(whole.sum())]] += 1
    return tuple(whole.tolist())


def translator_arguments(parent: Record, change: Change, *, held: bool) -> TranslatorArguments:
    """Return the interventions and the forced target that make `change` to the translation `parent`.

    With `held`, the words stay and only the numbers change. Otherwise the words before the changed step and the
    interventions on the attention up to it stay, and the search continues from there; a temperature of all steps or a
    frozen context vector restarts the search. Raise AttnvizError where the change names a step or piece that `parent`
    lacks.
    """
    previous_interventions = tuple(one for one in parent.interventions if not isinstance(one, ForceWord))
    if isinstance(change, TakeHypothesis):
        return TranslatorArguments(_interventions_until(previous_interventions, len(change.pieces) - 1), change.pieces)
    if change.step is not None and change.step >= len(parent.target_ids):
        raise AttnvizError(gettext("There is no step {found}.", found=change.step + 1))
    if isinstance(change, WriteWords):
        return _resolve_words(parent, previous_interventions, change, held=held)
    after = _attention_interventions(previous_interventions, change, parent)
    if held:
        return TranslatorArguments(after, tuple(parent.target_ids))
    step = 0 if change.step is None or isinstance(change, FreezeContext) else change.step
    return TranslatorArguments((*_kept_words(parent, step), *_interventions_until(after, step)), None)


def replaced_by(trace: Record, step: int) -> int:
    """Return how many pieces a word written at 0-based `step` replaces: the rest of the word there."""
    group = next(group for group in trace.word_groups()[1] if step in group)
    return group[-1] - step + 1


def to_json_dict(change: Change) -> dict[str, Any]:
    """Return a change as a dictionary for JSON."""
    kind = next(name for name, kind in KINDS.items() if isinstance(change, kind))
    return {"kind": kind} | encode_infinity(dataclasses.asdict(change))


def from_json_dict(record: object) -> Change:
    """Return the change that `to_json_dict` wrote; raise AttnvizError for anything else."""
    fields = decode_infinity(record) if isinstance(record, Mapping) else {}
    kind = KINDS.get(str(fields.pop("kind", None)))
    if kind is None or set(fields) != {field.name for field in dataclasses.fields(kind)}:
        raise AttnvizError(gettext("This change to the translation is not possible."))
    return kind(**fields)


def _attention_interventions(
    previous_interventions: tuple[AttentionIntervention, ...], change: Change, parent: Record
) -> tuple[AttentionIntervention, ...]:
    """Return the interventions on the attention after adding `change` to the translation `parent`.

    A new row replaces every earlier intervention of its step, and a temperature replaces an earlier one of the same
    step. A temperature of all steps goes first, so that replaced rows stay as they are. A frozen context vector
    replaces all interventions.
    """
    source_pieces = len(parent.source_pieces)
    match change:
        case FreezeContext(step=step):
            weights = np.asarray(parent.alignment[step], dtype=np.float64)
            return (ReplaceWeights(tuple((weights / weights.sum()).tolist())),)
        case SetTemperature(temperature=temperature, step=step):
            others = tuple(
                one for one in previous_interventions if not (isinstance(one, Temperature) and one.step == step)
            )
            changed = Temperature(temperature, step)
            return (changed, *others) if step is None else (*others, changed)
        case ExcludeSource(step=step, source=source):
            return (*previous_interventions, ExcludePosition(source, step))
        case AttendOnly(step=step, source=source):
            if source >= source_pieces:
                raise AttnvizError(gettext("There is no source piece {found}.", found=source + 1))
            row = tuple(float(j == source) for j in range(source_pieces))
        case UniformAttention(step=step):
            row = (1 / source_pieces,) * source_pieces
        case SetWeights(step=step, shares=shares):
            row = tuple(share / SHARE_TOTAL for share in shares)
        case _:
            raise TypeError(change)
    return (*(one for one in previous_interventions if one.step != step), ReplaceWeights(row, step))


def _resolve_words(
    parent: Record, previous_interventions: tuple[AttentionIntervention, ...], change: WriteWords, *, held: bool
) -> TranslatorArguments:
    """Return what writes other words; with `held`, the later words and interventions shift by the change in length."""
    step, ids = change.step, tuple(parent.target_ids)
    if not held:
        words = (ForceWord(piece, step + k) for k, piece in enumerate(change.pieces))
        return TranslatorArguments(
            (*_kept_words(parent, step), *words, *_interventions_until(previous_interventions, step)), None
        )
    target = (*ids[:step], *change.pieces, *ids[step + change.replaced :], EOS)
    target = target[: target.index(EOS) + 1]
    shift = len(change.pieces) - change.replaced
    interventions = []
    for one in previous_interventions:
        if one.step is None or one.step <= step:
            interventions.append(one)
        elif one.step >= step + change.replaced:
            interventions.append(dataclasses.replace(one, step=one.step + shift))
    return TranslatorArguments(_interventions_until(interventions, len(target) - 1), target)


def _kept_words(parent: Record, step: int) -> tuple[ForceWord, ...]:
    """Return interventions that keep the words before 0-based `step`; words that a visitor forced remain forced."""
    forced = {one.step for one in parent.interventions if isinstance(one, ForceWord) and not one.kept}
    words = forced_prefix(parent.target_ids, step)
    if parent.search.method == "forced":
        return tuple(dataclasses.replace(word, kept=False) for word in words)
    return tuple(dataclasses.replace(word, kept=word.step not in forced) for word in words)


def _interventions_until(
    interventions: Iterable[AttentionIntervention], step: int
) -> tuple[AttentionIntervention, ...]:
    """Return the interventions of all steps and of steps up to 0-based `step`."""
    return tuple(one for one in interventions if one.step is None or one.step <= step)


def _check_step(step: object) -> None:
    if type(step) is not int or step < 0:
        raise AttnvizError(gettext("There is no step {found}.", found=repr(step)[:LONGEST_LENDER]))


def _check_source(source: object) -> None:
    if type(source) is not int or source < 0:
        raise AttnvizError(gettext("There is no source piece {found}.", found=repr(source)[:LONGEST_LENDER]))


def _whole_numbers(values: Sequence[int]) -> tuple[int, ...]:
    """Return a non-empty tuple of whole numbers from 0; raise AttnvizError for anything else."""
    numbers = tuple(values) if isinstance(values, (list, tuple)) else ()
    if not 1 <= len(numbers) <= MOST_PIECES or any(type(value) is not int or value < 0 for value in numbers):
        raise AttnvizError(gettext("This change to the translation is not possible."))
    return numbers
