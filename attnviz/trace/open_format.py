"""Read attention from JSON in this program's open format, which any other program can write.

The format is a JSON object with these fields.

- `source`, `target`: the tokens as lists of strings, with whatever marks the program uses for subwords;
- `matrix`: a row for each target token with a number from 0 to 1 for each source token; rows sum to 1. Or such a matrix
  for each head of each layer, with dimensions (layers, heads, target tokens, source tokens).

These fields are optional.

- `energies`: numbers of the same shape, before the softmax; `null` for a masked position;
- `states`: a row of numbers for each target token;
- `gradient`, `erased`: attributions of the log probability of each target token to the source tokens, numbers of the
  same shape;
- `kind`: "cross", or "encoder" or "decoder" for self-attention, where `source` and `target` are the same;
- `heads`: `{"layer": …, "head": …}`, both from 0, the heads that are shown where there are several; `null` means all;
- `gold`: links drawn by people, `{"sure": [[0, 0], …], "possible": […]}`, as pairs of a source and a target word, both
  from 0, where a word is the tokens that subword marks join; or Pharaoh text, `0-0` sure and `1?2` possible;
- `links`: the links between tokens that the matrix was made from, pairs of a source and a target token, both from 0;
- `words`: `{"source": […], "target": […]}`, the 0-based word of each token, which overrides subword marks;
- `remarks`: what a reader of this program assumed or changed, keys of `attention_record.REMARKS`;
- `origin`: who computed it, a string; `format`: "attnviz-attention" and `version`: 1, which identify the format.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnviz.arguments import check_version
from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.trace.attention_builder import MOST_TOKENS, attention, checked, pairs_of
from attnviz.trace.attention_record import Attention
from attnviz.trace.link_text import Links, parse_links
from attnviz.trace.parts import IntArray


def from_fields(fields: object, *, normalise: bool = False) -> Attention:
    """Return the attention in an object of the open format; raise AttnvizError where it is none."""
    if not isinstance(fields, Mapping):
        raise AttnvizError(
            gettext("This JSON does not hold attention: it must have the fields source, target and matrix.")
        )
    if fields.get("format", Attention.saved_as.name) != Attention.saved_as.name:
        raise AttnvizError(
            gettext(
                "This JSON is not in the attention format of attnviz: its field “format” is {format}.",
                format=repr(fields["format"])[:60],
            )
        )
    check_version(gettext("This attention object"), fields.get("version", 1), Attention.saved_as.version)
    if missing := [name for name in ("source", "target", "matrix") if name not in fields]:
        raise AttnvizError(gettext("Fields missing from this attention object: {names}.", names=", ".join(missing)))
    gold = _gold(fields.get("gold") or {})
    record = attention(
        fields["source"],
        fields["target"],
        fields["matrix"],
        energies=fields.get("energies"),
        states=fields.get("states"),
        gradient=fields.get("gradient"),
        erased=fields.get("erased"),
        kind=fields.get("kind", "cross"),
        sure=gold.get("sure", ()),
        possible=gold.get("possible", ()),
        normalise=normalise,
        origin=fields.get("origin", ""),
        special=fields.get("special", ()),
    )
    if linked := fields.get("links"):
        record = dataclasses.replace(record, links=pairs_of(linked))
    if (chosen := fields.get("heads")) is not None:
        record = _with_heads(record, chosen)
    return _with_words_and_remarks(record, fields.get("words"), fields.get("remarks", ()))


def _gold(value: object) -> Mapping[str, Any]:
    """Return gold links as an object; raise AttnvizError where they are neither an object nor Pharaoh text."""
    if isinstance(value, Mapping):
        return value
    try:
        links = parse_links(value) if isinstance(value, str) else Links(frozenset())
    except AttnvizError:
        links = Links(frozenset())
    if not links.all:
        raise AttnvizError(
            gettext('The field "gold" must be an object with two lists of links, "sure" and "possible".')
        )
    return {"sure": links.all - links.possible, "possible": links.possible}


def _with_heads(record: Attention, chosen: object) -> Attention:
    """Return the record with the alignment of the chosen heads; raise AttnvizError where there are none such."""
    numbers = [chosen.get(name) for name in ("layer", "head")] if isinstance(chosen, Mapping) else [""]
    if not all(number is None or type(number) is int for number in numbers):
        raise AttnvizError(
            gettext("The field “heads” must hold “layer” and “head”: each is an index counted from 0, or null.")
        )
    return record.select_heads(*numbers)


def _with_words_and_remarks(record: Attention, words: object, remarks: object) -> Attention:
    """Return the record with the words and remarks that the file states.

    Raise AttnvizError where they do not fit.
    """
    if not isinstance(remarks, Sequence) or not all(isinstance(remark, str) for remark in remarks):
        raise AttnvizError(gettext("“remarks” must be a list of strings."))
    all_remarks = tuple(dict.fromkeys((*remarks, *record.remarks)))
    record = dataclasses.replace(record, remarks=all_remarks)
    if words is not None:
        if not isinstance(words, Mapping) or set(words) != {"source", "target"}:
            raise AttnvizError(
                gettext(
                    "The field “words” must have two lists, “source” and “target”: for each token, the number of its "
                    "word, counted from 0."
                )
            )
        sides = [
            _word_numbers(words[name], pieces)
            for name, pieces in (
                ("source", record.source_pieces),
                ("target", record.target_pieces),
            )
        ]
        record = dataclasses.replace(record, source_word_of=sides[0], target_word_of=sides[1])
    return checked(record)


def _word_numbers(value: object, pieces: Sequence[str]) -> IntArray:
    """Return the word of each piece from a file, -1 for special tokens; a `</s>` at the end is no word."""
    numbers = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [None]
    if len(numbers) + 1 == len(pieces):
        numbers.append(-1)
    elif numbers and pieces[-1] == "</s>":
        numbers[-1] = -1
    if len(numbers) != len(pieces) or not all(type(n) is int and -1 <= n < MOST_TOKENS for n in numbers):
        raise AttnvizError(
            gettext(
                "The field “words” must have two lists, “source” and “target”: for each token, the number of its "
                "word, counted from 0."
            )
        )
    return np.array(numbers, np.int32)
