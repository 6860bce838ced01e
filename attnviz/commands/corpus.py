"""The command `attnviz corpus`: a table with a row for each pair of a file."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from attnviz import AttnvizError
from attnviz.commands.shared import add_model_options, positive, progress, share

if TYPE_CHECKING:
    from attnviz.corpora import Progress

SUMMARY = "measure every pair of a file, and write a table of them (Parquet)"
_MOST_WORKERS = 8
_SHOWN = 5
"""Skipped lines that are printed."""


def add_options(command: argparse.ArgumentParser) -> None:
    """Give `command` its options."""
    from attnviz.analysis.posterior import DEFAULT
    from attnviz.corpora.settings import READINGS, Settings

    add, default = command.add_argument, Settings()
    add("file", type=Path, help="a sentence or source<TAB>target a line (.tsv, .txt, with .gz or .xz after it), gold "
        "links (.jsonl), or columns source and target (.parquet)")  # fmt: skip
    add("-o", "--output", type=Path, required=True, metavar="FILE", help="the table, .parquet")
    add("--translate", action="store_true", help="translate the sources, and measure the translations by the targets; "
        "otherwise the decoder is led through the targets")  # fmt: skip
    add("--kind", choices=[*READINGS, "none"], default=DEFAULT, help="what links after the word are drawn by; with "
        "fit it takes half the time, none leaves them out")  # fmt: skip
    add("--threshold", type=share, default=default.threshold, help="keep the links of at least this share, and the "
        "largest of each word")  # fmt: skip
    add("--gold", type=Path, metavar="FILE", help="links that people drew, those of a pair a line: i-j (sure) and "
        "i?j (possible), of words divided by blanks, from 0")  # fmt: skip
    add("--batch-size", type=positive, default=default.batch_size, metavar="N", help="pairs computed together, at most")
    add("--limit", type=positive, metavar="N", help="take the first so many lines")
    add("--workers", type=positive, metavar="N", default=argparse.SUPPRESS,
        help="processes that share the work (default: as many as processor cores; one on a GPU)")  # fmt: skip
    add_model_options(command, beam=True)


def run(options: argparse.Namespace) -> None:
    """Write the table; raise AttnvizError where it cannot be."""
    # Read when torch multiplies first: of every shape of a batch it keeps compiled code, a gigabyte of it otherwise.
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "16")
    from attnviz.corpora import Settings, analyse_file

    settings = Settings(options.translate, options.beam, None if options.kind == "none" else options.kind,
                        options.threshold, options.batch_size)  # fmt: skip
    if options.output.suffix != ".parquet":
        raise AttnvizError(f"The table must be a .parquet file, not {options.output}.")
    with progress("pair") as bar:

        def show(told: Progress) -> None:
            # What was there is not for the rate.
            bar.total, bar.initial = told.total, told.before
            bar.set_postfix_str(f"{told.skipped} skipped" if told.skipped else "", refresh=False)
            bar.update(told.done - bar.n)

        made = analyse_file(
            options.file, options.output, options.model, settings, gold=options.gold, limit=options.limit,
            device=options.device, workers=_workers(options), advance=show,
        )  # fmt: skip
    for number, reason in made.named[:_SHOWN]:
        print(f"Line {number} was skipped: {reason}.", file=sys.stderr)
    if made.skipped > _SHOWN:
        print(f"… and {made.skipped - _SHOWN} more.", file=sys.stderr)
    print(f"{made.rows} rows of {made.lines} lines, {made.skipped} skipped: {options.output}")


def _workers(options: argparse.Namespace) -> int:
    if "workers" in options:
        return int(options.workers)
    from attnviz.devices import resolve_device

    if resolve_device(options.device).type != "cpu":
        return 1
    able = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(able, _MOST_WORKERS)
