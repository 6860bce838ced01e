"""Training: data, batches, objective, and a loop that resumes."""

from attnviz.training.config import TrainingConfig
from attnviz.training.loop import run

__all__ = ["TrainingConfig", "run"]
