"""Texts of a transformer: names and labels of heads, the stages of a step, and a head's equations with numbers."""

from __future__ import annotations

import numpy as np

from attnviz.analysis.equations import (
    Equation,
    Texts,
    exponentials,
    softmax_equation,
    summands,
    written_piece_texts,
)
from attnviz.analysis.heads import (
    HeadTrace,
    head_trace,
)
from attnviz.analysis.labels import (
    quoted_name,
    subscript,
    word_share_text,
)
from attnviz.analysis.measures import weight_order
from attnviz.analysis.numbers import (
    aligned,
    coloured,
    decimal,
    number,
    percent,
    shown_difference,
    vector,
)
from attnviz.analysis.stages import (
    Stage,
    capitalised,
    context_shares,
    times,
    word_choice_texts,
)
from attnviz.languages import gettext
from attnviz.palette import (
    Palette,
    ThemeName,
    palette,
)
from attnviz.trace import TransformerTrace
from attnviz.trace.parts import Heads, Kind


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
    opened = head_trace(trace)
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


def opened_head_name(opened: HeadTrace) -> str:
    """Return the name of the displayed head."""
    return heads_name(Heads(opened.layer, opened.head))


def _score_stage(trace: TransformerTrace, opened: HeadTrace, step: int) -> tuple[str, str]:
    best, count = int(opened.scores[step].argmax()), len(trace.source_pieces)
    name, score = quoted_name(trace.source_pieces[best]), decimal(float(opened.scores[step, best]))
    head = opened_head_name(opened)
    if trace.heads.head is None:
        head = gettext(
            "The heatmap shows the {mean}. The stages of the step explain the head closest to the mean: {head}.",
            mean=shown_heads(trace),
            head=head,
        )
    else:
        head = f"{capitalised(head)}."
    sentence = gettext(
        "{which} A head computes one attention distribution of this step. The query, computed from the decoder’s "
        "residual stream, says what the head looks for. Each of the {count} annotations has a key, with which the "
        "query is compared. The score says how well query and key fit. {name} fits the query best.",
        which=head,
        count=count,
        name=capitalised(name),
    )
    return sentence, gettext("{name} fits best, s = {score}", name=name, score=score)


def _softmax_stage(opened: HeadTrace, step: int) -> tuple[str, str]:
    trace, scores, alpha = opened.trace, opened.scores[step], opened.weights[step]
    order = weight_order(trace, step)
    best = quoted_name(trace.source_pieces[order[0]])
    outcome = gettext("{name} gets {share} of the weight", name=best, share=percent(float(alpha[order[0]])))
    outcome += word_share_text(trace, step, order[0])
    if len(order) == 1:
        return gettext("There is only one piece to look at: it gets all of the weight."), outcome
    lead = shown_difference(scores[order[:2]])
    sentence = gettext(
        "The exponential turns a difference of scores into a ratio of weights. The score of {first} is {lead:.2f} "
        "above that of {second}, so the weight of {first} is {times} that of {second}. All weights add up to 1.",
        first=best,
        lead=lead,
        times=times(float(np.exp(lead))),
        second=quoted_name(trace.source_pieces[order[1]]),
    )
    return sentence, outcome


def _value_stage(opened: HeadTrace, step: int) -> tuple[str, str]:
    parts, outcome = context_shares(opened.trace, step)
    sentence = gettext(
        "Besides its key, each annotation has a value, a list of {units} numbers. A strip shows a value "
        "multiplied by its weight. The strips add up to {found}, the output of this head: {parts}",
        units=opened.values.shape[1],
        parts=parts,
        found=f"z{subscript(step + 1)}",
    )
    return sentence, outcome


def _stream_stage(opened: HeadTrace, step: int) -> tuple[str, str]:
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
        "stream. The added vector has length (norm) {added}. The residual stream had length {before} and now has "
        "length {after}. Each of the {blocks} sub-layers of the decoder adds a vector to the residual stream. The "
        "word is chosen from the sum of the embedding and all added vectors.",
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


