"""The command `attnviz train`: train a model or resume a run, with one option for each field of `TrainingConfig`."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from cyclopts import App, Parameter, Token
from cyclopts.argument import ArgumentCollection

from attnviz.attention_kinds import full_name
from attnviz.commands.options import Scorers
from attnviz.memory import keep_few_shapes
from attnviz.training import TrainingConfig
from attnviz.training.training_config import TRAINING_PRESETS, Preset


def _apply_preset(_app: App, _commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Give the options that the command line leaves out the values of the preset."""
    given = {argument.name: argument for argument in arguments}
    for preset in given["--preset"].tokens:
        for name, value in TRAINING_PRESETS.get(preset.value, {}).items():
            argument = given["--" + name.replace("_", "-")]
            if not argument.tokens:
                argument.append(Token(value=str(value), source="preset"))


TRAIN_COMMAND = App(name="train", config=_apply_preset)


@TRAIN_COMMAND.default
def _train(
    *,
    preset: Preset | None = None,  # noqa: ARG001 - _apply_preset reads it
    config: Annotated[TrainingConfig, Parameter(name="*")],
    scorer: Scorers = (),
) -> None:
    """Train a model, or go on with a run that was stopped.

    Args:
        preset: values of the options below for a model that trains in minutes (tiny), in hours (small, which are the
            defaults), or that has the sizes of Bahdanau et al. (paper); other options that are given take precedence
    """
    keep_few_shapes()
    from attnviz import training

    attention = scorer[-1] if scorer and config.attention == "additive" else config.attention
    print(training.train(replace(config, attention=full_name(attention)), kill=True))
