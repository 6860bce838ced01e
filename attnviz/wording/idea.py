"""The stages of a decoder step in everyday words, without formulas, and a card for each term."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from attnviz.analysis.measures import is_uniform, strongest_words, weight_order
from attnviz.languages import gettext, ngettext
from attnviz.text import join_pieces
from attnviz.trace import Record, Recurrent, Seq2SeqTrace, Trace, TransformerTrace
from attnviz.trace.aligned import AttentionMatrix
from attnviz.trace.transformer_trace import Head
from attnviz.wording.labels import everyday_name, quote, shorten
from attnviz.wording.numbers import percent, thousands
from attnviz.wording.stages import MOST, Stage, capitalised, was_forced, word_outcome
from attnviz.wording.what_if import interventions_text


def idea_titles(trace: Trace | Seq2SeqTrace) -> dict[int, str]:
    """Return the everyday name and the term of each stage, in order; without attention only the last three."""
    titles = {
        3: gettext("Mixture (context vector)") if trace.attends else gettext("One vector for all words"),
        4: gettext("Memory (decoder state)"),
        5: gettext("Next word (probability)"),
    }
    if not trace.attends:
        return titles
    attention_titles = {1: gettext("Fit (energy)"), 2: gettext("Share (attention weight)")}
    if not trace.queries_previous_state:
        return {4: titles.pop(4)} | attention_titles | titles
    return attention_titles | titles


def idea_stages(trace: Trace | Seq2SeqTrace, step: int) -> tuple[Stage, ...]:
    """Return the stages of 0-based `step` in everyday words: those of `idea_titles`."""
    functions: dict[int, Callable[[Any, int], tuple[str, str]]] = {
        1: _energy_stage,
        2: _attention_stage,
        3: _mixture_stage if trace.attends else _fixed_vector_stage,
        4: _state_stage,
        5: written_word_stage,
    }
    return tuple(Stage(number, title, *functions[number](trace, step)) for number, title in idea_titles(trace).items())


def idea_sentence(trace: Record, step: int, blank: str) -> str:
    """Return what happened at 0-based `step`; `blank` names a piece that is only a space."""
    piece, share = trace.target_pieces[step], percent(float(trace.probabilities[step]))
    name = everyday_name(piece) if join_pieces([piece]) else blank
    if was_forced(trace, step):
        return gettext("You forced {name}; the translator gave it a probability of {share}.", name=name, share=share)
    if piece == "</s>":
        return gettext("The translator ends the sentence; the end mark had a probability of {share}.", share=share)
    sentence = gettext("The translator writes {name}, which had a probability of {share}.", name=name, share=share)
    first, likeliest = trace.top(step, 1)[0]
    if trace.search.method != "beam" or int(trace.top_ids[step][0]) == int(trace.target_ids[step]):
        return sentence
    reason = gettext(
        "{other} was more likely ({share}), but the search compares whole sentences.",
        other=capitalised(everyday_name(first)),
        share=percent(likeliest),
    )
    return f"{sentence} {reason}"


def attention_sentence(trace: AttentionMatrix, step: int) -> str:
    """Return how the attention of 0-based `step` is divided among the source pieces."""
    order, alpha = weight_order(trace, step), trace.alignment[step]
    if len(order) == 1:
        return gettext("There is only one piece to look at: it gets all the attention.")
    names = [everyday_name(trace.source_pieces[j]) for j in order[:2]]
    return gettext(
        "The translator’s attention always adds up to 100\u00a0%. A piece that fits better than the others gets a "
        "much larger share: {name} gets {share}, {next} gets {less}.",
        name=names[0],
        share=percent(float(alpha[order[0]])),
        next=names[1],
        less=percent(float(alpha[order[1]])),
    )


def _energy_stage(trace: Recurrent, step: int) -> tuple[str, str]:
    best = everyday_name(trace.source_pieces[int(trace.energies[step].argmax())])
    sentence = gettext(
        "Before writing, the translator compares its state with each English piece. The longer the bar of a piece, "
        "the better this piece fits the state. {name} fits the state best.",
        name=capitalised(best),
    )
    return sentence, gettext("{name} fits best", name=capitalised(best))


def _attention_stage(trace: Recurrent, step: int) -> tuple[str, str]:
    order, alpha = weight_order(trace, step), trace.alignment[step]
    best, share = everyday_name(trace.source_pieces[order[0]]), percent(float(alpha[order[0]]))
    if is_uniform(trace, step):
        sentence = gettext("Every English piece gets the same share of the attention: {share}.", share=share)
        return sentence, gettext("every piece gets {share}", share=share)
    outcome = gettext("{name} gets {share}", name=capitalised(best), share=share)
    if len(order) == 1:
        return attention_sentence(trace, step), outcome
    if interventions := interventions_text(trace, step):
        return gettext(
            "Changed by hand: {done}. Now {name} gets {share} of the attention.",
            done=interventions,
            name=best,
            share=share,
        ), outcome
    if not trace.attends_once:
        return attention_sentence(trace, step), outcome
    invitation = gettext("Change a bar (drag it, or press ← → on it) and watch how the translation changes.")
    return f"{attention_sentence(trace, step)} {invitation}", outcome


def _mixture_stage(trace: Recurrent, step: int) -> tuple[str, str]:
    order, alpha = weight_order(trace, step), trace.alignment[step]
    sums = np.cumsum(alpha[order])
    needed = min(int(np.searchsorted(sums, MOST)) + 1, len(order))
    parts = [f"{percent(float(alpha[j]))} {everyday_name(trace.source_pieces[j])}" for j in order[:3]]
    values = {"units": trace.contexts.shape[1], "parts": ", ".join(parts) + (" …" if len(order) > 3 else ".")}
    if trace.reads_backwards:
        sentence = gettext(
            "Each English piece has an annotation: a list of {units} numbers, computed while reading the sentence "
            "from both ends. The translator mixes the annotations in proportion to its attention: {parts}",
            **values,
        )
    else:
        sentence = gettext(
            "Each English piece has an annotation: a list of {units} numbers, computed while reading the sentence up "
            "to this piece. The translator mixes the annotations in proportion to its attention: {parts}",
            **values,
        )
    if is_uniform(trace, step):
        return sentence, gettext("{count} pieces in equal parts", count=len(order))
    share = percent(min(float(sums[needed - 1]), 1))
    if needed == 1:
        return sentence, gettext("One piece makes up {share}", share=share)
    return sentence, gettext("{count} pieces make up {share}", share=share, count=needed)


def _fixed_vector_stage(trace: Trace, step: int) -> tuple[str, str]:  # noqa: ARG001  the same for all steps
    sentence = gettext(
        "This translator reads the sentence once and cannot look back at it. One list of {units} numbers must "
        "hold the whole sentence. Every French word gets the same list.",
        units=trace.contexts.shape[1],
    )
    return sentence, gettext("the same vector at every step")


def _state_stage(trace: Trace | Seq2SeqTrace, step: int) -> tuple[str, str]:
    kept_share = float(trace.kept_shares[step].mean())
    shares = {"kept": percent(kept_share), "new": percent(1 - kept_share)}
    previous_piece = trace.previous_pieces[step]
    last = gettext("the start mark") if previous_piece == "<s>" else everyday_name(previous_piece)
    if not trace.queries_previous_state:
        sentence = gettext(
            "The translator’s state is a list of {count} numbers. Before it looks at the sentence, the translator "
            "updates its state from the last piece, {last}. On average, the translator keeps {kept} of each number, "
            "and {new} is new.",
            count=trace.states.shape[1],
            last=last,
            **shares,
        )
        return sentence, gettext("{kept} kept, {new} new", **shares)
    sentence = gettext(
        "The translator’s state is a list of {count} numbers. The translator updates its state with what it takes "
        "from the sentence and with the last piece, {last}. On average, the translator keeps {kept} of each number, "
        "and {new} is new.",
        count=trace.states.shape[1],
        last=last,
        **shares,
    )
    if not trace.reads_new_state:
        sentence += " " + gettext("The new state affects only later words; this word depends on the old state.")
    return sentence, gettext("{kept} kept, {new} new", **shares)


def written_word_stage(trace: Record, step: int) -> tuple[str, str]:
    """Return a sentence on the piece of 0-based `step` and its strongest competitor, and the outcome."""
    word, p = everyday_name(trace.target_pieces[step]), percent(float(trace.probabilities[step]))
    first, likeliest = trace.top(step, 1)[0]
    if int(trace.top_ids[step][0]) != int(trace.target_ids[step]):
        values = {"word": word, "p": p, "other": everyday_name(first), "q": percent(likeliest)}
        if was_forced(trace, step):
            rest = gettext("You forced {word} ({p}); the model preferred {other} ({q}).", **values)
        else:
            rest = gettext("The translator took {word} ({p}), although {other} was more likely ({q}).", **values)
    elif trace.top_ids.shape[1] == 1:
        rest = gettext("{word} has a probability of {p}.", word=capitalised(word), p=p)
    else:
        second, less = trace.top(step, 2)[1]
        rest = gettext(
            "{word} is most likely with {p}, followed by {other} with {q}.",
            word=capitalised(word),
            p=p,
            other=everyday_name(second),
            q=percent(less),
        )
    vocabulary_size = thousands(int(trace.config["vocabulary_size"]))
    start = gettext("Each of the {count} pieces that the translator knows gets a probability.", count=vocabulary_size)
    return f"{start} {rest}", word_outcome(trace, step, everyday_name)


Drawing = Literal["piece", "annotation", "energy", "weight", "context", "state", "probability"]


@dataclass(frozen=True)
class TermCard:
    """The explanation of a term."""

    name: str
    forms: str
    """Words that stand for the term in a sentence, separated by |."""
    sentence: str
    drawing: Drawing
    """Name of the drawing, in `ui/components/terms/card.js`."""
    stage: int | None = None
    """Number of the stage that computes it."""


def _cell_sentence(trace: Recurrent) -> str:
    if trace.config.get("cell") == "lstm":
        return gettext("A gated LSTM (long short-term memory) computes the state.")
    return gettext("A gated recurrent unit (GRU) computes the state.")


def _maxout_sentence() -> str:
    return gettext("Before the probabilities, a maxout layer keeps the larger number of each pair.")


def recurrent_terms(trace: Recurrent) -> tuple[TermCard, ...]:
    """Return the terms of a recurrent translator; those of attention only where it has attention."""
    cards = (
        TermCard(
            gettext("Piece"),
            gettext("piece|pieces"),
            gettext("A frequent word, or a part of a rarer word. The translator reads and writes pieces."),
            "piece",
        ),
        TermCard(
            gettext("Memory (decoder state)"),
            gettext("state"),
            gettext("The translator’s memory, a list of numbers that changes every step.")
            + " "
            + _cell_sentence(trace),
            "state",
            4,
        ),
        TermCard(
            gettext("Probability"),
            gettext("probability|probabilities"),
            gettext("How likely a piece is to come next. The probabilities of all pieces add up to 100 %.")
            + ("" if trace.imported else f" {_maxout_sentence()}"),
            "probability",
            5,
        ),
    )
    if not trace.attends:
        return cards
    return (
        *cards,
        TermCard(
            gettext("Annotation"),
            gettext("annotation|annotations"),
            gettext("The list of numbers for one English piece, computed while reading the sentence from both ends.")
            if trace.reads_backwards
            else gettext("The list of numbers for one English piece, computed while reading up to this piece."),
            "annotation",
        ),
        TermCard(
            gettext("Fit (energy)"),
            gettext("energy|energies"),
            gettext(
                "A number for each English piece: how well its annotation fits the translator’s state. A higher "
                "energy means more attention."
            ),
            "energy",
            1,
        ),
        TermCard(
            gettext("Share (attention weight)"),
            gettext("attention|attention weight"),
            gettext("One English piece’s share of attention. At every step, the shares of all pieces total 100 %."),
            "weight",
            2,
        ),
        TermCard(
            gettext("Mixture (context vector)"),
            gettext("mixture|mixtures|context vector"),
            gettext("The sum of all annotations, each multiplied by its share. Every step has its own sum."),
            "context",
            3,
        ),
    )


def transformer_idea_titles(_: TransformerTrace) -> dict[int, str]:
    """Return everyday names of the stages of a transformer's step."""
    return {
        1: gettext("Fit (energy)"),
        2: gettext("Share (attention weight)"),
        3: gettext("Many heads at once"),
        4: gettext("Memory (residual stream)"),
        5: gettext("Next word (probability)"),
    }


