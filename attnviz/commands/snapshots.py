"""The command `attnviz snapshots`: measure the models saved in a training run, for the page *How it learns*."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from attnviz import AttnvizError
from attnviz.commands.shared import positive, progress

if TYPE_CHECKING:
    from attnviz.trace.snapshots import Snapshots

SUMMARY = "measure the models that a training run saved, for the page “How it learns”"


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    command.add_argument(
        "run_folder", metavar="RUN", type=Path, help="folder of a training run made with train --keep-at"
    )
    command.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        help=".json file to write; models that it already contains are not measured again",
    )
    command.add_argument(
        "--sentences",
        type=Path,
        help="file of sentence pairs, one source<TAB>translation per line; their alignments are stored (default: "
        "the sentences of the run’s own snapshots)",
    )
    command.add_argument(
        "--links",
        type=Path,
        nargs="+",
        default=[],
        help="files of gold links (.jsonl), to measure the alignment error rate and the mean attention on each "
        "kind of link",
    )
    command.add_argument("--limit", type=positive, default=300, help="number of validation pairs for loss and BLEU")
    command.add_argument("--name", default="", help="name of the run on the page (default: the name of its folder)")
    command.add_argument("--device", default="auto", help="device: auto, cpu, cuda, cuda:1 or mps")


def run(options: argparse.Namespace) -> None:
    """Measure each saved model, write the file after each, and print a table.

    Raise AttnvizError for files that cannot be used.
    """
    from attnviz.evaluation.alignment import read_gold
    from attnviz.evaluation.snapshots import evaluation_data, measure_checkpoints, saved_moments, was_measured_on
    from attnviz.text_files import read_pairs
    from attnviz.trace.snapshots import Snapshots

    if options.output.suffix != ".json":
        raise AttnvizError(f"The output must be a .json file, not {options.output}.")
    fixed = read_pairs(options.sentences).pairs if options.sentences else []
    gold = [pair for path in options.links for pair in read_gold(path)]
    data = evaluation_data(options.run_folder, options.name, fixed, gold, options.limit)
    known = Snapshots.load(options.output) if options.output.exists() else None
    if known and not was_measured_on(known, data):
        raise AttnvizError(
            f"{options.output} was measured on other sentences, links or validation pairs. Choose another output, "
            "or delete this file."
        )
    snapshots = known
    with progress("moment", len(saved_moments(options.run_folder))) as bar:
        for snapshots in measure_checkpoints(options.run_folder, data, known, options.device):
            snapshots.save(options.output)
            bar.update()
    assert snapshots is not None  # a run has at least one saved model
    print(measurement_table(snapshots))


def measurement_table(snapshots: Snapshots) -> str:
    """Return the measurements as a text table, one line for each saved model."""
    names = [name for name in snapshots.curves if name != "training"]
    rows = [["update", *names]]
    for update in snapshots.updates:
        values = (dict(snapshots.curves[name]).get(update) for name in names)
        rows.append([f"{update:,}", *("" if value is None else f"{value:.3f}" for value in values)])
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
