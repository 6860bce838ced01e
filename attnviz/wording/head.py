"""Texts about one head of a transformer (encoder, decoder or cross-attention): its title and labels."""

from __future__ import annotations

from attnviz.languages import gettext
from attnviz.trace.parts import Kind
from attnviz.trace.transformer_trace import Head


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
            "Each step attends to the pieces written before it. Later pieces are masked: their energy is −∞."
        ),
        "cross": gettext("Each step attends to the English pieces, as in attention models older than the transformer."),
    }[kind]


def head_title(opened: Head) -> str:
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
