"""Six answers to "what did this word depend on?", each a matrix of target by source pieces.

They answer different questions, in different units, and none is the cause: attention is where the decoder looked before
it knew the word, the posterior what that look was about, the ledger what entered the logit by the context, gradient ×
input how the word would follow a small change of the input, erasure what is lost without a piece.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.likelihood import Readouts
from attnviz.analysis.posterior import erased_logarithms, posterior_of
from attnviz.analysis.recomputation import Weights
from attnviz.trace import Trace
from attnviz.trace.attributions import Attributions

Array = NDArray[np.float64]

Answer = Literal["attention", "posterior", "ledger", "gradient", "erased", "erased_input"]
ANSWERS: tuple[Answer, ...] = get_args(Answer)
"""In their order; erasure is answered twice, at the look and at the input."""


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers of a translation; a trace without the network lacks those that need it."""

    matrices: Mapping[Answer, Array]
    """(Ty, Tx) each: shares from 0 to 1 for attention and posterior, logits for the ledger, nats for the rest."""

    @property
    def names(self) -> tuple[Answer, ...]:
        """Those there are, in their order."""
        return tuple(name for name in ANSWERS if name in self.matrices)

    def shares(self, name: Answer) -> Array:
        """Return an answer on the scale they all share, (Ty, Tx), from -1 to 1: each entry over the sum of its row's
        amounts, so that what speaks for the word and what speaks against it make 1 together. A row of zeros stays."""
        return _over(self.matrices[name], np.abs(self.matrices[name]))

    def support(self, name: Answer) -> Array:
        """Return what an answer says speaks for the word, (Ty, Tx), from 0, rows sum to 1: its positive part over the
        row's sum. nan in a row where nothing does."""
        positive = np.maximum(self.matrices[name], 0)
        shares = _over(positive, positive)
        shares[~positive.any(axis=1)] = np.nan
        return shares


def answers(trace: Trace, weights: Weights, attributions: Attributions | None = None) -> Answers:
    """Return the answers for every step of a translation:

    - "attention": alpha_ij, as used;
    - "posterior": alpha_ij p(y_i | c = h_j), normalised: Bayes as it stands, and not the default reading of
      `posterior`, which asks the other steps too;
    - "ledger": what alpha_ij h_j added to the logit of y_i at the maxout's winners, less what it added to the mean
      logit of the vocabulary, which turns no probability; with `readout_state="current"`, without what came through
      s_i;
    - "gradient": d log p(y_i) / d E x_j . E x_j;
    - "erased": log p(y_i) less what it is with j taken out of the look and the other weights renormalised;
    - "erased_input": log p(y_i) less what it is with E x_j replaced by the mean embedding.

    `weights` are those of the model that made the trace (`load_weights`), `attributions` what `Translator.attributions`
    says of it; without them "gradient" and "erased_input" are left out. Raise AttnvizError where the model has no
    attention, or the weights are not its own.
    """
    readouts = Readouts(trace, weights)
    found: dict[Answer, Array] = {
        "attention": readouts.alignment,
        "posterior": posterior_of(readouts, "posterior"),
        "ledger": readouts.alignment * readouts.fit(),
        "erased": erased_logarithms(readouts),
    }
    if attributions is not None:
        found |= {"gradient": attributions.gradient, "erased_input": attributions.erased}
    return Answers(MappingProxyType(found))


def added_logits(trace: Trace, weights: Weights) -> Array:
    """Return what each source piece added to the logit of the piece written, (Ty, Tx), signed: the entries that the
    ledger of every step has for its source. Raise as `answers`."""
    readouts = Readouts(trace, weights)
    return readouts.alignment * readouts.fit(centred=False)


def _over(values: Array, amounts: Array) -> Array:
    totals = amounts.sum(axis=1, keepdims=True)
    shares: Array = np.divide(values, totals, out=np.zeros(values.shape), where=totals > 0)
    return shares
