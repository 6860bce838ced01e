"""Texts about one head of a transformer (encoder, decoder or cross-attention): its title, labels and stages."""

from __future__ import annotations

import numpy as np

from attnviz.analysis.measures import weight_order
from attnviz.languages import gettext
from attnviz.trace.parts import Kind
from attnviz.trace.transformer_trace import Head
from attnviz.wording.labels import quoted_name, subscript
from attnviz.wording.numbers import decimal, percent, shown_difference
from attnviz.wording.stages import Stage, times


def head_titles(_: object = None) -> dict[int, str]:
    """Return the names of the stages of a transformer's step that belong to a head."""
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


def narrate_row(opened: Head, row: int) -> tuple[Stage, ...]:
    """Return the stages of 0-based `row` in words: those of `head_titles`."""
    sentences = {
        1: _energy_sentence(opened, row),
        2: _softmax_sentence(opened, row),
        3: _value_sentence(opened, row),
        4: _stream_sentence(opened, row),
    }
    return tuple(Stage(number, title, sentences[number], "") for number, title in head_titles().items())


def _energy_sentence(opened: Head, row: int) -> str:
    energies, key_count = opened.energies[row], opened.visible_key_count(row)
    best = int(energies.argmax())
    values: dict[str, object] = {
        "count": key_count,
        "name": quoted_name(opened.source_pieces[best]),
        "energy": decimal(float(energies[best])),
    }
    if opened.kind == "encoder":
        return gettext(
            "The query of {asking} is compared with the keys of all {count} English pieces, its own included. The key "
            "of {name} fits the query best, with energy e = {energy}.",
            asking=quoted_name(opened.target_pieces[row]),
            **values,
        )
    if opened.kind == "decoder":
        return gettext(
            "The step that writes {asking} has read {count} pieces, starting with <s>; the later pieces are "
            "masked. {name} fits the query of this step best, with energy e = {energy}.",
            asking=quoted_name(opened.target_pieces[row]),
            **values,
        )
    return gettext(
        "The step that writes {asking} compares its query with the keys of all {count} annotations. The key of {name} "
        "fits the query best, with energy e = {energy}.",
        asking=quoted_name(opened.target_pieces[row]),
        **values,
    )


def _softmax_sentence(opened: Head, row: int) -> str:
    order = weight_order(opened, row)[: opened.visible_key_count(row)]
    first = quoted_name(opened.source_pieces[order[0]])
    if len(order) == 1:
        return gettext("There is only one piece to look at: it gets all of the weight.")
    lead = shown_difference(opened.energies[row, order[:2]])
    return gettext(
        "The energy of {first} is {lead} above that of {second}. So {first} gets {share} of the weight, {times} as "
        "much as {second}.",
        first=first,
        lead=decimal(lead),
        second=quoted_name(opened.source_pieces[order[1]]),
        times=times(float(np.exp(lead))),
        share=percent(float(opened.alignment[row, order[0]])),
    )


def _value_sentence(opened: Head, row: int) -> str:
    parts = [
        f"{percent(float(opened.alignment[row, j]))} {quoted_name(opened.source_pieces[j])}"
        for j in weight_order(opened, row)[: min(3, opened.visible_key_count(row))]
    ]
    return gettext(
        "Each piece has a value, a list of {units} numbers. Each value is multiplied by the weight of its piece. The "
        "sum is {found}, the output of the head. The largest weights: {parts}.",
        units=opened.values.shape[1],
        found=f"z{subscript(row + 1)}",
        parts=", ".join(parts),
    )


def _stream_sentence(opened: Head, row: int) -> str:
    lengths = np.linalg.norm(opened.added[:, row], axis=1)
    streams = np.linalg.norm(opened.streams[:, row], axis=1)
    return gettext(
        "A matrix mixes the outputs of the {heads} heads of this block, and the result is added to the residual "
        "stream. A vector of norm {added} is added to a stream of norm {before}; the norm of the sum is {after}. Each "
        "of the {blocks} blocks adds its own vector to the residual stream and overwrites nothing.",
        heads=opened.heads_of_layer,
        added=decimal(float(lengths[opened.block])),
        before=decimal(float(streams[opened.block])),
        after=decimal(float(streams[opened.block + 1])),
        blocks=len(lengths),
    )
