"""Whether pairs that a model is tested on are among those it was trained on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from attnviz.text import normalise
from attnviz.text_files import Pair, read_text_lines

LETTERS = 12
"""Sentences with fewer letters and digits, such as "Thank you.", are met everywhere: they count as short."""


@dataclass(frozen=True)
class Overlap:
    """Of the pairs of a test file, how many have a side that a line of the training files has on the same side."""

    pairs: int
    source: int
    target: int
    both: int
    """Pairs with both sides in training, on one line or on two."""
    short: int
    """Of the pairs with either side there, those where the sides there have fewer than `LETTERS` letters."""
    clean: tuple[int, ...]
    """The places, from 0, of the pairs with neither side in training."""


def key(sentence: str) -> str:
    """Return what two spellings of one sentence share: its letters and digits, case-folded, in their order."""
    return "".join(character for character in normalise(sentence).casefold() if character.isalnum())


def overlaps(tests: Sequence[Sequence[Pair]], training: Iterable[str]) -> list[Overlap]:
    """Return for each of the `tests` its overlap with `training`, lines of source<TAB>target, which are read once; no
    more than the tests is held in memory. A sentence without letters or digits matches nothing."""
    keys = [[(key(source), key(target)) for source, target in pairs] for pairs in tests]
    sought = [{sides[k] for pairs in keys for sides in pairs} - {""} for k in range(2)]
    met: list[set[str]] = [set(), set()]
    for line in training:
        for k, sentence in enumerate(line.rstrip("\r\n").split("\t")[:2]):
            found = key(sentence)
            if found in sought[k]:
                met[k].add(found)
    return [_overlap(pairs, met) for pairs in keys]


def _overlap(pairs: Sequence[tuple[str, str]], met: Sequence[set[str]]) -> Overlap:
    there = [[side in known for side, known in zip(sides, met, strict=True)] for sides in pairs]
    longest = [
        max((len(side) for side, is_there in zip(sides, flags, strict=True) if is_there), default=LETTERS)
        for sides, flags in zip(pairs, there, strict=True)
    ]
    return Overlap(
        pairs=len(pairs),
        source=sum(flags[0] for flags in there),
        target=sum(flags[1] for flags in there),
        both=sum(map(all, there)),
        short=sum(length < LETTERS for length in longest),
        clean=tuple(place for place, flags in enumerate(there) if not any(flags)),
    )


def lines_of(paths: Iterable[Path]) -> Iterable[str]:
    """Yield the lines of several `.tsv` or `.tsv.xz` files; raise AttnvizError for one that cannot be read."""
    for path in paths:
        yield from read_text_lines(path)
