"""Choose the verification of a trace by its architecture, and check whether weights may be those of its model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from attnviz.analysis.fit import MisfitError
from attnviz.analysis.proof import Prover
from attnviz.analysis.recomputation import Weights
from attnviz.analysis.seq2seq_proof import Seq2SeqProver, check_seq2seq_fit
from attnviz.analysis.transformer_proof import TransformerProver, check_transformer_fit
from attnviz.trace import Record, Seq2SeqTrace, Trace, TransformerTrace

AnyProver = Prover | TransformerProver | Seq2SeqProver


def prover_of(record: Trace | TransformerTrace | Seq2SeqTrace, weights: Mapping[str, NDArray[Any]]) -> AnyProver:
    """Return the verifier of the steps of `record`; raise MisfitError where `weights` are of another kind or size."""
    if isinstance(record, Seq2SeqTrace):
        return Seq2SeqProver(record, weights)
    return Prover(record, weights) if isinstance(record, Trace) else TransformerProver(record, weights)


def could_be_of(record: Record, weights: Weights) -> bool:
    """Return whether `weights` have the names and shapes of the model of `record`."""
    if isinstance(record, TransformerTrace | Seq2SeqTrace):
        try:
            if isinstance(record, Seq2SeqTrace):
                check_seq2seq_fit(record, weights)
            else:
                check_transformer_fit(record, weights)
        except MisfitError:
            return False
        return True
    if not isinstance(record, Trace) or "decoder.initial.bias" not in weights:
        return False
    key = weights.get("decoder.attention.key.weight")
    hidden, maxout = len(weights["decoder.initial.bias"]), weights["decoder.output.weight"].shape[1]
    sizes = len(record.initial_state), record.readouts.shape[1], record.keys.shape[1]
    return sizes == (hidden, maxout, 0 if key is None else len(key))
