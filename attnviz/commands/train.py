"""The command `attnviz train`: train a model or resume a run, with one option for each field of `TrainingConfig`."""

from __future__ import annotations

import argparse
from typing import Any

from attnviz import AttnvizError
from attnviz.attention_kinds import full_name
from attnviz.commands.shared import Command
from attnviz.memory import keep_few_shapes


def _add_options(command: argparse.ArgumentParser) -> None:
    """Add one option for each field of `TrainingConfig`."""
    import dataclasses
    from typing import get_args, get_type_hints

    from attnviz.training import TrainingConfig

    kinds = get_type_hints(TrainingConfig)
    for field in dataclasses.fields(TrainingConfig):
        required = field.default is dataclasses.MISSING
        several = get_args(kinds[field.name])
        kind = several[0] if several else kinds[field.name]
        option = "--" + field.name.replace("_", "-")
        if kind is bool:
            command.add_argument(option, action="store_true", help=field.metadata["help"].replace("%", "%%"))
            continue
        command.add_argument(
            option,
            type=kind,
            nargs="+" if several else None,
            metavar={int: "N", float: "X"}.get(kind, "TEXT"),
            required=required,
            default=argparse.SUPPRESS if required else field.default,
            help=field.metadata["help"].replace("%", "%%"),
        )


def _run(options: argparse.Namespace) -> None:
    """Train and print the folder of the finished model; raise AttnvizError for invalid options."""
    keep_few_shapes()
    from attnviz import training

    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in vars(options).items()
        if name not in ("run", "scorer")
    }
    if "scorer" in options and fields["attention"] == "additive":  # the default attention
        fields["attention"] = options.scorer[-1]
    fields["attention"] = full_name(fields["attention"])
    try:
        config = training.TrainingConfig(**fields)
    except ValueError as error:
        raise AttnvizError(f"The training options are invalid: {error}.") from error
    print(training.train(config, kill=True))


TRAIN_COMMAND = Command("train", "train a model, or go on with a run that was stopped", _add_options, _run)
