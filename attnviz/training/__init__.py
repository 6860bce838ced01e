"""Train translators and detectors: config, data, batches, objective, and a training loop that resumes."""

from typing import TYPE_CHECKING, Any

from attnviz.training.training_config import TrainingConfig

if TYPE_CHECKING:
    from attnviz.training.loop import train

__all__ = ["TrainingConfig", "train"]


def __getattr__(name: str) -> Any:
    """Import the loop, and torch with it, on first access: reading pairs and listing options need neither."""
    if name == "train":
        from attnviz.training.loop import train

        return train
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
