"""Count the test pairs with a side that occurs in the training data, or write the pairs without such a side.

    python -m tests.benchmarks.overlap test.tsv gold.jsonl --data train.tsv.xz

Sentences match if they have the same letters and digits in the same order, in upper or lower case.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path

from attnviz import AttnvizError
from attnviz.evaluation.alignment import read_gold
from attnviz.evaluation.measurement_tables import markdown_table
from attnviz.files import replace_text
from attnviz.pair_files import Pair, read_pairs
from attnviz.reading import read_text_lines
from attnviz.text import normalise
from tests.benchmarks.harness import exit_status

LETTERS = 12
"""Number of letters and digits below which a sentence counts as short, since "Thank you." occurs everywhere."""


@dataclass(frozen=True)
class Overlap:
    """Numbers of pairs of a test file with a side that the training data has on the same side."""

    pairs: int
    source: int
    target: int
    both: int
    """Pairs with both sides in the training data, on one line or on two."""
    short: int
    """Pairs with a side in the training data whose matching sides are shorter than `LETTERS`."""
    clean: tuple[int, ...]
    """0-based indices of the pairs with neither side in the training data."""


def sentence_key(sentence: str) -> str:
    """Return what two spellings of one sentence share: its letters and digits, case-folded, in order."""
    return "".join(character for character in normalise(sentence).casefold() if character.isalnum())


def overlaps(tests: Sequence[Sequence[Pair]], training: Iterable[str]) -> list[Overlap]:
    """Return the overlap of each of the `tests` with `training`, lines of source<TAB>target, which are read once."""
    keys = [[(sentence_key(source), sentence_key(target)) for source, target in pairs] for pairs in tests]
    test_keys = [{sides[k] for pairs in keys for sides in pairs} - {""} for k in range(2)]
    matched: list[set[str]] = [set(), set()]
    for line in training:
        for k, sentence in enumerate(line.rstrip("\r\n").split("\t")[:2]):
            training_key = sentence_key(sentence)
            if training_key in test_keys[k]:
                matched[k].add(training_key)
    return [_overlap(pairs, matched) for pairs in keys]


def _overlap(pairs: Sequence[tuple[str, str]], matched: Sequence[set[str]]) -> Overlap:
    in_training = [[side in known for side, known in zip(sides, matched, strict=True)] for sides in pairs]
    known_sides = [[*compress(sides, flags)] for sides, flags in zip(pairs, in_training, strict=True)]
    return Overlap(
        pairs=len(pairs),
        source=sum(flags[0] for flags in in_training),
        target=sum(flags[1] for flags in in_training),
        both=sum(map(all, in_training)),
        short=sum(max(map(len, sides), default=LETTERS) < LETTERS for sides in known_sides),
        clean=tuple(place for place, sides in enumerate(known_sides) if not sides),
    )


def lines_of(paths: Iterable[Path]) -> Iterable[str]:
    """Yield the lines of several `.tsv` or `.tsv.xz` files; raise AttnvizError for one that cannot be read."""
    for path in paths:
        yield from read_text_lines(path)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tests, output = "with source<TAB>target, or .jsonl with gold links", "folder for the .tsv tests without such pairs"
    parser.add_argument("tests", nargs="+", type=Path, metavar="TEST", help=f".tsv {tests}")
    parser.add_argument("--data", nargs="+", type=Path, required=True, metavar="TRAINING", help=".tsv or .tsv.xz")
    parser.add_argument("-o", "--output", type=Path, metavar="FOLDER", help=output)
    return exit_status(lambda: _run(parser.parse_args(arguments)))


def _run(options: argparse.Namespace) -> None:
    tests, rows = [_pairs(path) for path in options.tests], []
    for path, pairs, found in zip(options.tests, tests, overlaps(tests, lines_of(options.data)), strict=True):
        counts = (found.pairs, found.source, found.target, found.both, found.short)
        rows.append([Path(path.parent.name, path.name).as_posix(), *(f"{count:,}" for count in counts)])
        if options.output and path.suffix != ".jsonl":
            _write(options.output / path.name, [pairs[place] for place in found.clean])
    columns = ["file", "pairs", "source in training", "target in training", "both", f"either, under {LETTERS} letters"]
    print(markdown_table(columns, rows))


def _pairs(path: Path) -> list[tuple[str, str]]:
    if path.suffix == ".jsonl":
        return [(" ".join(pair.source), " ".join(pair.target)) for pair in read_gold(path)]
    return read_pairs(path).pairs


def _write(path: Path, pairs: list[tuple[str, str]]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AttnvizError(f"The file {path} cannot be written: {error.strerror or error}.") from error
    replace_text(path, "".join(f"{source}\t{target}\n" for source, target in pairs))


if __name__ == "__main__":
    sys.exit(main())
