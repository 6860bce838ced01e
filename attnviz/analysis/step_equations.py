"""The equations of a recurrent decoder's step in LaTeX: templates, and the numbers of a step that fill them.

The equations of a transformer are built from parts of this module.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from attnviz.analysis.energy_equations import NEW, OLD, fill_placeholders, terms, texts_of
from attnviz.analysis.labels import NEW_LINE, aligned, coloured_latex, number, safe_text, vector
from attnviz.analysis.measures import ranked
from attnviz.analysis.recomputation import changed_energies
from attnviz.languages import gettext
from attnviz.palette import Palette, ThemeName, palette
from attnviz.trace import Array, Head, Record, Trace, float64, interventions_at

_MOST_TERMS = 3
"""Number of terms of a sum that are written out before the dots."""

_PLACEHOLDER = re.compile(r"⟦(\w+)⟧")

Texts = dict[str, str]
"""Texts of the placeholders of a template, by name."""


@dataclass(frozen=True)
class Equation:
    """The equation of one stage, or a template with a ⟦placeholder⟧ for each text that differs between steps."""

    stage: int
    """Stage 1 to 5: energy, softmax, context, state, word; 6: posterior attention (`analysis.posterior`)."""
    latex: str
    """The equation, followed by the same with the numbers of the step."""
    note: str
    """A sentence of explanation."""

    @property
    def places(self) -> frozenset[str]:
        """Names of the placeholders of a template."""
        return frozenset(_PLACEHOLDER.findall(self.latex + self.note))

    def filled(self, texts: Texts) -> Equation:
        """Return the equation with `texts` in place of the placeholders; raise KeyError where one is missing."""
        latex, note = (
            _PLACEHOLDER.sub(lambda match: texts[match[1]], template) for template in (self.latex, self.note)
        )
        return Equation(self.stage, latex, note)


def equation_templates(trace: Trace, theme: ThemeName = "light") -> tuple[Equation, ...]:
    """Return the equation templates of all steps, in order of execution.

    `texts_of_step`, `texts_of_source` and `texts_of_cells` of the source piece fill them.
    """
    colours = palette(theme)
    recurrence = (_lstm_equation if trace.form["cell"] == "lstm" else _gru_equation)(trace, colours)
    word = _word_equation(trace, colours)
    if not trace.attends:
        return _fixed_context_equation(trace, colours), recurrence, word
    last, note = (
        str(len(trace.source_pieces)),
        gettext("The source as this step sees it: a weighted sum of annotations."),
    )
    attention = (
        energy_equation(trace, colours),
        softmax_equation(last),
        weighted_sum_equation(trace, colours, last, note),
    )
    return (*attention, recurrence, word) if trace.queries_previous_state else (recurrence, *attention, word)


def texts_of_step(trace: Trace, step: int, theme: ThemeName = "light") -> Texts:
    """Return the texts of 0-based `step` that hold for all source pieces."""
    texts = {"i": str(step + 1), "before": str(step), "context": vector(trace.contexts[step])}
    texts |= _state_texts(trace, step) | written_piece_texts(trace, step)
    return texts | attention_texts(trace, step, palette(theme)) if trace.attends else texts


def texts_of_source(trace: Record | Head, source: int) -> Texts:
    """Return the texts of 0-based source piece `source` that hold for all steps; none without attention."""
    return {"j": str(source + 1), "key": vector(trace.displayed.keys[source])} if trace.attends else {}


def texts_of_cells(trace: Record | Head, step: int) -> dict[str, list[str]]:
    """Return the texts of a step for each source piece, as lists; none without attention."""
    if not trace.attends:
        return {}
    shown = trace.displayed
    rows = {"energy": shown.energies[step], "exponent": _softmax_inputs(shown, step), "weight": shown.alignment[step]}
    texts = {name: [number(value) for value in row.tolist()] for name, row in rows.items()}
    if shown.recurrent and (features := shown.features_at(step)).size:
        texts["features"] = [vector(row) for row in features]
    return texts


def energy_equation(trace: Trace, colours: Palette) -> Equation:
    """Return the template of an energy."""
    texts, bias = texts_of(trace.config["attention"]), terms(trace).key_bias
    query, note = coloured_latex(colours.decoder, f"s_{{{OLD}}}"), texts.note
    if not trace.queries_previous_state:
        query, note = coloured_latex(colours.decoder, f"s_{{{NEW}}}"), texts.note_after
    if trace.form["query"] == "joined":
        query = rf"\bigl[{terms(trace).embedded} ; {query} ; 1\bigr]"
        note = gettext(
            "Energy measures how well the previous word and the state fit position {place} of the sentence. Each "
            "position has its own key w, whatever word is at that position.",
            place="⟦j⟧",
        )
    parts = {
        "state": query,
        "annotation": coloured_latex(colours.encoder, "h_{⟦j⟧}"),
        "bias": f" + {bias}" if bias else "",
    }
    return Equation(1, aligned(*fill_placeholders(texts.energy, parts)), note)


def softmax_equation(last: str) -> Equation:
    """Return the template of a softmax of numbers named ⟦symbol⟧, over the source pieces up to `last`."""
    denominator = rf"\sum_{{k=1}}^{{{last}}} \exp(⟦symbol⟧_{{⟦i⟧,k}})"
    lines = (
        rf"\alpha_{{⟦i⟧,⟦j⟧}} &= \frac{{\exp(⟦symbol⟧_{{⟦i⟧,⟦j⟧}})}}{{{denominator}}}",
        r"&= \frac{\exp(⟦exponent⟧)}{⟦exponentials⟧}",
        r"&= ⟦weight⟧",
    )
    note = gettext("Softmax turns energies into positive weights that add up to 1.")
    return Equation(2, aligned(*lines), f"{note}⟦tilde⟧")


def weighted_sum_equation(attention: Trace | Head, colours: Palette, last: str, note: str) -> Equation:
    """Return the template of the weighted sum of annotations, or of a head's values, up to that of the `last` piece."""
    total = coloured_latex(colours.context, f"{attention.context_symbol}_{{⟦i⟧}}")
    value = coloured_latex(colours.encoder, f"{_value_symbol(attention)}_j")
    lines = (
        rf"{total} &= \sum_{{j=1}}^{{{last}}} \alpha_{{⟦i⟧,j}}\, {value}",
        r"&= ⟦summands⟧",
        r"&= ⟦context⟧",
    )
    return Equation(3, aligned(*lines), note)


