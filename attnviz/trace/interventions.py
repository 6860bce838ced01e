"""Interventions: what was changed by hand while a sentence was translated, as a trace records it.

Those on the attention are all changes of the energies, of one step or of all, before the softmax: weights alpha are
replaced through their logarithms, and a piece that is left out gets the energy -inf. Several at one step act one after
the other, in their order. A forced word belongs to the search: the translation goes on from it. The energies of a
trace stay those the scorer computed, its alignment is what was used.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.errors import AttnvizError
from attnviz.languages import gettext, ngettext
from attnviz.text import EOS

TEMPERATURES = (0.01, 100.0)
"""Least and greatest finite one: at the one only the strongest piece counts, at the other nearly all count alike; all
do at math.inf, which is one, too."""
ENDLESS = "Infinity"
"""What math.inf is called in a file and by the browser: JSON has no such number, and both read this as one."""
_STRONGEST = 1e4
"""Energies may be this large, either way."""
_FAINTEST = 1e-30
"""Weights below it count as 0, so that a logarithm in float32 is a number or -inf."""
_SUM_TOLERANCE = 1e-3


@dataclass(frozen=True)
class ReplaceWeights:
    """alpha_i of `step`, or of every step where that is None, is given: (Tx,), from 0, sum 1 (up to 0.001)."""

    weights: tuple[float, ...]
    step: int | None = None

    def __post_init__(self) -> None:
        """Raise AttnvizError unless these are weights."""
        weights = tuple(0.0 if 0 <= weight < _FAINTEST else weight for weight in _numbers(self.weights))
        if min(weights) < 0:
            raise AttnvizError(gettext("A weight must not be negative, as {weight:g} is.", weight=min(weights)))
        if abs(sum(weights) - 1) > _SUM_TOLERANCE:
            raise AttnvizError(gettext("Weights must sum to 1, not to {total:.4g}.", total=sum(weights)))
        object.__setattr__(self, "weights", weights)
        _check_step(self.step)


@dataclass(frozen=True)
class ReplaceEnergies:
    """The softmax of `step` (None: of every step) is taken of these energies: (Tx,), from -10000 to 10000."""

    energies: tuple[float, ...]
    step: int | None = None

    def __post_init__(self) -> None:
        """Raise AttnvizError unless these are energies."""
        energies = _numbers(self.energies)
        if max(map(abs, energies)) > _STRONGEST:
            raise AttnvizError(
                gettext("An energy must be from {least:g} to {most:g}.", least=-_STRONGEST, most=_STRONGEST)
            )
        object.__setattr__(self, "energies", energies)
        _check_step(self.step)


@dataclass(frozen=True)
class Temperature:
    """Energies of `step` (None: of every step) are divided by this, from 0.01 (hard) over 1 (as it was) to 100 (nearly
    flat): alpha_i = softmax(e_i / temperature). At math.inf all pieces that are not left out have the same weight: the
    context vector is their plain mean."""

    temperature: float
    step: int | None = None

    def __post_init__(self) -> None:
        """Raise AttnvizError where the temperature is out of range."""
        least, most = TEMPERATURES
        if not _is_number(self.temperature) or not (least <= self.temperature <= most or self.temperature == math.inf):
            raise AttnvizError(
                gettext(
                    "A temperature must be from {least:g} to {most:g}, or infinite, not {found}.",
                    least=least,
                    most=most,
                    found=self.temperature,
                )
            )
        object.__setattr__(self, "temperature", float(self.temperature))
        _check_step(self.step)


@dataclass(frozen=True)
class ExcludePosition:
    """The source piece at 0-based `position` is left out at `step` (None: at every step); the rest is renormalised."""

    position: int
    step: int | None = None

    def __post_init__(self) -> None:
        """Raise AttnvizError where `position` cannot be one."""
        if not _is_index(self.position):
            raise AttnvizError(gettext("There is no source piece {found}.", found=self.position))
        _check_step(self.step)


@dataclass(frozen=True)
class ForceWord:
    """The piece `piece_id` is written at 0-based `step`, whatever the model would have; nothing ends before it."""

    piece_id: int
    step: int

    def __post_init__(self) -> None:
        """Raise AttnvizError where there can be no such piece, or it stands for no text and is not `</s>`."""
        if not _is_index(self.piece_id) or self.piece_id < EOS:
            raise AttnvizError(gettext("Piece {found} of the vocabulary cannot be written.", found=self.piece_id))
        if not _is_index(self.step):
            raise AttnvizError(gettext("There is no step {found}.", found=self.step))


AttentionIntervention = ReplaceWeights | ReplaceEnergies | Temperature | ExcludePosition
Intervention = ReplaceWeights | ReplaceEnergies | Temperature | ExcludePosition | ForceWord

KINDS: Mapping[str, type[Intervention]] = {
    "weights": ReplaceWeights,
    "energies": ReplaceEnergies,
    "temperature": Temperature,
    "exclusion": ExcludePosition,
    "word": ForceWord,
}
"""What each kind is called in a file."""


def acting_on(interventions: Iterable[Intervention], step: int) -> tuple[AttentionIntervention, ...]:
    """Return those that change the attention of 0-based `step`, in their order."""
    return tuple(one for one in interventions if not isinstance(one, ForceWord) and one.step in (None, step))


def forced_words(interventions: Iterable[Intervention]) -> dict[int, int]:
    """Return the id of the piece forced at each 0-based step that has one."""
    return {one.step: one.piece_id for one in interventions if isinstance(one, ForceWord)}


def keep_words(target_ids: Sequence[int], step: int) -> tuple[ForceWord, ...]:
    """Return what keeps the pieces before 0-based `step` of a translation, so that a search goes on from there."""
    return tuple(ForceWord(piece, i) for i, piece in enumerate(target_ids[:step]))


def check_interventions(
    interventions: Sequence[Intervention], *, source_pieces: int, vocabulary_size: int, attends: bool
) -> None:
    """Raise AttnvizError unless these can be done to a sentence of Tx `source_pieces`, by a model of this vocabulary
    that `attends` or has no attention."""
    words = [one for one in interventions if isinstance(one, ForceWord)]
    for word in words:
        if word.piece_id >= vocabulary_size:
            raise AttnvizError(gettext("Piece {found} of the vocabulary cannot be written.", found=word.piece_id))
    if len({word.step for word in words}) < len(words):
        raise AttnvizError(gettext("Only one word can be forced at a step."))
    if len(words) < len(interventions) and not attends:
        raise AttnvizError(gettext("This model has no attention that could be changed. Choose one that has."))
    for step in {one.step for one in interventions}:
        # Those of all steps act here as well; None itself stands for a step that has none of its own.
        acting = [one for one in interventions if not isinstance(one, ForceWord) and one.step in (None, step)]
        _check_positions(acting, source_pieces)


def to_record(intervention: Intervention) -> dict[str, Any]:
    """Return an intervention as a dictionary fit for JSON."""
    kind = next(name for name, kind in KINDS.items() if isinstance(intervention, kind))
    return {"kind": kind} | in_json(dataclasses.asdict(intervention))


def from_record(record: object) -> Intervention:
    """Return the intervention that `to_record` wrote; raise AttnvizError where this is none."""
    fields = from_json(record) if isinstance(record, Mapping) else {}
    kind = fields.pop("kind", None)
    if not isinstance(kind, str) or kind not in KINDS:
        raise AttnvizError(gettext("There is no intervention of the kind {found}.", found=repr(kind)))
    if set(fields) != {field.name for field in dataclasses.fields(KINDS[kind])}:
        raise AttnvizError(
            gettext(
                "An intervention of the kind {kind} has other fields than these: {found}.",
                kind=kind,
                found=", ".join(map(str, fields)),
            )
        )
    return KINDS[kind](**fields)


def in_json(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields in which an infinite temperature is what JSON can hold of it."""
    return {name: ENDLESS if value == math.inf else value for name, value in fields.items()}


