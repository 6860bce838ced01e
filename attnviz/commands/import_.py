"""The command `attnviz import`: convert a recurrent translator of another program into a model folder.

The other commands and the page load the model folder like that of any model.
"""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from attnviz.commands.options import AS_INPUT, AS_OUTPUT, Folder, Output
from attnviz.commands.shared import check_outputs
from attnviz.errors import AttnvizError


def _check_renaming(_: type, renamings: tuple[str, ...]) -> None:
    """Raise ValueError for a renaming that lacks a name."""
    for renaming in renamings:
        if not renaming.partition("=")[0] or "=" not in renaming:
            raise ValueError("must be OLD=NEW")


def import_command(
    folder: Annotated[Folder, AS_INPUT],
    /,
    *,
    output: Output,
    half: Annotated[bool, AS_OUTPUT] = False,
    padded_length: Annotated[int | None, AS_INPUT, Parameter(metavar="N")] = None,
    rename: Annotated[tuple[str, ...], AS_INPUT, Parameter(metavar="OLD=NEW", validator=_check_renaming)] = (),
) -> None:
    """Convert a checkpoint of another program into a model folder.

    Args:
        folder: folder of the checkpoint: either the folder that Joey NMT’s trainer wrote, or a folder with the file of
            torch.save(model.state_dict(), …) and the vocabularies source.txt and target.txt (one token per line, in
            the order of the ids). If the folder has several checkpoints, give the path of one
        output: model folder to write; the app offers all models in the folder models/
        half: round the stored weights to float16; this halves the size of the model file
        padded_length: number of tokens to which the program padded source sentences, for the models of d2l.ai, whose
            encoder reads this padding (num_steps of the data)
        rename: beginning of the names of tensors that your copy of the program renamed, and the program's own name, for
            example --rename dec.=decoder.; can be given several times
    """
    from attnviz.importing.family import load_checkpoint, write_checkpoint
    from attnviz.model_folder import CONFIG_FILE, IMPORTED_ARCHITECTURE, architecture

    if (output / CONFIG_FILE).exists() and architecture(output) != IMPORTED_ARCHITECTURE:
        raise AttnvizError(f"{output} already holds a model that was not imported. Choose another folder.")
    check_outputs([output], [folder if folder.is_dir() else folder.parent])
    checkpoint = load_checkpoint(folder, padded_length, rename=dict(renaming.split("=", 1) for renaming in rename))
    write_checkpoint(checkpoint, output, half=half)
    weights = sum(array.size for array in checkpoint.weights.values())
    print(
        f"{output}: {checkpoint.family}, {weights:,} weights, {len(checkpoint.source):,} source and "
        f"{len(checkpoint.target):,} target tokens"
    )
    for remark in checkpoint.remarks:
        print(remark)
