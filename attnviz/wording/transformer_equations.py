"""The equations of one step of a transformer as LaTeX, for the head that is opened, with this step's numbers."""

from __future__ import annotations

from attnviz.analysis.heads import OpenHead, added, open_head
from attnviz.languages import say
from attnviz.palette import Palette, ThemeName, palette
from attnviz.trace import TransformerTrace
from attnviz.wording.equations import Equation, Texts, chosen_texts, exponentials, softmax_equation, summands
from attnviz.wording.latex import aligned, coloured, number, vector
from attnviz.wording.transformer_stages import opened_name


def head_equations(trace: TransformerTrace, theme: ThemeName = "light") -> tuple[Equation, ...]:
    """Return what the equations of all steps have in common, in order: scores, softmax, values, stream, word.

    They are filled with `head_texts_of_step`, `head_texts_of_source` and, for that piece, `head_texts_of_cells`.
    """
    opened, colours = open_head(trace), palette(theme)
    note = say("Scores become weights: all positive, and they add up to 1.")
    return (
        _scores(opened, colours), softmax_equation(trace, note), _values(opened, colours), _stream(opened, colours),
        _word(colours),
    )  # fmt: skip


def head_texts_of_step(trace: TransformerTrace, step: int, theme: ThemeName = "light") -> Texts:
    """Return the texts that are those of 0-based `step`, whatever the source piece."""
    opened = open_head(trace)
    streams = trace.decoder_streams[:, step]
    return {
        "i": str(step + 1), "symbol": "s",
        "query": vector(opened.queries[step]),
        "exponentials": exponentials(opened.scores[step].astype(float)),
        "summands": summands(opened.weights[step], "v", palette(theme)),
        "output": vector(opened.outputs[step]),
        "before": vector(streams[opened.block]),
        "added": vector(added(trace)[opened.block, step]),
        "after": vector(streams[opened.block + 1]),
    } | chosen_texts(trace, step)  # fmt: skip


def head_texts_of_source(trace: TransformerTrace, source: int) -> Texts:
    """Return the texts that are those of 0-based piece `source`, whatever the step."""
    return {"j": str(source + 1), "key": vector(open_head(trace).keys[source])}


def head_texts_of_cells(trace: TransformerTrace, step: int) -> dict[str, list[str]]:
    """Return the texts that are those of 0-based `step` and a source piece: lists of all pieces'."""
    opened = open_head(trace)
    rows = {"score": opened.scores[step], "exponent": opened.scores[step], "weight": opened.weights[step]}
    return {name: [number(value) for value in row.tolist()] for name, row in rows.items()}


def _scores(opened: OpenHead, colours: Palette) -> Equation:
    query, key = coloured(colours.decoder, "q_{⟦i⟧}"), coloured(colours.encoder, "k_{⟦j⟧}")
    units = opened.queries.shape[1]
    lines = (
        rf"s_{{⟦i⟧,⟦j⟧}} &= \frac{{{query}^\top {key}}}{{\sqrt{{{units}}}}}",
        r"&= ⟦query⟧",
        rf"&\quad \cdot ⟦key⟧ \Big/ \sqrt{{{units}}}",
        r"&= ⟦score⟧",
    )
    note = say(
        "{head}: how well its query, made from the normalised stream of this step, fits the key of a source piece, "
        "here piece {piece}. Divided by the root of their {units} units, so that long vectors do not make the softmax "
        "sharp.", head=opened_name(opened), piece="⟦j⟧", units=units,
    )  # fmt: skip
    return Equation(1, aligned(*lines), note[:1].upper() + note[1:])


def _values(opened: OpenHead, colours: Palette) -> Equation:
    found, value = coloured(colours.context, "z_{⟦i⟧}"), coloured(colours.encoder, "v_j")
    lines = (
        rf"{found} &= \sum_{{j=1}}^{{{len(opened.trace.source_pieces)}}} \alpha_{{⟦i⟧,j}}\, {value}",
        r"&= ⟦summands⟧",
        r"&= ⟦output⟧",
    )
    return Equation(3, aligned(*lines), say("What this head finds in the source: a weighted sum of values."))


def _stream(opened: OpenHead, colours: Palette) -> Equation:
    heads = opened.trace.cross_weights.shape[1]
    before, after = (coloured(colours.decoder, f"x_{{⟦i⟧,{block}}}") for block in (opened.block, opened.block + 1))
    found = coloured(colours.context, rf"[z^{{(1)}}_{{⟦i⟧}} ; \ldots ; z^{{({heads})}}_{{⟦i⟧}}]")
    lines = (rf"{after} &= {before} + W_O\,{found}", r"&= ⟦before⟧", r"&\quad + ⟦added⟧", r"&= ⟦after⟧")
    note = say("The residual stream before and after the cross-attention of layer {layer}, block {block} of {count}.",
               layer=opened.layer + 1, block=opened.block + 1, count=len(opened.trace.decoder_streams) - 1)  # fmt: skip
    return Equation(4, aligned(*lines), note)


def _word(colours: Palette) -> Equation:
    lines = (
        rf"t_{{⟦i⟧}} &= \operatorname{{LayerNorm}}({coloured(colours.decoder, 'x_{⟦i⟧}')})",
        r"&= ⟦readout⟧⟦chosen⟧",
        r"p(y_{⟦i⟧}) &= \operatorname{softmax}(E\, t_{⟦i⟧} + b)_{y_{⟦i⟧}}",
        r"&= ⟦probability⟧",
    )
    note = say("The last stream, normalised; E is the matrix that embeds the pieces, and scores them too.")
    return Equation(5, aligned(*lines), note)