def head_equations(trace: TransformerTrace, theme: ThemeName = "light") -> tuple[Equation, ...]:
    """Return the equation templates of all steps, in order: scores, softmax, values, stream, word.

    `head_texts_of_step`, `head_texts_of_source` and `head_texts_of_cells` of the key piece fill them.
    """
    return (*opened_equations(head_trace(trace), theme), _word_equation(palette(theme)))


def opened_equations(opened: HeadTrace, theme: ThemeName = "light") -> tuple[Equation, ...]:
    """Return the equation templates of one head of any kind: scores, softmax, values, stream.

    `opened_texts_of_step`, `head_texts_of_source` and `head_texts_of_cells` of the key piece fill them.
    """
    colours = palette(theme)
    note = gettext("Softmax turns scores into positive weights that add up to 1.")
    return (
        _score_equation(opened, colours),
        softmax_equation(opened, note, _last_key(opened)),
        _value_equation(opened, colours),
        _stream_equation(opened, colours),
    )


def head_texts_of_step(trace: TransformerTrace, step: int, theme: ThemeName = "light") -> Texts:
    """Return the texts of 0-based `step` that hold for all source pieces."""
    return opened_texts_of_step(head_trace(trace), step, theme) | written_piece_texts(trace, step)


def opened_texts_of_step(opened: HeadTrace, step: int, theme: ThemeName = "light") -> Texts:
    """Return the texts of a head's 0-based row `step` that hold for all keys."""
    streams, key_count = opened.streams[:, step], opened.visible_key_count(step)
    return {
        "i": str(step + 1),
        "symbol": "s",
        "query": vector(opened.queries[step]),
        "exponentials": exponentials(opened.scores[step, :key_count].astype(float)),
        "summands": summands(opened.weights[step, :key_count], "v", palette(theme)),
        "output": vector(opened.outputs[step]),
        "before": vector(streams[opened.block]),
        "added": vector(opened.added[opened.block, step]),
        "after": vector(streams[opened.block + 1]),
    }


def head_texts_of_source(trace_or_head: TransformerTrace | HeadTrace, source: int) -> Texts:
    """Return the texts of 0-based key `source` that hold for all steps."""
    return {"j": str(source + 1), "key": vector(head_trace(trace_or_head).keys[source])}


def head_texts_of_cells(trace_or_head: TransformerTrace | HeadTrace, step: int) -> dict[str, list[str]]:
    """Return the texts of 0-based `step` for each key, as lists."""
    opened = head_trace(trace_or_head)
    rows = {"score": opened.scores[step], "exponent": opened.scores[step], "weight": opened.weights[step]}
    return {name: [number(value) for value in row.tolist()] for name, row in rows.items()}


def _score_equation(opened: HeadTrace, colours: Palette) -> Equation:
    query, key = coloured(colours.decoder, "q_{⟦i⟧}"), coloured(colours.encoder, "k_{⟦j⟧}")
    units = opened.queries.shape[1]
    lines = (
        rf"s_{{⟦i⟧,⟦j⟧}} &= \frac{{{query}^\top {key}}}{{\sqrt{{{units}}}}}",
        r"&= ⟦query⟧",
        rf"&\quad \cdot ⟦key⟧ \Big/ \sqrt{{{units}}}",
        r"&= ⟦score⟧",
    )
    values: dict[str, object] = {"head": opened_head_name(opened), "piece": "⟦j⟧", "units": units}
    if opened.kind == "cross":
        note = gettext(
            "{head}: the score says how well the query of this head fits the key of source piece {piece}. The "
            "query is made from the normalised residual stream of this step. The score is divided by the square "
            "root of the number of units, {units}, so that long vectors do not make the softmax too sharp.",
            **values,
        )
    else:
        note = gettext(
            "{head}: the score says how well a query fits the key of piece {piece}. One matrix computes the queries "
            "and another the keys, from the normalised residual streams of the same sentence. The score is divided by "
            "the square root of the number of units, {units}, so that long vectors do not make the softmax too sharp.",
            **values,
        )
    return Equation(1, aligned(*lines), note[:1].upper() + note[1:])


