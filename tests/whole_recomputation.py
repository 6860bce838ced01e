"""Recompute a whole recurrent translation in NumPy float64, each step from the recomputed one before it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnviz.analysis.recomputation import RecurrentEquations, Weights, entropy_of, softmax
from attnviz.text import BOS
from attnviz.trace.interventions import Intervention, interventions_at
from attnviz.trace.parts import Array


def recompute(
    weights: Weights,
    config: Mapping[str, Any],
    source_ids: Sequence[int],
    target_ids: Sequence[int],
    interventions: Sequence[Intervention] = (),
) -> dict[str, Array]:
    """Compute every quantity of the forced translation by name, both sides with `</s>`, from weights by their names."""
    network = RecurrentEquations(weights, config)
    encoded = network.encode(source_ids)
    first, keys = network.start(encoded), network.keys(encoded.annotations)
    state, steps = first, list[dict[str, Array]]()
    for i, previous_id in enumerate((BOS, *target_ids[:-1])):
        changes = interventions_at(interventions, i)
        step, state = network.step(encoded.annotations, keys, state, previous_id, changes)
        logits = network.logits(step["readouts"])
        found = {"logits": logits, "distributions": softmax(logits), "entropy": entropy_of(step["alignment"])}
        steps.append(step | found)
    by_step = {name: np.stack([step[name] for step in steps]) for name in steps[0]}
    return by_step | {
        "annotations": encoded.annotations,
        "initial_states": first.states,
        "initial_memories": first.memories,
        "keys": keys,
        "coverage": by_step["alignment"].sum(axis=0),
    }
