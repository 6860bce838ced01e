"""The stages of a transformer's decoder step in words, for the displayed head; and names of heads."""

from __future__ import annotations

import numpy as np

from attnviz.analysis.heads import OpenHead, open_head
from attnviz.analysis.measures import weight_order
from attnviz.languages import gettext
from attnviz.trace import TransformerTrace
from attnviz.trace.parts import Heads
from attnviz.wording.labels import quoted_name, subscript, word_share_text
from attnviz.wording.numbers import decimal, percent, shown_difference
from attnviz.wording.stages import Stage, capitalised, context_shares, times, word_choice_texts


def head_stage_titles(_: TransformerTrace) -> dict[int, str]:
    """Return the names of the stages of a step."""
    return {
        1: gettext("Query meets keys"),
        2: gettext("Softmax"),
        3: gettext("The values are mixed"),
        4: gettext("Added to the residual stream"),
        5: gettext("The word is chosen"),
    }


def narrate_head(trace: TransformerTrace, step: int) -> tuple[Stage, ...]:
    """Return the stages of 0-based `step` in words, for the displayed head: those of `head_stage_titles`."""
    opened = open_head(trace)
    stages = {
        1: _score_stage(trace, opened, step),
        2: _softmax_stage(opened, step),
        3: _value_stage(opened, step),
        4: _stream_stage(opened, step),
        5: _word_stage(trace, step),
    }
    return tuple(Stage(number, title, *stages[number]) for number, title in head_stage_titles(trace).items())


def heads_name(heads: Heads) -> str:
    """Return the name of `heads`: one head, or the mean of a layer's heads or of all."""
    if heads.layer is None:
        return gettext("mean of all heads")
    if heads.head is None:
        return gettext("mean of the heads of layer {layer}", layer=heads.layer + 1)
    return gettext("head {head} of layer {layer}", head=heads.head + 1, layer=heads.layer + 1)


def shown_heads(trace: TransformerTrace) -> str:
    """Return the name of the heads that `trace` selects."""
    return heads_name(trace.heads)


def opened_head_name(opened: OpenHead) -> str:
    """Return the name of the displayed head."""
    return heads_name(Heads(opened.layer, opened.head))


def _score_stage(trace: TransformerTrace, opened: OpenHead, step: int) -> tuple[str, str]:
    best, count = int(opened.scores[step].argmax()), len(trace.source_pieces)
    name, score = quoted_name(trace.source_pieces[best]), decimal(float(opened.scores[step, best]))
    head = opened_head_name(opened)
    if trace.heads.head is None:
        head = gettext(
            "The heatmap shows the {mean}. The stages explain the head closest to this mean: {head}.",
            mean=shown_heads(trace),
            head=head,
        )
    else:
        head = f"{capitalised(head)}."
    sentence = gettext(
        "{which} A head computes one attention distribution of this step. The query of the head says what the "
        "head looks for, and comes from what the decoder has computed so far. Each of the {count} annotations "
        "has a key, with which the query is compared. The score says how well query and key fit. {name} fits "
        "best.",
        which=head,
        count=count,
        name=capitalised(name),
    )
    return sentence, gettext("{name} fits best, s = {score}", name=name, score=score)


def _softmax_stage(opened: OpenHead, step: int) -> tuple[str, str]:
    trace, scores, alpha = opened.trace, opened.scores[step], opened.weights[step]
    order = weight_order(trace, step)
    best = quoted_name(trace.source_pieces[order[0]])
    outcome = gettext("{name} gets {share} of the weight", name=best, share=percent(float(alpha[order[0]])))
    outcome += word_share_text(trace, step, order[0])
    if len(order) == 1:
        return gettext("There is only one piece to look at: it gets all of the weight."), outcome
    lead = shown_difference(scores[order[:2]])
    sentence = gettext(
        "The exponential turns a difference into a ratio: the score of {first} is {lead:.2f} above that of "
        "{second}, so its weight is {times} as large. All weights add up to 1.",
        first=best,
        lead=lead,
        times=times(float(np.exp(lead))),
        second=quoted_name(trace.source_pieces[order[1]]),
    )
    return sentence, outcome


def _value_stage(opened: OpenHead, step: int) -> tuple[str, str]:
    parts, outcome = context_shares(opened.trace, step)
    sentence = gettext(
        "Besides its key, each annotation has a value, a list of {units} numbers. A strip shows a value "
        "multiplied by its weight. The strips add up to {found}, the output of this head: {parts}",
        units=opened.values.shape[1],
        parts=parts,
        found=f"z{subscript(step + 1)}",
    )
    return sentence, outcome


def _stream_stage(opened: OpenHead, step: int) -> tuple[str, str]:
    trace = opened.trace
    terms, streams = opened.added[:, step], opened.streams[:, step]
    lengths = np.linalg.norm(terms, axis=1)
    values = {
        "added": decimal(float(lengths[opened.block])),
        "before": decimal(float(np.linalg.norm(streams[opened.block]))),
        "after": decimal(float(np.linalg.norm(streams[opened.block + 1]))),
    }
    sentence = gettext(
        "A matrix mixes the outputs of the {heads} heads of layer {layer}; the result is added to the residual "
        "stream. The added vector has length (norm) {added}. The stream had length {before} and now has {after}. "
        "Each of the {blocks} blocks of the decoder adds a vector in this way. These vectors and the embedding "
        "add up to the stream from which the word is chosen.",
        heads=trace.cross_weights.shape[1],
        layer=opened.layer + 1,
        blocks=len(terms),
        **values,
    )
    return sentence, gettext(
        "the length of the residual stream goes from {before} to {after}",
        before=values["before"],
        after=values["after"],
    )


def _word_stage(trace: TransformerTrace, step: int) -> tuple[str, str]:
    rest, outcome = word_choice_texts(trace, step)
    start = gettext(
        "The last residual stream is normalised, then compared with the embedding of every piece the model knows."
    )
    return f"{start} {rest}", outcome