def transformer_idea_stages(trace: TransformerTrace, step: int) -> tuple[Stage, ...]:
    """Return the stages of 0-based `step` in everyday words: those of `transformer_idea_titles`."""
    opened = trace.displayed
    stages = {
        1: _heads_energy_stage(trace, opened, step),
        2: _heads_attention_stage(trace, opened, step),
        3: _heads_stage(trace, opened, step),
        4: _stream_stage(opened, step),
        5: written_word_stage(trace, step),
    }
    return tuple(Stage(number, title, *stages[number]) for number, title in transformer_idea_titles(trace).items())


def added_name(block: str, layer: int) -> str:
    """Return in everyday words what a `block` (of `Head.blocks`) of a 1-based decoder `layer` adds."""
    if block == "attention":
        return gettext("layer {layer}: French words", layer=layer)
    if block == "cross":
        return gettext("layer {layer}: the sentence", layer=layer)
    return gettext("layer {layer}: computation", layer=layer)


def _heads_energy_stage(trace: TransformerTrace, opened: Head, step: int) -> tuple[str, str]:
    best = capitalised(everyday_name(opened.source_pieces[int(opened.energies[step].argmax())]))
    outcome = gettext("{name} fits best", name=best)
    rest = gettext(
        "The longer the bar of a piece, the better it fits what the head looks for: {name} fits best.",
        name=best,
    )
    count = trace.cross_alignment.shape[0] * trace.cross_alignment.shape[1]
    if count == 1:
        return rest, outcome
    if trace.heads.head is None:
        which = gettext(
            "Before each piece, the {count} heads of a transformer look at the sentence, each on its own. The "
            "bars show the head most similar to the heatmap.",
            count=count,
        )
    else:
        which = gettext(
            "Before each piece, the {count} heads of a transformer look at the sentence, each on its own. The "
            "bars and the heatmap show the same head.",
            count=count,
        )
    return f"{which} {rest}", outcome


