"""Train translators and detectors: config, data, batches, objective, and a training loop that resumes."""

from typing import TYPE_CHECKING, Any

from attnviz.training.training_config import TrainingConfig

if TYPE_CHECKING:
    from attnviz.training.loop import run

__all__ = ["TrainingConfig", "run"]


def __getattr__(name: str) -> Any:
    """Import the loop, and torch with it, on first access: reading pairs and listing options need neither."""
    if name == "run":
        from attnviz.training.loop import run

        return run
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