def _value_equation(opened: HeadTrace, colours: Palette) -> Equation:
    output, value = coloured(colours.context, "z_{⟦i⟧}"), coloured(colours.encoder, "v_j")
    lines = (
        rf"{output} &= \sum_{{j=1}}^{{{_last_key(opened)}}} \alpha_{{⟦i⟧,j}}\, {value}",
        r"&= ⟦summands⟧",
        r"&= ⟦output⟧",
    )
    if opened.kind == "cross":
        return Equation(
            3, aligned(*lines), gettext("The output of this head: a weighted sum of the values of the source pieces.")
        )
    return Equation(
        3,
        aligned(*lines),
        gettext("The output of this head: a weighted sum of values from the same sentence as the query."),
    )


def _last_key(opened: HeadTrace) -> str:
    """Return the number of the last key that a row may attend to."""
    return "⟦i⟧" if opened.kind == "decoder" else str(len(opened.source_pieces))


def _stream_equation(opened: HeadTrace, colours: Palette) -> Equation:
    heads = opened.trace.cross_weights.shape[1]
    before, after = (coloured(colours.decoder, f"x_{{⟦i⟧,{block}}}") for block in (opened.block, opened.block + 1))
    outputs = coloured(colours.context, rf"[z^{{(1)}}_{{⟦i⟧}} ; \ldots ; z^{{({heads})}}_{{⟦i⟧}}]")
    lines = (rf"{after} &= {before} + W_O\,{outputs}", r"&= ⟦before⟧", r"&\quad + ⟦added⟧", r"&= ⟦after⟧")
    values = {"layer": opened.layer + 1, "block": opened.block + 1, "count": len(opened.streams) - 1}
    if opened.kind == "cross":
        note = gettext(
            "The residual stream before and after the cross-attention of layer {layer}, which is sub-layer "
            "{block} of {count}.",
            **values,
        )
    else:
        note = gettext(
            "The residual stream before and after the self-attention of layer {layer}, which is sub-layer "
            "{block} of {count}.",
            **values,
        )
    return Equation(4, aligned(*lines), note)


def _word_equation(colours: Palette) -> Equation:
    lines = (
        rf"t_{{⟦i⟧}} &= \operatorname{{LayerNorm}}({coloured(colours.decoder, 'x_{⟦i⟧}')})",
        r"&= ⟦readout⟧⟦chosen⟧",
        r"p(y_{⟦i⟧}) &= \operatorname{softmax}(E\, t_{⟦i⟧} + b)_{y_{⟦i⟧}}",
        r"&= ⟦probability⟧",
    )
    note = gettext(
        "t is the last residual stream, normalised. The matrix E holds the embeddings of the pieces and also computes "
        "their logits."
    )
    return Equation(5, aligned(*lines), note)


STAGES = (1, 2, 3, 4)
"""Stages of a transformer's step that belong to a head: scores, softmax, values, stream."""


def opened_head_titles() -> dict[int, str]:
    """Return the names of a head's stages."""
    return {
        1: gettext("Query meets keys"),
        2: gettext("Softmax"),
        3: gettext("The values are mixed"),
        4: gettext("Added to the residual stream"),
    }


def kind_name(kind: Kind) -> str:
    """Return the name of a kind of attention."""
    return {
        "encoder": gettext("Encoder: self-attention"),
        "decoder": gettext("Decoder: self-attention, masked"),
        "cross": gettext("Decoder: cross-attention"),
    }[kind]


def kind_sentence(kind: Kind) -> str:
    """Return which side queries which."""
    return {
        "encoder": gettext("Each English piece attends to all English pieces, itself included."),
        "decoder": gettext(
            "Each step attends to the pieces written before it. Later pieces are masked: their score is −∞."
        ),
        "cross": gettext("Each step attends to the English pieces, as in attention models older than the transformer."),
    }[kind]


