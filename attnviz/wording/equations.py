"""The equations of one decoder step as LaTeX, each with the numbers that this step put into it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.interventions import changed_energies
from attnviz.languages import decimal_mark, say
from attnviz.palette import Palette, ThemeName, palette
from attnviz.text import SPACE
from attnviz.trace import Trace
from attnviz.trace.interventions import acting_on

_TERMS = 3
"""Terms of a sum that are written out before the dots."""

# Only Latin letters, digits and marks that mean nothing to LaTeX are set as text: user text must not become LaTeX.
_SAFE = re.compile(r"[A-Za-z0-9\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017f'’.,;:!?()/-]{1,24}")


@dataclass(frozen=True)
class Equation:
    """One stage of a step."""

    stage: int
    """1 to 5: energy, softmax, context, state, word."""
    latex: str
    """The equation, then the same with this step's numbers."""
    note: str
    """A sentence for the reader."""


def equations(
    trace: Trace, step: int, source: int | None = None, *, theme: ThemeName = "light"
) -> tuple[Equation, ...]:
    """Return the stages of 0-based `step` in order: energy, softmax, context, state, word; IndexError without the step.

    Energy and softmax are those of 0-based source piece `source`, or of the piece of the largest weight. Without
    attention the first two fall away, for there is nothing to weigh.
    """
    if not 0 <= step < len(trace.target_pieces):
        raise IndexError(f"there is no step {step} in a translation of {len(trace.target_pieces)} pieces")
    colours = palette(theme)
    j = int(trace.alignment[step].argmax()) if source is None else source
    if not trace.attends:
        return (_fixed_context(trace, step, colours), _state(trace, step, colours), _word(trace, step, colours))
    return (
        _energy(trace, step, j, colours),
        _softmax(trace, step, j),
        _context(trace, step, colours),
        _state(trace, step, colours),
        _word(trace, step, colours),
    )


def number(value: float) -> str:
    """Return `value` to three significant digits in LaTeX, powers of ten where it is very large or small."""
    # In braces, so that TeX does not take a comma for the end of an item of a list and set a space after it.
    return _number(value).replace(".", "." if decimal_mark() == "." else f"{{{decimal_mark()}}}")


def _number(value: float) -> str:
    if not math.isfinite(value):
        return r"-\infty" if value < 0 else r"\infty" if value > 0 else rf"\text{{{say('undefined')}}}"
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    if -3 <= exponent < 4:
        return f"{value:.{max(0, 2 - exponent)}f}"
    mantissa, _, power = f"{value:.2e}".partition("e")
    return rf"{mantissa}\cdot 10^{{{int(power)}}}"


def vector(values: Sequence[float] | NDArray[np.float32]) -> str:
    """Return a vector (n,) as its first two numbers, dots, and its last.

    The second is left out where powers of ten would make the line too long for a telephone.
    """
    count = len(values)
    shown = [number(float(values[k])) for k in (range(count) if count <= 4 else (0, 1, count - 1))]
    if count > 4:
        kept = shown[:1] if any("10^" in text for text in shown) else shown[:2]
        shown = [*kept, r"\ldots", shown[-1]]
    return r"\begin{bmatrix}" + r" & ".join(shown) + r"\end{bmatrix}^{\!\top}"


def safe_text(piece: str) -> str | None:
    """Return a piece as LaTeX text, or None where it holds a character that LaTeX, or its fonts, might take amiss."""
    spoken = {"</s>": "</s>", "<unk>": "<unk>", SPACE: say("(a blank)")}.get(piece)
    if spoken:
        return rf"\text{{{spoken}}}"
    name = piece.removeprefix(SPACE)
    return rf"\text{{{name}}}" if _SAFE.fullmatch(name) else None


def _aligned(*lines: str) -> str:
    return r"\begin{aligned}" + r" \\[2pt] ".join(lines) + r"\end{aligned}"


def _in(colour: str, body: str) -> str:
    return rf"\textcolor{{{colour}}}{{{body}}}"


def _energy(trace: Trace, step: int, j: int, colours: Palette) -> Equation:
    i = step + 1
    before, here = _in(colours.decoder, f"s_{{{i - 1}}}"), _in(colours.encoder, f"h_{{{j + 1}}}")
    query, key = vector(trace.queries[step]), vector(trace.keys[j])
    left, value = f"e_{{{i},{j + 1}}}", number(float(trace.energies[step, j]))
    if trace.config["attention"] == "dot":
        lines: tuple[str, ...] = (
            rf"{left} &= {before}^\top P\,{here}",
            rf"&= {query}",
            rf"&\quad \cdot {key}",
            rf"&= {value}",
        )
        return Equation(1, _aligned(*lines), say("How well the decoder's state fits this source piece."))
    lines = (
        rf"{left} &= v_a^\top \tanh\bigl(W_a {before} + U_a {here}\bigr)",
        rf"&= v_a^\top \tanh\Bigl({query}",
        rf"&\quad + {key}\Bigr)",
        rf"&= {value}",
    )
    note = say(
        "How well the state before this word fits a source piece, here piece {piece}. One layer over the two vectors "
        "joined together is the same map.", piece=j + 1,
    )  # fmt: skip
    return Equation(1, _aligned(*lines), note)


