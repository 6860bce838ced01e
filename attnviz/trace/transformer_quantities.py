"""Table of the quantities of a transformer's translation, recorded and derived: symbol, shape, equation and meaning.

Sizes: Tx source and Ty target pieces, `</s>` included; L layers of encoder and decoder each, H heads of an attention; d
the residual stream, d/H a head; 2L+1 and 3L+1 residual streams of encoder and decoder, before the first block and after
every block; k candidates stored of each step; K pieces of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.trace.quantity import Quantity

ATTENTIONS: Mapping[str, tuple[str, str]] = {
    "encoder": ("Tx", "Tx"),
    "decoder": ("Ty", "Ty"),
    "cross": ("Ty", "Tx"),
}
"""The three kinds of attention: the numbers of queries and of keys."""
_SIDE_NAMES = {
    "encoder": ("a source piece", "a source piece"),
    "decoder": ("a step", "a step"),
    "cross": ("a step", "a source piece"),
}


def _attention_quantities(kind: str) -> tuple[Quantity, ...]:
    """Return the five quantities of every head of one kind of attention."""
    (query_axis, key_axis), (query_name, key_name) = ATTENTIONS[kind], _SIDE_NAMES[kind]
    mark = rf"^{{\mathrm{{{kind}}}}}"
    key_input = "m" if kind == "cross" else r"\bar x"
    queries, keys, scores = ("L", "H", query_axis, "d/H"), ("L", "H", key_axis, "d/H"), ("L", "H", query_axis, key_axis)
    later = "; minus infinity for later steps" if kind == "decoder" else ""
    return (
        Quantity(f"{kind}_queries", f"q{mark}", queries, r"q = \bar x W_Q", f"query of a head, for {query_name}"),
        Quantity(f"{kind}_keys", f"k{mark}", keys, f"k = {key_input} W_K", f"key of a head, for {key_name}"),
        Quantity(f"{kind}_values", f"v{mark}", keys, f"v = {key_input} W_V", f"value of a head, for {key_name}"),
        Quantity(
            f"{kind}_scores",
            f"s{mark}_{{ij}}",
            scores,
            r"s_{ij} = q_i \cdot k_j / \sqrt{d/H}",
            f"score: how well query and key fit{later}",
        ),
        Quantity(
            f"{kind}_weights",
            rf"\alpha{mark}_{{ij}}",
            scores,
            r"\alpha_{ij} = \exp(s_{ij}) / \sum_k \exp(s_{ik})",
            "attention weights; rows sum to 1",
        ),
    )


_TABLE = (
    *_attention_quantities("encoder"),
    *_attention_quantities("decoder"),
    *_attention_quantities("cross"),
    Quantity(
        "encoder_streams",
        r"x",
        ("2L+1", "Tx", "d"),
        r"x_0 = \sqrt{d}\, E y + p,\quad x_{b+1} = x_b + \mathrm{Block}_b(\mathrm{LayerNorm}(x_b))",
        "residual stream of the encoder, before the first and after every block",
    ),
    Quantity(
        "annotations",
        r"m_j",
        ("Tx", "d"),
        r"m = \mathrm{LayerNorm}(x_{2L})",
        "annotation: normalised output of the encoder",
    ),
    Quantity(
        "decoder_streams",
        r"x",
        ("3L+1", "Ty", "d"),
        r"x_0 = \sqrt{d}\, E y_{i-1} + p,\quad x_{b+1} = x_b + \mathrm{Block}_b(\mathrm{LayerNorm}(x_b))",
        "residual stream of the decoder, before the first and after every block",
    ),
    Quantity(
        "readouts",
        r"t_i",
        ("Ty", "d"),
        r"t = \mathrm{LayerNorm}(x_{3L})",
        "normalised output of the decoder, from which the logits are computed",
    ),
    Quantity(
        "log_probabilities",
        r"\log p(y_i)",
        ("Ty",),
        r"\log p(y_i \mid y_{<i}, x)",
        "log probability of the written piece, in nats",
    ),
    Quantity(
        "top_ids",
        r"y",
        ("Ty", "k"),
        r"\operatorname{arg\,top}_k\, p(y)",
        "ids of the likeliest pieces, likeliest first",
    ),
    Quantity(
        "top_probabilities",
        r"p(y)",
        ("Ty", "k"),
        r"p(y_i) = \operatorname{softmax}(E t_i + b)",
        "probabilities of the likeliest pieces",
    ),
    Quantity("logits", r"o_i", ("Ty", "K"), r"E t_i + b", "logits of all pieces", recorded=False),
    Quantity(
        "probabilities",
        r"p(y_i)",
        ("Ty", "K"),
        r"p(y_i) = \operatorname{softmax}(E t_i + b)",
        "probabilities of all pieces",
        recorded=False,
    ),
)

QUANTITIES: Mapping[str, Quantity] = {quantity.name: quantity for quantity in _TABLE}
"""The table, by name."""
RECORDED = tuple(quantity for quantity in _TABLE if quantity.recorded)
"""The quantities that a trace stores as arrays."""
DERIVED = tuple(quantity for quantity in _TABLE if not quantity.recorded)
"""The quantities that follow from those and the weights."""
