"""Compute and save states, contexts and annotations for a random sample of the pairs of a corpus."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pyarrow import parquet

from attnviz.analysis.neighbours import MOST_VECTORS, VECTOR_KINDS, VectorKind, VectorPair, Vectors
from attnviz.errors import AttnvizError
from attnviz.evaluation.forced import EncodedPair, force_decode, pieces_of
from attnviz.network import RNNsearch
from attnviz.text import Tokenizer
from attnviz.translator import Translator

Texts = tuple[int, str, str]
"""Line number, source, target."""
_BATCH = 16
"""Number of pairs in a batch."""
_SEED = 0


@dataclass
class _Collected:
    """Pairs and their vectors, while they are collected."""

    pairs: list[VectorPair] = field(default_factory=list)
    parts: dict[VectorKind, list[NDArray[np.float16]]] = field(
        default_factory=lambda: {kind: [] for kind in VECTOR_KINDS}
    )
    sizes: dict[VectorKind, int] = field(default_factory=lambda: dict.fromkeys(VECTOR_KINDS, 0))

    def add(self, pair: VectorPair, arrays: dict[VectorKind, NDArray[np.float16]]) -> None:
        self.pairs.append(pair)
        for kind, part in arrays.items():
            self.parts[kind].append(part)
            self.sizes[kind] += len(part)


def to_float32(block: NDArray[np.float16]) -> NDArray[np.float32]:
    """Return vectors (N, d) in single precision, with torch, which is ten times as fast as NumPy at this conversion."""
    return torch.from_numpy(block).float().numpy()


def write_vectors(
    table: Path,
    output: Path,
    translator: Translator[Any],
    most: int = MOST_VECTORS,
    advance: Callable[[int], object] | None = None,
) -> Vectors:
    """Write to `output` the vectors of pairs of a `table` of `analyse_file`, at most `most` of each kind; return them.

    From a larger table, a reproducible random sample of pairs is taken; pairs that exceed `most` are left out as a
    whole. `advance` is called with the number of vectors of the largest kind. Raise AttnvizError as `vectors_of_pairs`
    does, and where a file cannot be read or written.
    """
    vectors = vectors_of_pairs(translator, _sample_of_table(table, most), most, advance)
    vectors.save(output)
    return vectors


def vectors_of_pairs(
    translator: Translator[Any],
    pairs: Iterable[Texts],
    most: int = MOST_VECTORS,
    advance: Callable[[int], object] | None = None,
) -> Vectors:
    """Return the vectors of `pairs`, in order, at most `most` of each kind.

    Pairs that are blank or too long are skipped. Raise AttnvizError for a model without states and contexts.
    """
    if not isinstance(translator.network, RNNsearch):
        raise AttnvizError(
            f"The model {translator.name} is a transformer, so it has no recurrent states or context vectors to "
            "compare."
        )
    collected = _Collected()
    for batch in _batches(translator.tokenizer, pairs):
        for pair, arrays in _vectors_of_batch(translator, batch):
            if any(collected.sizes[kind] + len(part) > most for kind, part in arrays.items()):
                return _vectors_of(translator, collected)
            collected.add(pair, arrays)
        if advance:
            advance(max(collected.sizes.values()))
    return _vectors_of(translator, collected)


def _sample_of_table(table: Path, most: int) -> Iterator[Texts]:
    """Yield a random sample of the pairs of a table; memory is bounded by the sample size."""
    try:
        file = parquet.ParquetFile(table)
        random_keys = np.random.default_rng(_SEED).random(file.metadata.num_rows)
        sampled_rows = np.argsort(random_keys, kind="stable")[: max(most // 2, 1)]  # a pair has at least two pieces
        index_of_row = {row: index for index, row in enumerate(sampled_rows.tolist())}
        sample: list[Texts | None] = [None] * len(sampled_rows)
        start = 0
        for batch in file.iter_batches(4096, columns=["number", "source", "target"]):
            rows_in_batch = [row for row in range(len(batch)) if start + row in index_of_row]
            columns = [column.to_pylist() for column in batch.take(rows_in_batch).columns]
            for row, texts in zip(rows_in_batch, zip(*columns, strict=True), strict=True):
                sample[index_of_row[start + row]] = texts
            start += len(batch)
    except (OSError, ValueError) as error:  # Arrow's errors are subclasses of these
        raise AttnvizError(f"The table {table} cannot be read: {error}.") from error
    yield from (texts for texts in sample if texts is not None)


Numbered = tuple[int, EncodedPair]


def _batches(tokenizer: Tokenizer, pairs: Iterable[Texts]) -> Iterator[list[Numbered]]:
    batch: list[Numbered] = []
    for number, source, target in pairs:
        with contextlib.suppress(AttnvizError):  # blank or too long
            batch.append((number, EncodedPair.of(tokenizer, source, target)))
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


@torch.inference_mode()
def _vectors_of_batch(
    translator: Translator[Any], batch: Sequence[Numbered]
) -> Iterator[tuple[VectorPair, dict[VectorKind, NDArray[np.float16]]]]:
    """Yield each pair with its vectors."""
    decoded = force_decode(translator, [pair for _, pair in batch])
    steps = decoded.steps
    assert steps is not None  # `vectors_of_pairs` checks the model
    new_states = torch.cat([steps.states, steps.last], 1)[:, 1:]
    contexts = torch.from_numpy(decoded.alignment).to(steps.annotations) @ steps.annotations
    for row, (number, pair) in enumerate(batch):
        _, source_surfaces = pieces_of(translator.tokenizer, pair.source, pair.source_text)
        _, target_surfaces = pieces_of(translator.tokenizer, pair.target, pair.target_text)
        yield (
            VectorPair(number, pair.source_text, pair.target_text or "", source_surfaces, target_surfaces),
            {
                "state": _float16(new_states[row, : len(pair.target)]),
                "context": _float16(contexts[row, : len(pair.target)]),
                "annotation": _float16(steps.annotations[row, : len(pair.source)]),
            },
        )


def _float16(tensor: torch.Tensor) -> NDArray[np.float16]:
    """Return numbers in half precision, clipped to its largest value, 65,504."""
    return tensor.float().clamp(-65504, 65504).half().cpu().numpy()


def _vectors_of(translator: Translator[Any], collected: _Collected) -> Vectors:
    arrays: dict[VectorKind, NDArray[np.float16]] = {
        kind: np.concatenate(parts) if parts else np.zeros((0, 0), np.float16)
        for kind, parts in collected.parts.items()
    }
    return Vectors(translator.name, translator.weights_digest, tuple(collected.pairs), arrays)
