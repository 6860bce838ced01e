"""Which prover proves a record, and whether weights can be those of the model that made it, by the kind of record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from attnviz.analysis.fit import MisfitError, check_model
from attnviz.analysis.proof import Prover
from attnviz.analysis.recomputation import Weights
from attnviz.analysis.seq2seq_proof import Seq2SeqProver, check_seq2seq_fit
from attnviz.analysis.transformer_proof import TransformerProver, check_transformer_fit
from attnviz.trace import Record, Seq2SeqTrace, Trace, TransformerTrace

AnyProver = Prover | TransformerProver | Seq2SeqProver


def prover_of(record: Trace | TransformerTrace | Seq2SeqTrace, weights: Mapping[str, NDArray[Any]]) -> AnyProver:
    """Return what proves the steps of `record`, given the weights of the model that made it; raise MisfitError where
    they are of another kind or size."""
    if isinstance(record, Seq2SeqTrace):
        return Seq2SeqProver(record, weights)
    return Prover(record, weights) if isinstance(record, Trace) else TransformerProver(record, weights)


def could_be_of(record: Record, weights: Weights) -> bool:
    """Return whether `weights` are of the kind and of the sizes that the model of `record` has."""
    if isinstance(record, TransformerTrace | Seq2SeqTrace):
        try:
            if isinstance(record, Seq2SeqTrace):
                check_seq2seq_fit(record, weights)
            else:
                check_transformer_fit(record, weights)
        except MisfitError:
            return False
        return True
    if not isinstance(record, Trace):
        return False
    try:
        check_model(record, weights)
    except MisfitError:
        return False
    return True
