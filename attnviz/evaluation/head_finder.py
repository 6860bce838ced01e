"""`find_heads`: rank attention heads by gold links, mutual links or erasure, and choose those that align best."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from attnviz import lazy_pandas as pd
from attnviz.analysis.measures import links, mutual_links
from attnviz.arguments import checked_path
from attnviz.errors import user_error
from attnviz.evaluation.scoring import GoldScorer
from attnviz.files import replace_text
from attnviz.importing.attention_reader import read_attention
from attnviz.reading import reading_errors
from attnviz.trace import Aligned, Array, FloatArray, OneLine

Criterion = Literal["aer", "mutual", "erased"]
CRITERIA: tuple[Criterion, ...] = get_args(Criterion)
_MOST = 10
"""Largest number of heads whose mean is tried."""
_COLUMNS = ("layer", "head", "aer", "precision", "recall", "f1", "mutual", "erased")

_Head = tuple[int, int]
"""0-based layer and head."""


@dataclass(frozen=True, eq=False, repr=False)
class FoundHeads(OneLine):
    """The heads of a model in the order of their agreement."""

    table: pd.DataFrame
    """A row for each head, the best first; the index counts from 1. nan where a measure needs what was not given.

    Columns: `layer` and `head`, 0-based; `aer`, `precision`, `recall` and `f1` against the gold links; `mutual`, the
    share of target words whose link is also the largest weight of its source word; `erased`, the share of target words
    with the largest weight at the source word whose erasure makes them the least likely.
    """
    by: Criterion
    """The column that the table is sorted by."""
    alignment_heads: list[list[int]]
    """The heads whose mean agrees best: the first of the table, as many as lower the error, at most ten.

    Each is [layer, head], 0-based, as in `generation_config.alignment_heads` of transformers.
    """

    @property
    def tied(self) -> int:
        """Number of heads with the best value of the criterion: 1 unless heads tie, whose order is then by layer."""
        scores = self.table[self.by]
        return max(1, int((scores == scores.iloc[0]).sum()))

    def save(self, path: str | Path) -> None:
        """Write `alignment_heads` to a JSON file; other fields of an existing file, such as a config, are kept.

        Args:
            path: The file.

        Raises:
            AttnvizError: The file exists and is no JSON object, or cannot be read or written.
        """
        path = checked_path(path)
        with reading_errors(path):
            fields = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        if not isinstance(fields, dict):
            raise user_error("The file {path} is not a JSON object.", path=path)
        # transformers 5 ignores further fields of a generation config that it made from a model's config.
        fields.pop("_from_model_config", None)
        replace_text(path, json.dumps(fields | {"alignment_heads": self.alignment_heads}, indent=2) + "\n")

    def _repr_html_(self) -> str:
        """Return the table as HTML, which notebooks display."""
        return str(self.table.to_html(float_format="{:.3f}".format))


def find_heads(records: Any, gold: Any = None, *, by: Criterion | None = None) -> FoundHeads:
    """Rank the heads of a model by their agreement with links of words, over one or several sentence pairs.

    Weights are merged into words, without `</s>`. The criteria are

    - "aer": the alignment error rate against `gold`, computed as by `alignment_error`;
    - "erased": the share of target words whose largest weight is at the source word that erasure names. The records
      need attributions (`from_huggingface(..., attributions=True)`). In a decoder, token i is compared with the weights
      of token i - 1, which predicts it;
    - "mutual": the share of links that are the largest weight of their row and of their column.

    Args:
        records: A record with several heads, a list of such records, a file, or what `read_attention` returns.
        gold: Gold links, in the forms that `alignment_error` takes.
        by: The criterion; by default the first for which the records have what it needs.

    Returns:
        The heads, best first.

    Raises:
        AttnvizError: A record has no heads, the records are of different models, or the criterion lacks its data.
    """
    measures = _Measures(_listed(records), gold)
    chosen = by or measures.criteria[0]
    if chosen not in CRITERIA:
        raise user_error(
            "Heads can be ranked by one of {names}, not by {name}.", names=", ".join(CRITERIA), name=repr(by)[:40]
        )
    if chosen not in measures.criteria:
        raise user_error(
            "To rank heads by the alignment error rate, give gold links."
            if chosen == "aer"
            else "The records have no attribution by erasure. Make the records with from_huggingface and "
            "attributions=True."
        )
    rows = [{"layer": head[0], "head": head[1], **measures.of([head])} for head in measures.heads]
    table = pd.DataFrame(rows, columns=list(_COLUMNS))
    table = table.sort_values(chosen, ascending=chosen == "aer", kind="stable")
    table.index = pd.RangeIndex(1, len(table) + 1)
    ranked = list(zip(table["layer"].tolist(), table["head"].tolist(), strict=True))
    sets = [ranked[:count] for count in range(1, min(_MOST, len(ranked)) + 1)]
    sign = 1 if chosen == "aer" else -1
    best = min(sets, key=lambda heads: sign * measures.of(heads, [chosen])[chosen])
    return FoundHeads(table, chosen, [list(head) for head in best])


def _listed(records: Any) -> list[Aligned]:
    """Return the records as a list; raise AttnvizError unless all have the same layers and heads."""
    if isinstance(records, (str, os.PathLike)):
        records = read_attention(records)
    found = list(records) if isinstance(records, Iterable) else [records]
    if not found:
        raise user_error("There is no record, so there are no heads to rank.")
    shapes = {np.shape(getattr(record, "head_weights", ()))[:-2] for record in found}
    if any(len(shape) != 2 for shape in shapes):
        raise user_error(
            "At least one record has only one attention matrix, so it has no heads to rank. Give records with the "
            "attention of every head, as from_huggingface makes them."
        )
    if len(shapes) > 1:
        raise user_error("The records have different numbers of layers or heads.")
    return found


class _Measures:
    """The agreement of the mean of any heads, over all records."""

    def __init__(self, records: Sequence[Aligned], gold: Any) -> None:
        self.records = records
        self.scorer = None if gold is None else GoldScorer(records, gold, list(self._matrices(self.heads)))

    @property
    def heads(self) -> list[_Head]:
        """All heads, layer by layer."""
        layers, heads = map(range, _weights(self.records[0]).shape[:2])
        return list(product(layers, heads))

    @cached_property
    def criteria(self) -> list[Criterion]:
        """The criteria for which the records have what is needed, the preferred ones first."""
        has_erasure = all(getattr(record, "erased", np.zeros(0)).size for record in self.records)
        return [*(["aer"] if self.scorer else []), *(["erased"] if has_erasure else []), "mutual"]  # type: ignore[list-item]

    def of(self, heads: Sequence[_Head], criteria: Sequence[Criterion] = CRITERIA) -> Mapping[str, float]:
        """Return the measures of the mean weights of `heads`, by the column of the table; others are nan.

        Those of the `criteria` are computed, "aer" with precision, recall and F1.
        """
        found: dict[str, float] = dict.fromkeys(_COLUMNS[2:], float("nan"))
        matrices = list(self._matrices(heads)) if {"aer", "mutual"} & {*criteria} else []
        if self.scorer and "aer" in criteria:
            score = self.scorer.score(matrices)
            rates = {"aer": score.aer, "precision": score.precision, "recall": score.recall, "f1": score.f1}
            found |= {name: np.nan if rate is None else rate for name, rate in rates.items()}
        if "mutual" in criteria:
            count = sum(len(links(matrix)) for matrix in matrices)
            found["mutual"] = sum(len(mutual_links(matrix)) for matrix in matrices if matrix.size) / max(count, 1)
        if "erased" in criteria and "erased" in self.criteria:
            found["erased"] = self._agreement(heads)
        return found

    def _matrices(self, heads: Sequence[_Head]) -> Iterator[Array]:
        """Yield the mean weights of `heads` between the words of each record, without `</s>`."""
        for record in self.records:
            yield _between_words(record, _mean(record, heads))

    def _agreement(self, heads: Sequence[_Head]) -> float:
        """Return the share of target words whose largest weight is at the word with the largest drop by erasure."""
        same, count = 0, 0
        for record, drops in zip(self.records, self._drops, strict=True):
            weights = _mean(record, heads)
            if getattr(record, "kind", "cross") == "decoder":
                weights = np.pad(weights, ((1, 0), (0, 0)))[:-1]  # token i - 1 predicts token i
            weights = _between_words(record, weights)
            rows = np.flatnonzero((drops > 0).any(axis=1))
            same += int((weights[rows].argmax(axis=1) == drops[rows].argmax(axis=1)).sum())
            count += len(rows)
        return same / count if count else float("nan")

    @cached_property
    def _drops(self) -> list[Array]:
        """The drop of each target word's log probability by the erasure of each source word, for each record."""
        return [_between_words(record, getattr(record, "erased")) for record in self.records]  # noqa: B009


def _weights(record: Aligned) -> FloatArray:
    weights: FloatArray = getattr(record, "head_weights")  # noqa: B009 - checked by _listed
    return weights


def _mean(record: Aligned, heads: Sequence[_Head]) -> Array:
    layers, numbers = zip(*heads, strict=True)
    mean: Array = _weights(record)[list(layers), list(numbers)].astype(np.float64).mean(axis=0)
    return mean


def _between_words(record: Aligned, matrix: NDArray[Any]) -> Array:
    """Return a matrix between pieces as one between words, (target words, source words), without special tokens."""
    words = record.words()
    source, target = words.places
    return words.merged(matrix)[np.ix_(target, source)].astype(np.float64)


def head_rows(found: FoundHeads, most: int) -> Iterable[list[str]]:
    """Return the first `most` rows of the table as texts; layers and heads count from 0."""
    for rank, row in found.table.head(most).iterrows():
        numbers = ["–" if np.isnan(row[name]) else f"{row[name]:.3f}" for name in _COLUMNS[2:]]
        yield [str(rank), str(int(row["layer"])), str(int(row["head"])), *numbers]
