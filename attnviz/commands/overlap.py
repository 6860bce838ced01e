"""The command `attnviz overlap`: count, or remove, test pairs with a side that occurs in the training data."""

from __future__ import annotations

import argparse
from pathlib import Path

from attnviz import AttnvizError
from attnviz.files import replace_text

SUMMARY = "count the test pairs whose source or target sentence also occurs in the training data"


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    command.add_argument(
        "tests",
        nargs="+",
        type=Path,
        metavar="TEST",
        help="test files: .tsv with source<TAB>target, or .jsonl with gold links",
    )
    command.add_argument(
        "--data", nargs="+", type=Path, required=True, metavar="TRAINING", help="training files, .tsv or .tsv.xz"
    )
    command.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FOLDER",
        help="folder for copies of the .tsv test files without pairs found in TRAINING",
    )


def run(options: argparse.Namespace) -> None:
    """Print a Markdown table, one row for each test file, and write the files without those pairs if asked.

    Raise AttnvizError where reading or writing fails.
    """
    from attnviz.evaluation.overlap import LETTERS, lines_of, overlaps
    from attnviz.evaluation.tables import markdown_table

    tests = [_pairs(path) for path in options.tests]
    columns = ["file", "pairs", "source in training", "target in training", "both", f"either, under {LETTERS} letters"]
    found_overlaps = overlaps(tests, lines_of(options.data))
    rows = []
    for path, pairs, overlap in zip(options.tests, tests, found_overlaps, strict=True):
        counts = (overlap.pairs, overlap.source, overlap.target, overlap.both, overlap.short)
        rows.append([Path(path.parent.name, path.name).as_posix(), *(f"{count:,}" for count in counts)])
        if options.output and path.suffix != ".jsonl":
            _write(options.output / path.name, [pairs[place] for place in overlap.clean])
    print(markdown_table(columns, rows))


def _pairs(path: Path) -> list[tuple[str, str]]:
    from attnviz.evaluation.alignment import read_gold
    from attnviz.text_files import read_pairs

    if path.suffix == ".jsonl":
        return [(" ".join(pair.source), " ".join(pair.target)) for pair in read_gold(path)]
    return read_pairs(path).pairs


def _write(path: Path, pairs: list[tuple[str, str]]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AttnvizError(f"The file {path} cannot be written: {error.strerror or error}.") from error
    replace_text(path, "".join(f"{source}\t{target}\n" for source, target in pairs))
