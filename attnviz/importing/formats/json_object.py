"""Read JSON objects with tokens and a matrix or links, under the key names of many programs.

Also read here: the open format of this program, its saved traces, the output of `attnviz translate --json`, and gold
links as `attnviz evaluate` reads them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from attnviz.errors import AttnvizError
from attnviz.importing.format import Format
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.reading import Content, json_error, objects
from attnviz.trace import Attention
from attnviz.trace.link_text import MOST_LINKS, Link, Links, parse_links
from attnviz.trace.parts import KINDS
from attnviz.trace.storage import FORMAT_NAMES

SOURCES = (
    "source_pieces",
    "source_tokens",
    "src_tokens",
    "source_tokenized",
    "input_tokens",
    "input_words",
    "source_words",
    "src_words",
    "source",
    "src",
    "input",
    "inputs",
    "source_text",
    "source_sentence",
    "src_text",
    "src_sent",
    "input_text",
    "input_sentence",
    "left_text",
    "sources",
    "x",
    "en",
)
TARGETS = (
    "target_pieces",
    "target_tokens",
    "tgt_tokens",
    "trg_tokens",
    "output_tokens",
    "translation_tokens",
    "output_words",
    "target_words",
    "tgt_words",
    "trg_words",
    "target",
    "tgt",
    "trg",
    "output",
    "hypothesis",
    "hyp",
    "prediction",
    "pred",
    "translation",
    "outputs",
    "target_text",
    "target_sentence",
    "tgt_text",
    "tgt_sent",
    "output_text",
    "output_sentence",
    "right_text",
    "targets",
    "y",
    "tokens",
    "fr",
)
MATRICES = (
    "matrix",
    "alignment",
    "attention",
    "attention_matrix",
    "attention_weights",
    "attention_probs",
    "attentions",
    "attn",
    "attns",
    "attn_weights",
    "alignment_matrix",
    "cross_attention",
    "cross_attentions",
    "weights",
    "alpha",
    "alphas",
    "alignments",
    "att",
    "attn_matrix",
    "attn_probs",
    "attention_scores",
    "attention_map",
    "cross_attn",
    "cross_attention_weights",
    "encoder_decoder_attention",
    "enc_dec_attn",
    "soft_alignment",
    "soft_alignments",
    "alignment_weights",
    "align",
    "scores",
)
LINKS = ("links", "word_alignment", "word_alignments", "alignment_points", "edges", "alignment", "alignments")
"""Keys of tokens, matrices and links, in order of preference: the most specific come first."""
_ENDS = (("source", "src", "s"), ("target", "tgt", "trg", "t"))
"""Keys of a link's source and target in an object."""
_FURTHER = ("energies", "states", "gradient", "erased", "gold", "words", "origin", "remarks")
"""Further fields of the open format that are read under this name only."""
GOLD_LINKS = {"S": "sure", "P": "possible"}


def named(fields: Mapping[str, Any], names: Sequence[str]) -> tuple[str, Any] | None:
    """Return the first key among `names` that `fields` has, ignoring case, and its value; None where it has none."""
    lowered = {str(name).lower(): name for name in reversed(list(fields))}
    for name in names:
        if name in lowered and fields[lowered[name]] is not None:
            return str(lowered[name]), fields[lowered[name]]
    return None


def read(content: Content, _: int | None) -> Sentences | None:
    """Return one sentence pair for each object; None where none has a matrix or links, or was saved by this program."""
    values = objects(content) or []
    reason = gettext("The file is JSON with tokens and either a weight matrix or links.")
    if {str(value.get("format")) for value in values} & {Attention.saved_as.name, *FORMAT_NAMES}:
        reason = gettext("The file is JSON saved by attnviz.")
    elif not any(_matrix(value) or _link_value(value) is not None for value in values):
        return None
    are_gold = all("S" in value and "P" in value and _matrix(value) is None for value in values)
    return Sentences(values, _gold if are_gold else _object, reason=reason)


def _object(fields: Mapping[str, Any]) -> SentencePair:
    if fields.get("format") in FORMAT_NAMES:
        return _trace(fields)
    if fields.get("format") == Attention.saved_as.name and "matrix" in fields:
        return SentencePair(fields)
    known = {name: fields[name] for name in _FURTHER if name in fields}
    known |= {"kind": fields["kind"]} if fields.get("kind") in KINDS else {}
    known |= {"heads": fields["heads"]} if isinstance(fields.get("heads"), Mapping) else {}
    if not isinstance(known.get("origin", ""), str):
        del known["origin"]
    for side, names in (("source", SOURCES), ("target", TARGETS)):
        if (entry := named(fields, names)) is not None:
            known[side] = _tokens(entry[1])
    matrix, links = _matrix(fields), _link_value(fields)
    if links is None and matrix and matrix[0].lower() in ("alignment", "alignments") and _are_pairs(matrix[1]):
        if not _is_matrix_of(matrix[1], known):
            links = matrix[1]
        else:
            raise AttnvizError(
                gettext(
                    "It is not clear whether the field {name} holds links or a matrix. Rename this field to "
                    "links or matrix.",
                    name=matrix[0],
                )
            )
    if links is not None and "matrix" not in fields:
        return SentencePair(known, _links(links))
    if matrix is None:
        raise AttnvizError(gettext("Fields missing from this attention object: {names}.", names="matrix"))
    return SentencePair(known | {"matrix": matrix[1]})