def head_title(opened: HeadTrace) -> str:
    """Return the title of a head."""
    return gettext(
        "{kind}, layer {layer}, head {head}", kind=kind_name(opened.kind), layer=opened.layer + 1, head=opened.head + 1
    )


def pair_labels(kind: Kind) -> tuple[str, str]:
    """Return the labels of the two sentences of a head: keys, then queries."""
    return {
        "encoder": (gettext("Keys"), gettext("Queries")),
        "decoder": (gettext("Read so far"), gettext("Written")),
        "cross": (gettext("English"), gettext("French")),
    }[kind]


def head_stage_sentences(opened: HeadTrace, row: int) -> dict[int, str]:
    """Return the stages of 0-based `row` in words, by `STAGES`."""
    return {
        1: _score_sentence(opened, row),
        2: _softmax_sentence(opened, row),
        3: _value_sentence(opened, row),
        4: _stream_sentence(opened, row),
    }


def _score_sentence(opened: HeadTrace, row: int) -> str:
    scores, key_count = opened.scores[row], opened.visible_key_count(row)
    best = int(scores.argmax())
    values: dict[str, object] = {
        "count": key_count,
        "name": quoted_name(opened.source_pieces[best]),
        "score": decimal(float(scores[best])),
    }
    if opened.kind == "encoder":
        return gettext(
            "The query of {asking} is compared with the keys of all {count} English pieces, its own included. The key "
            "of {name} fits the query best, with score s = {score}.",
            asking=quoted_name(opened.target_pieces[row]),
            **values,
        )
    if opened.kind == "decoder":
        return gettext(
            "The step that writes {asking} has read {count} pieces, starting with <s>; the later pieces are "
            "masked. {name} fits the query of this step best, with score s = {score}.",
            asking=quoted_name(opened.target_pieces[row]),
            **values,
        )
    return gettext(
        "The step that writes {asking} compares its query with the keys of all {count} annotations. The key of {name} "
        "fits the query best, with score s = {score}.",
        asking=quoted_name(opened.target_pieces[row]),
        **values,
    )


def _softmax_sentence(opened: HeadTrace, row: int) -> str:
    order = weight_order(opened, row)[: opened.visible_key_count(row)]
    first = quoted_name(opened.source_pieces[order[0]])
    if len(order) == 1:
        return gettext("There is only one piece to look at: it gets all of the weight.")
    lead = shown_difference(opened.scores[row, order[:2]])
    return gettext(
        "{first} scores {lead} more than {second}. So {first} gets {share} of the weight, {times} as much as {second}.",
        first=first,
        lead=decimal(lead),
        second=quoted_name(opened.source_pieces[order[1]]),
        times=times(float(np.exp(lead))),
        share=percent(float(opened.weights[row, order[0]])),
    )


def _value_sentence(opened: HeadTrace, row: int) -> str:
    parts = [
        f"{percent(float(opened.weights[row, j]))} {quoted_name(opened.source_pieces[j])}"
        for j in weight_order(opened, row)[: min(3, opened.visible_key_count(row))]
    ]
    return gettext(
        "Each piece has a value, a list of {units} numbers. Each value is multiplied by the weight of its piece. The "
        "sum is {found}, the output of the head. The largest weights: {parts}.",
        units=opened.values.shape[1],
        found=f"z{subscript(row + 1)}",
        parts=", ".join(parts),
    )


def _stream_sentence(opened: HeadTrace, row: int) -> str:
    lengths = np.linalg.norm(opened.added[:, row], axis=1)
    streams = np.linalg.norm(opened.streams[:, row], axis=1)
    return gettext(
        "A matrix mixes the outputs of the {heads} heads of this block, and the result is added to the residual "
        "stream. A vector of norm {added} is added to a stream of norm {before}; the norm of the sum is {after}. Each "
        "of the {blocks} blocks adds its own vector to the residual stream and overwrites nothing.",
        heads=opened.trace.cross_weights.shape[1],
        added=decimal(float(lengths[opened.block])),
        before=decimal(float(streams[opened.block])),
        after=decimal(float(streams[opened.block + 1])),
        blocks=len(lengths),
    )
