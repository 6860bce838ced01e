"""Interventions: changes made by hand while a sentence is translated, recorded in its trace.

Interventions on the attention change the energies of one step, or of all, before the softmax. Replaced weights enter as
their logarithms; an excluded piece gets the energy -inf. Several interventions at one step apply in their order. A
forced word changes the search, which continues from it. A trace stores the energies before the interventions and the
alignment after them.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.arguments import check_each
from attnviz.errors import AttnvizError
from attnviz.languages import gettext, ngettext
from attnviz.text import EOS

TEMPERATURES = (0.01, 100.0)
"""Smallest and largest finite temperature.

At 0.01 only the strongest piece counts, at 100 nearly all count alike. `math.inf` is allowed too: all count alike.
"""
ENDLESS = "Infinity"
"""The name of math.inf in files and in the browser, which both Python and JavaScript parse; JSON has no infinity."""
_STRONGEST = 1e4
"""Largest absolute value of an energy."""
_FAINTEST = 1e-30
"""Weights below it count as 0, so that their float32 logarithm is finite or -inf."""
_SUM_TOLERANCE = 1e-3


@dataclass(frozen=True)
class ReplaceWeights:
    """Replace alpha_i of `step` (None: of every step) by `weights`, (Tx,), not negative, sum 1 (within 0.001)."""

    weights: tuple[float, ...]
    step: int | None = None

    def __post_init__(self) -> None:
        """Raise AttnvizError unless the weights are a distribution."""
        weights = tuple(0.0 if 0 <= weight < _FAINTEST else weight for weight in _numbers(self.weights))
        if min(weights) < 0:
            raise AttnvizError(gettext("A weight must not be negative, but one is {weight:g}.", weight=min(weights)))
        if abs(sum(weights) - 1) > _SUM_TOLERANCE:
            raise AttnvizError(gettext("Weights must sum to 1, not to {total:.4g}.", total=sum(weights)))
        object.__setattr__(self, "weights", weights)
        _check_step(self.step)


@dataclass(frozen=True)
class ReplaceEnergies:
    """Replace e_i of `step` (None: of every step) by `energies`, (Tx,), from -10000 to 10000."""

    energies: tuple[float, ...]
    step: int | None = None

    def __post_init__(self) -> None:
        """Raise AttnvizError unless the energies are in range."""
        energies = _numbers(self.energies)
        if max(map(abs, energies)) > _STRONGEST:
            raise AttnvizError(
                gettext("An energy must lie between {least:g} and {most:g}.", least=-_STRONGEST, most=_STRONGEST)
            )
        object.__setattr__(self, "energies", energies)
        _check_step(self.step)


@dataclass(frozen=True)
class Temperature:
    """Divide the energies of `step` (None: of every step) by `temperature`: alpha_i = softmax(e_i / temperature).

    From 0.01 (hard) over 1 (no change) to 100 (nearly uniform). At math.inf all pieces that are not excluded have the
    same weight: the context vector is their mean.
    """

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
    """Exclude the source piece at 0-based `position` at `step` (None: every step) and renormalise the other weights."""

    position: int
    step: int | None = None

    def __post_init__(self) -> None:
        """Raise AttnvizError unless `position` is a whole number from 0."""
        if not _is_index(self.position):
            raise AttnvizError(
                gettext("No source piece has the index {found}; indices start at 0.", found=self.position)
            )
        _check_step(self.step)


@dataclass(frozen=True)
class ForceWord:
    """Write the piece `piece_id` at 0-based `step`; hypotheses cannot end before it."""

    piece_id: int
    step: int
    kept: bool = False
    """Whether the piece was only kept from a translation that was changed at a later step."""

    def __post_init__(self) -> None:
        """Raise AttnvizError unless the piece has text or is `</s>`, and the step is a whole number from 0."""
        if not _is_index(self.piece_id) or self.piece_id < EOS:
            raise AttnvizError(
                gettext("The decoder cannot write the vocabulary piece with id {found}.", found=self.piece_id)
            )
        if not _is_index(self.step):
            raise AttnvizError(gettext("No step has the index {found}; indices start at 0.", found=self.step))


AttentionIntervention = ReplaceWeights | ReplaceEnergies | Temperature | ExcludePosition
Intervention = ReplaceWeights | ReplaceEnergies | Temperature | ExcludePosition | ForceWord

KINDS: Mapping[str, type[Intervention]] = {
    "weights": ReplaceWeights,
    "energies": ReplaceEnergies,
    "temperature": Temperature,
    "exclusion": ExcludePosition,
    "word": ForceWord,
}
"""Name of each kind of intervention in files."""


def interventions_at(interventions: Iterable[Intervention], step: int) -> tuple[AttentionIntervention, ...]:
    """Return the interventions on the attention of 0-based `step`, in their order."""
    return tuple(one for one in interventions if not isinstance(one, ForceWord) and one.step in (None, step))


def forced_words(interventions: Iterable[Intervention]) -> dict[int, int]:
    """Return the id of the forced piece by 0-based step."""
    return {one.step: one.piece_id for one in interventions if isinstance(one, ForceWord)}


def forced_prefix(target_ids: Sequence[int], step: int) -> tuple[ForceWord, ...]:
    """Return interventions that keep the pieces before 0-based `step`, so that a search continues from there."""
    return tuple(ForceWord(piece, i, kept=True) for i, piece in enumerate(target_ids[:step]))


def check_interventions(
    interventions: Sequence[Intervention], *, source_pieces: int, vocabulary_size: int, attends: bool
) -> None:
    """Raise AttnvizError unless a model can apply the interventions to a sentence of Tx `source_pieces`.

    `attends` says whether the model has attention.
    """
    check_each(gettext("interventions"), interventions, tuple(KINDS.values()))
    words = [one for one in interventions if isinstance(one, ForceWord)]
    for word in words:
        if word.piece_id >= vocabulary_size:
            raise AttnvizError(
                gettext("The decoder cannot write the vocabulary piece with id {found}.", found=word.piece_id)
            )
    if len({word.step for word in words}) < len(words):
        raise AttnvizError(gettext("Only one word can be forced at a step."))
    if len(words) < len(interventions) and not attends:
        raise AttnvizError(gettext("This model has no attention to change. Choose a model with attention."))
    for step in {one.step for one in interventions}:
        # Interventions of all steps act here as well; None stands for a step without one of its own.
        acting = [one for one in interventions if not isinstance(one, ForceWord) and one.step in (None, step)]
        _check_positions(acting, source_pieces)


def to_json_dict(intervention: Intervention) -> dict[str, Any]:
    """Return an intervention as a dictionary for JSON."""
    kind = next(name for name, kind in KINDS.items() if isinstance(intervention, kind))
    return {"kind": kind} | encode_infinity(dataclasses.asdict(intervention))


def from_json_dict(record: object) -> Intervention:
    """Return the intervention that `to_json_dict` wrote; raise AttnvizError for anything else."""
    fields = decode_infinity(record) if isinstance(record, Mapping) else {}
    kind = fields.pop("kind", None)
    if not isinstance(kind, str) or kind not in KINDS:
        raise AttnvizError(gettext("There is no intervention of the kind {found}.", found=repr(kind)))
    if kind == "word":
        fields = {"kept": False} | fields  # versions before 0.3 did not record it
    if set(fields) != {field.name for field in dataclasses.fields(KINDS[kind])}:
        raise AttnvizError(
            gettext(
                "This intervention of the kind {kind} has the wrong fields: {found}.",
                kind=kind,
                found=", ".join(map(str, fields)),
            )
        )
    return KINDS[kind](**fields)


def encode_infinity(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields with an infinite temperature replaced by ENDLESS, for JSON."""
    return {name: ENDLESS if value == math.inf else value for name, value in fields.items()}


