"""Logit attribution: a logit as an exact sum (state, previous word, each source piece, bias), and its sentences.

Symbols and sizes are those of `trace.trace`.

Maxout is piecewise linear: with the winner of each pair fixed, the logit is linear in every input,

    logit_w = b_o[w] + W_o[w] . (b + U_o s + V_o E y_{i-1} + sum_j alpha_ij C_o h_j)   at the winners

so that it splits into bias, state, previous word, and a signed term per source piece, which add up to the logit. An
imported translator with a linear readout needs no winners: logit_w = F_s s_i + F_y E y_{i-1} + sum_j alpha_ij F_c h_j +
b.

A constant added to all logits changes no probability, so a logit has no zero of its own. What is shown is a difference:
to the mean logit of the vocabulary, or to the logit of a foil.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.analysis.labels import decimal, quote, shorten, signed
from attnviz.analysis.recomputation import Weights, maxout_winners
from attnviz.languages import gettext
from attnviz.text import piece_name
from attnviz.trace import Array, Trace, float64


def maxout_inputs(trace: Trace, weights: Weights, steps: Sequence[int]) -> Array:
    """Return t~_i = U_o s + V_o E y_{i-1} + C_o c_i + b of these 0-based `steps`, (S, 2l), in float64.

    s is s_{i-1} or, by config, s_i. Units 2k and 2k + 1 are a pair; the larger of both is unit k of t_i. `weights` are
    those of the model that made the trace (`load_weights`).
    """
    rows = list(steps)
    inputs = {
        "state": (trace.states if trace.reads_new_state else trace.previous_states)[rows],
        "word": weights["decoder.embedding.weight"][[trace.previous_ids[step] for step in rows]],
        "context": trace.contexts[rows],
    }
    # Models may be saved in half precision, which is too coarse for sums.
    state, word, context = (
        float64(values) @ float64(weights[f"decoder.readout_{name}.weight"]).T for name, values in inputs.items()
    )
    return state + word + context + float64(weights["decoder.readout_state.bias"])


Cell = tuple[int, int | None]
"""A 0-based step, and the id of a piece, None for the mean of the vocabulary."""


@dataclass(frozen=True)
class LogitAttribution:
    """The contributions to the logit of one piece of the vocabulary, or to the mean logit, at step `step`."""

    step: int
    """0-based step."""
    piece_id: int | None
    """None for the mean of the vocabulary."""
    bias: float
    state: float
    """Contribution of s_{i-1}; with `readout_state="current"`, and in imports, of s_i.

    s_i itself depends on the context.
    """
    previous_word: float
    source: Array
    """Contribution of alpha_ij h_j for each source piece, (Tx,)."""

    @property
    def logit(self) -> float:
        """The logit, which is the sum of all contributions."""
        return float(self.bias + self.state + self.previous_word + self.source.sum())

    def __sub__(self, other: LogitAttribution) -> LogitAttribution:
        """Return the contrast with a foil at the same step: why this piece and not the other, term by term.

        `piece_id` stays this piece's; `logit` is the difference of both. Raise ValueError for two steps.
        """
        if self.step != other.step:
            raise ValueError(f"a contrast needs one step, not steps {self.step} and {other.step}")
        return LogitAttribution(
            self.step,
            self.piece_id,
            self.bias - other.bias,
            self.state - other.state,
            self.previous_word - other.previous_word,
            self.source - other.source,
        )


def logit_attribution(trace: Trace, weights: Weights, step: int, piece_id: int | None) -> LogitAttribution:
    """Return the logit attribution of piece `piece_id`, or of the mean logit for None, at 0-based `step`, in float64.

    `weights` are those of the model that made the trace (`load_weights`). Raise IndexError where there is no such step
    or piece.
    """
    return logit_attributions(trace, weights, [(step, piece_id)])[0]


def logit_attributions(trace: Trace, weights: Weights, cells: Sequence[Cell]) -> list[LogitAttribution]:
    """Return the logit attributions of several `cells`, in fewer products than one by one.

    Raise ValueError for an imported translator with a tanh between contexts and logits, whose logits do not split.
    """
    vocabulary = len(weights["decoder.output.bias"])
    for step, piece in cells:
        if not (0 <= step < len(trace.target_pieces) and (piece is None or 0 <= piece < vocabulary)):
            raise IndexError(f"there is no step {step} or no piece {piece}")
    if not trace.linear:
        raise ValueError("a tanh or a GRU stands between the contexts of this model and its logits")
    if not cells:
        return []
    steps, pieces = [step for step, _ in cells], [piece for _, piece in cells]
    rows, bias = _output_rows(weights, pieces)
    state_rows, context_rows, word_rows, words, inner_bias = _input_rows(trace, weights, steps, rows)
    states = trace.states if trace.reads_new_state else trace.previous_states
    by_state = np.einsum("cu,cu->c", state_rows, float64(states[steps]))
    by_word = np.einsum("cu,cu->c", word_rows, words)
    annotations = float64(trace.annotations)[:, : trace.contexts.shape[1]]
    source = float64(trace.alignment[steps]) * (context_rows @ annotations.T)
    bias = bias + inner_bias
    return [
        LogitAttribution(step, piece, float(bias[k]), float(by_state[k]), float(by_word[k]), source[k])
        for k, (step, piece) in enumerate(cells)
    ]


def _input_rows(
    trace: Trace, weights: Weights, steps: Sequence[int], rows: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """Return the weights of a logit at each cell's state, context and word, the words' vectors, and the inner bias.

    From the rows of W_o, (cells, l), at the 0-based `steps` of the cells: (cells, n), (cells, c), (cells, m),
    (cells, m) and (cells,). Where the readout has no word, m is 0.
    """
    bias = np.zeros(len(rows))
    if trace.has_maxout:
        once, places = np.unique(steps, return_inverse=True)
        pairs = maxout_inputs(trace, weights, once.tolist())
        # The logit's weights at the winning units, 0 at the losing ones: (cells, 2l).
        won = np.zeros((len(rows), pairs.shape[1]))
        np.put_along_axis(won, maxout_winners(pairs)[places], rows, axis=1)
        state, context, word = (
            won @ float64(weights[f"decoder.readout_{name}.weight"]) for name in ("state", "context", "word")
        )
        words = weights["decoder.embedding.weight"][[trace.previous_ids[step] for step in steps]]
        return state, context, word, float64(words), won @ float64(weights["decoder.readout_state.bias"])
    if trace.form["readout"] == "affine":
        bias = rows @ float64(weights["decoder.readout.bias"])
        rows = rows @ float64(weights["decoder.readout.weight"])
    n, context_size = trace.states.shape[1], trace.contexts.shape[1]
    state, context, word = np.split(rows, [n, n + context_size], axis=1)
    words = trace.readouts[steps, n + context_size :] if trace.form["readout"] == "joined" else word
    return state, context, word, float64(words), bias


def _output_rows(weights: Weights, pieces: Sequence[int | None]) -> tuple[Array, Array]:
    """Return the rows of W_o, (pieces, l), and of b_o, (pieces,), of some `pieces`; of their mean for None."""
    rows, bias = weights["decoder.output.weight"], weights["decoder.output.bias"]
    known = [0 if piece is None else piece for piece in pieces]
    own_rows, own_bias = float64(rows[known]), float64(bias[known])
    if None in pieces:
        average = [piece is None for piece in pieces]
        own_rows[average], own_bias[average] = rows.mean(axis=0, dtype=np.float64), bias.mean(dtype=np.float64)
    return own_rows, own_bias


MUCH_WEIGHT = 0.2
"""Attention from which a source piece is expected to matter: a fifth, more than an equal share of six pieces."""
LITTLE_EFFECT = 0.03
"""Share of the sum of absolute contributions below which a contribution counts as none; its bar is invisible."""


def logit_attribution_heading(name: str, foil: str | None = None) -> str:
    """Return the title of a logit attribution; `name` and `foil` are the quoted piece and foil."""
    if foil is None:
        return gettext("Logit attribution: {name} against the mean of the vocabulary", name=name)
    return gettext("Why {name} and not {against}", name=name, against=foil)


def logit_attribution_title(name: str, foil: str | None = None, *, longest: int) -> str:
    """Return what the bars add up to, for an axis; piece (`name`) and `foil` have at most `longest` letters."""
    name, against = shorten(name, longest), gettext("mean") if foil is None else shorten(foil, longest)
    return f"{name} − {against}"


def logit_attribution_sentence(trace: Trace, entries: LogitAttribution, name: str, foil: str | None) -> str:
    """Return the logit attribution in words; `name` and `foil` are piece and foil."""
    state_name = gettext("the new state s_i" if trace.reads_new_state else "the state")
    attends = trace.attends
    parts = gettext(
        "{source} {amount}, {through} {state}, the previous word {previous}, the bias {bias}.",
        source=gettext("the source words add" if attends else "the vector of the whole sentence adds"),
        amount=signed(entries.source.sum()),
        through=state_name,
        state=signed(entries.state),
        previous=signed(entries.previous_word),
        bias=signed(entries.bias),
    )
    logit = signed(entries.logit)
    if foil is None:
        sentences = [
            gettext(
                "The logit of “{name}” minus the mean logit of the vocabulary is {logit}: {parts}",
                name=name,
                logit=logit,
                parts=parts,
            )
        ]
    else:
        likelier, less_likely = (name, foil) if entries.logit >= 0 else (foil, name)
        sentences = [
            gettext(
                "“{ahead}” is {often} as likely as “{behind}”. The logit of “{name}” minus that of “{foil}” is "
                "{logit}: {parts}",
                ahead=likelier,
                often=odds_text(abs(entries.logit)),
                behind=less_likely,
                name=name,
                foil=foil,
                logit=logit,
                parts=parts,
            )
        ]
    if not attends:
        return sentences[0]
    names = [piece_name(piece) for piece in trace.source_surfaces]
    alpha = trace.alignment[entries.step]
    strongest = int(np.abs(entries.source).argmax())
    amount = signed(entries.source[strongest])
    sentences.append(
        gettext(
            "The source piece “{name}” has the largest effect: {amount}, with attention weight {weight:.2f}.",
            name=names[strongest],
            amount=amount,
            weight=alpha[strongest],
        )
    )
    idle = idle_sources(entries, alpha)
    if idle:
        listed = ", ".join(f"{quote(names[j])} ({decimal(alpha[j])})" for j in idle)
        sentences.append(gettext("Source pieces with much attention but almost no effect: {listed}.", listed=listed))
    return " ".join(sentences)


def odds_text(difference: float) -> str:
    """Return in words how many times likelier a `difference` of logits, from 0, makes a piece."""
    times = np.exp(min(difference, 50))
    if times >= 1e6:
        return gettext("more than a million times")
    if times < 1000:
        return gettext("{count} times", count=decimal(times, 1 if times < 100 else 0))
    return gettext("about {count} times", count=round(float(f"{times:.1e}")))


def idle_sources(entries: LogitAttribution, alpha: np.ndarray[Any, Any]) -> list[int]:
    """Return the source pieces with much attention `alpha` (Tx,) and almost no effect on the logit.

    The thresholds are MUCH_WEIGHT and LITTLE_EFFECT.
    """
    total = abs(entries.bias) + abs(entries.state) + abs(entries.previous_word) + float(np.abs(entries.source).sum())
    small = np.abs(entries.source) < LITTLE_EFFECT * total
    return [int(j) for j in np.flatnonzero((alpha >= MUCH_WEIGHT) & small)]


def no_logit_attribution_reason() -> str:
    """Return why a logit does not split into parts in a model with a tanh or a cell before its output layer."""
    return gettext(
        "This model has no logit attribution, because a logit does not split into one part per input. A tanh or a GRU "
        "lies between the context vector and the logit."
    )
