"""The equation templates of a decoder step of an imported recurrent translator, and the numbers that fill them.

Those of energies, softmax and context are in `equations`.
"""

from __future__ import annotations

import numpy as np

from attnviz.languages import gettext
from attnviz.palette import Palette, ThemeName, palette
from attnviz.trace import Seq2SeqTrace
from attnviz.wording.equations import (
    Equation,
    Texts,
    attention_texts,
    context_equation,
    energy_equation,
    softmax_equation,
    state_change_texts,
    written_piece_texts,
)
from attnviz.wording.numbers import aligned, coloured, number, vector
from attnviz.wording.scorers import NEW, OLD, terms


def seq2seq_equations(trace: Seq2SeqTrace, theme: ThemeName = "light") -> tuple[Equation, ...]:
    """Return the equation templates of all steps, in order of execution.

    `seq2seq_texts_of_step` fills them, and `texts_of_source` and `texts_of_cells`, as for RNNsearch.
    """
    colours = palette(theme)
    state = OLD if trace.queries_previous_state else NEW
    note = gettext("Softmax turns energies into positive weights that add up to 1.")
    attention = (
        energy_equation(trace, colours, state),
        softmax_equation(trace, note),
        context_equation(trace, colours),
    )
    recurrence = (_lstm_equation if trace.config["cell"] == "lstm" else _gru_equation)(trace, colours)
    return (
        (*attention, recurrence, _word_equation(trace, colours))
        if trace.queries_previous_state
        else (recurrence, *attention, _word_equation(trace, colours))
    )


def seq2seq_texts_of_step(trace: Seq2SeqTrace, step: int, theme: ThemeName = "light") -> Texts:
    """Return the texts of 0-based `step` that hold for all source pieces."""
    state_texts = _lstm_texts if trace.config["cell"] == "lstm" else state_change_texts
    texts = {"i": str(step + 1), "before": str(step), "context": vector(trace.contexts[step])}
    return (
        texts
        | state_texts(trace, step)
        | written_piece_texts(trace, step)
        | attention_texts(trace, step, palette(theme))
    )


def _input_line(trace: Seq2SeqTrace, colours: Palette) -> str:
    """Return the equation of the last layer's input."""
    if (layers := trace.layer_states.shape[1]) > 1:
        below = coloured(colours.decoder, rf"s_{{⟦i⟧}}^{{({layers - 1})}}")
        return rf"x_{{⟦i⟧}} &= {below}"
    if trace.queries_previous_state:
        context = coloured(colours.context, "c_{⟦i⟧}")
        joined = f"[E y_{{⟦before⟧}} ; {context}]"
        return rf"x_{{⟦i⟧}} &= \max(0, W_x {joined} + b_x)" if trace.config["combined"] else rf"x_{{⟦i⟧}} &= {joined}"
    return (
        r"x_{⟦i⟧} &= [E y_{⟦before⟧} ; t_{⟦before⟧}]"
        if trace.config["input_feeding"]
        else (r"x_{⟦i⟧} &= E y_{⟦before⟧}")
    )


def _gru_equation(trace: Seq2SeqTrace, colours: Palette) -> Equation:
    new, old, candidate, unit = (
        coloured(colours.decoder, body) for body in ("s_{⟦i⟧}", "s_{⟦before⟧}", r"\tilde s_{⟦i⟧}", "s_{⟦i⟧,⟦unit⟧}")
    )
    lines = (
        _input_line(trace, colours),
        rf"z_{{⟦i⟧}} &= \sigma(W_z x_{{⟦i⟧}} + b_z + U_z {old} + b_z')",
        rf"r_{{⟦i⟧}} &= \sigma(W_r x_{{⟦i⟧}} + b_r + U_r {old} + b_r')",
        rf"{candidate} &= \tanh\bigl(W x_{{⟦i⟧}} + b + r_{{⟦i⟧}} \odot (U {old} + b')\bigr)",
        rf"{new} &= (1 - z_{{⟦i⟧}}) \odot {candidate} + z_{{⟦i⟧}} \odot {old}",
        rf"{unit} &= ⟦open⟧\,(⟦proposal⟧) + ⟦gate⟧\,(⟦kept⟧)",
        r"&= ⟦moved⟧",
        rf"{new} &= ⟦state⟧",
    )
    note = gettext(
        "The state is updated by the gated recurrent unit (GRU) of PyTorch. The reset gate r is applied after the "
        "matrix U. The update gate z says how much of the old state is kept. The equation shows unit {unit}, which "
        "changed most.",
        unit="⟦unit⟧",
    )
    return Equation(4, aligned(*lines), note)


