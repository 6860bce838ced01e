"""The view of a trace that another host opens."""

from __future__ import annotations

import functools
from typing import Any, Unpack

from attnviz import figures
from attnviz.analysis.recomputation import Weights
from attnviz.trace.drawing import DetailLevel, HeatmapOptions, heatmap_choices, step_index
from attnviz.trace.what_ifs import TranslatorArguments
from attnviz.ui.embedded_view import EmbeddedView


def opened_view(
    trace: Any,
    level: DetailLevel,
    weights: Weights | None = None,
    translator: Any = None,
    **named: Unpack[HeatmapOptions],
) -> EmbeddedView:
    """Return the view of a trace at its `step`, by default the first, with a heatmap as `named`.

    Raise AttnvizError where there is no such step or option.
    """
    chosen = heatmap_choices(None, **named)
    figures.heatmap(trace, chosen, weights=weights)  # raises where a choice is invalid
    step = 0 if chosen.step is None else step_index(trace, chosen.step)

    @functools.cache
    def translate_again(change: TranslatorArguments) -> Any:
        beam, interventions = trace.search.beam, change.interventions
        return translator.translate(trace.source_text, beam=beam, target=change.target, interventions=interventions)

    again = None if translator is None else translate_again
    tokenizer = None if translator is None else translator.tokenizer
    return EmbeddedView(trace, level, step, chosen, weights, translate_again=again, tokenizer=tokenizer)
