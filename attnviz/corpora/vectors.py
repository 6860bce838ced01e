"""Compute vectors of a corpus from its table, for a random sample of pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pyarrow import parquet

from attnviz.analysis.vectors import MOST_VECTORS, VECTOR_KINDS, VectorKind, VectorPair, Vectors
from attnviz.corpora.forced_decoding import lead
from attnviz.corpora.pair_read import pieces_of
from attnviz.decoding import sentence_ids, target_ids
from attnviz.errors import AttnvizError
from attnviz.network import RNNsearch
from attnviz.translator import Translator

Texts = tuple[int, str, str]
"""Line number, source, target."""
_TOGETHER = 16
"""Number of pairs in a batch."""
_SEED = 0


@dataclass
class _Gathered:
    """Pairs and their vectors, while they are collected."""

    pairs: list[VectorPair] = field(default_factory=list)
    parts: dict[VectorKind, list[NDArray[np.float16]]] = field(
        default_factory=lambda: {kind: [] for kind in VECTOR_KINDS}
    )
    sizes: dict[VectorKind, int] = field(default_factory=lambda: dict.fromkeys(VECTOR_KINDS, 0))

    def add(self, pair: VectorPair, found: dict[VectorKind, NDArray[np.float16]]) -> None:
        self.pairs.append(pair)
        for kind, part in found.items():
            self.parts[kind].append(part)
            self.sizes[kind] += len(part)


def in_single(block: NDArray[np.float16]) -> NDArray[np.float32]:
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
    whole. `advance` is called with the number of vectors of the largest kind. Raise AttnvizError as `gathered` does,
    and where a file cannot be read or written.
    """
    found = gathered(translator, _drawn(table, most), most, advance)
    found.save(output)
    return found


def gathered(
    translator: Translator[Any],
    pairs: Iterable[Texts],
    most: int = MOST_VECTORS,
    advance: Callable[[int], object] | None = None,
) -> Vectors:
    """Return the vectors of `pairs`, in order, at most `most` of each kind.

    Pairs that are blank or too long are skipped. Raise AttnvizError for a model without states and contexts.
    """
    if not isinstance(translator.network, RNNsearch):
        raise AttnvizError(f"The model {translator.name} is a transformer: it has no states and contexts to compare.")
    kept = _Gathered()
    for together in _batches(translator, pairs):
        for pair, found in _computed(translator, together):
            if any(kept.sizes[kind] + len(part) > most for kind, part in found.items()):
                return _joined(translator, kept)
            kept.add(pair, found)
        if advance:
            advance(max(kept.sizes.values()))
    return _joined(translator, kept)


def _drawn(table: Path, most: int) -> Iterator[Texts]:
    """Yield a random sample of the pairs of a table; memory is bounded by the sample size."""
    try:
        file = parquet.ParquetFile(table)
        lots = np.random.default_rng(_SEED).random(file.metadata.num_rows)
        wanted = np.argsort(lots, kind="stable")[: max(most // 2, 1)]  # a pair has at least two pieces
        place_of = {row: place for place, row in enumerate(wanted.tolist())}
        found: list[Texts | None] = [None] * len(wanted)
        start = 0
        for batch in file.iter_batches(4096, columns=["number", "source", "target"]):
            chosen = [row for row in range(len(batch)) if start + row in place_of]
            columns = [column.to_pylist() for column in batch.take(chosen).columns]
            for row, texts in zip(chosen, zip(*columns, strict=True), strict=True):
                found[place_of[start + row]] = texts
            start += len(batch)
    except (OSError, ValueError) as error:  # Arrow's errors are subclasses of these
        raise AttnvizError(f"The table {table} cannot be read: {error}.") from error
    yield from (texts for texts in found if texts is not None)


def _batches(translator: Translator[Any], pairs: Iterable[Texts]) -> Iterator[list[tuple[Texts, list[int], list[int]]]]:
    together: list[tuple[Texts, list[int], list[int]]] = []
    for texts in pairs:
        try:
            ids = sentence_ids(translator.tokenizer, texts[1]), target_ids(translator.tokenizer, texts[2])
        except AttnvizError:
            continue
        together.append((texts, *ids))
        if len(together) == _TOGETHER:
            yield together
            together = []
    if together:
        yield together


@torch.inference_mode()
def _computed(
    translator: Translator[Any], together: Sequence[tuple[Texts, list[int], list[int]]]
) -> Iterator[tuple[VectorPair, dict[VectorKind, NDArray[np.float16]]]]:
    """Yield each pair with its vectors."""
    sources, targets = [source for _, source, _ in together], [target for *_, target in together]
    led = lead(translator, sources, targets)
    steps = led.steps
    assert steps is not None  # gathered
    following = torch.cat([steps.states, steps.last], 1)[:, 1:]
    contexts = torch.from_numpy(led.alignment).to(steps.annotations) @ steps.annotations
    for row, ((number, source, target), source_pieces, target_pieces) in enumerate(together):
        rows, columns = len(target_pieces), len(source_pieces)
        surfaces = [
            pieces_of(translator.tokenizer, ids, text)[1]
            for ids, text in ((source_pieces, source), (target_pieces, target))
        ]
        yield (
            VectorPair(number, source, target, *surfaces),
            {
                "state": _half(following[row, :rows]),
                "context": _half(contexts[row, :rows]),
                "annotation": _half(steps.annotations[row, :columns]),
            },
        )


def _half(tensor: torch.Tensor) -> NDArray[np.float16]:
    """Return numbers in half precision, clipped to its largest value, 65,504."""
    return tensor.float().clamp(-65504, 65504).half().cpu().numpy()


def _joined(translator: Translator[Any], kept: _Gathered) -> Vectors:
    arrays: dict[VectorKind, NDArray[np.float16]] = {
        kind: np.concatenate(parts) if parts else np.zeros((0, 0), np.float16) for kind, parts in kept.parts.items()
    }
    return Vectors(translator.name, translator.weights_digest, tuple(kept.pairs), arrays)
