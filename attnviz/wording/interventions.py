"""Describe the interventions on the attention of a step, such as an excluded source piece."""

from __future__ import annotations

import math

from attnviz.languages import gettext
from attnviz.trace import Recurrent
from attnviz.trace.interventions import (
    AttentionIntervention,
    ExcludePosition,
    ReplaceEnergies,
    ReplaceWeights,
    Temperature,
    interventions_at,
)
from attnviz.wording.labels import quoted_name
from attnviz.wording.numbers import significant


def interventions_text(trace: Recurrent, step: int) -> str:
    """Return the interventions on the attention of 0-based `step`, in their order; empty without any."""
    return ", ".join(
        _intervention_text(trace, intervention) for intervention in interventions_at(trace.interventions, step)
    )


def _intervention_text(trace: Recurrent, intervention: AttentionIntervention) -> str:
    match intervention:
        case Temperature(temperature=math.inf):
            return gettext("the energies were made equal (temperature τ = ∞)")
        case Temperature(temperature=temperature):
            return gettext("the energies were divided by {temperature}", temperature=significant(temperature, 3))
        case ReplaceWeights():
            return gettext("the weights were replaced")
        case ReplaceEnergies():
            return gettext("the energies were replaced")
        case ExcludePosition(position=position):
            return gettext("{name} was left out", name=quoted_name(trace.source_pieces[position]))