def decode_infinity(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields with ENDLESS replaced by an infinite temperature."""
    return {name: math.inf if value == ENDLESS and name == "temperature" else value for name, value in fields.items()}


def _check_positions(acting: Iterable[AttentionIntervention], source_pieces: int) -> None:
    """Raise AttnvizError unless these fit the Tx `source_pieces` and leave at least one piece."""
    positions = set(range(source_pieces))
    allowed = positions
    for one in acting:
        match one:
            case ReplaceWeights(weights=row) | ReplaceEnergies(energies=row):
                if len(row) != source_pieces:
                    raise AttnvizError(
                        ngettext(
                            "You gave {count} weight or energy for {pieces} source pieces; give one per piece.",
                            "You gave {count} weights or energies for {pieces} source pieces; give one per piece.",
                            len(row),
                            pieces=source_pieces,
                        )
                    )
                weights = isinstance(one, ReplaceWeights)
                allowed = {j for j in positions if row[j] > 0} if weights else positions
            case ExcludePosition(position=position):
                if position >= source_pieces:
                    raise AttnvizError(
                        gettext("No source piece has the index {found}; indices start at 0.", found=position)
                    )
                allowed = allowed - {position}
    if not allowed:
        raise AttnvizError(
            gettext("The step would have no source piece to attend to. Leave at least one source piece.")
        )


def _check_step(step: object) -> None:
    if step is not None and not _is_index(step):
        raise AttnvizError(gettext("No step has the index {found}; indices start at 0.", found=step))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _is_index(value: object) -> bool:
    return type(value) is int and value >= 0


def _numbers(values: object) -> tuple[float, ...]:
    """Return a non-empty tuple of finite numbers, rounded to float32; raise AttnvizError for anything else."""
    listed = values.tolist() if isinstance(values, np.ndarray) else values
    numbers = list(listed) if isinstance(listed, (list, tuple)) else []
    if not numbers or not all(_is_number(value) and math.isfinite(value) for value in numbers):
        raise AttnvizError(gettext("Weights and energies must be finite numbers, one for each source piece."))
    with np.errstate(over="ignore"):
        rounded = np.array([float(value) for value in numbers]).astype(np.float32)
    return tuple(rounded.tolist())
