"""The interventions of a step in words."""

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
    acting_on,
)
from attnviz.wording.labels import quoted_name
from attnviz.wording.numbers import significant


def done_by_hand(trace: Recurrent, step: int) -> str:
    """Return the interventions on the attention of 0-based `step`, in their order; empty without any."""
    return ", ".join(_told(trace, one) for one in acting_on(trace.interventions, step))


def _told(trace: Recurrent, one: AttentionIntervention) -> str:
    match one:
        case Temperature(temperature=math.inf):
            return gettext("the energies were made equal (τ = ∞)")
        case Temperature(temperature=temperature):
            return gettext("the energies were divided by {temperature}", temperature=significant(temperature, 3))
        case ReplaceWeights():
            return gettext("the weights were replaced")
        case ReplaceEnergies():
            return gettext("the energies were replaced")
        case ExcludePosition(position=position):
            return gettext("{name} was left out", name=quoted_name(trace.source_pieces[position]))