def from_json(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields as they were before `in_json`."""
    return {name: math.inf if value == ENDLESS and name == "temperature" else value for name, value in fields.items()}


def _check_positions(acting: Iterable[AttentionIntervention], source_pieces: int) -> None:
    """Raise AttnvizError unless these fit the Tx `source_pieces` and leave one of them open."""
    everything = set(range(source_pieces))
    open_ = everything
    for one in acting:
        match one:
            case ReplaceWeights(weights=row) | ReplaceEnergies(energies=row):
                if len(row) != source_pieces:
                    raise AttnvizError(
                        ngettext(
                            "There is {count} number for {pieces} source pieces.",
                            "There are {count} numbers for {pieces} source pieces.",
                            len(row),
                            pieces=source_pieces,
                        )
                    )
                weights = isinstance(one, ReplaceWeights)
                open_ = {j for j in everything if row[j] > 0} if weights else everything
            case ExcludePosition(position=position):
                if position >= source_pieces:
                    raise AttnvizError(gettext("There is no source piece {found}.", found=position))
                open_ = open_ - {position}
    if not open_:
        raise AttnvizError(gettext("Nothing would be left to look at. Leave at least one source piece."))


def _check_step(step: object) -> None:
    if step is not None and not _is_index(step):
        raise AttnvizError(gettext("There is no step {found}.", found=step))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _is_index(value: object) -> bool:
    return type(value) is int and value >= 0


def _numbers(values: object) -> tuple[float, ...]:
    """Return at least one finite number, as float32 holds it; raise AttnvizError where there are none."""
    listed = values.tolist() if isinstance(values, np.ndarray) else values
    found = list(listed) if isinstance(listed, (list, tuple)) else []
    if not found or not all(_is_number(value) and math.isfinite(value) for value in found):
        raise AttnvizError(gettext("Weights and energies must be finite numbers, one for each source piece."))
    with np.errstate(over="ignore"):
        rounded = np.array([float(value) for value in found]).astype(np.float32)
    return tuple(rounded.tolist())