def _heads_attention_stage(trace: TransformerTrace, opened: Head, step: int) -> tuple[str, str]:
    order, alpha = weight_order(opened, step), opened.alignment[step]
    share = percent(float(alpha[order[0]]))
    outcome = gettext(
        "{name} gets {share} of the attention",
        name=capitalised(everyday_name(opened.source_pieces[order[0]])),
        share=share,
    )
    heads = trace.cross_alignment.shape[0] * trace.cross_alignment.shape[1]
    if trace.heads.head is None and heads > 1:
        outcome = gettext(
            "{look} in this head, {share} on average over {count} heads",
            look=outcome,
            count=heads,
            share=percent(float(trace.alignment[step, order[0]])),
        )
    return attention_sentence(opened, step), outcome


def _heads_stage(trace: TransformerTrace, opened: Head, step: int) -> tuple[str, str]:
    layers, heads = trace.cross_alignment.shape[:2]
    order, alpha = weight_order(opened, step), opened.alignment[step]
    parts = ", ".join(f"{percent(float(alpha[j]))} {everyday_name(opened.source_pieces[j])}" for j in order[:3])
    head_sentence = gettext(
        "A head takes more information from the English pieces that get more of its attention. This head takes {parts}",
        parts=parts + (" …" if len(order) > 3 else "."),
    )
    most = strongest_words(trace, step)
    word = int(most[opened.layer, opened.head])
    outcome = ngettext(
        "{count} of {all} heads looks most at {word}",
        "{count} of {all} heads look most at {word}",
        int((most == word).sum()),
        all=most.size,
        word=quote(shorten(trace.words().source[word], 30)),
    )
    if most.size == 1:
        return head_sentence, outcome
    rest = gettext(
        "Each row below is one head ({layers} layers with {heads} heads each). Each column is an English word. A "
        "brighter cell means more attention to that word. The frame marks the head described above. The decoder "
        "combines the results of all heads.",
        layers=layers,
        heads=heads,
    )
    return f"{head_sentence} {rest}", outcome


def _stream_stage(opened: Head, step: int) -> tuple[str, str]:
    lengths = np.linalg.norm(opened.added[:, step], axis=1)
    layer, block = divmod(int(lengths.argmax()), len(opened.blocks))
    previous_piece = opened.record.previous_pieces[step]
    last = gettext("the start mark") if previous_piece == "<s>" else everyday_name(previous_piece)
    most = added_name(opened.blocks[block], layer + 1)
    sentence = gettext(
        "The decoder works on a list of {count} numbers, the residual stream. The list starts as the embedding of the "
        "last piece written ({last}), and nothing in this list is erased. Each layer adds three things: what it saw "
        "in the French words already written, what it saw in the English sentence, and what it computes from both. "
        "Each bar shows one added part: the longer the bar, the larger the part.",
        count=opened.streams.shape[2],
        last=last,
    )
    return sentence, gettext("largest addition ({most})", most=most)