def _value_symbol(attention: Trace | Head) -> str:
    return "v" if attention.has_heads else "h"


def _fixed_context_equation(trace: Trace, colours: Palette) -> Equation:
    context = coloured_latex(colours.context, "c_{⟦i⟧}")
    last = coloured_latex(colours.encoder, rf"\overrightarrow{{h}}_{{{len(trace.source_pieces)}}}")
    note = gettext("A model without attention: every step gets the same vector, the encoder’s last forward state.")
    return Equation(3, aligned(f"{context} &= {last}", "&= ⟦context⟧"), note)


def _input_line(trace: Trace, colours: Palette) -> str:
    """Return the equation of the last layer's input."""
    if (layers := trace.layer_states.shape[1]) > 1:
        below = coloured_latex(colours.decoder, rf"s_{{⟦i⟧}}^{{({layers - 1})}}")
        return rf"x_{{⟦i⟧}} &= {below}"
    if trace.queries_previous_state:
        context = coloured_latex(colours.context, "c_{⟦i⟧}")
        joined = f"[E y_{{⟦before⟧}} ; {context}]"
        return rf"x_{{⟦i⟧}} &= \max(0, W_x {joined} + b_x)" if trace.form["combined"] else rf"x_{{⟦i⟧}} &= {joined}"
    return (
        r"x_{⟦i⟧} &= [E y_{⟦before⟧} ; t_{⟦before⟧}]" if trace.form["input_feeding"] else r"x_{⟦i⟧} &= E y_{⟦before⟧}"
    )


