"""Sentence pairs: reading `.tsv` and `.tsv.xz` files, and the encoded corpus as flat arrays of ids."""

from __future__ import annotations

import lzma
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.text import EOS, Tokenizer

Pair = tuple[str, str]


def parse_weighted(entry: str) -> tuple[Path, float]:
    """Split `PATH=WEIGHT` into path and weight (1 where none is given); raise AttnvizError for a bad weight."""
    path, mark, weight = entry.rpartition("=")
    if not mark:
        return Path(entry), 1.0
    try:
        value = float(weight)
    except ValueError:
        return Path(entry), 1.0
    if not 0 < value <= 100:
        raise AttnvizError(f"The weight of {path} must be above 0 and at most 100, not {weight}.")
    return Path(path), value


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a `.tsv` or `.xz` file; bytes that are not UTF-8 become U+FFFD.

    Raise AttnvizError, naming the file, where it is missing or cannot be read.
    """
    try:
        if path.suffix == ".xz":
            with lzma.open(path, "rt", encoding="utf-8", errors="replace", newline="\n") as file:
                yield from file
        else:
            with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
                yield from file
    except (OSError, EOFError, lzma.LZMAError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise AttnvizError(f"The file {path} cannot be read: {reason}.") from error


def read_pairs(path: Path) -> tuple[list[Pair], int]:
    """Return the sentence pairs of a file and the number of malformed lines skipped.

    A line is malformed unless it has exactly two columns, neither blank, and is valid UTF-8. Raise AttnvizError where
    no pair is left.
    """
    pairs, malformed = [], 0
    for line in read_lines(path):
        columns = line.rstrip("\r\n").split("\t")
        if len(columns) == 2 and columns[0].strip() and columns[1].strip() and "\ufffd" not in line:
            pairs.append((columns[0], columns[1]))
        else:
            malformed += 1
    if not pairs:
        raise AttnvizError(f"The file {path} holds no sentence pair (source<TAB>target on a line).")
    return pairs, malformed


@dataclass(frozen=True)
class Corpus:
    """Encoded sentence pairs. Sentence k of the source is `source[source_starts[k]:source_starts[k + 1]]`, `</s>` last;
    the target likewise."""

    source: NDArray[np.int32]
    source_starts: NDArray[np.int64]
    target: NDArray[np.int32]
    target_starts: NDArray[np.int64]
    weights: NDArray[np.float32]
    """How many times an epoch shows each pair, on average, (pairs,)."""

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.weights)

    @property
    def source_lengths(self) -> NDArray[np.int64]:
        """Pieces of each source sentence, `</s>` included."""
        return np.diff(self.source_starts)

    @property
    def target_lengths(self) -> NDArray[np.int64]:
        """Pieces of each target sentence, `</s>` included."""
        return np.diff(self.target_starts)

    def source_sentence(self, index: int) -> NDArray[np.int32]:
        """Return the ids of source sentence `index`."""
        return self.source[self.source_starts[index] : self.source_starts[index + 1]]

    def target_sentence(self, index: int) -> NDArray[np.int32]:
        """Return the ids of target sentence `index`."""
        return self.target[self.target_starts[index] : self.target_starts[index + 1]]

    def save(self, path: Path) -> None:
        """Write the arrays to `path` (.npz)."""
        np.savez(path, source=self.source, source_starts=self.source_starts, target=self.target,
                 target_starts=self.target_starts, weights=self.weights)  # fmt: skip

    @classmethod
    def load(cls, path: Path) -> Corpus:
        """Read what `save` wrote."""
        with np.load(path, allow_pickle=False) as arrays:
            return cls(**arrays)


def encode(pairs: Sequence[Pair], weights: Sequence[float], tokenizer: Tokenizer) -> Corpus:
    """Return `pairs` as ids, each sentence closed by EOS."""
    flat, starts = [], []
    for side in (0, 1):
        sentences = tokenizer.encode_batch([pair[side] for pair in pairs])
        lengths = np.fromiter((len(ids) + 1 for ids in sentences), dtype=np.int64, count=len(sentences))
        starts.append(np.concatenate([[0], np.cumsum(lengths)]))
        flat.append(np.fromiter((i for ids in sentences for i in (*ids, EOS)), dtype=np.int32, count=lengths.sum()))
    return Corpus(flat[0], starts[0], flat[1], starts[1], np.asarray(weights, dtype=np.float32))
