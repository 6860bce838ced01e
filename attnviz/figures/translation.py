"""Figure and table of a whole translation: the heatmap, or without attention the single context vector."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from attnviz.analysis.gold import GoldLinks
from attnviz.analysis.grid import By, Face
from attnviz.analysis.posterior import posterior
from attnviz.analysis.recomputation import Weights
from attnviz.errors import AttnvizError
from attnviz.figures.fixed_context import fixed_context, fixed_context_table
from attnviz.figures.heatmap import heatmap
from attnviz.figures.heatmap_table import heatmap_table
from attnviz.languages import gettext
from attnviz.palette import Colours, ThemeName
from attnviz.wording.imported_attention import missing_values_reason


def translation_figure(
    trace: Any,
    *,
    by: By = "words",
    face: Face = "before",
    weights: Weights | None = None,
    colours: Colours = "paper",
    root: bool = False,
    end: bool = True,
    margins: bool = False,
    step: int | None = None,
    theme: ThemeName = "light",
    gold: GoldLinks | None = None,
) -> go.Figure:
    """Return the heatmap of an `Aligned` record, or without attention the figure of its single vector.

    For the latter, `colours`, `root`, `margins` and `gold` have no effect. Arguments as for `heatmap`. A `face` other
    than "before" needs the `weights` of the model that made the trace: raise AttnvizError where they are missing or
    another model's, and where a step does not have exactly one attention distribution.
    """
    posterior_weights = _required_posterior(trace, face, weights)
    if trace.attends:
        return heatmap(
            trace,
            by=by,
            face=face,
            posterior=posterior_weights,
            colours=colours,
            root=root,
            end=end,
            margins=margins,
            step=step,
            theme=theme,
            gold=gold,
        )
    return fixed_context(trace, by=by, end=end, step=step, theme=theme)


def translation_table(
    trace: Any,
    *,
    by: By = "words",
    face: Face = "before",
    weights: Weights | None = None,
    end: bool = True,
    margins: bool = False,
) -> pd.DataFrame:
    """Return the numbers of `translation_figure`; raise AttnvizError where it does."""
    posterior_weights = _required_posterior(trace, face, weights)
    if trace.attends:
        return heatmap_table(trace, by=by, face=face, posterior=posterior_weights, end=end, margins=margins)
    return fixed_context_table(trace)


def _required_posterior(trace: Any, face: Face, weights: Weights | None) -> NDArray[np.float64] | None:
    """Return the posterior where `face` needs it and the weights are available."""
    if face == "before":
        return None
    if not trace.translated:
        raise AttnvizError(missing_values_reason())
    if not trace.attends:
        raise AttnvizError(
            gettext(
                "The model {model} has no attention, so there is no alignment to show before and after the word.",
                model=trace.model,
            )
        )
    if trace.imported:
        raise AttnvizError(
            gettext(
                "The model {model} was imported, so it has no posterior attention (after the word).", model=trace.model
            )
        )
    if not trace.attends_once:
        raise AttnvizError(
            gettext(
                "The model {model} is a transformer: each step has many attention distributions, so it has no "
                "single posterior attention (after the word).",
                model=trace.model,
            )
        )
    return None if weights is None else posterior(trace, weights)
