"""`Snapshots`: a translator's attention, translations and measurements at several moments of its training.

All moments share the same sentences. Training writes one file at each moment, evaluation one of all; files of one run
are joined when they are loaded.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from attnviz import bounds
from attnviz.arguments import check_version
from attnviz.errors import AttnvizError
from attnviz.files import file_errors, replace_text
from attnviz.trace.aligned import words_of
from attnviz.trace.parts import FloatArray, Words, fields_of_dataclass
from attnviz.trace.storage import FileFormat, check_characters, decode_fields, encode_fields

SAVED_AS = FileFormat("attnviz-snapshots", 1)
FOLDER = "snapshots"
"""Subfolder of a model folder that holds the files of its run."""
_LATEST = 10**9

Curve = tuple[tuple[int, float], ...]
"""Pairs (update, value measured after it), in order of updates."""


@dataclass(frozen=True)
class Sentence:
    """A sentence and the translation that is forced at every moment."""

    source: str
    target: str
    source_pieces: tuple[str, ...]
    """Tx pieces, `</s>` included."""
    target_pieces: tuple[str, ...]
    """Ty pieces, `</s>` included."""

    def words(self, alignment: FloatArray) -> Words:
        """Return the alignment, (Ty, Tx), by words."""
        return words_of(self.source_pieces, self.target_pieces, alignment)


@dataclass(frozen=True, eq=False)
class Snapshots:
    """M moments of a training run with S sentences each."""

    name: str
    """Name of the run."""
    guidance: float
    """Weight of the guided-attention loss in training; 0 without guidance."""
    updates: tuple[int, ...]
    """Number of updates at each moment, ascending, (M,)."""
    sentences: tuple[Sentence, ...]
    """The S sentences."""
    alignments: tuple[FloatArray, ...]
    """For each sentence alpha at each moment, (M, Ty, Tx), rows sum to 1; for a transformer the mean of all heads."""
    translations: tuple[tuple[str, ...], ...]
    """Greedy translation of each sentence at each moment, (M, S)."""
    curves: Mapping[str, Curve]
    """Measurements by name (`attnviz.analysis.learning` describes each), also between the moments."""
    levels: Mapping[str, Mapping[str, float]]
    """Baselines by curve.

    `alike` is uniform attention, `diagonal` attention along the diagonal, `links` gold links.
    """
    counts: Mapping[str, int]
    """By curve, the number of links, pairs of neighbours or sentences that each value averages over."""

    @cached_property
    def fingerprint(self) -> str:
        """Digest of what is measured and shown at all moments."""
        values = (self.name, self.guidance, self.updates, self.sentences, sorted(self.curves.items()))
        digest = hashlib.sha256(repr(values).encode())
        for alignment in self.alignments:
            digest.update(alignment.tobytes())
        return digest.hexdigest()[:20]

    def value(self, name: str, update: int) -> float | None:
        """Return the last value of the curve `name` at or before `update`; None where there is none."""
        return next((value for at, value in reversed(self.curves.get(name, ())) if at <= update), None)

    def moment(self, update: int) -> int:
        """Return the index of the last moment at or before `update`; 0 where there is none."""
        return max(0, sum(at <= update for at in self.updates) - 1)

    def save(self, path: str | Path) -> None:
        """Write the snapshots to `path` atomically; raise AttnvizError where that fails."""
        replace_text(Path(path), encode_fields(fields_of_dataclass(self), SAVED_AS) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> Snapshots:
        """Read what `save` wrote; raise AttnvizError, naming the file, where that fails."""
        with file_errors(path):
            fields = json.loads(Path(path).read_text(encoding="utf-8"))
            if not isinstance(fields, dict) or fields.get("format") != SAVED_AS.name:
                raise ValueError("it is not marked as snapshots of a training run")
            check_version(str(path), fields.get("version"), SAVED_AS.version)
            decoded = decode_fields(fields, cls)
            curves = {name: tuple((at, value) for at, value in curve) for name, curve in decoded["curves"].items()}
            found = cls(**decoded | {"curves": {name: curve for name, curve in curves.items() if curve}})
            _check(found)
        return found


def _check(snapshots: Snapshots) -> None:
    """Raise ValueError, TypeError or AttributeError unless sizes, texts and numbers are consistent."""
    bounds.check_real("guidance", snapshots.guidance, 0, 1000)
    _check_order(snapshots.updates)
    if not snapshots.updates or not snapshots.sentences:
        raise ValueError("it contains no moment or no sentence")
    for sentence, alignment in zip(snapshots.sentences, snapshots.alignments, strict=True):
        check_characters(*(vars(sentence)[name] for name in vars(sentence)))
        if alignment.shape != (len(snapshots.updates), len(sentence.target_pieces), len(sentence.source_pieces)):
            raise ValueError("an alignment does not fit its sentence")
        if alignment.dtype != np.float32 or not alignment.size or not ((alignment >= 0) & (alignment <= 1.001)).all():
            raise ValueError("an alignment contains a weight that is not between 0 and 1")
    if [len(translations) for translations in snapshots.translations] != [len(snapshots.sentences)] * len(
        snapshots.updates
    ):
        raise ValueError("the translations do not fit the sentences")
    check_characters((snapshots.name,), *snapshots.translations, snapshots.curves, snapshots.levels, snapshots.counts)
    for curve in snapshots.curves.values():
        _check_order([at for at, _ in curve])
    numbers = [value for curve in snapshots.curves.values() for _, value in curve]
    numbers += [value for level in snapshots.levels.values() for value in level.values()] + [*snapshots.counts.values()]
    if not all(type(number) in (int, float) and math.isfinite(number) for number in numbers):
        raise ValueError("it contains values that are not numbers")


def _check_order(updates: Sequence[int]) -> None:
    for update in updates:
        bounds.check_whole("an update", update, 0, _LATEST)
    if any(later <= earlier for earlier, later in itertools.pairwise(updates)):
        raise ValueError("its updates are not in order")


def join_snapshots(parts: Sequence[Snapshots]) -> Snapshots:
    """Return the moments of all `parts`, which are of one run and the same sentences.

    `parts` is not empty. Where several parts have a moment, the last one wins.
    """
    moments = {update: (part, k) for part in parts for k, update in enumerate(part.updates)}
    updates = tuple(sorted(moments))
    latest = [moments[update] for update in updates]
    curves: dict[str, dict[int, float]] = {}
    for part in parts:
        for name, curve in part.curves.items():
            curves.setdefault(name, {}).update(curve)
    return replace(
        parts[-1],
        updates=updates,
        alignments=tuple(
            np.stack([part.alignments[s][k] for part, k in latest]) for s in range(len(parts[-1].sentences))
        ),
        translations=tuple(part.translations[k] for part, k in latest),
        curves={name: tuple(sorted(curve.items())) for name, curve in curves.items()},
    )


def load_folder(folder: str | Path) -> list[Snapshots]:
    """Return the snapshots in `folder`, joined by run, in the order of file names.

    Skip damaged files and moments whose sentences differ from those of the run's last moment.
    """
    runs: dict[str, list[Snapshots]] = {}
    for path in sorted(Path(folder).glob("*.json")):
        try:
            snapshots = Snapshots.load(path)
        except AttnvizError:
            continue
        runs.setdefault(snapshots.name, []).append(snapshots)
    return [join_snapshots(list(_same_sentences(parts))) for parts in runs.values()]


def _same_sentences(parts: Iterable[Snapshots]) -> Iterable[Snapshots]:
    last = max(parts, key=lambda part: part.updates[-1])
    return (part for part in parts if part.sentences == last.sentences)
