"""Columns of the table of a corpus: names, types and meanings, and which of them are measures."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True)
class Measure:
    """A column with one number for each pair."""

    name: str
    meaning: str
    """Meaning, with range or unit."""
    whole: bool = False
    """Whether it is a count."""


MEASURES = (
    Measure(
        "log_probability_per_word",
        "sum of log p over the pieces of the target, `</s>` included, for each of its words; nats, <= 0",
    ),
    Measure("perplexity", "exp of the mean of -log p over the pieces of the target; >= 1"),
    Measure("entropy", "mean over the target pieces of -sum_j alpha_ij log2 alpha_ij; bits, 0 to log2 Tx"),
    Measure("largest_weight", "mean over the target pieces of max_j alpha_ij; 1/Tx to 1"),
    Measure(
        "least_coverage",
        "attention that the content word of the source looked at least got from all target words together; >= 0",
    ),
    Measure("end_share", "share of the attention of the target's words that `</s>` got; 0 to 1"),
    Measure("length_ratio", "words of the target for one of the source; > 0"),
    Measure("copied_words", "words of the target, of two letters or digits at least, that the source has too", True),
    Measure("copied_share", "the same as a share of the words of the target with a letter or digit; 0 to 1"),
    Measure("unknown_words", "words of both sides with a piece that the tokenizer does not know", True),
    Measure("chrf", "chrF2 of the translation against the reference; 0 to 100"),
    Measure("bleu", "BLEU of the translation against the reference, a sentence alone; 0 to 100"),
    Measure("aer_before", "alignment error rate of the links by attention; 0 to 1"),
    Measure("aer_after", "alignment error rate of the links after the word; 0 to 1"),
    Measure("omitted", "stretches of the source that nobody looked at", True),
    Measure("repeated", "words that were written again", True),
    Measure("source_length", "words of the source", True),
    Measure("target_length", "words of the target", True),
)
"""All measures; null where there is nothing to measure: no attention, no reference, no links."""

_LINKS = pa.list_(pa.struct([("i", pa.int16()), ("j", pa.int16()), ("weight", pa.float32())]))
_GOLD = pa.list_(pa.struct([("i", pa.int16()), ("j", pa.int16()), ("sure", pa.bool_())]))
_REMARKS = pa.list_(pa.struct([("kind", pa.string()), ("strong", pa.bool_()), ("remark", pa.string())]))
_MEANINGS = {
    "number": "of the line or row it was read from, from 1",
    "source": "as it was read",
    "target": "the translation: given, or the model's own",
    "reference": "what the translation is measured against",
    "model": "name of its folder",
    "search": "forced where the target was given, greedy or beam where the model found it",
    "source_words": "what j counts, from 0; without `</s>`",
    "target_words": "what i counts, from 0; without `</s>`",
    "coverage": "attention that each source word got, sum_i alpha_ij; with that of `</s>` it adds up to the target's "
    "words and `</s>`",
    "links_before": "alpha_ij between words, before word i was known: those above the threshold, and the largest of "
    "each i",
    "links_after": "what the look of word i turned out to be about, once it was known",
    "gold": "links that people drew, between the same words; not sure where one of theirs is several of these",
    "remarks": "of the reading, in words",
}
_TYPES = {
    "number": pa.int64(),
    "source_words": pa.list_(pa.string()),
    "target_words": pa.list_(pa.string()),
    "coverage": pa.list_(pa.float32()),
    "links_before": _LINKS,
    "links_after": _LINKS,
    "gold": _GOLD,
    "remarks": _REMARKS,
}
TEXTS = ("number", "source", "target", "reference", "model", "search")

SCHEMA = pa.schema(
    [
        *(pa.field(name, _TYPES.get(name, pa.string()), metadata={"meaning": _MEANINGS[name]}) for name in TEXTS),
        *(
            pa.field(measure.name, pa.int32() if measure.whole else pa.float32(), metadata={"meaning": measure.meaning})
            for measure in MEASURES
        ),
        *(
            pa.field(name, kind, metadata={"meaning": _MEANINGS[name]})
            for name, kind in _TYPES.items()
            if name != "number"
        ),
    ]
)
"""One row for each pair; each field has its meaning in its metadata."""
