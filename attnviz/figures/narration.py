"""What a step says of itself in plain English: for each stage a sentence, and its outcome in a few words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attnviz.figures.labels import shorten
from attnviz.figures.stages import subscript, weight_order
from attnviz.text import join_pieces
from attnviz.trace import Trace

TITLES = {
    1: "Query meets keys",
    2: "Softmax",
    3: "The context vector grows",
    4: "The state moves",
    5: "The word is chosen",
}
"""The stages of a step. Without attention the first two fall away."""

MOST = 0.9
"""The share of a context vector that is named in words: what makes up this much of it stands for the whole."""


_SPACE = "\u00a0"
"""Between a number and its sign: they stay on one line."""


@dataclass(frozen=True)
class Stage:
    """A stage of one step in words. All of it is plain text, which may quote the visitor."""

    number: int
    title: str
    sentence: str
    outcome: str
    """What came of the stage, in a few words."""


def narrate(trace: Trace, step: int) -> tuple[Stage, ...]:
    """Return the stages of 0-based `step` in words: all five, or without attention the last three."""
    told = {3: _context, 4: _state, 5: _word}
    if trace.config["attention"] == "none":
        told[3] = _fixed_context
    else:
        told = {1: _energy, 2: _softmax} | told
    return tuple(Stage(number, TITLES[number], *tell(trace, step)) for number, tell in told.items())


def quoted(piece: str) -> str:
    """Return a piece in quotation marks, a blank one by its name."""
    text = join_pieces([piece])
    return f"“{shorten(text, 30)}”" if text else "a blank"


def percent(share: float) -> str:
    """Return a share in whole per cent, never 0 or 100 when it is not quite."""
    if 0 < share < 0.005:
        return f"less than 1{_SPACE}%"
    return f"more than 99{_SPACE}%" if 0.995 <= share < 1 else f"{100 * share:.0f}{_SPACE}%"


def _energy(trace: Trace, step: int) -> tuple[str, str]:
    best, count = weight_order(trace, step)[0], len(trace.source_pieces)
    name, energy = quoted(trace.source_pieces[best]), _signed(float(trace.energies[step, best]))
    sentence = (
        f"The state before this word, s{subscript(step)}, is the query; each of the {count} annotations has a key. How "
        f"well the two fit is one number, the energy. {_capital(name)} fits best."
    )
    return sentence, f"{name} fits best, e = {energy}"


def _softmax(trace: Trace, step: int) -> tuple[str, str]:
    order, alpha = weight_order(trace, step), trace.alignment[step]
    best = quoted(trace.source_pieces[order[0]])
    outcome = f"{best} gets {percent(float(alpha[order[0]]))} of the weight"
    if len(order) == 1:
        return "There is only one piece to look at: it gets all of the weight.", outcome
    lead = float(trace.energies[step, order[0]] - trace.energies[step, order[1]])
    sentence = (
        f"The exponential turns a lead into a ratio: {best} has {lead:.2f} more energy than "
        f"{quoted(trace.source_pieces[order[1]])}, so {_times(float(np.exp(lead)))} its weight. "
        "All weights add up to 1."
    )
    return sentence, outcome


def _context(trace: Trace, step: int) -> tuple[str, str]:
    order, alpha = weight_order(trace, step), trace.alignment[step]
    needed = min(int(np.searchsorted(np.cumsum(alpha[order]), MOST)) + 1, len(order))
    parts = [f"{percent(float(alpha[j]))} {quoted(trace.source_pieces[j])}" for j in order[:3]]
    sentence = (
        f"Each annotation, scaled by its weight, is a strip; added up they are c{subscript(step + 1)}, the source as "
        f"this step sees it: {', '.join(parts)}{' …' if len(order) > 3 else '.'}"
    )
    pieces = "1 piece makes" if needed == 1 else f"{needed} pieces make"
    return sentence, f"{pieces} {percent(MOST)} of it"


def _fixed_context(trace: Trace, step: int) -> tuple[str, str]:
    sentence = (
        f"This model has no attention: every step, and so c{subscript(step + 1)}, gets the last of the "
        f"{len(trace.source_pieces)} forward annotations, into which the whole sentence must fit."
    )
    return sentence, "the same at every step"


def _state(trace: Trace, step: int) -> tuple[str, str]:
    kept = float(trace.update_gates[step].mean())
    before, after = trace.previous_states[step], trace.states[step]
    unit = int(np.abs(after - before).argmax())
    sentence = (
        f"On average over its {len(after)} units {percent(kept)} of the old state is kept and {percent(1 - kept)} "
        f"rewritten with the candidate, made from {quoted(trace.previous_pieces[step])} and "
        f"c{subscript(step + 1)}. Unit {unit + 1} moved most, from {_signed(float(before[unit]))} to "
        f"{_signed(float(after[unit]))}."
    )
    return sentence, f"{percent(kept)} kept, {percent(1 - kept)} rewritten"


def _word(trace: Trace, step: int) -> tuple[str, str]:
    word, p = quoted(trace.target_pieces[step]), float(trace.probabilities[step])
    first, likeliest = trace.top(step, 1)[0]
    outcome = f"{word}, {percent(p)}"
    start = f"Of {len(trace.readouts[step])} pairs of units the larger one goes on, and these vote on every word."
    if int(trace.top_ids[step][0]) != int(trace.target_ids[step]):
        given = "Given was" if trace.search.method == "forced" else "The search took"
        rest = f"{given} {word} with {percent(p)}, though {quoted(first)} was likelier: {percent(likeliest)}."
        return f"{start} {rest}", outcome
    if trace.top_ids.shape[1] == 1:
        return f"{start} {_capital(word)} has {percent(p)}.", outcome
    second, less = trace.top(step, 2)[1]
    return f"{start} {_capital(word)} leads with {percent(p)}, before {quoted(second)} with {percent(less)}.", outcome


def _times(ratio: float) -> str:
    if ratio >= 1000:
        return "more than 1000 times"
    return f"{ratio:.0f} times" if ratio >= 9.95 else f"{ratio:.1f} times"


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
