"""attnviz: watch a recurrent translator with additive attention build each of its context vectors."""

from typing import TYPE_CHECKING, Any

from attnviz.errors import AttnvizError
from attnviz.trace import Trace
from attnviz.trace.drawing import drawn_by

if TYPE_CHECKING:
    from attnviz.trace.drawing import Drawing
    from attnviz.translator import Translator

__all__ = ["AttnvizError", "Trace", "Translator"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import `Translator`, and torch with it, only when it is asked for: a saved trace needs neither."""
    if name == "Translator":
        from attnviz.translator import Translator

        return Translator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _notebook() -> "Drawing":
    """Import what draws, and Plotly with it, only when a trace is to be shown."""
    from attnviz import notebook

    return notebook


drawn_by(_notebook)
