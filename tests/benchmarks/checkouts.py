"""Options for benchmarks that alternate between checkouts of this project, so that other load affects all alike."""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.browser.server import REPOSITORY


def checkout(text: str) -> Path:
    """Return the folder of a checkout; an `argparse` type."""
    folder = Path(text).resolve()
    if not (folder / "app.py").is_file():
        raise argparse.ArgumentTypeError(f"{text} is no checkout of this project: it has no app.py")
    return folder


def count(text: str) -> int:
    """Return a positive integer; an `argparse` type."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no number from 1")
    return int(text)


def add_checkouts(parser: argparse.ArgumentParser) -> None:
    """Give a benchmark its options `--against` and `--models`."""
    parser.add_argument(
        "--against",
        type=checkout,
        nargs="+",
        default=[],
        metavar="FOLDER",
        help="checkouts of other commits that take turns with this one (git worktree add)",
    )
    parser.add_argument(
        "--models", type=Path, default=REPOSITORY / "models", help="folder of model folders, for all of them"
    )


def checkouts_by_name(options: argparse.Namespace) -> dict[str, Path]:
    """Return the checkouts to measure by a short name, this one first."""
    return {"this": REPOSITORY} | {str(folder): folder for folder in options.against}
