"""Settings of a corpus analysis, and the columns of its table: names, types, meanings, which are measures."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from attnviz.analysis.posterior import DEFAULT, POSTERIOR_KINDS, PosteriorKind
from attnviz.arguments import check_choice
from attnviz.bounds import COARSE_PRECISIONS
from attnviz.errors import AttnvizError

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Measure:
    """A column with one number for each pair."""

    name: str
    meaning: str
    """Meaning, with range or unit."""
    whole: bool = False
    """Whether it is a count."""


_MEASURES = (
    Measure(
        "log_probability_per_word",
        "log probability of the target, `</s>` included, divided by its number of words; in nats, at most 0",
    ),
    Measure("perplexity", "perplexity per target piece: exp of the mean of -log p; at least 1"),
    Measure("entropy", "mean over the target pieces of -sum_j alpha_ij log2 alpha_ij; bits, 0 to log2 Tx"),
    Measure("largest_weight", "mean over the target pieces of max_j alpha_ij; 1/Tx to 1"),
    Measure(
        "least_coverage",
        "total attention, from all target words, on the content word of the source that gets least; at least 0",
    ),
    Measure("end_share", "share of the attention of all target words that goes to `</s>`; 0 to 1"),
    Measure("length_ratio", "number of target words divided by number of source words; above 0"),
    Measure("copied_words", "target words of at least two letters or digits that also occur in the source", True),
    Measure("copied_share", "copied words as a share of the target words with a letter or digit; 0 to 1"),
    Measure("unknown_words", "words of source and target with a piece that the tokenizer does not know", True),
    Measure("chrf", "chrF2 of the translation against the reference; 0 to 100"),
    Measure("bleu", "BLEU of this one translation against the reference; 0 to 100"),
    Measure("aer_before", "alignment error rate of the links by attention (links_before); 0 to 1"),
    Measure("aer_after", "alignment error rate of the links by posterior attention (links_after); 0 to 1"),
    Measure("omitted", "runs of source words with almost no attention", True),
    Measure("repeated", "target words that repeat an earlier target word", True),
    Measure("unlinked", "target words without a link to a source word", True),
    Measure("many_to_one", "most target words that link to the same source word", True),
    Measure("drifted", "target words in stretches whose links are one source word off (`measures.drifts`)", True),
    Measure("source_length", "number of source words", True),
    Measure("target_length", "number of target words", True),
)
_BETWEEN_FILES = (
    Measure("aer_between", "alignment error rate between the links of two files, all of them sure; 0 to 1"),
    Measure("only_one", "links that only one of two files has", True),
)
"""Measures that only a table of imported attention has."""
MEASURES = (*_MEASURES, *_BETWEEN_FILES)
"""All measures; null where there is nothing to measure: no attention, no reference, no links."""

_LINKS = pa.list_(pa.struct([("i", pa.int16()), ("j", pa.int16()), ("weight", pa.float32())]))
_GOLD = pa.list_(pa.struct([("i", pa.int16()), ("j", pa.int16()), ("sure", pa.bool_())]))
_REMARKS = pa.list_(pa.struct([("kind", pa.string()), ("strong", pa.bool_()), ("remark", pa.string())]))


def _column(name: str, kind: pa.DataType, meaning: str) -> pa.Field:
    return pa.field(name, kind, metadata={"meaning": meaning})


def _columns_of(measures: Sequence[Measure]) -> list[pa.Field]:
    return [_column(one.name, pa.int32() if one.whole else pa.float32(), one.meaning) for one in measures]


SCHEMA = pa.schema(
    [
        _column("number", pa.int64(), "number of the line or row in the file, counted from 1"),
        _column("source", pa.string(), "source sentence as in the file"),
        _column("target", pa.string(), "translation: given in the file, or written by the model"),
        _column("reference", pa.string(), "reference translation that the translation is compared with"),
        _column("model", pa.string(), "name of the model’s folder"),
        _column("search", pa.string(), "forced if the file gave the target; greedy or beam if the model wrote it"),
        *_columns_of(_MEASURES),
        _column("source_words", pa.list_(pa.string()), "source words, without `</s>`; j counts them from 0"),
        _column("target_words", pa.list_(pa.string()), "target words, without `</s>`; i counts them from 0"),
        _column(
            "coverage",
            pa.list_(pa.float32()),
            "total attention on each source word, sum_i alpha_ij; with that on `</s>`, the sum is the number of target "
            "words plus one",
        ),
        _column(
            "links_before",
            _LINKS,
            "attention alpha_ij between words, computed before word i is known: all links of at least the threshold, "
            "and the largest of each i",
        ),
        _column("links_after", _LINKS, "posterior attention between words, computed once word i is known"),
        _column(
            "gold",
            _GOLD,
            "links marked by hand, between the same words; a link is not sure if it merges several links of the file",
        ),
        _column("remarks", _REMARKS, "findings on this pair, in words"),
    ]
)
"""One row for each pair; each field has its meaning in its metadata."""
ATTENTION_SCHEMA = pa.schema(
    [
        *SCHEMA,
        *_columns_of(_BETWEEN_FILES),
        _column("file", pa.string(), "file of the pair, in a table of several files"),
        _column("record", pa.string(), "the attention of the pair, as `Attention.to_json`"),
    ]
)
"""The columns of a table of imported attention."""


@dataclass(frozen=True)
class Settings:
    """How pairs are decoded, and which links are stored."""

    translate: bool = False
    """Whether the second column is a reference for the model's translation; if not, it is analysed itself."""
    beam: int = 5
    """Beam width of the search, if any; 1 is greedy."""
    kind: PosteriorKind | None = DEFAULT
    """Kind of posterior attention, as for `analysis.posterior`; None leaves it out, which takes a third of the time."""
    threshold: float = 0.1
    """Smallest share of a stored link, in (0, 1]; the largest of each word is stored too."""
    batch_size: int = 64
    """Largest number of pairs computed together."""
    precision: str = "auto"
    """Precision of the normalisers in posterior attention on a CPU: "int8", correct to three digits, "fp32", or "auto".

    "auto" is the faster of the two on this machine.
    """
    unescape: bool = False
    """Whether the escapes of Moses' tokenizer are undone in sentences."""

    def with_precision_for(self, device: torch.device) -> Settings:
        """Return these settings with the precision that "auto" selects on a CPU.

        A run decides it once: links by posterior attention differ in the fourth digit, and parts of one table may come
        from several processes.

        Args:
            device: The device of the run.
        """
        if device.type != "cpu" or self.precision != "auto":
            return self
        from attnviz.network.products import choose_coarse_precision

        return dataclasses.replace(self, precision=choose_coarse_precision(self.precision, device))

    def check(self) -> None:
        """Raise AttnvizError unless all settings are valid."""
        from attnviz.decoding import check_search

        check_search(self.beam)
        if self.kind is not None:
            check_choice("kind", self.kind, POSTERIOR_KINDS)
        if not 0 < self.threshold <= 1:
            raise AttnvizError(f"The threshold must be above 0 and at most 1, not {self.threshold}.")
        check_choice("precision", self.precision, COARSE_PRECISIONS)
        if self.batch_size < 1:
            raise AttnvizError(f"The batch size must be at least 1, not {self.batch_size}.")
