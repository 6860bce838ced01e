"""The command `attnviz import`: convert a recurrent translator of another program into a model folder.

The other commands and the page load the model folder like that of any model.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from attnviz.commands.shared import Command
from attnviz.errors import AttnvizError


def _add_options(command: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    command.add_argument(
        "folder",
        type=Path,
        metavar="FOLDER",
        help="folder of the checkpoint: either the folder that Joey NMT’s trainer wrote, or a folder with the "
        "file of torch.save(model.state_dict(), …) and the vocabularies source.txt and target.txt (one token "
        "per line, in the order of the ids). If the folder has several checkpoints, give the path of one",
    )
    command.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FOLDER",
        required=True,
        help="model folder to write; the app offers all models in the folder models/",
    )
    command.add_argument(
        "--half",
        action="store_true",
        help="round the stored weights to float16; this halves the size of the model file",
    )
    command.add_argument(
        "--padded-length",
        type=int,
        metavar="N",
        help="number of tokens to which the program padded source sentences, for the models of d2l.ai, whose encoder "
        "reads this padding (num_steps of the data)",
    )
    command.add_argument(
        "--rename",
        type=_renaming,
        action="append",
        default=[],
        metavar="OLD=NEW",
        help="beginning of the names of tensors that your copy of the program renamed, and the program's own name, for "
        "example --rename dec.=decoder.; can be given several times",
    )


def _renaming(text: str) -> tuple[str, str]:
    old, separator, new = text.partition("=")
    if not old or not separator:
        raise argparse.ArgumentTypeError(f"it must be OLD=NEW, not {text!r}")
    return old, new


def _run(options: argparse.Namespace) -> None:
    """Write the model folder and print its contents; raise AttnvizError for an unsupported checkpoint."""
    from attnviz.importing.family import load_checkpoint, write_checkpoint
    from attnviz.model_folder import CONFIG_FILE, IMPORTED_ARCHITECTURE, architecture

    if (options.output / CONFIG_FILE).exists() and architecture(options.output) != IMPORTED_ARCHITECTURE:
        raise AttnvizError(f"{options.output} already holds a model that was not imported. Choose another folder.")
    checkpoint = load_checkpoint(options.folder, options.padded_length, rename=dict(options.rename))
    write_checkpoint(checkpoint, options.output, half=options.half)
    weights = sum(array.size for array in checkpoint.weights.values())
    print(
        f"{options.output}: {checkpoint.family}, {weights:,} weights, {len(checkpoint.source):,} source and "
        f"{len(checkpoint.target):,} target tokens"
    )
    for remark in checkpoint.remarks:
        print(remark)


IMPORT_COMMAND = Command("import", "convert a checkpoint of another program into a model folder", _add_options, _run)
