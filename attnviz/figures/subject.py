"""`Subject`, the input of the figures of a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from attnviz.analysis.energy_equations import EnergyDecomposition, energy_decomposition
from attnviz.analysis.logit_attribution import (
    Cell,
    LogitAttribution,
    logit_attribution,
    maxout_inputs,
)
from attnviz.analysis.measures import weight_order
from attnviz.analysis.perturbation_tests import PerturbationTests, perturbation_tests
from attnviz.analysis.posterior import PosteriorAttention, posterior_attention
from attnviz.analysis.recomputation import Weights
from attnviz.analysis.step_evaluation import PerturbedStep, best_attention
from attnviz.analysis.what_if_effects import StepChange, step_change
from attnviz.figures.spec import Numbers
from attnviz.text import piece_name
from attnviz.trace import Trace
from attnviz.trace.drawing import DetailLevel


@dataclass(frozen=True)
class Subject:
    """A step of a translation, the chosen source piece, word and foil, and results that are computed when needed.

    Indices are 0-based.
    """

    trace: Any
    """A `Trace`, `TransformerTrace` or `Attention`; a figure's requirements say which it accepts."""
    step: int
    weights: Weights | None = None
    """Weights of the model that made the trace, where available."""
    source: int | None = None
    """Source piece of the energy decomposition; None for the one with the largest weight."""
    word: int | None = None
    """Id of the piece whose logit is decomposed; None for the written one."""
    foil: int | None = None
    """Id of the piece that the contrast compares with the word; None for the likeliest other piece."""
    level: DetailLevel = "everything"
    """Level of detail of the view that shows the figure."""
    longest: int = 0
    """Letters of the longest label; 0 for as many as the page has room for, where the bars of all steps line up."""
    spelling: Callable[[int], str] | None = None
    """Returns the piece of an id, for pieces that are not recorded at the step."""
    parent: Trace | None = None
    """The translation before the intervention, where `trace` is a changed one."""
    known_logit_attributions: Mapping[Cell, LogitAttribution] = field(default_factory=dict)
    """Logit attributions that were computed before; many at once are hardly slower than one."""
    known_maxout_pairs: Numbers | None = None
    """The pairs of the maxout, (pairs * 2,), where already computed."""
    known_posterior: PosteriorAttention | None = None
    """Posterior attention, where already computed."""

    @property
    def simple(self) -> bool:
        """Whether the figure is that of the level *Idea*."""
        return self.level == "idea"

    @property
    def attention(self) -> Any:
        """The displayed attention: the trace's own, or that of the displayed heads of a transformer."""
        return self.trace.displayed

    @property
    def source_piece(self) -> int:
        """Source piece of the energy decomposition."""
        return int(weight_order(self.trace, self.step)[0]) if self.source is None else self.source

    @property
    def word_id(self) -> int:
        """Id of the piece whose logit is decomposed."""
        return int(self.trace.target_ids[self.step]) if self.word is None else self.word

    @property
    def foil_id(self) -> int | None:
        """Id of the foil; None where there is no other piece."""
        if self.foil is not None:
            return None if self.foil == self.word_id else self.foil
        return next((int(piece_id) for piece_id in self.trace.top_ids[self.step] if piece_id != self.word_id), None)

    def name(self, piece_id: int) -> str:
        """Return the label of a piece, or the number of an unknown one.

        Args:
            piece_id: Id of the piece.
        """
        return piece_name(self.piece_or_id(piece_id))

    @cached_property
    def energy_decomposition(self) -> EnergyDecomposition:
        """Energy decomposition of the source piece; raises ValueError where it lacks v_a."""
        return energy_decomposition(self.trace.displayed, self.weights, self.step, self.source_piece)

    @cached_property
    def logit_attribution(self) -> LogitAttribution:
        """Logit attribution of the word minus that of the mean logit; raises ValueError without weights."""
        return self._logit_attribution(self.word_id) - self._logit_attribution(None)

    @cached_property
    def contrast(self) -> LogitAttribution:
        """Logit attribution of the word minus that of the foil; raises ValueError without weights or foil."""
        if self.foil_id is None:
            raise ValueError("there is no other piece to hold this one against")
        return self._logit_attribution(self.word_id) - self._logit_attribution(self.foil_id)

    @cached_property
    def maxout_pairs(self) -> Numbers | None:
        """The pairs of the maxout, (pairs * 2,), which no trace stores; None without weights."""
        if self.known_maxout_pairs is not None or self.weights is None:
            return self.known_maxout_pairs
        inputs: Numbers = maxout_inputs(self.trace, self.weights, [self.step])[0].astype("float32")
        return inputs

    @cached_property
    def perturbation_tests(self) -> PerturbationTests:
        """Perturbation tests of the step; raises ValueError without weights, AttnvizError without attention."""
        return perturbation_tests(self.trace, self.step, self._required_weights())

    @cached_property
    def change(self) -> StepChange:
        """Effect of the intervention on the step; raises ValueError without one."""
        if self.parent is None:
            raise ValueError("what changed needs the translation that was changed")
        return step_change(self.parent, self.trace, self.step)

    @cached_property
    def best_attention(self) -> PerturbedStep:
        """Step with the attention that makes the word likeliest; raises the errors of `perturbation_tests`."""
        return best_attention(self.trace, self.step, self._required_weights(), piece_id=self.word_id)

    @cached_property
    def posterior_attention(self) -> PosteriorAttention:
        """Posterior attention of every step; raises ValueError without weights, AttnvizError without attention."""
        return self.known_posterior or posterior_attention(self.trace, self._required_weights())

    def piece_or_id(self, piece_id: int) -> str:
        """Return the piece of an id, or its number where it is unknown.

        Args:
            piece_id: The id.
        """
        if self.spelling is not None:
            return self.spelling(piece_id)
        pieces = dict(zip(self.trace.target_ids, self.trace.target_pieces, strict=True))
        pieces |= dict(zip(self.trace.top_ids[self.step].tolist(), self.trace.top_pieces[self.step], strict=True))
        pieces[self.trace.target_ids[self.step]] = self.trace.target_pieces[self.step]
        return str(pieces.get(piece_id, f"#{piece_id}"))

    def _required_weights(self) -> Weights:
        if self.weights is None:
            raise ValueError("this figure needs the weights of the model that made the trace")
        return self.weights

    def _logit_attribution(self, piece_id: int | None) -> LogitAttribution:
        if (self.step, piece_id) in self.known_logit_attributions:
            return self.known_logit_attributions[self.step, piece_id]
        return logit_attribution(self.trace, self._required_weights(), self.step, piece_id)
