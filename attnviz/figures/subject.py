"""What a picture of a step is drawn from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis import readout
from attnviz.analysis.after_word import AfterWord, after_word
from attnviz.analysis.best_look import best_look
from attnviz.analysis.ledger import Ledger, ledger
from attnviz.analysis.looks import Trial
from attnviz.analysis.measures import weight_order
from attnviz.analysis.microscope import Microscope, microscope
from attnviz.analysis.recomputation import Weights
from attnviz.analysis.step_change import StepChange, step_change
from attnviz.analysis.trials import Trials, trials
from attnviz.text import piece_name
from attnviz.trace import Trace


@dataclass(frozen=True)
class Subject:
    """One step of a translation, and what of it is looked at more closely. All counts are from 0."""

    trace: Any
    """A `Trace`, a `TransformerTrace` or an `Attention`: which of them a picture is of, its needs say."""
    step: int
    weights: Weights | None = None
    """Those of the model that made the trace, where they are at hand."""
    source: int | None = None
    """The source piece examined; if None, that of the largest weight."""
    word: int | None = None
    """Id of the piece whose logit is taken apart; if None, the one the step chose."""
    rival: int | None = None
    """Id of the piece it is held against; if None, the likeliest other."""
    spelling: Callable[[int], str] | None = None
    """Returns the piece of an id, for those that are not among the likeliest of the step."""
    parent: Trace | None = None
    """The translation that was changed by hand, where the trace came of that."""
    known_ledgers: Mapping[tuple[int, int], Ledger] = field(default_factory=dict)
    """By step and piece, those that are computed already: many at once take little longer than one."""
    known_pairs: NDArray[np.floating] | None = None
    """What the readout was chosen from, (2l,), where it is computed already."""
    known_after: AfterWord | None = None
    """What the steps were about once their words were known, where that is computed already."""

    @property
    def examined(self) -> int:
        """The source piece j of the microscope."""
        return int(weight_order(self.trace, self.step)[0]) if self.source is None else self.source

    @property
    def explained(self) -> int:
        """Id of the piece whose logit is taken apart."""
        return int(self.trace.target_ids[self.step]) if self.word is None else self.word

    @property
    def against(self) -> int | None:
        """Id of the piece it is held against; None where there is no other."""
        if self.rival is not None:
            return None if self.rival == self.explained else self.rival
        return next((int(index) for index in self.trace.top_ids[self.step] if index != self.explained), None)

    def name(self, index: int) -> str:
        """Return what the pictures call the piece of an id; raise KeyError where it is not known."""
        if self.spelling is not None:
            return piece_name(self.spelling(index))
        known = dict(zip(self.trace.top_ids[self.step].tolist(), self.trace.top_pieces[self.step], strict=True))
        return piece_name((known | {self.trace.target_ids[self.step]: self.trace.target_pieces[self.step]})[index])

    @cached_property
    def units(self) -> Microscope:
        """The energy of the examined piece, unit by unit; ValueError where SCORE_VECTOR is not met."""
        return microscope(self.trace, self.weights, self.step, self.examined)

    @cached_property
    def ledger(self) -> Ledger:
        """The logit of the explained piece, entry by entry; ValueError without weights."""
        return self._ledger(self.explained)

    @cached_property
    def contrast(self) -> Ledger:
        """The ledger of the explained piece less that of the other; ValueError without weights, or another."""
        if self.against is None:
            raise ValueError("there is no other piece to hold this one against")
        return self.ledger - self._ledger(self.against)

    @cached_property
    def pairs(self) -> NDArray[np.floating] | None:
        """What the readout was chosen from, (2l,), which no trace keeps; None without weights."""
        if self.known_pairs is not None or self.weights is None:
            return self.known_pairs
        return readout.pairs(self.trace, self.weights, self.step)

    @cached_property
    def trials(self) -> Trials:
        """The step tried with other weights; ValueError without weights, AttnvizError without attention."""
        return trials(self.trace, self._at_hand(), self.step)

    @cached_property
    def change(self) -> StepChange:
        """What the change by hand did to the step; ValueError where nothing was changed."""
        if self.parent is None:
            raise ValueError("what changed needs the translation that was changed")
        return step_change(self.parent, self.trace, self.step)

    @cached_property
    def best_look(self) -> Trial:
        """The step with the weights that make the explained piece likeliest; raises as `trials`."""
        return best_look(self.trace, self._at_hand(), self.step, self.explained)

    @cached_property
    def after_word(self) -> AfterWord:
        """What each step was about once its word was known; raises as `trials`."""
        return after_word(self.trace, self._at_hand()) if self.known_after is None else self.known_after

    def spelled(self, index: int) -> str:
        """Return the piece of an id, or its number where it is not known."""
        if self.spelling is not None:
            return self.spelling(index)
        known = dict(zip(self.trace.target_ids, self.trace.target_pieces, strict=True))
        known |= dict(zip(self.trace.top_ids[self.step].tolist(), self.trace.top_pieces[self.step], strict=True))
        return str(known.get(index, f"#{index}"))

    def _at_hand(self) -> Weights:
        if self.weights is None:
            raise ValueError("what a step would have thought needs the weights of the model that made the trace")
        return self.weights

    def _ledger(self, index: int) -> Ledger:
        if (self.step, index) in self.known_ledgers:
            return self.known_ledgers[self.step, index]
        if self.weights is None:
            raise ValueError("a logit ledger needs the weights of the model that made the trace")
        return ledger(self.trace, self.weights, self.step, index)
