"""`Subject`: the input of a figure of a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis import readout
from attnviz.analysis.best_attention import best_attention
from attnviz.analysis.energy_decomposition import EnergyDecomposition, energy_decomposition
from attnviz.analysis.logit_attribution import LogitAttribution, logit_attribution
from attnviz.analysis.measures import weight_order
from attnviz.analysis.perturbation_tests import PerturbationTests, perturbation_tests
from attnviz.analysis.posterior_attention import PosteriorAttention, posterior_attention
from attnviz.analysis.recomputation import Weights
from attnviz.analysis.step_change import StepChange, step_change
from attnviz.analysis.step_evaluation import PerturbedStep
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
    foil: int | None = None
    """Id of the foil; None for the likeliest other piece."""
    spelling: Callable[[int], str] | None = None
    """Returns the piece of an id, for pieces that are not recorded at the step."""
    parent: Trace | None = None
    """The translation before an intervention, for a changed one."""
    known_logit_attributions: Mapping[tuple[int, int], LogitAttribution] = field(default_factory=dict)
    """Logit attributions that were computed before, by step and piece; many at once are hardly slower than one."""
    known_pairs: NDArray[np.floating] | None = None
    """Readout before maxout, (2l,), where already computed."""
    known_posterior: PosteriorAttention | None = None
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
        if self.foil is not None:
            return None if self.foil == self.explained else self.foil
        return next((int(index) for index in self.trace.top_ids[self.step] if index != self.explained), None)

    def name(self, index: int) -> str:
        """Return the label of the piece of an id; raise KeyError where it is unknown."""
        if self.spelling is not None:
            return piece_name(self.spelling(index))
        known = dict(zip(self.trace.top_ids[self.step].tolist(), self.trace.top_pieces[self.step], strict=True))
        return piece_name((known | {self.trace.target_ids[self.step]: self.trace.target_pieces[self.step]})[index])

    @cached_property
    def units(self) -> EnergyDecomposition:
        """Energy decomposition of the examined piece; raises ValueError where SCORE_VECTOR is not met."""
        return energy_decomposition(self.trace, self.weights, self.step, self.examined)

    @cached_property
    def logit_attribution(self) -> LogitAttribution:
        """Logit attribution of the explained piece; raises ValueError without weights."""
        return self._logit_attribution(self.explained)

    @cached_property
    def contrast(self) -> LogitAttribution:
        """Logit attribution of the explained piece minus the foil's; raises ValueError without weights or foil."""
        if self.against is None:
            raise ValueError("there is no other piece to hold this one against")
        return self.logit_attribution - self._logit_attribution(self.against)

    @cached_property
    def pairs(self) -> NDArray[np.floating] | None:
        """Readout before maxout, (2l,), which no trace stores; None without weights."""
        if self.known_pairs is not None or self.weights is None:
            return self.known_pairs
        return readout.pairs(self.trace, self.weights, self.step)

    @cached_property
    def perturbation_tests(self) -> PerturbationTests:
        """Perturbation tests of the step; raises ValueError without weights, AttnvizError without attention."""
        return perturbation_tests(self.trace, self._required_weights(), self.step)

    @cached_property
    def change(self) -> StepChange:
        """Effect of the intervention on the step; raises ValueError without one."""
        if self.parent is None:
            raise ValueError("what changed needs the translation that was changed")
        return step_change(self.parent, self.trace, self.step)

    @cached_property
    def best_attention(self) -> PerturbedStep:
        """The step with the attention that makes the explained piece likeliest; raises as `perturbation_tests`."""
        return best_attention(self.trace, self._required_weights(), self.step, self.explained)

    @cached_property
    def posterior_attention(self) -> PosteriorAttention:
        """Posterior attention of every step; raises as `perturbation_tests`."""
        return (
            posterior_attention(self.trace, self._required_weights())
            if self.known_posterior is None
            else self.known_posterior
        )

    def spelled(self, index: int) -> str:
        """Return the piece of an id, or its number where it is unknown."""
        if self.spelling is not None:
            return self.spelling(index)
        known = dict(zip(self.trace.target_ids, self.trace.target_pieces, strict=True))
        known |= dict(zip(self.trace.top_ids[self.step].tolist(), self.trace.top_pieces[self.step], strict=True))
        return str(known.get(index, f"#{index}"))

    def _required_weights(self) -> Weights:
        if self.weights is None:
            raise ValueError("what a step would have thought needs the weights of the model that made the trace")
        return self.weights

    def _logit_attribution(self, index: int) -> LogitAttribution:
        if (self.step, index) in self.known_logit_attributions:
            return self.known_logit_attributions[self.step, index]
        if self.weights is None:
            raise ValueError("a logit attribution needs the weights of the model that made the trace")
        return logit_attribution(self.trace, self.weights, self.step, index)
