"""Texts of a transformer: names and labels of heads, the stages of a step, and a head's equations with numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from attnviz.analysis.labels import (
    aligned,
    capitalised,
    coloured_latex,
    decimal,
    percent,
    quote,
    quoted_name,
    subscript,
    vector,
)
from attnviz.analysis.measures import is_uniform, strongest_words, weight_order
from attnviz.analysis.stages import (
    ENERGY_STAGE,
    SOFTMAX_STAGE,
    WORD_STAGE,
    Stage,
    context_shares,
    everyday_softmax_texts,
    largest_parts,
    word_choice,
)
from attnviz.analysis.step_equations import (
    Equation,
    Texts,
    attention_texts,
    softmax_equation,
    weighted_sum_equation,
    written_piece_texts,
)
from attnviz.languages import gettext, ngettext
from attnviz.palette import Palette, ThemeName, palette
from attnviz.trace import Head, TransformerTrace
from attnviz.trace.parts import HeadKind, Heads


def heads_name(heads: Heads) -> str:
    """Return the name of `heads`: one head, or the mean of a layer's heads or of all."""
    if heads.layer is None:
        return gettext("mean of all heads")
    if heads.head is None:
        return gettext("mean of the heads of layer {layer}", layer=heads.layer + 1)
    return gettext("head {head} of layer {layer}", head=heads.head + 1, layer=heads.layer + 1)


def opened_head_name(opened: Head) -> str:
    """Return the name of the displayed head."""
    return heads_name(Heads(opened.layer, opened.head))


def _energy(trace: TransformerTrace, step: int) -> tuple[str, str]:
    """Return what `head_energy` does, after which head is displayed."""
    head, (sentence, outcome) = opened_head_name(trace.displayed), head_energy(trace, step)
    if trace.heads.head is not None:
        return f"{capitalised(head)}. {sentence}", outcome
    which = gettext(
        "The heatmap shows the {mean}. The stages of the step explain the head closest to the mean: {head}.",
        mean=heads_name(trace.heads),
        head=head,
    )
    return f"{which} {sentence}", outcome


def head_energy(head: TransformerTrace | Head, row: int) -> tuple[str, str]:
    """Return which key fits the query of 0-based `row` best, and its energy."""
    opened = head.displayed
    energies = opened.energies[row]
    best = int(energies.argmax())
    name, energy = quoted_name(opened.source_surfaces[best]), decimal(energies[best])
    sentence = gettext(
        {
            "encoder": (
                "The query of {asking} is compared with the keys of all {count} English pieces, its own included. The "
                "key of {name} fits the query best, with energy e = {energy}."
            ),
            "decoder": (
                "The step that writes {asking} has read {count} pieces, starting with <s>; the later pieces are "
                "masked. {name} fits the query of this step best, with energy e = {energy}."
            ),
            "cross": (
                "The query, computed from the residual stream of the step that writes {asking}, says what the head "
                "looks for. It is compared with the keys of all {count} annotations. The key of {name} fits the query "
                "best, with energy e = {energy}."
            ),
        }[opened.kind],
        asking=quoted_name(opened.target_pieces[row]),
        count=opened.visible_key_count(row),
        name=name,
        energy=energy,
    )
    return sentence, gettext("{name} fits best, e = {energy}", name=name, energy=energy)


def head_values(head: TransformerTrace | Head, row: int) -> tuple[str, str]:
    """Return the pieces whose values make up the output of 0-based `row`, and how few make up most of it."""
    opened = head.displayed
    parts, outcome = context_shares(opened, row)
    sentence = gettext(
        "Besides its key, each piece has a value, a list of {units} numbers. A strip shows a value multiplied by its "
        "weight. The strips add up to {found}, the output of this head: {parts}",
        units=opened.values.shape[1],
        parts=parts,
        found=f"z{subscript(row + 1)}",
    )
    return sentence, outcome


def head_stream(head: TransformerTrace | Head, row: int) -> tuple[str, str]:
    """Return what the block of the head adds to the residual stream of 0-based `row`."""
    opened = head.displayed
    added, streams = (np.linalg.norm(rows[:, row], axis=1).tolist() for rows in (opened.added, opened.streams))
    before, after = decimal(streams[opened.block]), decimal(streams[opened.block + 1])
    sentence = gettext(
        "A matrix mixes the outputs of the {heads} heads of layer {layer}; the result is added to the residual stream. "
        "The added vector has length (norm) {added}. The residual stream had length {before} and now has length "
        "{after}. Each of the {blocks} blocks adds its own vector to the residual stream and overwrites nothing.",
        heads=opened.heads_of_layer,
        layer=opened.layer + 1,
        added=decimal(added[opened.block]),
        before=before,
        after=after,
        blocks=len(added),
    )
    return sentence, gettext(
        "the length of the residual stream goes from {before} to {after}", before=before, after=after
    )


def _word(trace: TransformerTrace, step: int) -> tuple[str, str]:
    rest, outcome = word_choice(trace, step)
    start = gettext(
        "The last residual stream is normalised, then compared with the embedding of every piece the model knows."
    )
    return f"{start} {rest}", outcome