def _gru_equation(trace: Trace, colours: Palette) -> Equation:
    new, old, candidate, unit = (
        coloured_latex(colours.decoder, body)
        for body in ("s_{⟦i⟧}", "s_{⟦before⟧}", r"\tilde s_{⟦i⟧}", "s_{⟦i⟧,⟦unit⟧}")
    )
    note = gettext(
        "This is the gated recurrent unit (GRU) of PyTorch. In PyTorch, z keeps the old state; in Bahdanau et al., z "
        "lets the new state in. The example is unit {unit}, which changes most at this step.",
        unit="⟦unit⟧",
    )
    gates: tuple[str, ...] = ()
    if trace.form["writes_gates"]:
        gates = (
            _input_line(trace, colours),
            rf"z_{{⟦i⟧}} &= \sigma(W_z x_{{⟦i⟧}} + b_z + U_z {old} + b_z')",
            rf"r_{{⟦i⟧}} &= \sigma(W_r x_{{⟦i⟧}} + b_r + U_r {old} + b_r')",
            rf"{candidate} &= \tanh\bigl(W x_{{⟦i⟧}} + b + r_{{⟦i⟧}} \odot (U {old} + b')\bigr)",
        )
        note += " " + gettext("The reset gate r is applied after the matrix U.")
    lines = (
        *gates,
        rf"{new} &= (1 - z_{{⟦i⟧}}) \odot {candidate} + z_{{⟦i⟧}} \odot {old}",
        rf"{unit} &= ⟦open⟧\,(⟦proposal⟧)",
        r"&\quad + ⟦gate⟧\,(⟦kept⟧)",
        r"&= ⟦moved⟧",
        rf"{new} &= ⟦state⟧",
    )
    return Equation(4, aligned(*lines), note)


def _lstm_equation(trace: Trace, colours: Palette) -> Equation:
    new, old, unit = (coloured_latex(colours.decoder, body) for body in ("s_{⟦i⟧}", "s_{⟦before⟧}", "s_{⟦i⟧,⟦unit⟧}"))
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
        "The state is updated by the LSTM of PyTorch. The LSTM keeps a memory m beside the state s. The equation shows "
        "unit {unit}, which changed most.",
        unit="⟦unit⟧",
    )
    return Equation(4, aligned(*lines), note)


def _word_equation(trace: Trace, colours: Palette) -> Equation:
    symbols = terms(trace)
    bias = f" + {symbols.logit_bias}" if symbols.logit_bias else ""
    readout, note = _readout(trace, colours)
    lines = (
        *readout,
        r"&= ⟦readout⟧⟦chosen⟧",
        rf"p(y_{{⟦i⟧}}) &= \operatorname{{softmax}}({symbols.logit_weights} t_{{⟦i⟧}}{bias})_{{y_{{⟦i⟧}}}}",
        r"&= ⟦probability⟧",
    )
    return Equation(5, aligned(*lines), note)


def _readout(trace: Trace, colours: Palette) -> tuple[tuple[str, ...], str]:
    """Return the lines of the equation of t_i, and the note on it."""
    state = coloured_latex(colours.decoder, f"s_{{{NEW if trace.reads_new_state else OLD}}}")
    context, symbols = coloured_latex(colours.context, "c_{⟦i⟧}"), terms(trace)
    weights = symbols.readout
    affine = f"{weights.state} [{state} ; {context}]" + (f" + {weights.bias}" if weights.bias else "")
    match trace.form["readout"]:
        case "maxout":
            lines = (
                rf"t_{{⟦i⟧}} &= \operatorname{{maxout}}({weights.state} {state} + {weights.word} {symbols.embedded}",
                rf"&\quad + {weights.context} {context} + {weights.bias})",
            )
            note = gettext("The state, the previous word and the context vector determine the next word.")
            which = gettext(
                "This model computes the next word from the new state, as Eq. 4 of Bahdanau et al. does."
                if trace.reads_new_state
                else "This model computes the next word from the state before the step, as the appendix of Bahdanau et "
                "al. does."
            )
            return lines, f"{note} {which}"
        case "joined":
            return (rf"t_{{⟦i⟧}} &= [{state} ; {context} ; {symbols.embedded}]",), gettext(
                "The readout is linear: it only multiplies state, context and previous word by weights and adds the "
                "products. So a logit is exactly a sum of parts: one for each input and bias."
            )
        case "affine":
            return (rf"t_{{⟦i⟧}} &= {affine}",), gettext(
                "The readout is linear: it only multiplies state and context by weights and adds the products. So a "
                "logit is exactly a sum of parts: one for each input and bias."
            )
        case "state":
            return (rf"t_{{⟦i⟧}} &= {state}",), gettext(
                "The logits are computed from the new state alone: the context vector acts through the state."
            )
    return (rf"t_{{⟦i⟧}} &= \tanh({affine})",), gettext(
        "A tanh lies between context and logit, so a logit of this model does not split into one part per input."
    )


