"""The stages of a decoder step in words: a sentence and an outcome for each, from energies to the written word.

The stages are those of RNNsearch; other architectures reuse some of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from attnviz.analysis.measures import is_uniform, weight_order
from attnviz.analysis.recomputation import softmax
from attnviz.languages import gettext
from attnviz.text import join_pieces
from attnviz.trace import Record, Recurrent, Trace
from attnviz.trace.aligned import AttentionMatrix
from attnviz.trace.interventions import ForceWord
from attnviz.trace.transformer_trace import Head
from attnviz.wording.labels import quoted_name, subscript, word_share_text
from attnviz.wording.numbers import decimal, percent, shown_difference
from attnviz.wording.scorers import texts_of
from attnviz.wording.what_if import interventions_text

MOST = 0.9
"""Share of a context vector whose pieces count as most of it."""


@dataclass(frozen=True)
class Stage:
    """A stage of one step in words. All of it is plain text, which may contain user input."""

    number: int
    title: str
    sentence: str
    outcome: str
    """Result of the stage, in a few words."""


Narration = dict[int, tuple[Stage, ...]]
"""Stages by 0-based step."""


def stage_titles(trace: Trace) -> dict[int, str]:
    """Return the names of the stages of a step of `trace`; without attention only the last three."""
    if not trace.attends:
        return {
            3: gettext("A single vector for all steps"),
            4: gettext("The state moves"),
            5: gettext("The word is chosen"),
        }
    return {
        1: gettext("Query meets keys"),
        2: gettext("Softmax"),
        3: gettext("The context vector is built"),
        4: gettext("The state moves"),
        5: gettext("The word is chosen"),
    }


def narrate(trace: Trace, step: int) -> tuple[Stage, ...]:
    """Return the stages of 0-based `step` in words: those of `stage_titles`."""
    functions: dict[int, Callable[[Trace, int], tuple[str, str]]] = {
        1: energy_stage,
        2: softmax_stage,
        3: context_stage if trace.attends else _fixed_context_stage,
        4: _state_stage,
        5: _word_stage,
    }
    return tuple(Stage(number, title, *functions[number](trace, step)) for number, title in stage_titles(trace).items())


def step_sentence(trace: Record, step: int, blank: str) -> str:
    """Return what happened at 0-based `step`; `blank` names a piece that is only a space."""
    pieces = (trace.previous_pieces[step], trace.target_pieces[step])
    before, chosen = (quoted_name(piece) if join_pieces([piece]) else blank for piece in pieces)
    values = {"before": before, "chosen": chosen, "p": _probability(float(trace.probabilities[step]))}
    if was_forced(trace, step):
        return gettext("After {before}, the decoder was forced to write {chosen}, which had probability {p}.", **values)
    return gettext("After {before}, the decoder wrote {chosen} with probability {p}.", **values)


def _probability(p: float) -> str:
    """Return a probability with three decimal places; 0 and 1 only where exact."""
    if 0 < p < 0.0005:
        return gettext("less than {share}", share=decimal(0.001, 3))
    return gettext("more than {share}", share=decimal(0.999, 3)) if 0.9995 <= p < 1 else decimal(p, 3)


def energy_stage(trace: Recurrent, step: int) -> tuple[str, str]:
    """Return how query and keys make the energies of 0-based `step`, and which key fits best."""
    best, count = int(trace.energies[step].argmax()), len(trace.source_pieces)
    name, energy = quoted_name(trace.source_pieces[best]), decimal(float(trace.energies[step, best]))
    values: dict[str, object] = {"count": count, "name": capitalised(name)}
    if not trace.queries_previous_state:
        sentence = gettext(
            "Each of the {count} pieces has an annotation (its description by the encoder) and a key. The "
            "query is the updated state, {state}. The energy of a piece is one number: how well its key fits the "
            "query. {name} fits best.",
            state=f"s{subscript(step + 1)}",
            **values,
        )
    elif trace.config.get("query") == "joined":
        sentence = gettext(
            "Each of the {count} pieces has an annotation (its description by the encoder) and a key. The "
            "query joins the previous word and the decoder state before this word, {state}. The energy of a piece is "
            "one number: how well its key fits the query. {name} fits best. The model also attends to the "
            "empty positions, <pad>.",
            state=f"s{subscript(step)}",
            **values,
        )
    else:
        sentence = gettext(
            "Each of the {count} pieces has an annotation (its description by the encoder) and a key. The "
            "query is the decoder state before this word, {state}. The energy of a piece is one number: how well its "
            "key fits the query. {name} fits best.",
            state=f"s{subscript(step)}",
            **values,
        )
    sentence = f"{sentence} {texts_of(trace.config['attention']).more}".strip()
    return sentence, gettext("{name} fits best, e = {energy}", name=name, energy=energy)


def softmax_stage(trace: Recurrent | Head, step: int) -> tuple[str, str]:
    """Return how the energies of 0-based `step` become weights, and which is largest."""
    order, alpha = weight_order(trace, step), trace.alignment[step]
    best = quoted_name(trace.source_pieces[order[0]])
    if is_uniform(trace, step):
        outcome = gettext("every piece gets {share} of the weight", share=percent(float(alpha[order[0]])))
    else:
        outcome = gettext("{name} gets {share} of the weight", name=best, share=percent(float(alpha[order[0]])))
        outcome += word_share_text(trace, step, order[0])
    if len(order) == 1:
        return gettext("There is only one piece to look at: it gets all of the weight."), outcome
    interventions = interventions_text(trace, step)
    if interventions:
        original_share = float(softmax(trace.energies[step].astype(np.float64))[order[0]])
        sentence = gettext(
            "Changed by hand: {done}. So {first} has {share} of the weight, instead of {own} without the change. All "
            "weights add up to 1.",
            done=interventions,
            first=best,
            share=percent(float(alpha[order[0]])),
            own=percent(original_share),
        )
        return sentence, outcome
    lead = shown_difference(trace.energies[step, order[:2]])
    sentence = gettext(
        "The exponential turns a difference of energies into a ratio of weights. The energy of {first} is {lead:.2f} "
        "above that of {second}, so the weight of {first} is {times} that of {second}. All weights add up to 1.",
        first=best,
        lead=lead,
        second=quoted_name(trace.source_pieces[order[1]]),
        times=times(float(np.exp(lead))),
    )
    return sentence, outcome


def context_stage(trace: Recurrent, step: int) -> tuple[str, str]:
    """Return the source pieces in the context of 0-based `step`, and how few make up most of it."""
    parts, outcome = context_shares(trace, step)
    sentence = gettext(
        "Each strip is an annotation multiplied by its weight. The sum of the strips is the context vector {context}, "
        "which represents the source at this step: {parts}",
        context=f"c{subscript(step + 1)}",
        parts=parts,
    )
    return sentence, outcome


def context_shares(trace: AttentionMatrix, step: int) -> tuple[str, str]:
    """Return the shares of the strongest pieces in the context of 0-based `step`, and how few make up most of it."""
    order, alpha = weight_order(trace, step), trace.alignment[step]
    sums = np.cumsum(alpha[order])
    needed_pieces = min(int(np.searchsorted(sums, MOST)) + 1, len(order))
    share = percent(min(float(sums[needed_pieces - 1]), 1))
    parts = [f"{percent(float(alpha[j]))} {quoted_name(trace.source_pieces[j])}" for j in order[:3]]
    parts_text = ", ".join(parts) + (" …" if len(order) > 3 else ".")
    if needed_pieces == 1:
        return parts_text, gettext("1 piece gets {share} of the weight", share=share)
    return parts_text, gettext("{count} pieces together get {share} of the weight", count=needed_pieces, share=share)


def _fixed_context_stage(trace: Trace, step: int) -> tuple[str, str]:
    sentence = gettext(
        "This model has no attention. The context vector {context} is the same at every step: the encoder’s state "
        "after the last of {count} pieces. The whole sentence must fit into one vector.",
        context=f"c{subscript(step + 1)}",
        count=len(trace.source_pieces),
    )
    return sentence, gettext("the same vector at every step")


def _state_stage(trace: Trace, step: int) -> tuple[str, str]:
    kept_share = float(trace.update_gates[step].mean())
    before, after = trace.previous_states[step], trace.states[step]
    unit = int(np.abs(after - before).argmax())
    shares = {"kept": percent(kept_share), "new": percent(1 - kept_share)}
    sentence = gettext(
        "On average over {count} units, the state keeps {kept} of its old value and takes {new} from the candidate. "
        "The candidate is made from {piece} and {context}. Unit {unit} of the state changed most, from {before} to "
        "{after}.",
        count=len(after),
        piece=quoted_name(trace.previous_pieces[step]),
        context=f"c{subscript(step + 1)}",
        unit=unit + 1,
        before=decimal(float(before[unit])),
        after=decimal(float(after[unit])),
        **shares,
    )
    return sentence, gettext("{kept} of the state kept, {new} rewritten", **shares)


def _word_stage(trace: Trace, step: int) -> tuple[str, str]:
    start = gettext(
        "Maxout keeps the larger unit of each of {count} pairs. The units that maxout keeps determine the logit of "
        "every word.",
        count=len(trace.readouts[step]),
    )
    rest, outcome = word_choice_texts(trace, step)
    return f"{start} {rest}", outcome


def word_choice_texts(trace: Record, step: int) -> tuple[str, str]:
    """Return a sentence on the word of 0-based `step` and its strongest competitor, and the outcome."""
    word, p = quoted_name(trace.target_pieces[step]), float(trace.probabilities[step])
    first, likeliest = trace.top(step, 1)[0]
    if int(trace.top_ids[step][0]) != int(trace.target_ids[step]):
        values = {"word": word, "p": percent(p), "other": quoted_name(first), "q": percent(likeliest)}
        if was_forced(trace, step):
            rest = gettext("You forced {word} ({p}); the model preferred {other} ({q}).", **values)
        else:
            rest = gettext("The search chose {word} ({p}), although {other} was more likely ({q}).", **values)
    elif trace.top_ids.shape[1] == 1:
        rest = gettext("{word} has a probability of {p}.", word=capitalised(word), p=percent(p))
    else:
        second, less = trace.top(step, 2)[1]
        rest = gettext(
            "{word} is most likely with {p}, followed by {other} with {q}.",
            word=capitalised(word),
            p=percent(p),
            other=quoted_name(second),
            q=percent(less),
        )
    return rest, word_outcome(trace, step)


def word_outcome(trace: Record, step: int, name: Callable[[str], str] = quoted_name) -> str:
    """Return the `name` of the piece of 0-based `step` with its probability, and whether it was forced."""
    word, p = name(trace.target_pieces[step]), percent(float(trace.probabilities[step]))
    return gettext("{word} (forced), {p}", word=word, p=p) if was_forced(trace, step) else f"{word}, {p}"


def was_forced(trace: Record, step: int) -> bool:
    """Return whether the piece of 0-based `step` was forced, and not only kept by a change at a later step."""
    return trace.search.method == "forced" or any(
        isinstance(one, ForceWord) and one.step == step and not one.kept for one in trace.interventions
    )


def times(ratio: float) -> str:
    """Return a ratio as "… times"."""
    if ratio >= 1000:
        return gettext("more than 1000 times")
    return gettext("{ratio} times", ratio=decimal(ratio, 0 if ratio >= 9.95 else 1))


def capitalised(text: str) -> str:
    """Return `text` with its first letter capitalised."""
    return text[:1].upper() + text[1:]