def _fit(trace: TransformerTrace, step: int) -> tuple[str, str]:
    opened = trace.displayed
    best = capitalised(quoted_name(opened.source_surfaces[int(opened.energies[step].argmax())]))
    outcome = gettext("{name} fits best", name=best)
    rest = gettext(
        "The higher the energy of a piece, the better it fits what the head looks for: {name} fits best.",
        name=best,
    )
    count = trace.cross_alignment.shape[0] * trace.cross_alignment.shape[1]
    if count == 1:
        return rest, outcome
    which = gettext(
        "Before each piece, the {count} heads of a transformer look at the sentence, each on its own. The bars show "
        "the head most similar to the heatmap."
        if trace.heads.head is None
        else "Before each piece, the {count} heads of a transformer look at the sentence, each on its own. The bars "
        "and the heatmap show the same head.",
        count=count,
    )
    return f"{which} {rest}", outcome


def _share(trace: TransformerTrace, step: int) -> tuple[str, str]:
    opened = trace.displayed
    sentence, outcome = everyday_softmax_texts(opened, step)
    heads = trace.cross_alignment.shape[0] * trace.cross_alignment.shape[1]
    if trace.heads.head is None and heads > 1 and not is_uniform(opened, step):
        outcome = gettext(
            "{look} in this head, {share} on average over {count} heads",
            look=outcome,
            count=heads,
            share=percent(trace.alignment[step, weight_order(opened, step)[0]]),
        )
    return sentence, outcome


