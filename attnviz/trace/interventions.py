"""Interventions: what a user changes by hand while a sentence is translated.

The decoder applies them and a trace records them; the browser, files and links hold their JSON (`to_json_dict`). Each
class is one kind and says how it enters the decoder (`enter`) and which earlier interventions it undoes (`undoes`);
`analysis.what_if_effects.intervention_text` has its sentence.

Interventions on the attention change the energies of one step, or of all, before the softmax; several at one step apply
in their order. Forced words change the search, which continues from them. A trace stores the energies before the
interventions and the alignment after them.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, get_args

import numpy as np

from attnviz import bounds
from attnviz.arguments import check_each
from attnviz.errors import AttnvizError, user_error
from attnviz.languages import gettext, ngettext
from attnviz.text import EOS

MakeArray = Callable[[Sequence[float]], Any]
"""Makes an array of the kind of some energies: a tensor in the decoder, a NumPy array where a trace is recomputed."""

TEMPERATURES = (0.01, 100.0)
"""Smallest and largest finite temperature.

At 0.01 only the strongest piece counts, at 100 nearly all count alike. `math.inf` is allowed too: all count alike.
"""
ENDLESS = "Infinity"
"""The name of math.inf in JSON, which has no infinity; both Python and JavaScript parse it."""
LENDERS = ("", "step", "posterior", "links", "model")
"""Sources from which a row of weights may be copied; "" for weights set by hand."""
LONGEST_LENDER = 80
"""Characters of the longest identifier of a source of weights."""
MOST_PIECES = 2000
"""Largest number of pieces that can be forced together; no translation on display has as many."""
_STRONGEST = 1e4
"""Largest absolute value of an energy."""
_BOUNDLESS = 1e30
"""Divisor in place of an infinite temperature."""
_HEAVIEST, _FAINTEST = 1e30, 1e-30
"""Weights above are refused, weights below count as 0: so their float32 logarithm is finite or -inf."""


class _Row:
    """Numbers for all source pieces of `step`."""

    step: int | None

    def undoes(self, earlier: Intervention) -> bool:
        """Return whether it replaces an `earlier` one: all of its step, or with None of every step."""
        return self.step in (None, earlier.step)


@dataclass(frozen=True)
class ReplaceWeights(_Row):
    """Replace alpha_i of `step` (None: of every step) by `weights`, (Tx,), at least 0, of which only ratios count.

    alpha_ij = w_j / sum_k w_k, which is the softmax of their logarithms. With the weights of one step at every step,
    all steps get its context vector, as in a translator without attention.
    """

    kind: ClassVar[str] = "weights"
    weights: tuple[float, ...]
    step: int | None = None
    lender: str = ""
    """Where the weights were copied from, one of LENDERS."""
    of: str = ""
    """The step (from 0) or the model that they were copied from."""

    def __post_init__(self) -> None:
        """Raise AttnvizError unless some weight is above 0 and none below, and the lender is known."""
        weights = _numbers(self.weights)
        if not (min(weights) >= 0 and _FAINTEST <= max(weights) <= _HEAVIEST):
            raise user_error(
                "Give one finite weight of at least 0 for each source piece, and at least one weight above 0."
            )
        object.__setattr__(self, "weights", tuple(0 if weight < _FAINTEST else weight for weight in weights))
        _check_step(self.step)
        known = self.lender in LENDERS and isinstance(self.of, str) and len(self.of) <= LONGEST_LENDER
        if not known or not (self.of.isdecimal() if self.lender == "step" else self.of.isprintable()):
            raise user_error("Attention weights cannot be copied from {found}.", found=repr(self.of)[:LONGEST_LENDER])

    @property
    def only(self) -> int | None:
        """The source piece that gets all the weight; None where several share it."""
        positive = [j for j, weight in enumerate(self.weights) if weight]
        return positive[0] if len(positive) == 1 else None

    @property
    def uniform(self) -> bool:
        """Whether all source pieces get the same weight."""
        return len(set(self.weights)) == 1

    @property
    def by_hand(self) -> bool:
        """Whether they are neither copied nor `uniform` nor of one piece `only`."""
        return not (self.lender or self.uniform or self.only is not None)

    def enter(self, _energies: Any, array: MakeArray) -> Any:
        """Return e_j = log w_j, (Tx,)."""
        return array([math.log(weight) if weight else -math.inf for weight in self.weights])


@dataclass(frozen=True)
class ReplaceEnergies(_Row):
    """Replace e_i of `step` (None: of every step) by `energies`, (Tx,), from -10000 to 10000."""

    kind: ClassVar[str] = "energies"
    energies: tuple[float, ...]
    step: int | None = None

    def __post_init__(self) -> None:
        """Raise AttnvizError unless the energies are in range."""
        object.__setattr__(self, "energies", _numbers(self.energies))
        if max(map(abs, self.energies)) > _STRONGEST:
            raise user_error("An energy must lie between {least:g} and {most:g}.", least=-_STRONGEST, most=_STRONGEST)
        _check_step(self.step)

    def enter(self, _energies: Any, array: MakeArray) -> Any:
        """Return the new energies, (Tx,)."""
        return array(self.energies)


@dataclass(frozen=True)
class Temperature:
    """Divide the energies of `step` (None: of every step) by `temperature`: alpha_i = softmax(e_i / temperature).

    From 0.01 (hard) over 1 (no change) to 100 (nearly uniform). At math.inf all pieces that are not excluded have the
    same weight: the context vector is their mean.
    """

    kind: ClassVar[str] = "temperature"
    temperature: float
    step: int | None = None

    def __post_init__(self) -> None:
        """Raise AttnvizError where the temperature is out of range."""
        least, most = TEMPERATURES
        if not _is_number(self.temperature) or not (least <= self.temperature <= most or self.temperature == math.inf):
            raise user_error(
                "A temperature must be from {least:g} to {most:g}, or infinite, not {found}.",
                least=least,
                most=most,
                found=bounds.shortened_repr(self.temperature),
            )
        object.__setattr__(self, "temperature", float(self.temperature))
        _check_step(self.step)

    def enter(self, energies: Any, _array: MakeArray) -> Any:
        """Return e / temperature; at an infinite one 0, where e is not -inf."""
        if self.temperature == math.inf:
            return (energies / _BOUNDLESS).round()  # -inf / inf would be undefined
        return energies / self.temperature

    def undoes(self, earlier: Intervention) -> bool:
        """Return whether it replaces an `earlier` one: another temperature of the same step."""
        return isinstance(earlier, Temperature) and self.step == earlier.step


@dataclass(frozen=True)
class ExcludePosition:
    """Exclude the source piece at 0-based `position` at `step` (None: every step) and renormalise the other weights."""

    kind: ClassVar[str] = "exclusion"
    position: int
    step: int | None = None

    def __post_init__(self) -> None:
        """Raise AttnvizError unless `position` is a whole number from 0."""
        if not _is_index(self.position):
            raise _no_position(self.position)
        _check_step(self.step)

    def enter(self, energies: Any, array: MakeArray) -> Any:
        """Return the energies, with that of the position at -inf."""
        return energies + array([-math.inf if j == self.position else 0.0 for j in range(energies.shape[-1])])

    def undoes(self, earlier: Intervention) -> bool:
        """Return whether it replaces an `earlier` one: only the same exclusion."""
        return self == earlier


@dataclass(frozen=True)
class ForceWords:
    """Write `pieces` (ids) from 0-based `step` on; hypotheses cannot end before them."""

    kind: ClassVar[str] = "words"
    pieces: tuple[int, ...]
    step: int = 0
    replaced: int = 1
    """How many pieces of the translation that it changes they replace, where the later pieces are held."""
    kept: bool = False
    """Whether the pieces were only kept from a translation that was changed at a later step."""

    def __post_init__(self) -> None:
        """Raise AttnvizError unless each piece has text or is `</s>`, and step and count are in range."""
        pieces = tuple(self.pieces) if isinstance(self.pieces, (list, tuple)) else ()
        if not 1 <= len(pieces) <= MOST_PIECES or type(self.kept) is not bool:
            raise impossible()
        for piece in pieces:
            if not _is_index(piece) or piece < EOS:
                raise _no_piece(piece)
        object.__setattr__(self, "pieces", pieces)
        if not _is_index(self.step):
            raise _no_step(self.step)
        if not _is_index(self.replaced) or not self.replaced:
            raise user_error("A change must replace at least one piece.")

    @property
    def steps(self) -> range:
        """The steps that write the pieces."""
        return range(self.step, self.step + len(self.pieces))


AttentionIntervention = ReplaceWeights | ReplaceEnergies | Temperature | ExcludePosition
Intervention = ReplaceWeights | ReplaceEnergies | Temperature | ExcludePosition | ForceWords

KINDS: Mapping[str, type[Intervention]] = {kind.kind: kind for kind in get_args(Intervention)}
"""The class of each kind of intervention, by its name in JSON."""


def interventions_at(interventions: Iterable[Intervention], step: int | None) -> tuple[AttentionIntervention, ...]:
    """Return the interventions on the attention of 0-based `step`, in their order; with None, those of all steps."""
    return tuple(one for one in interventions if not isinstance(one, ForceWords) and one.step in (None, step))


def forced_words(interventions: Iterable[Intervention]) -> dict[int, int]:
    """Return the id of the forced piece by 0-based step."""
    words = (one for one in interventions if isinstance(one, ForceWords))
    return {step: piece for one in words for step, piece in zip(one.steps, one.pieces, strict=True)}


def forced_prefix(target_ids: Sequence[int], step: int, forced: Iterable[int] = ()) -> tuple[ForceWords, ...]:
    """Return interventions that keep the pieces before 0-based `step`, so that a search continues from there.

    Those at the steps `forced` count as forced, not only kept.
    """
    forced = set(forced)
    return tuple(ForceWords((piece,), i, kept=i not in forced) for i, piece in enumerate(target_ids[:step]))


def attended_positions(config: Mapping[str, Any]) -> int | None:
    """Return the number of source positions that a model of this config can attend to; None without a limit."""
    return config["alignment_size"] if config.get("attention") == "location" else None


def check_interventions(
    interventions: Sequence[Intervention],
    *,
    source_pieces: int,
    vocabulary_size: int,
    attends: bool,
    positions: int | None = None,
) -> None:
    """Raise AttnvizError unless a model can apply the interventions to a sentence.

    Args:
        interventions: The changes.
        source_pieces: Number of source pieces Tx.
        vocabulary_size: Number of pieces that the decoder can write.
        attends: Whether the model has attention.
        positions: Number of source positions that it can attend to, where it has such a limit.

    Raises:
        AttnvizError: An intervention does not fit the model or the sentence, or leaves a step without a source piece.
    """
    check_each(gettext("interventions"), interventions, tuple(KINDS.values()))
    pieces = [piece for one in interventions if isinstance(one, ForceWords) for piece in one.pieces]
    if pieces and max(pieces) >= vocabulary_size:
        raise _no_piece(max(pieces))
    if len(forced_words(interventions)) < len(pieces):
        raise user_error("Only one word can be forced at a step.")
    if not attends and not all(isinstance(one, ForceWords) for one in interventions):
        raise user_error("This model has no attention to change. Choose a model with attention.")
    for step in {one.step for one in interventions}:
        # Interventions of all steps act here as well; None stands for a step without one of its own.
        _check_positions(interventions_at(interventions, step), source_pieces, positions)


def to_json_dict(intervention: Intervention) -> dict[str, Any]:
    """Return an intervention as a dictionary for JSON, without the fields that have their defaults."""
    fields: dict[str, Any] = {"kind": intervention.kind}
    for field in dataclasses.fields(intervention):
        value = getattr(intervention, field.name)
        if value != field.default:
            fields[field.name] = ENDLESS if value == math.inf else value
    return fields


def from_json_dict(record: object) -> Intervention:
    """Return the intervention that `to_json_dict` wrote; raise AttnvizError for anything else."""
    fields = dict(record) if isinstance(record, Mapping) else {}
    kind = KINDS.get(str(fields.pop("kind", None)))
    if fields.get("temperature") == ENDLESS:
        fields["temperature"] = math.inf
    if kind is None:
        raise impossible()
    try:
        return kind(**fields)
    except TypeError as error:  # unknown fields, or too few
        raise impossible() from error


def impossible() -> AttnvizError:
    """Return the error for an intervention that cannot be read."""
    return user_error("This change to the translation is not possible.")


def _check_positions(acting: Iterable[AttentionIntervention], source_pieces: int, attended: int | None) -> None:
    """Raise AttnvizError unless these fit the Tx `source_pieces` and leave at least one piece.

    By itself, the model attends to at most the first `attended` pieces, or to all.
    """
    positions = set(range(source_pieces))
    allowed = set(range(source_pieces)[:attended])
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
                    raise _no_position(position)
                allowed = allowed - {position}
    if not allowed:
        raise user_error("The step would have no source piece to attend to. Leave at least one source piece.")


def _no_position(found: object) -> AttnvizError:
    return user_error("No source piece has the index {found}; indices start at 0.", found=bounds.shortened_repr(found))


def _no_piece(found: object) -> AttnvizError:
    return user_error(
        "The decoder cannot write the vocabulary piece with id {found}.", found=bounds.shortened_repr(found)
    )


def _no_step(found: object) -> AttnvizError:
    return user_error("No step has the index {found}; indices start at 0.", found=bounds.shortened_repr(found))


def _check_step(step: object) -> None:
    if step is not None and not _is_index(step):
        raise _no_step(step)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _is_index(value: object) -> bool:
    return type(value) is int and value >= 0


def _numbers(values: object) -> tuple[float, ...]:
    """Return a non-empty tuple of finite numbers, rounded to float32; raise AttnvizError for anything else.

    Whole numbers are of type int, which keeps their JSON short.
    """
    listed = values.tolist() if isinstance(values, np.ndarray) else values
    numbers = list(listed) if isinstance(listed, (list, tuple)) else []
    if not numbers or not all(_is_number(value) and abs(value) <= _HEAVIEST for value in numbers):
        raise user_error("Weights and energies must be finite numbers, one for each source piece.")
    rounded = np.array(numbers, np.float32).tolist()
    return tuple(int(number) if number.is_integer() else number for number in rounded)
