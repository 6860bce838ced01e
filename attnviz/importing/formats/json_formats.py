"""Read JSON: results of Inseq, CTranslate2 and Nematus, and objects with tokens and a matrix or links.

Such objects have key names of many programs. Among them are the open format of this program, its saved traces, the
output of `attnviz translate --json`, and gold links as `attnviz evaluate` reads them.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby, product
from typing import Any

import numpy as np
import safetensors.numpy

from attnviz.errors import AttnvizError, user_error
from attnviz.files import DAMAGED
from attnviz.importing.format import Format, is_number
from attnviz.importing.sentence_pair import SentencePair, Sentences, known_tokens
from attnviz.languages import gettext
from attnviz.reading import LIMITS, Content, json_error, json_values, objects
from attnviz.trace import MOST_TOKENS, Array, Attention, Link
from attnviz.trace.attention_record import FURTHER
from attnviz.trace.parts import HEAD_KINDS
from attnviz.trace.storage import FORMAT_NAMES
from attnviz.trace.word_link_text import MOST_LINKS, Links, parse_links

_KEYS = {
    "source": (
        "source_pieces source_tokens src_tokens source_tokenized input_tokens input_words source_words "
        "src_words source src input inputs source_text source_sentence src_text src_sent input_text "
        "input_sentence left_text sources x en"
    ),
    "target": (
        "target_pieces target_tokens tgt_tokens trg_tokens output_tokens translation_tokens output_words "
        "target_words tgt_words trg_words target tgt trg output hypothesis hyp prediction pred translation "
        "outputs target_text target_sentence tgt_text tgt_sent output_text output_sentence right_text targets "
        "y tokens fr"
    ),
    "matrix": (
        "matrix alignment cross_attention cross_attentions cross_attn cross_attention_weights "
        "encoder_decoder_attention enc_dec_attn attention attention_matrix attention_weights attention_probs "
        "attentions attn attns attn_weights alignment_matrix weights alpha alphas alignments att attn_matrix "
        "attn_probs attention_scores attention_map soft_alignment soft_alignments alignment_weights align scores"
    ),
    "links": "links word_alignment word_alignments alignment_points edges",
}
FIELD_NAMES = {field: tuple(names.split()) for field, names in _KEYS.items()}
"""Keys of tokens, matrices and links, in order of preference: the most specific come first."""
_EITHER = ("alignment", "alignments")
"""Keys of a matrix or of links."""
_LINKS = (*FIELD_NAMES["links"], *_EITHER)
"""Keys of links, which may be a text."""
_ENDS = (("source", "src", "s"), ("target", "tgt", "trg", "t"))
"""Keys of a link's source and target in an object."""
_OWN_NAMES = (*FURTHER, "gold", "words", "remarks")
"""Fields of the open format that are read under this name only."""
MOST_INDEX = 10**6
"""Exclusive bound of an index of a token or word."""
_DAMAGED: tuple[type[Exception], ...] = (*DAMAGED, safetensors.SafetensorError)
_STORED_TYPES = ("float16", "float32", "float64", "int32", "int64")


