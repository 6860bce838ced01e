"""What happens when in a run: the learning rate of each update, the moments of snapshots, and how long it all takes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from attnviz.training.config import TrainingConfig

_WARMING = 1
"""Updates of a start that do not count towards its pace: memory and kernels are taken for the first time."""
FORECAST_AFTER, FORECAST_AGAIN = 3, 50
"""Updates of a start after which the time left is said: soon, so that one can still choose another size, and once more
when batches of all lengths have been seen."""


def learning_rate(config: TrainingConfig, update: int) -> float:
    """Return the rate of update number `update` (from 0): a linear rise over `warmup`, then a way down to `final_rate`
    of the peak at the last update, along a cosine or, with `decay_updates`, level and then along a straight line."""
    if update < config.warmup:
        return config.learning_rate * (update + 1) / config.warmup
    falling = config.decay_updates or config.updates - config.warmup
    share = min(1.0, max(0.0, 1 - (config.updates - update) / max(1, falling)))
    height = 1 - share if config.decay_updates else (1 + math.cos(math.pi * share)) / 2
    return config.learning_rate * (config.final_rate + (1 - config.final_rate) * height)


def snapshot_moments(config: TrainingConfig) -> set[int]:
    """Return the updates, evenly spaced in log time and the last included, at which snapshots are taken."""
    if config.snapshots == 0:
        return set()
    return set(np.geomspace(min(20, config.updates), config.updates, config.snapshots).round().astype(int).tolist())


@dataclass
class Pace:
    """How fast this start of the run goes."""

    updates: int = 0
    seconds: float = 0.0
    """Of the updates, the first few left out."""
    validation: float | None = None
    """Seconds of the last validation."""

    def add(self, seconds: float) -> None:
        """Count one more update."""
        self.updates += 1
        if self.updates > _WARMING:
            self.seconds += seconds

    def left(self, config: TrainingConfig, update: int) -> str:
        """Return the sentence on how long the run takes that stands at `update`, if it is not stopped early."""
        each = self.seconds / max(1, self.updates - _WARMING)
        validations = math.ceil(config.updates / config.validate_every) - update // config.validate_every
        seconds = (config.updates - update) * each + validations * (self.validation or 0.0)
        beside = "" if self.validation is not None else f", and {validations} validations besides"
        return (
            f"{config.updates - update:,} updates to go, {each:.2g} s each: about {duration(seconds)}{beside}. "
            "Stopped, the run goes on when the same command is given again."
        )


def duration(seconds: float) -> str:
    """Return a time as in `4 h 05 min`, `5 min` or `40 s`."""
    minutes = round(seconds / 60)
    if minutes >= 60:
        return f"{minutes // 60:,} h {minutes % 60:02} min"
    return f"{minutes} min" if minutes else f"{seconds:.0f} s"
