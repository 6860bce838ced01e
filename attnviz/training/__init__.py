"""Training: data, batches, objective, and a loop that resumes."""

from typing import TYPE_CHECKING, Any

from attnviz.training.config import TrainingConfig

if TYPE_CHECKING:
    from attnviz.training.loop import run

__all__ = ["TrainingConfig", "run"]


def __getattr__(name: str) -> Any:
    """Import the loop, and torch with it, only when it is asked for: reading pairs and naming options need neither."""
    if name == "run":
        from attnviz.training.loop import run

        return run
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
