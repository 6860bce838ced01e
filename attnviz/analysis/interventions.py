"""Apply interventions on the attention (weights, energies, temperature, exclusion) in NumPy, for the recomputation."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from attnviz.trace.interventions import (
    AttentionIntervention,
    ExcludePosition,
    ReplaceEnergies,
    ReplaceWeights,
    Temperature,
)

Array = NDArray[np.float64]


def changed_energies(energies: Array, interventions: Iterable[AttentionIntervention]) -> Array:
    """Return the energies (Tx,) after the interventions, applied in order."""
    for intervention in interventions:
        match intervention:
            case ReplaceWeights(weights=row):
                with np.errstate(divide="ignore"):
                    energies = np.log(np.asarray(row, dtype=np.float64))
            case ReplaceEnergies(energies=row):
                energies = np.asarray(row, dtype=np.float64)
            case Temperature(temperature=math.inf):
                energies = np.where(np.isneginf(energies), energies, 0.0)
            case Temperature(temperature=temperature):
                energies = energies / temperature
            case ExcludePosition(position=position):
                energies = np.where(np.arange(len(energies)) == position, -np.inf, energies)
    return energies
