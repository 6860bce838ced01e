"""The command `attnviz import`: convert a recurrent translator of another program into a model folder.

The other commands and the page load the model folder like that of any model.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from attnviz.errors import AttnvizError

SUMMARY = "make a checkpoint of the seq2seq tutorial or of Joey NMT a model of this program"


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    command.add_argument(
        "folder",
        type=Path,
        metavar="FOLDER",
        help="what torch.save(model.state_dict(), …) wrote with source.txt and target.txt, a token a line in the order "
        "of their ids; or what Joey NMT's trainer wrote",
    )
    command.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FOLDER",
        required=True,
        help="the model folder to write; in models/ the page offers it by its name",
    )
    command.add_argument("--half", action="store_true", help="store the weights in float16, rounded, in half the space")


def run(options: argparse.Namespace) -> None:
    """Write the model folder and print its contents; raise AttnvizError for an unsupported checkpoint."""
    from attnviz.importing.family import load_checkpoint
    from attnviz.importing.model_writing import write_checkpoint
    from attnviz.model_folder import CONFIG, IMPORTED, architecture

    if (options.output / CONFIG).exists() and architecture(options.output) != IMPORTED:
        raise AttnvizError(f"{options.output} holds a model that was not imported. Name another folder.")
    checkpoint = load_checkpoint(options.folder)
    write_checkpoint(checkpoint, options.output, half=options.half)
    weights = sum(array.size for array in checkpoint.weights.values())
    print(
        f"{options.output}: {checkpoint.family}, {weights:,} weights, {len(checkpoint.source.tokens):,} source and "
        f"{len(checkpoint.target.tokens):,} target tokens"
    )
