"""Registry of architectures: for each, the result type, quantities, recomputation, stages, sentences and payloads.

Code that displays, verifies or saves a result reads the declaration instead of checking the type of the result.
"""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.analysis.fit import MisfitError
from attnviz.analysis.recomputation import Weights
from attnviz.analysis.verification import Verifier
from attnviz.architectures.declaration import Architecture, StepTexts
from attnviz.architectures.decomposable import DECOMPOSABLE
from attnviz.architectures.imported import IMPORTED
from attnviz.architectures.imported_attention import IMPORTED_ATTENTION
from attnviz.architectures.rnnsearch import RNNSEARCH
from attnviz.architectures.transformer import TRANSFORMER
from attnviz.trace.saved import Saved

__all__ = ["ARCHITECTURES", "Architecture", "StepTexts", "architecture_of", "could_be_of", "step_texts", "verifier_of"]

ARCHITECTURES: Mapping[str, Architecture] = {
    architecture.name: architecture
    for architecture in (RNNSEARCH, IMPORTED, TRANSFORMER, DECOMPOSABLE, IMPORTED_ATTENTION)
}
_BY_RESULT = {architecture.result: architecture for architecture in ARCHITECTURES.values()}


def architecture_of(result: Saved) -> Architecture:
    """Return the declaration of the architecture that made `result`."""
    return _BY_RESULT[type(result)]


def step_texts(result: Saved) -> StepTexts:
    """Return the sentences and equations of the steps of `result`; raise ValueError where there are no steps."""
    texts = architecture_of(result).step_texts
    if texts is None:
        raise ValueError(f"{type(result).__name__} has no steps")
    return texts


def verifier_of(result: Saved, weights: Weights) -> Verifier:
    """Return the verifier of `result`, given the weights of the model that made it.

    Raise MisfitError where they are of another kind or size, ValueError where nothing can be recomputed.
    """
    make = architecture_of(result).verifier
    if make is None:
        raise ValueError(f"{type(result).__name__} cannot be recomputed")
    return make(result, weights)


def could_be_of(result: Saved, weights: Weights) -> bool:
    """Return whether `weights` have the kind and the sizes of the model that made `result`."""
    check = architecture_of(result).check_model
    if check is None:
        return False
    try:
        check(result, weights)
    except MisfitError:
        return False
    return True
