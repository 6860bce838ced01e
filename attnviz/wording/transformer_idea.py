"""The stages of a transformer's decoder step in everyday words, without formulas."""

from __future__ import annotations

import numpy as np

from attnviz.analysis.heads import OpenHead, open_head, strongest_words
from attnviz.analysis.measures import weight_order
from attnviz.languages import gettext, ngettext
from attnviz.trace import TransformerTrace
from attnviz.wording.idea import attention_sentence, written_word_stage
from attnviz.wording.labels import quote, quoted_name, shorten
from attnviz.wording.numbers import percent
from attnviz.wording.stages import Stage, capitalised


def transformer_idea_titles(_: TransformerTrace) -> dict[int, str]:
    """Return everyday names of the stages of a transformer's step."""
    return {
        1: gettext("Fit (score)"),
        2: gettext("Share (attention weight)"),
        3: gettext("Many heads at once"),
        4: gettext("Memory (residual stream)"),
        5: gettext("Next word (probability)"),
    }


def transformer_idea_stages(trace: TransformerTrace, step: int) -> tuple[Stage, ...]:
    """Return the stages of 0-based `step` in everyday words: those of `transformer_idea_titles`."""
    opened = open_head(trace)
    stages = {
        1: _score_stage(trace, opened, step),
        2: _attention_stage(trace, opened, step),
        3: _heads_stage(trace, opened, step),
        4: _stream_stage(opened, step),
        5: written_word_stage(trace, step),
    }
    return tuple(Stage(number, title, *stages[number]) for number, title in transformer_idea_titles(trace).items())


def added_name(block: str, layer: int) -> str:
    """Return in everyday words what a `block` (of `heads.BLOCKS`) of a 1-based decoder `layer` adds."""
    if block == "attention":
        return gettext("layer {layer}: French words", layer=layer)
    if block == "cross":
        return gettext("layer {layer}: the sentence", layer=layer)
    return gettext("layer {layer}: computation", layer=layer)


def _score_stage(trace: TransformerTrace, opened: OpenHead, step: int) -> tuple[str, str]:
    best = capitalised(quoted_name(opened.source_pieces[int(opened.scores[step].argmax())]))
    outcome = gettext("{name} fits best", name=best)
    rest = gettext("The longer the bar of a piece, the better this piece fits. {name} fits best.", name=best)
    count = trace.cross_weights.shape[0] * trace.cross_weights.shape[1]
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


def _attention_stage(trace: TransformerTrace, opened: OpenHead, step: int) -> tuple[str, str]:
    order, alpha = weight_order(opened, step), opened.weights[step]
    share = percent(float(alpha[order[0]]))
    outcome = gettext(
        "{name} gets {share} of the attention",
        name=capitalised(quoted_name(opened.source_pieces[order[0]])),
        share=share,
    )
    heads = trace.cross_weights.shape[0] * trace.cross_weights.shape[1]
    if trace.heads.head is None and heads > 1:
        outcome = gettext(
            "{look}; mean of all {count} heads: {share}",
            look=outcome,
            count=heads,
            share=percent(float(trace.alignment[step, order[0]])),
        )
    return attention_sentence(opened, step), outcome


def _heads_stage(trace: TransformerTrace, opened: OpenHead, step: int) -> tuple[str, str]:
    layers, heads = trace.cross_weights.shape[:2]
    order, alpha = weight_order(opened, step), opened.weights[step]
    parts = ", ".join(f"{percent(float(alpha[j]))} {quoted_name(opened.source_pieces[j])}" for j in order[:3])
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


def _stream_stage(opened: OpenHead, step: int) -> tuple[str, str]:
    lengths = np.linalg.norm(opened.added[:, step], axis=1)
    layer, block = divmod(int(lengths.argmax()), len(opened.blocks))
    previous_piece = opened.trace.previous_pieces[step]
    last = gettext("the start mark") if previous_piece == "<s>" else quoted_name(previous_piece)
    most = added_name(opened.blocks[block], layer + 1)
    sentence = gettext(
        "The decoder works on a list of {count} numbers, the residual stream. The list starts as the embedding "
        "of the last piece written ({last}), and nothing in this list is erased. Each layer adds three things: "
        "what it saw in the French words already written, what it saw in the English sentence, and what it "
        "computes from both. A longer bar means that the layer added more.",
        count=opened.streams.shape[2],
        last=last,
    )
    return sentence, gettext("largest addition ({most})", most=most)
