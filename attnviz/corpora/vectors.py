"""Compute and save states, contexts and annotations for a random sample of the pairs of a corpus."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from pyarrow import dataset

from attnviz.analysis.neighbours import MOST_VECTORS, VECTOR_KINDS, VectorKind, VectorPair, Vectors
from attnviz.errors import AttnvizError
from attnviz.evaluation.forced import EncodedPair, force_decode, pieces_of
from attnviz.network import RNNsearch
from attnviz.text import Tokenizer
from attnviz.translator import Translator

_Texts = tuple[int, str, str]
"""Line number, source, target."""
_Numbered = tuple[int, EncodedPair]
"""Line number and pair."""
_PairVectors = tuple[VectorPair, dict[VectorKind, NDArray[np.float16]]]
_BATCH = 16
"""Number of pairs in a batch."""
_SEED = 0


def to_float32(block: NDArray[np.float16]) -> NDArray[np.float32]:
    """Return vectors (N, d) in single precision, with torch, which is ten times as fast as NumPy at this conversion."""
    return torch.from_numpy(block).float().numpy()


def write_vectors(
    table: Path,
    output: Path,
    translator: Translator[Any],
    most: int = MOST_VECTORS,
    advance: Callable[[int], object] = lambda _: None,
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
    pairs: Iterable[_Texts],
    most: int = MOST_VECTORS,
    advance: Callable[[int], object] = lambda _: None,
) -> Vectors:
    """Return the vectors of `pairs`, in order, at most `most` of each kind.

    Pairs that are blank or too long are skipped. Raise AttnvizError for a model without states and contexts.
    """
    if not isinstance(translator.network, RNNsearch):
        raise AttnvizError(
            f"The model {translator.name} is a transformer, so it has no recurrent states or context vectors to "
            "compare."
        )
    found, sizes = list[_PairVectors](), dict.fromkeys(VECTOR_KINDS, 0)
    batches = _batches(translator.tokenizer, pairs)
    for pair, arrays in itertools.chain.from_iterable(_vectors_of_batch(translator, batch) for batch in batches):
        sizes = {kind: sizes[kind] + len(arrays[kind]) for kind in VECTOR_KINDS}
        if max(sizes.values()) > most:
            break
        found.append((pair, arrays))
        advance(max(sizes.values()))
    empty = [np.zeros((0, 0), np.float16)]
    joined = {kind: np.concatenate([arrays[kind] for _, arrays in found] or empty) for kind in VECTOR_KINDS}
    return Vectors(translator.name, translator.weights_digest, tuple(pair for pair, _ in found), joined)


def _sample_of_table(table: Path, most: int) -> Iterator[_Texts]:
    """Yield a random sample of the pairs of a table, of which only some rows are in memory at once."""
    try:
        rows = dataset.dataset(table, format="parquet")
        random_keys = np.random.default_rng(_SEED).random(rows.count_rows())
        sampled_rows = np.argsort(random_keys, kind="stable")[: max(most // 2, 1)]  # a pair has at least two pieces
        sample = rows.take(pa.array(sampled_rows), columns=["number", "source", "target"])
    except (OSError, ValueError) as error:  # Arrow's errors are subclasses of these
        raise AttnvizError(f"The table {table} cannot be read: {error}.") from error
    yield from zip(*(column.to_pylist() for column in sample.columns), strict=True)


def _batches(tokenizer: Tokenizer, pairs: Iterable[_Texts]) -> Iterator[list[_Numbered]]:
    batch: list[_Numbered] = []
    for number, source, target in pairs:
        with contextlib.suppress(AttnvizError):  # blank or too long
            batch.append((number, EncodedPair.of(tokenizer, source, target)))
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


@torch.inference_mode()
def _vectors_of_batch(translator: Translator[Any], batch: Sequence[_Numbered]) -> Iterator[_PairVectors]:
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
