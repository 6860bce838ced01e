"""The equations of a transformer's decoder step in LaTeX, for one head: templates and the numbers of a step."""

from __future__ import annotations

from attnviz.analysis.heads import OpenHead, open_head
from attnviz.languages import gettext
from attnviz.palette import Palette, ThemeName, palette
from attnviz.trace import TransformerTrace
from attnviz.wording.equations import Equation, Texts, exponentials, softmax_equation, summands, written_piece_texts
from attnviz.wording.numbers import aligned, coloured, number, vector
from attnviz.wording.transformer_stages import opened_head_name


def head_equations(trace: TransformerTrace, theme: ThemeName = "light") -> tuple[Equation, ...]:
    """Return the equation templates of all steps, in order: scores, softmax, values, stream, word.

    `head_texts_of_step`, `head_texts_of_source` and `head_texts_of_cells` of the key piece fill them.
    """
    return (*opened_equations(open_head(trace), theme), _word_equation(palette(theme)))


def opened_equations(opened: OpenHead, theme: ThemeName = "light") -> tuple[Equation, ...]:
    """Return the equation templates of one head of any kind: scores, softmax, values, stream.

    `opened_texts_of_step`, `head_texts_of_source` and `head_texts_of_cells` of the key piece fill them.
    """
    colours = palette(theme)
    note = gettext("Scores become weights, which are all positive and add up to 1.")
    return (
        _score_equation(opened, colours),
        softmax_equation(opened, note, _last_key(opened)),
        _value_equation(opened, colours),
        _stream_equation(opened, colours),
    )


def head_texts_of_step(trace: TransformerTrace, step: int, theme: ThemeName = "light") -> Texts:
    """Return the texts of 0-based `step` that hold for all source pieces."""
    return opened_texts_of_step(open_head(trace), step, theme) | written_piece_texts(trace, step)


def opened_texts_of_step(opened: OpenHead, step: int, theme: ThemeName = "light") -> Texts:
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


def head_texts_of_source(trace_or_head: TransformerTrace | OpenHead, source: int) -> Texts:
    """Return the texts of 0-based key `source` that hold for all steps."""
    return {"j": str(source + 1), "key": vector(open_head(trace_or_head).keys[source])}


def head_texts_of_cells(trace_or_head: TransformerTrace | OpenHead, step: int) -> dict[str, list[str]]:
    """Return the texts of 0-based `step` for each key, as lists."""
    opened = open_head(trace_or_head)
    rows = {"score": opened.scores[step], "exponent": opened.scores[step], "weight": opened.weights[step]}
    return {name: [number(value) for value in row.tolist()] for name, row in rows.items()}


def _score_equation(opened: OpenHead, colours: Palette) -> Equation:
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
            "{head}: the score says how well a query fits the key of piece {piece}. One matrix makes the "
            "queries, another the keys; both use the normalised residual streams of the same sentence. The score "
            "is divided by the square root of the number of units, {units}, so that long vectors do not make the "
            "softmax too sharp.",
            **values,
        )
    return Equation(1, aligned(*lines), note[:1].upper() + note[1:])


def _value_equation(opened: OpenHead, colours: Palette) -> Equation:
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


def _last_key(opened: OpenHead) -> str:
    """Return the number of the last key that a row may attend to."""
    return "⟦i⟧" if opened.kind == "decoder" else str(len(opened.source_pieces))


def _stream_equation(opened: OpenHead, colours: Palette) -> Equation:
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
        "t is the last residual stream, normalised. The matrix E holds the embeddings of the pieces and also "
        "scores the pieces."
    )
    return Equation(5, aligned(*lines), note)