def _matrix(fields: Mapping[str, Any]) -> tuple[str, Any] | None:
    """Return the key and value of the first entry that may be a matrix, a list of lists; None where there is none."""
    for name in MATRICES:
        entry = named(fields, (name,))
        if entry and isinstance(entry[1], list) and entry[1] and isinstance(entry[1][0], list):
            return entry
    return ("matrix", fields["matrix"]) if "matrix" in fields else None


def _link_value(fields: Mapping[str, Any]) -> Any:
    """Return the links of an object, as a string or as pairs; None where it has none."""
    if "S" in fields and isinstance(fields["S"], list):
        return fields["S"]
    for name in LINKS:
        entry = named(fields, (name,))
        if entry is None:
            continue
        value = entry[1]
        if isinstance(value, str) or (name in LINKS[:5] and isinstance(value, list)):
            return value
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return " ".join(value)
    return None


def _are_pairs(value: Any) -> bool:
    """Return whether `value` is a list of pairs of integers from 0: links, or a matrix of two columns."""
    return isinstance(value, list) and all(
        isinstance(one, list) and len(one) == 2 and all(type(place) is int and place >= 0 for place in one)
        for one in value
    )


def _is_matrix_of(rows: list[list[int]], fields: Mapping[str, Any]) -> bool:
    """Return whether pairs of integers may be the rows of a matrix of these tokens.

    That needs at most two source tokens, one row for each target token or one more, and rows that sum to 1.
    """
    source, target = (
        side if isinstance(side := fields.get(name), (str, list)) else None for name in ("source", "target")
    )
    sizes = [
        None if side is None else len(side.split() if isinstance(side, str) else side) for side in (source, target)
    ]
    fits = sizes[0] in (None, 1, 2) and sizes[1] in (None, len(rows) - 1, len(rows))
    return fits and all(sum(row) == 1 for row in rows)


def _links(value: Any) -> Links:
    if isinstance(value, str):
        return parse_links(value)
    return Links(frozenset(link_pairs(value)))


def link_pairs(value: Any) -> list[Link]:
    """Return the links in a list of pairs; raise AttnvizError where they are invalid or too many."""
    if not isinstance(value, list) or len(value) > MOST_LINKS:
        raise AttnvizError(
            gettext("A link must be a pair of numbers: source word and target word, both counted from 0.")
        )
    links = list[Link]()
    for pair in value:
        if isinstance(pair, Mapping):
            pair = [next((pair[name] for name in names if name in pair), None) for names in _ENDS]
        if not isinstance(pair, list) or len(pair) != 2 or not all(type(x) is int and 0 <= x < 10**6 for x in pair):
            raise AttnvizError(
                gettext("A link must be a pair of numbers: source word and target word, both counted from 0.")
            )
        links.append((pair[0], pair[1]))
    return links


def _gold(fields: Mapping[str, Any]) -> SentencePair:
    sure, possible = (frozenset(link_pairs(fields[name])) for name in GOLD_LINKS)
    entries = {side: named(fields, names) for side, names in (("source", SOURCES), ("target", TARGETS))}
    tokens = {side: _tokens(entry[1]) for side, entry in entries.items() if entry is not None}
    return SentencePair(tokens, Links(sure | possible, possible - sure, annotated=True))


def _tokens(value: Any) -> Any:
    """Return tokens as given, or the `token` or `text` of each where they are objects."""
    if isinstance(value, list) and value and all(isinstance(one, Mapping) for one in value):
        return [str(one.get("token", one.get("text", ""))) for one in value]
    return value


def _trace(fields: Mapping[str, Any]) -> SentencePair:
    """Return the pieces and the alignment of a saved trace of this program."""
    from attnviz.trace import WhatIfs

    first = WhatIfs.from_json(json.dumps(fields)).first
    if not first.attends:
        raise AttnvizError(gettext("This trace comes from a model without attention."))
    return SentencePair(
        {
            "source": list(first.source_surfaces),
            "target": list(first.target_pieces),
            "matrix": first.alignment.astype(float),
            "origin": str(getattr(first, "model", ""))[:200],
        }
    )


def near_miss_message(content: Content) -> str | None:
    """Return the message for JSON that is damaged or lacks attention; None for other content."""
    if (error := json_error(content)) is not None:
        if (content.text.lstrip()[:1] == "[" and content.text.lstrip()[1:2].isalpha()) or not content.text.strip():
            return None
        return gettext("The file looks like JSON, but it is damaged: {error}.", error=error)
    items = objects(content)
    if items is None:
        return gettext("The file is JSON, but not an object.") if content.text.strip()[:1] in ("{", "[") else None
    needed = gettext(
        "An object needs three fields: “source” and “target” (lists of tokens), and either “matrix” (a row of "
        "weights for each target token) or “links”."
    )
    if not items[0]:
        return gettext("The file is an empty JSON object.") + f" {needed}"
    names = ", ".join(str(name)[:30] for name in list(items[0])[:8])
    return gettext("The file is JSON without attention, with the fields {found}.", found=names) + f" {needed}"


FORMAT = Format("json", "JSON", read, near_miss_message, ("trace", "open"))
