"""Public interface of attnviz: translate with a model, or read the attention of another program, and display it."""

from typing import TYPE_CHECKING, Any

from attnviz.errors import AttnvizError
from attnviz.trace import Attention, Trace, attention
from attnviz.trace.drawing import drawn_by

if TYPE_CHECKING:
    from attnviz.evaluation.head_finder import find_heads
    from attnviz.evaluation.scoring import alignment_error
    from attnviz.importing.huggingface import from_huggingface
    from attnviz.importing.reading import read_attention
    from attnviz.trace.drawing import Drawing
    from attnviz.translator import Translator

__all__ = [
    "Attention",
    "AttnvizError",
    "Trace",
    "Translator",
    "alignment_error",
    "attention",
    "find_heads",
    "from_huggingface",
    "read_attention",
]
__version__ = "0.3.0"


def __getattr__(name: str) -> Any:
    """Import names that saved traces do not need on first use; `Translator` imports torch, which loads slowly."""
    if name == "Translator":
        from attnviz.translator import Translator

        return Translator
    if name == "from_huggingface":
        from attnviz.importing.huggingface import from_huggingface

        return from_huggingface
    if name == "alignment_error":
        from attnviz.evaluation.scoring import alignment_error

        return alignment_error
    if name == "find_heads":
        from attnviz.evaluation.head_finder import find_heads

        return find_heads
    if name == "read_attention":
        from attnviz.importing.reading import read_attention

        return read_attention
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _notebook() -> "Drawing":
    """Import the drawing functions, and Plotly with them, when something is first drawn."""
    from attnviz import notebook

    return notebook


def __dir__() -> list[str]:
    """Return the names of the module, also of those that are imported on first use."""
    return sorted({*globals(), *__all__})


drawn_by(_notebook)