def attention_texts(attention: Trace | Head, step: int, colours: Palette) -> Texts:
    """Return the texts of attention at 0-based `step`: query, largest terms of the sums of exponentials and values."""
    count, changed = attention.visible_key_count(step), interventions_at(attention.interventions, step)
    energies, alpha = _softmax_inputs(attention, step)[:count], attention.alignment[step, :count]
    dots = [r"\cdots"] if count > _MOST_TERMS else []
    exponentials = [rf"\exp({number(energies[k])})" for k in ranked(energies)[:_MOST_TERMS]]
    terms = [
        rf"{number(alpha[j])}\,{coloured_latex(colours.encoder, f'{_value_symbol(attention)}_{{{j + 1}}}')}"
        for j in ranked(alpha)[:_MOST_TERMS]
    ] + dots
    first = 1 if any("10^" in term for term in terms) else len(terms)  # powers of ten would make the line too long
    tilde = gettext("A tilde marks the energies that would give the weights changed by hand.")
    continued = [rf"&\quad + {' + '.join(terms[first:])}"] if terms[first:] else []
    return {
        "i": str(step + 1),
        "query": vector(attention.queries[step]),
        "symbol": r"\tilde{e}" if changed else "e",
        "tilde": f" {tilde}" if changed else "",
        "exponentials": " + ".join(exponentials + dots),
        "summands": NEW_LINE.join([" + ".join(terms[:first]), *continued]),
        "context": vector(attention.contexts[step]),
    }


def _softmax_inputs(trace: Trace | Head, step: int) -> Array:
    """Return the inputs of a step's softmax, (Tx,): its energies after interventions."""
    energies = float64(trace.energies[step])
    step_interventions = interventions_at(trace.interventions, step)
    return changed_energies(energies, step_interventions) if step_interventions else energies


def _state_texts(trace: Trace, step: int) -> Texts:
    """Return the texts of the new state at 0-based `step`, and of its unit that changed most."""
    unit = int(np.abs(trace.states[step] - trace.previous_states[step]).argmax())
    texts = {"unit": str(unit + 1), "moved": number(trace.states[step, unit]), "state": vector(trace.states[step])}
    if trace.form["cell"] == "lstm":
        enter, forget, proposal, out = (number(gate[unit]) for gate in trace.gates[step, -1])
        return texts | {
            "enter": enter,
            "forget": forget,
            "proposal": proposal,
            "out": out,
            "kept": number(trace.previous_memories[step, unit]),
            "memory": number(trace.memories[step, -1, unit]),
        }
    gate = float(trace.update_gates[step, unit])
    return texts | {
        "open": number(1 - gate),
        "proposal": number(trace.candidate_states[step, unit]),
        "gate": number(gate),
        "kept": number(trace.previous_states[step, unit]),
    }


def written_piece_texts(trace: Record, step: int) -> Texts:
    """Return the texts of readout, written piece and its probability at 0-based `step`."""
    text = safe_text(trace.target_pieces[step])
    return {
        "readout": vector(trace.readouts[step]),
        "chosen": rf"{NEW_LINE}y_{{{step + 1}}} &= {text}" if text else "",
        "probability": number(trace.probabilities[step]),
    }
