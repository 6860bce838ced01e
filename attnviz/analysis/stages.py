"""The declarations of the stages of a decoder step, and their texts for recurrent translators.

A stage has a short sentence in everyday words, for the level *Idea*, and a full one that names what the equations have.
Only the sentence on the softmax is the same for both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.analysis.diagram import SQUARES
from attnviz.analysis.energy_equations import texts_of
from attnviz.analysis.labels import (
    capitalised,
    decimal,
    fine_percent,
    percent,
    quoted_name,
    shown_difference,
    subscript,
    times,
    word_share_text,
)
from attnviz.analysis.measures import is_uniform, weight_order
from attnviz.analysis.recomputation import softmax
from attnviz.analysis.what_if_effects import interventions_text
from attnviz.languages import gettext
from attnviz.trace import AttentionMatrix, Head, Record, Trace, float64
from attnviz.trace.interventions import ForceWords

MOST_WEIGHT = 0.9
"""Share of a context vector whose pieces count as most of it."""


@dataclass(frozen=True)
class StageText:
    """A stage of one step in words. All of it is plain text, which may contain user input."""

    number: int
    title: str
    sentence: str
    outcome: str
    """Result of the stage, in a few words."""


Narration = dict[int, tuple[StageText, ...]]
"""Stages by 0-based step."""
StageWords = Callable[[Any, int], tuple[str, str]]
"""Returns the sentence and the outcome of a stage, given a result and a 0-based step."""


@dataclass(frozen=True)
class Stage:
    """The declaration of a stage of a step: its name at every level of detail and its texts."""

    number: int
    """Number of the stage, which its equation has, too: 1 to 5 from energies to word."""
    title: Callable[[], str]
    short: StageWords
    """Texts in everyday words, for the level *Idea*."""
    full: StageWords

    def text(self, result: Any, step: int, *, simple: bool = False) -> StageText:
        """Return the texts of 0-based `step` of `result`; the short ones if `simple`."""
        words = self.short if simple else self.full
        return StageText(self.number, self.title(), *words(result, step))


def _energy(trace: Trace, step: int) -> tuple[str, str]:
    """Return how query and keys make the energies, and which key fits best."""
    best, count = int(trace.energies[step].argmax()), len(trace.source_pieces)
    name, energy = quoted_name(trace.source_surfaces[best]), decimal(trace.energies[step, best])
    asking = step if trace.queries_previous_state else step + 1
    sentence = gettext(
        "Each of the {count} pieces has an annotation (its description by the encoder) and a key computed from it. "
        "The query is computed from the updated state, {state}. The energy of a piece is one number: how well its "
        "key fits the query. {name} fits best."
        if not trace.queries_previous_state
        else "Each of the {count} pieces has an annotation (its description by the encoder) and a key. The query joins "
        "the previous word and the decoder state before this word, {state}. The energy of a piece is one number: "
        "how well its key fits the query. {name} fits best. The model also attends to the empty positions, <pad>."
        if trace.config.get("query") == "joined"
        else "Each of the {count} pieces has an annotation (its description by the encoder) and a key computed from "
        "it. The query is computed from the decoder state before this word, {state}. The energy of a piece is one "
        "number: how well its key fits the query. {name} fits best.",
        count=count,
        name=capitalised(name),
        state=f"s{subscript(asking)}",
    )
    sentence = f"{sentence} {texts_of(trace.config['attention']).more}".strip()
    return sentence, gettext("{name} fits best, e = {energy}", name=name, energy=energy)


def _fit(trace: Trace, step: int) -> tuple[str, str]:
    best = quoted_name(trace.source_surfaces[int(trace.energies[step].argmax())])
    sentence = gettext(
        "Before writing, the translator compares its state with the annotation of each English piece. The higher the "
        "energy of a piece, the better this piece fits the state. {name} fits the state best.",
        name=capitalised(best),
    )
    return sentence, gettext("{name} fits best", name=capitalised(best))


def softmax_texts(result: Record | Head, step: int) -> tuple[str, str]:
    """Return how the energies of 0-based `step` become weights, and which is largest."""
    trace = result.displayed
    best, changed = weight_order(trace, step)[0], interventions_text(trace, step)
    name, share = quoted_name(trace.source_surfaces[best]), percent(trace.alignment[step, best])
    outcome = largest_weight_text(trace, step)
    if is_uniform(trace, step):
        sentence = gettext("Every piece gets the same share of the attention: {share}.", share=share)
        by_hand = gettext("Changed by hand: {done}.", done=changed) if changed else ""
        return f"{by_hand} {sentence}".strip(), outcome
    if changed and len(trace.source_pieces) > 1:
        sentence = gettext(
            "Changed by hand: {done}. So {first} has {share} of the weight, instead of {own} without the change. All "
            "weights add up to 1.",
            done=changed,
            first=name,
            share=share,
            own=percent(softmax(float64(trace.energies[step]))[best]),
        )
        return sentence, outcome
    return attention_sentence(trace, step), outcome


def everyday_softmax_texts(result: Record | Head, step: int) -> tuple[str, str]:
    """Return the sentence of `softmax_texts`, and in everyday words which piece gets the most attention."""
    trace = result.displayed
    best, sentence = weight_order(trace, step)[0], softmax_texts(trace, step)[0]
    share = percent(trace.alignment[step, best])
    if is_uniform(trace, step):
        return sentence, gettext("Every piece gets {share}", share=share)
    name = capitalised(quoted_name(trace.source_surfaces[best]))
    return sentence, gettext("{name} gets {share}", name=name, share=share)


def largest_weight_text(trace: AttentionMatrix, step: int) -> str:
    """Return which piece has the largest weight at 0-based `step`, with its share, and that of its word."""
    best = weight_order(trace, step)[0]
    share = percent(trace.alignment[step, best])
    if is_uniform(trace, step):
        return gettext("every piece gets {share} of the weight", share=share)
    text = gettext("{name} gets {share} of the weight", name=quoted_name(trace.source_surfaces[best]), share=share)
    return text + word_share_text(trace, step, best)


def strongest_pair(trace: Trace | Head, step: int) -> tuple[int, int, float] | None:
    """Return the two pieces with the largest weights at 0-based `step`, and how far their energies are apart.

    None where there is only one piece, or where the weights are not the softmax of the energies.
    """
    pair = weight_order(trace, step)[: trace.visible_key_count(step)][:2]
    energies, alpha = float64(trace.energies[step]), trace.alignment[step]
    if len(pair) < 2 or not np.isfinite(energies[pair]).all():
        return None
    if not np.allclose(softmax(energies), alpha, atol=_SAME_WEIGHT):
        return None
    return pair[0], pair[1], shown_difference(energies[pair])


_SAME_WEIGHT = 1e-3
"""Distance of weights below which they are the same."""
_NEARLY_ONE = 1.05
"""Ratio of weights below which they are nearly the same."""


def energy_and_ratio(trace: Trace | Head, step: int) -> str:
    """Return what the exponential does to the energies of the two strongest pieces of 0-based `step`, in one line."""
    pair = strongest_pair(trace, step)
    if pair is None:
        changed = interventions_text(trace, step)
        return gettext("Changed by hand: these weights do not follow the energies") if changed else ""
    if pair[2] == 0:
        return gettext("The same energy gives the same weight")
    lead = lead_texts(trace, step)
    if lead is None:
        return gettext("{difference} more energy gives nearly the same weight", difference=decimal(pair[2]))
    return gettext(
        "{difference} more energy than {second} is {times} its weight",
        difference=lead[0],
        second=quoted_name(trace.source_surfaces[pair[1]]),
        times=lead[1],
    )


def lead_texts(trace: Trace | Head, step: int) -> tuple[str, str] | None:
    """Return the difference of the two strongest pieces' energies at 0-based `step`, and the ratio of their weights.

    None where the weights do not follow from the energies, or are nearly the same.
    """
    pair = strongest_pair(trace, step)
    if pair is None or np.exp(pair[2]) < _NEARLY_ONE:
        return None
    return decimal(pair[2]), times(np.exp(pair[2]))


def attention_sentence(trace: Trace | Head, step: int, label: Callable[[str], str] = quoted_name) -> str:
    """Return how the attention of 0-based `step` is divided between its two strongest pieces, and why so.

    `label` returns the label of a piece.
    """
    order, alpha = weight_order(trace, step)[: trace.visible_key_count(step)], trace.alignment[step]
    if len(order) == 1:
        return gettext("There is only one piece to look at: it gets all the attention.")
    first, second = (label(trace.source_surfaces[j]) for j in order[:2])
    lead, whole = lead_texts(trace, step), gettext("All weights add up to 100\u00a0%.")
    share, less = ((fine_percent if lead else percent)(float(alpha[j])) for j in order[:2])
    if lead is None:
        divided = gettext(
            "{name} gets {share} of the attention, {next} gets {less}.",
            name=capitalised(first),
            share=share,
            next=second,
            less=less,
        )
    else:
        divided = gettext(
            "{name} has {difference} more energy than {next}. The exponential makes that {times} the weight: {share} "
            "against {less}.",
            name=capitalised(first),
            difference=lead[0],
            times=lead[1],
            next=second,
            share=share,
            less=less,
        )
    return f"{divided} {whole}"


def _context(trace: Trace, step: int) -> tuple[str, str]:
    """Return the source pieces in the context vector, and how few make up most of it."""
    parts, outcome = context_shares(trace, step)
    sentence = gettext(
        "Each strip is an annotation multiplied by its weight. The sum of the strips is the context vector {context}, "
        "which represents the source at this step: {parts}",
        context=f"c{subscript(step + 1)}",
        parts=parts,
    )
    return sentence, outcome


def _mixture(trace: Trace, step: int) -> tuple[str, str]:
    return sum_sentence(trace, step), context_shares(trace, step)[1]


def sum_sentence(trace: Trace | Head, step: int) -> str:
    """Return how the strips of the picture of 0-based `step` add up to the context, and which numbers they show."""
    units = trace.values.shape[1]
    sentence = gettext(
        "The value of each piece, a list of {units} numbers, is multiplied by its weight. The sum is the output of the "
        "head, {context}."
        if trace.has_heads
        else "The annotation of each piece, a list of {units} numbers, is multiplied by its weight. The sum is the "
        "context vector {context}.",
        context=f"{trace.context_symbol}{subscript(step + 1)}",
        units=units,
    )
    if units <= SQUARES:
        return sentence
    shown = gettext(
        "The strips show the {count} numbers that differ most between the annotations, below their places in the list.",
        count=SQUARES,
    )
    return f"{sentence} {shown}"


def context_shares(trace: AttentionMatrix, step: int) -> tuple[str, str]:
    """Return the shares of the strongest pieces in the context of 0-based `step`, and how few make up most of it."""
    parts, needed, share = largest_parts(trace, step)
    if is_uniform(trace, step):
        return parts, gettext("{count} pieces in equal parts", count=len(trace.source_pieces))
    if needed == 1:
        return parts, gettext("1 piece gets {share} of the weight", share=share)
    return parts, gettext("{count} pieces together get {share} of the weight", count=needed, share=share)


def largest_parts(trace: AttentionMatrix, step: int) -> tuple[str, int, str]:
    """Return the largest weights with the names of their pieces, how many weights make up MOST, and their sum."""
    order, alpha = weight_order(trace, step)[: trace.visible_key_count(step)], trace.alignment[step]
    sums = np.cumsum(alpha[order])
    needed = min(int(np.searchsorted(sums, MOST_WEIGHT)) + 1, len(order))
    parts = ", ".join(f"{percent(alpha[j])} {quoted_name(trace.source_surfaces[j])}" for j in order[:3])
    return parts + (" …" if len(order) > 3 else "."), needed, percent(min(float(sums[needed - 1]), 1))


def _fixed_vector(trace: Trace, step: int) -> tuple[str, str]:
    sentence = gettext(
        "This model has no attention. The context vector {context} is the same at every step: the encoder’s state "
        "after the last of {count} pieces. The whole sentence must fit into one vector.",
        context=f"c{subscript(step + 1)}",
        count=len(trace.source_pieces),
    )
    return sentence, gettext("the same vector at every step")


def _short_fixed_vector(trace: Trace, step: int) -> tuple[str, str]:  # noqa: ARG001  the same for all steps
    sentence = gettext(
        "This translator reads the sentence once and cannot look back at it. One list of {units} numbers must hold the "
        "whole sentence. Every French word gets the same list.",
        units=trace.contexts.shape[1],
    )
    return sentence, gettext("the same vector at every step")


def _state(trace: Trace, step: int) -> tuple[str, str]:
    before, after = trace.previous_states[step], trace.states[step]
    unit = int(np.abs(after - before).argmax())
    shares, lstm = _kept_shares(trace, step), trace.config.get("cell") == "lstm"
    start = gettext(
        "On average over {count} units, the forget gate keeps {kept} of the memory. The new part of the memory is made "
        "from {from_}."
        if lstm
        else "On average over {count} units, the state keeps {kept} of its old value and takes {new} from the "
        "candidate. The candidate is made from {from_}.",
        count=len(after),
        from_=_candidate_inputs(trace, step),
        **shares,
    )
    outcome = gettext("{kept} of the memory kept" if lstm else "{kept} of the state kept, {new} rewritten", **shares)
    most = gettext(
        "Unit {unit} of the state changed most, from {before} to {after}.",
        unit=unit + 1,
        before=decimal(before[unit]),
        after=decimal(after[unit]),
    )
    layers = trace.config.get("layers", 1)
    which = "" if layers == 1 else gettext("The last of the {count} layers is shown.", count=layers)
    return " ".join(filter(None, (start, most, which))), outcome


def _candidate_inputs(trace: Trace, step: int) -> str:
    """Return the inputs of the candidate of the last layer."""
    if trace.config.get("layers", 1) > 1:
        return gettext("the state of the layer below")
    piece = quoted_name(trace.previous_pieces[step])
    if trace.queries_previous_state:
        return gettext("{piece} and {vector}", piece=piece, vector=f"c{subscript(step + 1)}")
    if trace.config["input_feeding"]:
        return gettext("{piece} and {vector}", piece=piece, vector=f"t{subscript(step)}")
    return piece


def _kept_shares(trace: Trace, step: int) -> dict[str, str]:
    """Return the shares of the state, or of the memory, that 0-based `step` keeps and replaces."""
    kept = float(trace.kept_shares[step].mean())
    return {"kept": percent(kept), "new": percent(1 - kept)}


def _memory(trace: Trace, step: int) -> tuple[str, str]:
    shares = _kept_shares(trace, step)
    sentence = gettext(
        "The translator’s state is a list of {count} numbers. The translator updates its state with what it takes from "
        "the sentence and with the last piece, {last}. On average, the translator keeps {kept} of each number, and "
        "{new} is new."
        if trace.queries_previous_state
        else "The translator’s state is a list of {count} numbers. Before it looks at the sentence, the translator "
        "updates its state from the last piece, {last}. On average, the translator keeps {kept} of each number, "
        "and {new} is new.",
        count=trace.states.shape[1],
        last=quoted_name(trace.previous_pieces[step]),
        **shares,
    )
    if trace.queries_previous_state and not trace.reads_new_state:
        sentence += " " + gettext("The new state affects only later words; this word depends on the old state.")
    return sentence, gettext("{kept} kept, {new} new", **shares)


def _word(trace: Trace, step: int) -> tuple[str, str]:
    rest, outcome = word_choice(trace, step)
    start = gettext(
        {
            "maxout": (
                "Maxout keeps the larger unit of each of {count} pairs. The units that maxout keeps determine the "
                "logit of every word."
            ),
            "joined": "State, context and previous word, {count} numbers in all, determine the logit of every word.",
            "affine": (
                "A matrix combines the state and the context vector into {count} numbers, which determine the logit of "
                "every word."
            ),
            "state": "The new state, {count} numbers in all, determines the logit of every word.",
            "tanh": (
                "A matrix and tanh combine the state and the context vector into {count} numbers between −1 and 1. The "
                "{count} numbers determine the logit of every word."
            ),
        }[trace.form["readout"]],
        count=trace.readouts.shape[1],
    )
    return f"{start} {rest}", outcome


def _next_word(trace: Record, step: int) -> tuple[str, str]:
    """Return in everyday words how likely the piece of 0-based `step` and its strongest competitor are."""
    rest, outcome = word_choice(trace, step)
    vocabulary_size = int(trace.config["vocabulary_size"])
    start = gettext("Each of the {count} pieces that the translator knows gets a probability.", count=vocabulary_size)
    return f"{start} {rest}", outcome


def word_choice(trace: Record, step: int, label: Callable[[str], str] = quoted_name) -> tuple[str, str]:
    """Return a sentence on the piece of 0-based `step` and its strongest competitor, and the outcome.

    `label` returns the label of a piece.
    """
    word, p = label(trace.target_pieces[step]), percent(trace.probabilities[step])
    first, likeliest = trace.top(step, 1)[0]
    if int(trace.top_ids[step][0]) != int(trace.target_ids[step]):
        sentence = gettext(
            "You forced {word} ({p}); the model preferred {other} ({q})."
            if was_forced(trace, step)
            else "The search chose {word} ({p}), although {other} was more likely ({q}).",
            word=word,
            p=p,
            other=label(first),
            q=percent(likeliest),
        )
    elif trace.top_ids.shape[1] == 1:
        sentence = gettext("{word} has a probability of {p}.", word=capitalised(word), p=p)
    else:
        second, less = trace.top(step, 2)[1]
        sentence = gettext(
            "{word} is most likely with {p}, followed by {other} with {q}.",
            word=capitalised(word),
            p=p,
            other=label(second),
            q=percent(less),
        )
    return sentence, gettext("{word} (forced), {p}", word=word, p=p) if was_forced(trace, step) else f"{word}, {p}"


ENERGY_STAGE = Stage(1, lambda: gettext("Fit (energy)"), _fit, _energy)
SOFTMAX_STAGE = Stage(2, lambda: gettext("Share (attention weight)"), everyday_softmax_texts, softmax_texts)
_CONTEXT = Stage(3, lambda: gettext("Mixture (context vector)"), _mixture, _context)
_FIXED_VECTOR = Stage(3, lambda: gettext("One vector for all words"), _short_fixed_vector, _fixed_vector)
_STATE = Stage(4, lambda: gettext("Memory (decoder state)"), _memory, _state)
WORD_STAGE = Stage(5, lambda: gettext("Next word (probability)"), _next_word, _word)


def recurrent_stages(trace: Trace) -> tuple[Stage, ...]:
    """Return the stages of a step of a recurrent translator, in the order of computation.

    Without attention there are three. Where the query is s_i, the state changes first.
    """
    if not trace.attends:
        return _FIXED_VECTOR, _STATE, WORD_STAGE
    if trace.queries_previous_state:
        return ENERGY_STAGE, SOFTMAX_STAGE, _CONTEXT, _STATE, WORD_STAGE
    return _STATE, ENERGY_STAGE, SOFTMAX_STAGE, _CONTEXT, WORD_STAGE


def step_sentence(trace: Record, step: int, *, simple: bool = False) -> str:
    """Return what happened at 0-based `step`, in everyday words if `simple`."""
    piece, share = trace.target_pieces[step], percent(trace.probabilities[step])
    name, forced = quoted_name(piece), was_forced(trace, step)
    if not simple:
        return gettext(
            "After {before}, the decoder was forced to write {chosen}, which had probability {p}."
            if forced
            else "After {before}, the decoder wrote {chosen} with probability {p}.",
            before=quoted_name(trace.previous_pieces[step]),
            chosen=name,
            p=share,
        )
    sentence = gettext(
        "You forced {name}; the translator gave it a probability of {share}."
        if forced
        else "The translator ends the sentence; {name} had a probability of {share}."
        if piece == "</s>"
        else "The translator writes {name}, which had a probability of {share}.",
        name=name,
        share=share,
    )
    if forced or piece == "</s>" or trace.search.method != "beam" or trace.top_ids[step][0] == trace.target_ids[step]:
        return sentence
    first, likeliest = trace.top(step, 1)[0]
    reason = gettext(
        "{other} was more likely ({share}), but the search compares whole sentences.",
        other=capitalised(quoted_name(first)),
        share=percent(likeliest),
    )
    return f"{sentence} {reason}"


def was_forced(trace: Record, step: int) -> bool:
    """Return whether the piece of 0-based `step` was forced, and not only kept by a change at a later step."""
    return trace.search.method == "forced" or any(
        isinstance(one, ForceWords) and step in one.steps and not one.kept for one in trace.interventions
    )


def diagram_alt(trace: Trace, step: int, stages: Iterable[StageText]) -> str:
    """Return the text alternative of the diagram at 0-based `step`: the encoder, then the outcome of each stage."""
    start = gettext(
        "The architecture diagram at step {step} of {count}.", step=step + 1, count=len(trace.target_pieces)
    )
    encoder_sentence = gettext(
        "The encoder has read {count} English pieces in both directions; each piece has an annotation.",
        count=len(trace.source_pieces),
    )
    outcomes = (gettext("{title}: {outcome}.", title=stage.title, outcome=stage.outcome) for stage in stages)
    return " ".join([start, encoder_sentence, *outcomes])
