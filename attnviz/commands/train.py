"""The command `attnviz train`: train a model or resume a run, with one option for each field of `TrainingConfig`."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Annotated, Any

from cyclopts import App, Group, Parameter, Token
from cyclopts.argument import ArgumentCollection

from attnviz.attention_kinds import full_name
from attnviz.commands.options import Scorers
from attnviz.memory import keep_few_shapes
from attnviz.training import TrainingConfig
from attnviz.training.training_config import TRAINING_GROUPS, TRAINING_PRESETS, Preset


def _apply_preset(_app: App, _commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Give the options that the command line leaves out the values of the preset."""
    given = {argument.name: argument for argument in arguments}
    for preset in given["--preset"].tokens:
        for name, value in TRAINING_PRESETS.get(preset.value, {}).items():
            argument = given["--" + name.replace("_", "-")]
            if not argument.tokens:
                argument.append(Token(value=str(value), source="preset"))


_GROUPS = {name: Group.create_ordered(name) for name in TRAINING_GROUPS}


class _TrainApp(App):
    """The command; its help has the options of each group of `TrainingConfig` in a panel."""

    def assemble_argument_collection(self, **options: Any) -> ArgumentCollection:
        """Return the options of the command, each in its group."""
        groups = {"scorer": "Model"} | {field.name: field.metadata["group"] for field in fields(TrainingConfig)}
        arguments = super().assemble_argument_collection(**options)
        for argument in arguments:
            if group := groups.get(argument.name.removeprefix("--").replace("-", "_")):
                argument.parameter = Parameter.combine(argument.parameter, Parameter(group=_GROUPS[group]))
        return arguments


TRAIN_COMMAND = _TrainApp(name="train", config=_apply_preset)


@TRAIN_COMMAND.default
def _train(
    *,
    preset: Preset | None = None,  # noqa: ARG001 - _apply_preset reads it
    config: Annotated[TrainingConfig, Parameter(name="*")],
    scorer: Scorers = (),
) -> None:
    """Train a model, or go on with a run that was stopped.

    Args:
        preset: values of the other options for a model that trains in minutes (tiny), in hours (small, which are the
            defaults), or that has the sizes of Bahdanau et al. (paper); options that are given take precedence
    """
    keep_few_shapes()
    from attnviz import training

    attention = scorer[-1] if scorer and config.attention == "additive" else config.attention
    print(training.train(replace(config, attention=full_name(attention)), kill=True))
