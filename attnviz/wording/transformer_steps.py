"""Texts of a transformer: names of heads, stages of a decoder step in words, a head's equations with their numbers."""

from __future__ import annotations

import numpy as np

from attnviz.languages import gettext
from attnviz.palette import Palette, ThemeName, palette
from attnviz.trace import TransformerTrace
from attnviz.trace.parts import Heads
from attnviz.trace.transformer_trace import Head
from attnviz.wording.equations import Equation, Texts, exponentials, softmax_equation, summands, written_piece_texts
from attnviz.wording.head import head_titles
from attnviz.wording.labels import quoted_name, subscript
from attnviz.wording.numbers import aligned, coloured, decimal, vector
from attnviz.wording.stages import Stage, capitalised, context_shares, softmax_stage, word_choice_texts


def head_stage_titles(_: TransformerTrace) -> dict[int, str]:
    """Return the names of the stages of a step."""
    return head_titles() | {5: gettext("The word is chosen")}


def narrate_head(trace: TransformerTrace, step: int) -> tuple[Stage, ...]:
    """Return the stages of 0-based `step` in words, for the displayed head: those of `head_stage_titles`."""
    opened = trace.displayed
    stages = {
        1: _energy_stage(trace, opened, step),
        2: softmax_stage(opened, step),
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


def opened_head_name(opened: Head) -> str:
    """Return the name of the displayed head."""
    return heads_name(Heads(opened.layer, opened.head))


def _energy_stage(trace: TransformerTrace, opened: Head, step: int) -> tuple[str, str]:
    best, count = int(opened.energies[step].argmax()), len(trace.source_pieces)
    name, energy = quoted_name(trace.source_pieces[best]), decimal(float(opened.energies[step, best]))
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
        "query is compared. The energy says how well query and key fit. {name} fits the query best.",
        which=head,
        count=count,
        name=capitalised(name),
    )
    return sentence, gettext("{name} fits best, e = {energy}", name=name, energy=energy)


def _value_stage(opened: Head, step: int) -> tuple[str, str]:
    parts, outcome = context_shares(opened, step)
    sentence = gettext(
        "Besides its key, each annotation has a value, a list of {units} numbers. A strip shows a value "
        "multiplied by its weight. The strips add up to {found}, the output of this head: {parts}",
        units=opened.values.shape[1],
        parts=parts,
        found=f"z{subscript(step + 1)}",
    )
    return sentence, outcome


def _stream_stage(opened: Head, step: int) -> tuple[str, str]:
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
        heads=opened.heads_of_layer,
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
    """Return the equation templates of all steps, in order: energy, softmax, values, stream, word.

    `head_texts_of_step`, and `texts_of_source` and `texts_of_cells` of the key piece (`wording.equations`) fill them.
    """
    return (*opened_equations(trace.displayed, theme), _word_equation(palette(theme)))


def opened_equations(opened: Head, theme: ThemeName = "light") -> tuple[Equation, ...]:
    """Return the equation templates of one head of any kind: energy, softmax, values, stream.

    `opened_texts_of_step`, and `texts_of_source` and `texts_of_cells` of the key piece (`wording.equations`) fill them.
    """
    colours = palette(theme)
    note = gettext("Softmax turns energies into positive weights that add up to 1.")
    return (
        _energy_equation(opened, colours),
        softmax_equation(opened, note, _last_key(opened)),
        _value_equation(opened, colours),
        _stream_equation(opened, colours),
    )


def head_texts_of_step(trace: TransformerTrace, step: int, theme: ThemeName = "light") -> Texts:
    """Return the texts of 0-based `step` that hold for all source pieces."""
    return opened_texts_of_step(trace.displayed, step, theme) | written_piece_texts(trace, step)


def opened_texts_of_step(opened: Head, step: int, theme: ThemeName = "light") -> Texts:
    """Return the texts of a head's 0-based row `step` that hold for all keys."""
    streams, key_count = opened.streams[:, step], opened.visible_key_count(step)
    return {
        "i": str(step + 1),
        "symbol": "e",
        "query": vector(opened.queries[step]),
        "exponentials": exponentials(opened.energies[step, :key_count].astype(float)),
        "summands": summands(opened.alignment[step, :key_count], "v", palette(theme)),
        "output": vector(opened.contexts[step]),
        "before": vector(streams[opened.block]),
        "added": vector(opened.added[opened.block, step]),
        "after": vector(streams[opened.block + 1]),
    }


def _energy_equation(opened: Head, colours: Palette) -> Equation:
    query, key = coloured(colours.decoder, "q_{⟦i⟧}"), coloured(colours.encoder, "k_{⟦j⟧}")
    units = opened.queries.shape[1]
    lines = (
        rf"e_{{⟦i⟧,⟦j⟧}} &= \frac{{{query}^\top {key}}}{{\sqrt{{{units}}}}}",
        r"&= ⟦query⟧",
        rf"&\quad \cdot ⟦key⟧ \Big/ \sqrt{{{units}}}",
        r"&= ⟦energy⟧",
    )
    values: dict[str, object] = {"head": opened_head_name(opened), "piece": "⟦j⟧", "units": units}
    if opened.kind == "cross":
        note = gettext(
            "{head}: the energy says how well the query of this head fits the key of source piece {piece}. The "
            "query is made from the normalised residual stream of this step. The energy is divided by the square "
            "root of the number of units, {units}, so that long vectors do not make the softmax too sharp.",
            **values,
        )
    else:
        note = gettext(
            "{head}: the energy says how well a query fits the key of piece {piece}. One matrix computes the queries "
            "and another the keys, from the normalised residual streams of the same sentence. The energy is divided "
            "by the square root of the number of units, {units}, so that long vectors do not make the softmax too "
            "sharp.",
            **values,
        )
    return Equation(1, aligned(*lines), note[:1].upper() + note[1:])


def _value_equation(opened: Head, colours: Palette) -> Equation:
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


def _last_key(opened: Head) -> str:
    """Return the number of the last key that a row may attend to."""
    return "⟦i⟧" if opened.kind == "decoder" else str(len(opened.source_pieces))


def _stream_equation(opened: Head, colours: Palette) -> Equation:
    before, after = (coloured(colours.decoder, f"x_{{⟦i⟧,{block}}}") for block in (opened.block, opened.block + 1))
    outputs = coloured(colours.context, rf"[z^{{(1)}}_{{⟦i⟧}} ; \ldots ; z^{{({opened.heads_of_layer})}}_{{⟦i⟧}}]")
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