def by_name(fields: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the values that are not None by their names, and by these in lower case."""
    given = {str(name): value for name, value in fields.items() if value is not None}
    return {name.lower(): value for name, value in reversed(given.items())} | given


def _first(fields: Mapping[str, Any], names: Iterable[str]) -> Any:
    """Return the value of the first of `names` that `fields` has; None where it has none."""
    return next((fields[name] for name in names if name in fields), None)


def _read_objects(content: Content, _: int | None) -> Sentences | None:
    """Return one sentence pair for each object; None where none has a matrix or links, or was saved by this program."""
    values = json_values(content) or []
    found = [value for value in values if isinstance(value, Mapping)]
    if {str(value.get("format")) for value in found} & {Attention.saved_as.name, *FORMAT_NAMES}:
        reason = gettext("The file is JSON saved by attnviz.")
    elif any(any(_attention(by_name(value))) for value in found):
        reason = gettext("The file is JSON with tokens and either a weight matrix or links.")
    else:
        return None
    return Sentences(values, pair_from_json, reason=reason)


def pair_from_json(item: Any) -> SentencePair:
    """Return the pair of an object, under whichever names it has its tokens and its matrix or links."""
    if not isinstance(item, Mapping):
        raise user_error("“{text}” is not an object with fields.", text=json.dumps(item, ensure_ascii=False)[:40])
    if item.get("format") in FORMAT_NAMES:
        return _trace(item)
    if item.get("format") == Attention.saved_as.name and item.get("matrix") is not None:
        return SentencePair(item)
    fields = by_name(item)
    fits = {
        "kind": item.get("kind") in HEAD_KINDS,
        "heads": isinstance(item.get("heads"), Mapping),
        "origin": isinstance(item.get("origin"), str),
    }
    known = {name: value for name, value in item.items() if name in _OWN_NAMES or fits.get(name)}
    for side in ("source", "target"):
        if (tokens := _first(fields, FIELD_NAMES[side])) is not None:
            known[side] = _tokens(tokens)
    found = [*_attention(fields)]
    if not found:
        raise user_error("Fields missing from this attention object: {names}.", names="matrix")
    name, value = found[0]
    pair = _pair_of(name, value, known, fields)
    differ = any(other is not value and not np.array_equal(other, value) for _, other in found[1:])
    return replace(pair, remarks=(*pair.remarks, "one-of-several")) if differ else pair


def _pair_of(name: str, value: Any, known: dict[str, Any], fields: Mapping[str, Any]) -> SentencePair:
    """Return the pair with the matrix or links in the field `name`, and the `known` fields of the open format."""
    if name == "S":  # gold links: sure, and possible
        sure, possible = (frozenset(_link_pairs(fields.get(mark, []))) for mark in ("S", "P"))
        return SentencePair(known, Links(sure | possible, possible - sure, annotated="P" in fields))
    if name in _LINKS and (links := known_tokens(value)) is not None:
        return SentencePair(known, parse_links(" ".join(links)))
    has_pairs = name in _EITHER and _are_pairs(value)
    if has_pairs and _may_be_matrix(value, known):
        raise user_error(
            "It is not clear whether the field {name} holds links or a matrix. Rename this field to links or matrix.",
            name=name,
        )
    if has_pairs or name in FIELD_NAMES["links"]:
        return SentencePair(known, Links(frozenset(_link_pairs(value))))
    return SentencePair(known | {"matrix": value})


def _attention(fields: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the names and the values of the matrices and links of an object, the preferred first."""
    for name in dict.fromkeys(("matrix", "S", *FIELD_NAMES["links"], *FIELD_NAMES["matrix"])):
        value = fields.get(name)
        is_list = isinstance(value, list)
        has_rows = is_list and value and isinstance(value[0], list)
        has_links = (name in ("S", *FIELD_NAMES["links"]) and is_list) or (
            name in _LINKS and known_tokens(value) is not None
        )
        if has_rows or has_links or (name == "matrix" and value is not None):
            yield name, value


def _are_pairs(value: Any) -> bool:
    """Return whether `value` is a list of pairs of indices from 0: links, or a matrix of two columns."""
    return isinstance(value, list) and all(
        isinstance(one, list) and len(one) == 2 and all(type(place) is int and 0 <= place < MOST_INDEX for place in one)
        for one in value
    )


def _may_be_matrix(rows: list[list[int]], fields: Mapping[str, Any]) -> bool:
    """Return whether pairs of integers may be the rows of a matrix of these tokens.

    That needs at most two source tokens, one row for each target token or one more, and rows that sum to 1.
    """
    source, target = (known_tokens(fields.get(side)) for side in ("source", "target"))
    fits = (source is None or len(source) in (1, 2)) and (target is None or len(rows) - len(target) in (0, 1))
    return fits and all(sum(row) == 1 for row in rows)


def _link_pairs(value: Any) -> list[Link]:
    """Return the links in a list of pairs; raise AttnvizError where they are invalid or too many."""
    given: list[Any] = value if isinstance(value, list) and len(value) <= MOST_LINKS else [None]
    pairs = [[_first(one, names) for names in _ENDS] if isinstance(one, Mapping) else one for one in given]
    if not _are_pairs(pairs):
        raise user_error("A link must be a pair of numbers: source word and target word, both counted from 0.")
    return [(source, target) for source, target in pairs]


def _tokens(value: Any) -> Any:
    """Return tokens as given, or the `token` or `text` of those that are objects."""
    if not isinstance(value, list):
        return value
    return [_first(_attributes(one), ("token", "text")) if isinstance(one, Mapping) else one for one in value]


def _trace(fields: Mapping[str, Any]) -> SentencePair:
    """Return the pieces and the alignment of a saved trace of this program."""
    from attnviz.trace import WhatIfs

    first = WhatIfs.from_json(json.dumps(fields)).first
    if not first.attends:
        raise user_error("This trace comes from a model without attention.")
    return SentencePair(
        {
            "source": list(first.source_surfaces),
            "target": list(first.target_pieces),
            "matrix": first.alignment.astype(float),
            "origin": str(getattr(first, "model", ""))[:200],
        }
    )


def _near_miss_message(content: Content) -> str | None:
    """Return the message for JSON that is damaged or lacks attention; None for other content."""
    if (error := json_error(content)) is not None:
        start = content.text.lstrip()[:2]
        is_log = start[0] == "[" and start[1:].isalpha()
        return None if is_log else gettext("The file looks like JSON, but it is damaged: {error}.", error=error)
    if json_values(content) is None:
        return None
    items = objects(content) or [{}]
    if any("hypotheses" in item for item in items):
        return gettext(
            "The file looks like CTranslate2 results without attention. Call translate_batch with "
            "return_attention=True."
        )
    names = ", ".join(str(name)[:30] for name in list(items[0])[:8])
    if names:
        found = gettext("The file is JSON without attention, with the fields {found}.", found=names)
    else:
        found = gettext("The file is JSON, but it has no object with fields.")
    needed = gettext(
        "An object needs three fields: “source” and “target” (lists of tokens), and either “matrix” (a row of "
        "weights for each target token) or “links”."
    )
    return f"{found} {needed}"


def _read_ctranslate2(content: Content, _: int | None) -> Sentences | None:
    """Return a pair for each result, with its best hypothesis; None unless all have hypotheses, and one attention."""
    results = objects(content) or []
    are_results = all(isinstance(result.get("hypotheses"), list) for result in results)
    if not are_results or not any(result.get("attention") for result in results):
        return None
    several = any(len(result["hypotheses"]) > 1 for result in results)
    return Sentences(
        results,
        _best_hypothesis,
        remarks=("best-only",) if several else (),
        reason=gettext("Every JSON object has hypotheses and their attention, like the results of CTranslate2."),
    )


def _best_hypothesis(result: Mapping[str, Any]) -> SentencePair:
    """Return the pair of the hypothesis with the highest score, or, without scores, of the first."""
    hypotheses, attention, scores = (result.get(name) for name in ("hypotheses", "attention", "scores"))
    if not isinstance(attention, list) or not hypotheses or len(attention) != len(hypotheses):
        raise user_error("A result must have one attention matrix for each of its hypotheses.")
    given = scores if isinstance(scores, list) and all(is_number(str(score)) for score in scores) else []
    best = max(range(len(hypotheses)), key=lambda n: float(given[n])) if len(given) == len(hypotheses) else 0
    # Of the names of tokens, `target_pieces` is preferred to any in the result.
    return pair_from_json(
        {**result, "target_pieces": hypotheses[best], "attention": attention[best], "origin": "CTranslate2"}
    )


def _read_inseq(content: Content, _: int | None) -> Sentences | None:
    """Return a pair for each sequence of `FeatureAttributionOutput.save`; None where there are no attributions."""
    values = objects(content) or []
    sequences = _attributes(values[0]).get("sequence_attributions") if len(values) == 1 else None
    if not isinstance(sequences, list) or not sequences:
        return None
    return Sentences(
        sequences, _attributions, reason=gettext("The file has the field sequence_attributions, as Inseq’s files do.")
    )


def _attributes(value: Any) -> Mapping[str, Any]:
    """Return the attributes of an instance stored by json-tricks; a plain object is returned unchanged."""
    if not isinstance(value, Mapping):
        return {}
    inner = value.get("attributes")
    return inner if "__instance_type__" in value and isinstance(inner, Mapping) else value


def _attributions(sequence: Any) -> SentencePair:
    """Return the tokens and the source attributions of a sequence."""
    fields = _attributes(sequence)
    if fields.get("source_attributions") is None:
        raise user_error(
            "The file has no source attributions. Inseq saves source attributions for encoder-decoder "
            "models, but not for decoder-only models."
        )
    array = _array(fields["source_attributions"])  # (Tx, Ty, …): the others are layers and heads, or units
    if array.ndim < 2:
        raise user_error("The attributions must have at least two dimensions: source tokens and target tokens.")
    array = np.moveaxis(array, (0, 1), (-1, -2))  # (…, Ty, Tx)
    target = fields.get("target")
    places = [fields.get(f"attr_pos_{name}") for name in ("start", "end")]
    if isinstance(target, list):
        attributed = target[slice(*(place if isinstance(place, int) else None for place in places))]
        target = attributed if len(attributed) == array.shape[-2] else target
    return pair_from_json({"source": fields.get("source"), "target": target, "matrix": array, "origin": "Inseq"})


def _array(value: Any) -> Array:
    """Return an array that json-tricks stored as lists or as base64 bytes, or Inseq as base64 of a safetensors file.

    Raise AttnvizError where it is damaged.
    """
    try:
        if isinstance(value, str):
            (array,) = safetensors.numpy.load(base64.b64decode(value, validate=True)).values()
            return np.asarray(array, dtype=np.float64)
        stored = value["__ndarray__"] if isinstance(value, Mapping) else value
        if not isinstance(stored, str):
            return np.asarray(stored, dtype=np.float64)
        encoding, _, packed = stored.rpartition(":")
        data = base64.b64decode(packed, validate=True)
        if encoding.endswith("gz"):
            data = zlib.decompressobj(wbits=31).decompress(data, LIMITS.bytes)
        if value["dtype"] not in _STORED_TYPES:
            raise ValueError("the array has no numbers")
        stored_type = np.dtype(value["dtype"]).newbyteorder(">" if value.get("endian") == "big" else "<")
        numbers: Array = np.frombuffer(data, stored_type).astype(np.float64)
        return numbers.reshape(tuple(value["shape"]), order="C" if value.get("Corder", True) else "F")
    except _DAMAGED as error:
        raise user_error("An array of the file is damaged: {error}.", error=str(error)[:80]) from error


def _read_nematus(content: Content, _: int | None) -> Sentences | None:
    """Return a pair for each sentence, with its first hypothesis; None unless all are weighted links or graphs."""
    values = json_values(content) or []
    if len(values) == 1 and isinstance(values[0], list) and not _entries(values[0]):
        values = values[0]
    found = [_entries(value) for value in values]
    if not found or not all(found):
        return None
    items, count = dict[int | str, Any](), 0
    for place, entries in enumerate(found):
        for numbers, hypothesis in groupby(entries, lambda entry: entry[3:]):  # of sentence and hypothesis
            items.setdefault(str(numbers[0]) if numbers else place, [*hypothesis])
            count += 1
    return Sentences(
        [*items.values()],
        _weighted,
        remarks=("best-only",) if len(items) < count else (),
        reason=gettext("The file is JSON with a weight for each pair of tokens, as in the output of Nematus."),
    )


def _entries(value: Any) -> list[Any]:
    """Return the entries [target, source, weight, …] of a list or of a graph; none for other values."""
    if isinstance(value, Mapping):
        try:
            source, target = ([node["name"] for node in value["nodes"] if node["group"] == side] for side in (1, 2))
            weights = [link["value"] for link in value["links"]]
        except (KeyError, TypeError):
            return []
        if len(weights) != len(source) * len(target):
            raise AttnvizError(_incomplete())
        value = [[*tokens, weight] for tokens, weight in zip(product(target, source), weights, strict=True)]
    fits = isinstance(value, list) and all(
        isinstance(one, list)
        and len(one) in (3, 5)
        and all(isinstance(text, str) for text in one[:2])
        and is_number(str(one[2]))
        for one in value
    )
    return value if fits else []


def _weighted(entries: list[Any]) -> SentencePair:
    """Return the pair of entries with every source token for each target token; raise AttnvizError for others."""
    targets, sources, weights = ([entry[place] for entry in entries] for place in range(3))
    for columns in range(1, MOST_TOKENS + 2):
        source, target = sources[:columns], targets[::columns]
        if sources == source * len(target) and targets == [token for token in target for _ in source]:
            rows = np.reshape(weights, (len(target), columns))
            return pair_from_json({"source": source, "target": target, "matrix": rows, "origin": "Nematus"})
    raise AttnvizError(_incomplete())


def _incomplete() -> str:
    return gettext("Each target token of a sentence must have one weight for every source token.")


JSON_FORMATS = (
    Format(
        "inseq",
        "Inseq",
        _read_inseq,
        example="JSON of a `FeatureAttributionOutput`",
        written_by='`out.save("file.json")`',
    ),
    Format(
        "ctranslate2",
        "CTranslate2",
        _read_ctranslate2,
        _near_miss_message,
        example='`[{"hypotheses": [[…]], "attention": [[[…]]]}]`',
        written_by="`translate_batch(…, return_attention=True)`, dumped as JSON",
    ),
    Format(
        "nematus-json",
        "Nematus",
        _read_nematus,
        example='`[["une", "a", "0.9", 0, 0], …]`, or nodes and links',
        written_by="`nematus/translate.py --json_alignment`",
    ),
    Format(
        "json",
        "JSON",
        _read_objects,
        _near_miss_message,
        ("trace", "open"),
        example=(
            '`{"source": […], "target": […], "matrix": [[…]]}`; attnviz also accepts [other field '
            "names](#field-names), and links or gold links instead of the matrix; the file may hold one object, a "
            "list, or one object on each line"
        ),
        written_by="`attnviz translate --json`, *Whole trace, JSON*, `record.save()`",
    ),
)