def _softmax(trace: Trace, step: int, j: int) -> Equation:
    i, energies, symbol = step + 1, trace.energies[step].astype(np.float64), "e"
    note = say("Energies become weights: all positive, and they add up to 1.")
    if acting := acting_on(trace.interventions, step):
        energies, symbol = changed_energies(energies, acting), r"\tilde{e}"
        note = f"{note} {say('With a tilde: what the energies were changed to by hand.')}"
    order = np.argsort(-energies, kind="stable")
    terms = [rf"e^{{{number(float(energies[k]))}}}" for k in order[:_TERMS]]
    if len(order) > _TERMS:
        terms.append(r"\cdots")
    weight, energy = rf"\alpha_{{{i},{j + 1}}}", f"{symbol}_{{{i},{j + 1}}}"
    lines = (
        rf"{weight} &= \frac{{e^{{{energy}}}}}{{\sum_{{k=1}}^{{{len(energies)}}} e^{{{symbol}_{{{i},k}}}}}}",
        rf"&= \frac{{e^{{{number(float(energies[j]))}}}}}{{{' + '.join(terms)}}}",
        rf"&= {number(float(trace.alignment[step, j]))}",
    )
    return Equation(2, _aligned(*lines), note)


def _context(trace: Trace, step: int, colours: Palette) -> Equation:
    i, alpha = step + 1, trace.alignment[step]
    order = np.argsort(-alpha, kind="stable")[:_TERMS]
    terms = [rf"{number(float(alpha[j]))}\,{_in(colours.encoder, f'h_{{{j + 1}}}')}" for j in order]
    if len(alpha) > _TERMS:
        terms.append(r"\cdots")
    context = _in(colours.context, f"c_{{{i}}}")
    annotation = _in(colours.encoder, "h_j")
    first = 1 if any("10^" in term for term in terms) else len(terms)  # with powers of ten, too long for one line
    lines = (
        rf"{context} &= \sum_{{j=1}}^{{{len(alpha)}}} \alpha_{{{i},j}}\, {annotation}",
        rf"&= {' + '.join(terms[:first])}",
        *([rf"&\quad + {' + '.join(terms[first:])}"] if terms[first:] else []),
        rf"&= {vector(trace.contexts[step])}",
    )
    return Equation(3, _aligned(*lines), say("The source as this step sees it: a weighted sum of annotations."))


def _fixed_context(trace: Trace, step: int, colours: Palette) -> Equation:
    context = _in(colours.context, f"c_{{{step + 1}}}")
    last = _in(colours.encoder, rf"\overrightarrow{{h}}_{{{len(trace.source_pieces)}}}")
    note = say("A model without attention: every step gets the same last forward annotation.")
    return Equation(3, _aligned(rf"{context} &= {last}", rf"&= {vector(trace.contexts[step])}"), note)


def _state(trace: Trace, step: int, colours: Palette) -> Equation:
    i = step + 1
    new, old = _in(colours.decoder, f"s_{{{i}}}"), _in(colours.decoder, f"s_{{{i - 1}}}")
    candidate = _in(colours.decoder, rf"\tilde s_{{{i}}}")
    k = int(np.abs(trace.states[step] - trace.previous_states[step]).argmax())
    gate, proposal = float(trace.update_gates[step, k]), float(trace.candidates[step, k])
    before, after = float(trace.previous_states[step, k]), float(trace.states[step, k])
    lines = (
        rf"{new} &= (1 - z_{{{i}}}) \odot {candidate} + z_{{{i}}} \odot {old}",
        rf"{_in(colours.decoder, f's_{{{i},{k + 1}}}')} &= {number(1 - gate)}\,({number(proposal)})",
        rf"&\quad + {number(gate)}\,({number(before)})",
        rf"&= {number(after)}",
        rf"{new} &= {vector(trace.states[step])}",
    )
    note = say(
        "The gated unit as it ran (PyTorch's): z keeps the old state, where the paper's z lets the new one in. "
        "Written out is unit {unit}, the one that moved most.", unit=k + 1,
    )  # fmt: skip
    return Equation(4, _aligned(*lines), note)


def _word(trace: Trace, step: int, colours: Palette) -> Equation:
    i, current = step + 1, trace.config["readout_state"] == "current"
    state = _in(colours.decoder, f"s_{{{i if current else i - 1}}}")
    context = _in(colours.context, f"c_{{{i}}}")
    text = safe_text(trace.target_pieces[step])
    lines = (
        rf"t_{{{i}}} &= \operatorname{{maxout}}(U_o {state} + V_o E y_{{{i - 1}}}",
        rf"&\quad + C_o {context} + b)",
        rf"&= {vector(trace.readouts[step])}",
        *([rf"y_{{{i}}} &= {text}"] if text else []),
        rf"p(y_{{{i}}}) &= \operatorname{{softmax}}(W_o t_{{{i}}} + b_o)_{{y_{{{i}}}}}",
        rf"&= {number(float(trace.probabilities[step]))}",
    )
    appendix = say("the state before the step, as in the paper's appendix")
    which = say("the new state, as in the paper's Eq. 4") if current else appendix
    note = say("State, previous word and context vote on the next word. This model reads {which}.", which=which)
    return Equation(5, _aligned(*lines), note)
