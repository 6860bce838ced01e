"""Train translators and detectors: config, data, batches, objective, and a training loop that resumes."""

from typing import TYPE_CHECKING

from attnviz.extras import import_on_use
from attnviz.training.training_config import TrainingConfig

if TYPE_CHECKING:
    from attnviz.training.loop import train

__all__ = ["TrainingConfig", "train"]

__getattr__ = import_on_use(__name__, {"train": "loop"})
"""Reading pairs and listing options need neither the loop nor torch."""