def _lstm_equation(trace: Seq2SeqTrace, colours: Palette) -> Equation:
    new, old, unit = (coloured(colours.decoder, body) for body in ("s_{⟦i⟧}", "s_{⟦before⟧}", "s_{⟦i⟧,⟦unit⟧}"))
    gates = (("e", r"\sigma"), ("f", r"\sigma"), (r"\tilde m", r"\tanh"), ("o", r"\sigma"))
    lines = (
        _input_line(trace, colours),
        *(
            rf"{name}_{{⟦i⟧}} &= {activation}(W_{{{k}}} x_{{⟦i⟧}} + b_{{{k}}} + U_{{{k}}} {old} + b_{{{k}}}')"
            for k, (name, activation) in enumerate(gates, 1)
        ),
        r"m_{⟦i⟧} &= f_{⟦i⟧} \odot m_{⟦before⟧} + e_{⟦i⟧} \odot \tilde m_{⟦i⟧}",
        rf"{new} &= o_{{⟦i⟧}} \odot \tanh m_{{⟦i⟧}}",
        r"m_{⟦i⟧,⟦unit⟧} &= ⟦forget⟧\,(⟦kept⟧) + ⟦enter⟧\,(⟦proposal⟧)",
        r"&= ⟦memory⟧",
        rf"{unit} &= ⟦out⟧\,\tanh(⟦memory⟧) = ⟦moved⟧",
        rf"{new} &= ⟦state⟧",
    )
    note = gettext(
        "The state is updated by the LSTM of PyTorch. The LSTM keeps a memory m beside the state s. The equation "
        "shows unit {unit}, which changed most.",
        unit="⟦unit⟧",
    )
    return Equation(4, aligned(*lines), note)


def _word_equation(trace: Seq2SeqTrace, colours: Palette) -> Equation:
    state, context = coloured(colours.decoder, "s_{⟦i⟧}"), coloured(colours.context, "c_{⟦i⟧}")
    symbols = terms(trace)
    bias = f" + {symbols.logit_bias}" if symbols.logit_bias else ""
    readout_bias = f" + {symbols.readout.bias}" if symbols.readout.bias else ""
    affine = f"{symbols.readout.state} [{state} ; {context}]{readout_bias}"
    if trace.linear:
        joined = f"[{state} ; {context} ; {symbols.embedded}]"
        first = rf"t_{{⟦i⟧}} &= {joined if trace.config['readout'] == 'joined' else affine}"
        note = (
            gettext(
                "The readout is linear: it only multiplies state, context and previous word by weights and adds the "
                "products. So a logit is exactly a sum of parts: one for each input and bias."
            )
            if trace.config["readout"] == "joined"
            else gettext(
                "The readout is linear: it only multiplies state and context by weights and adds the products. So a "
                "logit is exactly a sum of parts: one for each input and bias."
            )
        )
    elif trace.config["readout"] == "state":
        first = rf"t_{{⟦i⟧}} &= {state}"
        note = gettext("The logits are computed from the new state alone: the context vector acts through the state.")
    else:
        first = rf"t_{{⟦i⟧}} &= \tanh({affine})"
        note = gettext(
            "A tanh lies between context and logit, so a logit of this model does not split into one part per input."
        )
    lines = (
        first,
        r"&= ⟦readout⟧⟦chosen⟧",
        rf"p(y_{{⟦i⟧}}) &= \operatorname{{softmax}}({symbols.logit_weights} t_{{⟦i⟧}}{bias})_{{y_{{⟦i⟧}}}}",
        r"&= ⟦probability⟧",
    )
    return Equation(5, aligned(*lines), note)


def _lstm_texts(trace: Seq2SeqTrace, step: int) -> Texts:
    """Return the texts of an LSTM's new state, and of the unit that changed most."""
    unit = int(np.abs(trace.states[step] - trace.previous_states[step]).argmax())
    enter, forget, proposal, out = (number(float(gate[unit])) for gate in trace.gates[step, -1])
    return {
        "unit": str(unit + 1),
        "enter": enter,
        "forget": forget,
        "proposal": proposal,
        "out": out,
        "kept": number(float(trace.previous_memories[step, unit])),
        "memory": number(float(trace.memories[step, -1, unit])),
        "moved": number(float(trace.states[step, unit])),
        "state": vector(trace.states[step]),
    }


def no_logit_attribution_reason() -> str:
    """Return why a logit does not split into parts in a model with a tanh or a cell before its output layer."""
    return gettext(
        "This model has no logit attribution, because a logit does not split into one part per input. A tanh or a GRU "
        "lies between the context vector and the logit."
    )
