"""Compute weights to use at a step instead of its own: of another step, the posterior, word links or another model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.borrowed_weights import weights_from_links, weights_from_trace
from attnviz.analysis.pharaoh import read_pharaoh
from attnviz.errors import AttnvizError
from attnviz.installed_models import installed_models
from attnviz.languages import gettext
from attnviz.model_folder import read_config
from attnviz.trace import Trace
from attnviz.ui.resources import devices, posterior_of, translate


def lenders(trace: Trace) -> list[str]:
    """Return the names of the other models with attention, whose weights a step of `trace` can borrow."""
    return [name for name, folder in installed_models().items() if name != trace.model and _has_attention(str(folder))]


def borrowed_row(trace: Trace, step: int, source: Mapping[str, Any]) -> NDArray[np.float64]:
    """Return the weights (Tx,), at least 0, with sum 1, that 0-based `step` of `trace` borrows.

    `source["from"]` is the kind of lender, and `source["of"]` which one: for "step" its number from 0; for "links" word
    links as text, source and target words counted from 0; for "model" its name, and it force-decodes the same
    translation. "posterior" needs none. Raise AttnvizError if there are no such weights.
    """
    kind, lender = source.get("from"), source.get("of")
    if kind == "step":
        if type(lender) is not int or not 0 <= lender < len(trace.target_ids):
            raise AttnvizError(gettext("The step whose weights you want to borrow does not exist."))
        row = trace.alignment[lender].astype(np.float64)
    elif kind == "posterior":
        posterior = posterior_of(trace)
        if posterior is None:
            raise AttnvizError(
                gettext(
                    "Posterior attention cannot be computed: the model that made this translation is not installed."
                )
            )
        row = posterior[step]
    elif kind == "links":
        row = weights_from_links(trace, step, read_pharaoh(str(lender)))
    elif kind == "model" and lender in lenders(trace):
        row = weights_from_trace(trace, step, _force_decoded(trace, str(lender)))
    else:
        raise AttnvizError(gettext("No installed model with attention has the requested name."))
    weights: NDArray[np.float64] = row / row.sum()
    return weights


def _force_decoded(trace: Trace, model: str) -> Trace:
    """Return the trace of another model, force-decoded with the sentence and translation of `trace`."""
    device = trace.device if trace.device in devices() else "auto"  # a file may come from another machine
    return translate(str(installed_models()[model]), device, trace.source_text, 1, trace.translation)


def _has_attention(folder: str) -> bool:
    try:
        return bool(read_config(folder).get("attention") != "none")
    except AttnvizError:  # damaged: the error is shown when the model is used
        return False
