"""The decoder step of an imported recurrent translator in words: its stages.

Energies, softmax and context are worded in `stages`, the state and the word here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnviz.languages import gettext
from attnviz.trace import Trace
from attnviz.wording.labels import quoted_name, subscript
from attnviz.wording.numbers import decimal, percent
from attnviz.wording.stages import Stage, context_stage, energy_stage, softmax_stage, word_choice_texts


def import_stage_titles(trace: Trace) -> dict[int, str]:
    """Return the names of the stages; where the query is s_i, the state changes before attention."""
    state = {4: gettext("The state moves")}
    attention = {1: gettext("Query meets keys"), 2: gettext("Softmax"), 3: gettext("The context vector is built")}
    word = {5: gettext("The word is chosen")}
    return attention | state | word if trace.queries_previous_state else state | attention | word


def narrate_seq2seq(trace: Trace, step: int) -> tuple[Stage, ...]:
    """Return the stages of 0-based `step` in words: those of `import_stage_titles`."""
    functions: dict[int, Callable[[Trace, int], tuple[str, str]]] = {
        1: energy_stage,
        2: softmax_stage,
        3: context_stage,
        4: _state_stage,
        5: _word_stage,
    }
    titles = import_stage_titles(trace).items()
    return tuple(Stage(number, title, *functions[number](trace, step)) for number, title in titles)


def no_logit_attribution_reason() -> str:
    """Return why a logit does not split into parts in a model with a tanh or a cell before its output layer."""
    return gettext(
        "This model has no logit attribution, because a logit does not split into one part per input. A tanh or a GRU "
        "lies between the context vector and the logit."
    )


def _state_stage(trace: Trace, step: int) -> tuple[str, str]:
    lstm = trace.config["cell"] == "lstm"
    keep_gate = trace.gates[step, -1, 1]  # update gate of a GRU, forget gate of an LSTM
    before, after = trace.previous_states[step], trace.states[step]
    unit = int(np.abs(after - before).argmax())
    share = percent(float(keep_gate.mean()))
    values = {"count": len(after), "kept": share, "from_": _candidate_inputs(trace, step)}
    if lstm:
        start = gettext(
            "On average over {count} units, the forget gate keeps {kept} of the memory. The new part of the memory is "
            "made from {from_}.",
            **values,
        )
        outcome = gettext("{kept} of the memory kept", kept=share)
    else:
        values["new"] = percent(1 - float(keep_gate.mean()))
        start = gettext(
            "On average over {count} units, the state keeps {kept} of its old value and takes {new} from the "
            "candidate. The candidate is made from {from_}.",
            **values,
        )
        outcome = gettext("{kept} of the state kept, {new} rewritten", kept=share, new=values["new"])
    most = gettext(
        "Unit {unit} of the state changed most, from {before} to {after}.",
        unit=unit + 1,
        before=decimal(float(before[unit])),
        after=decimal(float(after[unit])),
    )
    layers = trace.layer_states.shape[1]
    which = "" if layers == 1 else gettext("The last of the {count} layers is shown.", count=layers)
    return " ".join(filter(None, (start, most, which))), outcome


def _candidate_inputs(trace: Trace, step: int) -> str:
    """Return the inputs of the candidate of the last layer."""
    if trace.layer_states.shape[1] > 1:
        return gettext("the state of the layer below")
    piece = quoted_name(trace.previous_pieces[step])
    if trace.queries_previous_state:
        return gettext("{piece} and {vector}", piece=piece, vector=f"c{subscript(step + 1)}")
    if trace.config["input_feeding"]:
        return gettext("{piece} and {vector}", piece=piece, vector=f"t{subscript(step)}")
    return piece


def _word_stage(trace: Trace, step: int) -> tuple[str, str]:
    rest, outcome = word_choice_texts(trace, step)
    readout = trace.config["readout"]
    if readout == "joined":
        start = gettext(
            "State, context and previous word, {count} numbers in all, determine the logit of every word.",
            count=trace.readouts.shape[1],
        )
    elif readout == "affine":
        start = gettext(
            "A matrix combines the state and the context vector into {count} numbers, which determine the logit of "
            "every word.",
            count=trace.readouts.shape[1],
        )
    elif readout == "state":
        start = gettext(
            "The new state, {count} numbers in all, determines the logit of every word.", count=trace.readouts.shape[1]
        )
    else:
        start = gettext(
            "A matrix and tanh combine the state and the context vector into {count} numbers between −1 and 1. The "
            "{count} numbers determine the logit of every word.",
            count=trace.readouts.shape[1],
        )
    return f"{start} {rest}", outcome
