"""One declaration for each architecture: result type, quantities, recomputation, stages, sentences and payloads.

Code that shows, verifies or saves a result reads its declaration, and does not ask for its type.
"""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.analysis.fit import MisfitError
from attnviz.analysis.recomputation import Weights
from attnviz.analysis.verification import Verifier
from attnviz.architectures.declaration import Architecture, Told
from attnviz.architectures.decomposable import DECOMPOSABLE
from attnviz.architectures.given import GIVEN
from attnviz.architectures.imported import IMPORTED
from attnviz.architectures.rnnsearch import RNNSEARCH
from attnviz.architectures.transformer import TRANSFORMER
from attnviz.trace.saved import Saved

__all__ = ["ARCHITECTURES", "Architecture", "Told", "architecture_of", "could_be_of", "told", "verifier_of"]

ARCHITECTURES: Mapping[str, Architecture] = {
    one.name: one for one in (RNNSEARCH, IMPORTED, TRANSFORMER, DECOMPOSABLE, GIVEN)
}
_BY_RESULT = {one.result: one for one in ARCHITECTURES.values()}


def architecture_of(result: Saved) -> Architecture:
    """Return the declaration of what made `result`."""
    return _BY_RESULT[type(result)]


def told(result: Saved) -> Told:
    """Return the sentences and equations of the steps of `result`; raise ValueError where there are no steps."""
    found = architecture_of(result).told
    if found is None:
        raise ValueError(f"{type(result).__name__} has no steps")
    return found


def verifier_of(result: Saved, weights: Weights) -> Verifier:
    """Return what verifies `result`, given the weights of the model that made it.

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
