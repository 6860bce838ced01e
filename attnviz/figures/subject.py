"""`Subject`: the input of a figure of a step."""

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
    """One step of a translation, and what is examined in it. All indices are 0-based."""

    trace: Any
    """A `Trace`, `Seq2SeqTrace`, `TransformerTrace` or `Attention`; a figure's requirements say which it accepts."""
    step: int
    weights: Weights | None = None
    """Weights of the model that made the trace, where available."""
    source: int | None = None
    """The examined source piece; None for the one with the largest weight."""
    word: int | None = None
    """Id of the piece whose logit is decomposed; None for the written one."""
    rival: int | None = None
    """Id of the foil; None for the likeliest other piece."""
    spelling: Callable[[int], str] | None = None
    """Returns the piece of an id, for pieces that are not recorded at the step."""
    parent: Trace | None = None
    """The translation before an intervention, for a changed one."""
    known_ledgers: Mapping[tuple[int, int], Ledger] = field(default_factory=dict)
    """Logit attributions that were computed before, by step and piece; many at once are hardly slower than one."""
    known_pairs: NDArray[np.floating] | None = None
    """Readout before maxout, (2l,), where already computed."""
    known_after: AfterWord | None = None
    """Posterior attention, where already computed."""

    @property
    def examined(self) -> int:
        """The source piece j of the energy decomposition."""
        return int(weight_order(self.trace, self.step)[0]) if self.source is None else self.source

    @property
    def explained(self) -> int:
        """Id of the piece whose logit is decomposed."""
        return int(self.trace.target_ids[self.step]) if self.word is None else self.word

    @property
    def against(self) -> int | None:
        """Id of the foil; None where there is no other piece."""
        if self.rival is not None:
            return None if self.rival == self.explained else self.rival
        return next((int(index) for index in self.trace.top_ids[self.step] if index != self.explained), None)

    def name(self, index: int) -> str:
        """Return the label of the piece of an id; raise KeyError where it is unknown."""
        if self.spelling is not None:
            return piece_name(self.spelling(index))
        known = dict(zip(self.trace.top_ids[self.step].tolist(), self.trace.top_pieces[self.step], strict=True))
        return piece_name((known | {self.trace.target_ids[self.step]: self.trace.target_pieces[self.step]})[index])

    @cached_property
    def units(self) -> Microscope:
        """Energy decomposition of the examined piece; raises ValueError where SCORE_VECTOR is not met."""
        return microscope(self.trace, self.weights, self.step, self.examined)

    @cached_property
    def ledger(self) -> Ledger:
        """Logit attribution of the explained piece; raises ValueError without weights."""
        return self._ledger(self.explained)

    @cached_property
    def contrast(self) -> Ledger:
        """Logit attribution of the explained piece minus the foil's; raises ValueError without weights or foil."""
        if self.against is None:
            raise ValueError("there is no other piece to hold this one against")
        return self.ledger - self._ledger(self.against)

    @cached_property
    def pairs(self) -> NDArray[np.floating] | None:
        """Readout before maxout, (2l,), which no trace stores; None without weights."""
        if self.known_pairs is not None or self.weights is None:
            return self.known_pairs
        return readout.pairs(self.trace, self.weights, self.step)

    @cached_property
    def trials(self) -> Trials:
        """Perturbation tests of the step; raises ValueError without weights, AttnvizError without attention."""
        return trials(self.trace, self._at_hand(), self.step)

    @cached_property
    def change(self) -> StepChange:
        """Effect of the intervention on the step; raises ValueError without one."""
        if self.parent is None:
            raise ValueError("what changed needs the translation that was changed")
        return step_change(self.parent, self.trace, self.step)

    @cached_property
    def best_look(self) -> Trial:
        """The step with the attention that makes the explained piece likeliest; raises as `trials`."""
        return best_look(self.trace, self._at_hand(), self.step, self.explained)

    @cached_property
    def after_word(self) -> AfterWord:
        """Posterior attention of every step; raises as `trials`."""
        return after_word(self.trace, self._at_hand()) if self.known_after is None else self.known_after

    def spelled(self, index: int) -> str:
        """Return the piece of an id, or its number where it is unknown."""
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