def _all_heads(trace: TransformerTrace, step: int) -> tuple[str, str]:
    opened = trace.displayed
    layers, heads = trace.cross_alignment.shape[:2]
    parts, *_ = largest_parts(opened, step)
    head_sentence = gettext(
        "A head mixes values, one list of numbers from each English piece, in proportion to its attention: {parts}",
        parts=parts,
    )
    most = strongest_words(trace, step)
    word = int(most[opened.layer, opened.head])
    outcome = ngettext(
        "{count} of {all} heads looks most at {word}",
        "{count} of {all} heads look most at {word}",
        int((most == word).sum()),
        all=most.size,
        word=quote(trace.words().source[word], 30),
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


def block_name(block: str, layer: int) -> str:
    """Return the name of a `block` (of `Head.blocks`) of a 1-based decoder `layer`."""
    return gettext(
        "self-attention {layer}"
        if block == "attention"
        else "cross-attention {layer}"
        if block == "cross"
        else "feed-forward {layer}",
        layer=layer,
    )


def added_name(block: str, layer: int) -> str:
    """Return in everyday words what a `block` (of `Head.blocks`) of a 1-based decoder `layer` adds."""
    return gettext(
        "layer {layer}: French words"
        if block == "attention"
        else "layer {layer}: the sentence"
        if block == "cross"
        else "layer {layer}: computation",
        layer=layer,
    )


def _memory(trace: TransformerTrace, step: int) -> tuple[str, str]:
    opened = trace.displayed
    lengths = np.linalg.norm(opened.added[:, step], axis=1)
    layer, block = divmod(int(lengths.argmax()), len(opened.blocks))
    last = quoted_name(trace.previous_pieces[step])
    most = added_name(opened.blocks[block], layer + 1)
    sentence = gettext(
        "The decoder works on a list of {count} numbers, the residual stream. The list starts as the embedding of the "
        "last piece written ({last}) and its position; each layer only adds to it. A layer adds three things: what it "
        "saw in the French words already written, what it saw in the English sentence, and what it computes from both. "
        "Each bar shows one added part: the longer the bar, the larger the part.",
        count=opened.streams.shape[2],
        last=last,
    )
    return sentence, gettext("largest addition ({most})", most=most)


HEAD_STAGES = (
    replace(ENERGY_STAGE, short=_fit, full=head_energy),
    replace(SOFTMAX_STAGE, short=_share),
    Stage(3, lambda: gettext("Mixture (output of a head)"), _all_heads, head_values),
    Stage(4, lambda: gettext("Memory (residual stream)"), _memory, head_stream),
)
"""The stages of one head of any kind."""
TRANSFORMER_STAGES = (
    replace(HEAD_STAGES[0], full=_energy),
    *HEAD_STAGES[1:],
    replace(WORD_STAGE, full=_word),
)
"""The stages of a step of a translation, those of the displayed head first."""


def head_equations(head: Any, theme: ThemeName = "light") -> tuple[Equation, ...]:
    """Return the equation templates of all steps, in order: energy, softmax, values, stream, and a translation's word.

    `head` is one head of any kind, or a translation, whose displayed head is meant.
    `head_texts_of_step`, and `texts_of_source` and `texts_of_cells` of `analysis.step_equations`, fill them.
    """
    opened, colours = head.displayed, palette(theme)
    # The last key that a row may attend to.
    last = "⟦i⟧" if opened.kind == "decoder" else str(len(opened.source_pieces))
    values = gettext(
        "The output of this head: a weighted sum of the values of the source pieces."
        if opened.kind == "cross"
        else "The output of this head: a weighted sum of values from the same sentence as the query."
    )
    equations = (
        _energy_equation(opened, colours),
        softmax_equation(last),
        weighted_sum_equation(opened, colours, last, values),
        _stream_equation(opened, colours),
    )
    return equations if head is opened else (*equations, _word_equation(colours))


def head_texts_of_step(head: Any, step: int, theme: ThemeName = "light") -> Texts:
    """Return the texts of 0-based `step` that hold for all keys."""
    opened = head.displayed
    streams = opened.streams[:, step]
    texts = attention_texts(opened, step, palette(theme)) | {
        "before": vector(streams[opened.block]),
        "added": vector(opened.added[opened.block, step]),
        "after": vector(streams[opened.block + 1]),
    }
    return texts if head is opened else texts | written_piece_texts(head, step)


def _energy_equation(opened: Head, colours: Palette) -> Equation:
    query, key = coloured_latex(colours.decoder, "q_{⟦i⟧}"), coloured_latex(colours.encoder, "k_{⟦j⟧}")
    units = opened.queries.shape[1]
    lines = (
        rf"e_{{⟦i⟧,⟦j⟧}} &= \frac{{{query}^\top {key}}}{{\sqrt{{{units}}}}}",
        r"&= ⟦query⟧",
        rf"&\quad \cdot ⟦key⟧ \Big/ \sqrt{{{units}}}",
        r"&= ⟦energy⟧",
    )
    note = gettext(
        "{head}: the energy says how well the query of this head fits the key of source piece {piece}. The query is "
        "made from the normalised residual stream of this step. The energy is divided by the square root of the number "
        "of units, {units}, so that long vectors do not make the softmax too sharp."
        if opened.kind == "cross"
        else "{head}: the energy says how well a query fits the key of piece {piece}. One matrix computes the queries "
        "and another the keys, from the normalised residual streams of the same sentence. The energy is divided by "
        "the square root of the number of units, {units}, so that long vectors do not make the softmax too sharp.",
        head=opened_head_name(opened),
        piece="⟦j⟧",
        units=units,
    )
    return Equation(1, aligned(*lines), note[:1].upper() + note[1:])


def _stream_equation(opened: Head, colours: Palette) -> Equation:
    before, after = (
        coloured_latex(colours.decoder, f"x_{{⟦i⟧,{block}}}") for block in (opened.block, opened.block + 1)
    )
    outputs = coloured_latex(
        colours.context, rf"[z^{{(1)}}_{{⟦i⟧}} ; \ldots ; z^{{({opened.heads_of_layer})}}_{{⟦i⟧}}]"
    )
    lines = (rf"{after} &= {before} + W_O\,{outputs}", r"&= ⟦before⟧", r"&\quad + ⟦added⟧", r"&= ⟦after⟧")
    note = gettext(
        "The residual stream before and after the cross-attention of layer {layer}, which is sub-layer {block} of "
        "{count}."
        if opened.kind == "cross"
        else "The residual stream before and after the self-attention of layer {layer}, which is sub-layer {block} of "
        "{count}.",
        layer=opened.layer + 1,
        block=opened.block + 1,
        count=len(opened.streams) - 1,
    )
    return Equation(4, aligned(*lines), note)


def _word_equation(colours: Palette) -> Equation:
    lines = (
        rf"t_{{⟦i⟧}} &= \operatorname{{LayerNorm}}({coloured_latex(colours.decoder, 'x_{⟦i⟧}')})",
        r"&= ⟦readout⟧⟦chosen⟧",
        r"p(y_{⟦i⟧}) &= \operatorname{softmax}(E\, t_{⟦i⟧} + b)_{y_{⟦i⟧}}",
        r"&= ⟦probability⟧",
    )
    note = gettext(
        "t is the last residual stream, normalised. The matrix E holds the embeddings of the pieces and also computes "
        "their logits."
    )
    return Equation(5, aligned(*lines), note)


def head_kind_name(kind: HeadKind) -> str:
    """Return the name of a kind of attention."""
    return gettext(
        {
            "encoder": "Encoder: self-attention",
            "decoder": "Decoder: self-attention, masked",
            "cross": "Decoder: cross-attention",
        }[kind]
    )


def kind_sentence(kind: HeadKind) -> str:
    """Return which side queries which."""
    return gettext(
        {
            "encoder": "Each English piece attends to all English pieces, itself included.",
            "decoder": (
                "Each step attends to the pieces written before it. Later pieces are masked: their energy is −∞."
            ),
            "cross": "Each step attends to the English pieces, as in attention models older than the transformer.",
        }[kind]
    )


def head_title(opened: Head) -> str:
    """Return the title of a head."""
    return gettext(
        "{kind}, layer {layer}, head {head}",
        kind=head_kind_name(opened.kind),
        layer=opened.layer + 1,
        head=opened.head + 1,
    )


def pair_labels(kind: HeadKind) -> tuple[str, str]:
    """Return the labels of the two sentences of a head: keys, then queries."""
    return {
        "encoder": (gettext("Keys"), gettext("Queries")),
        "decoder": (gettext("Read so far"), gettext("Written")),
        "cross": (gettext("English"), gettext("French")),
    }[kind]
