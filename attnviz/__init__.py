"""Public interface: translate, or read another program's attention; display it, and score it against gold links."""

from typing import TYPE_CHECKING

from attnviz.errors import AttnvizError
from attnviz.extras import import_on_use
from attnviz.trace import Attention, Trace, attention
from attnviz.trace.drawing import register_drawing

if TYPE_CHECKING:
    from attnviz.evaluation.head_finder import find_heads
    from attnviz.evaluation.scoring import alignment_error, symmetrise
    from attnviz.evaluation.two_files import link_agreement
    from attnviz.importing.attention_reader import read_attention
    from attnviz.importing.huggingface import from_huggingface
    from attnviz.installed_models import InstalledModels
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
    "link_agreement",
    "models",
    "read_attention",
    "symmetrise",
]
__version__ = "0.3.0"


_MODULES = {
    "Translator": "translator",
    "alignment_error": "evaluation.scoring",
    "find_heads": "evaluation.head_finder",
    "from_huggingface": "importing.huggingface",
    "link_agreement": "evaluation.two_files",
    "read_attention": "importing.attention_reader",
    "symmetrise": "evaluation.scoring",
}
"""The module of each name that saved traces do not need; `Translator` imports torch, which loads slowly."""

__getattr__ = import_on_use(__name__, _MODULES)


def models() -> "InstalledModels":
    """Return the folders of the installed translation models, by name, the default model first."""
    from attnviz.installed_models import installed_models

    return installed_models()


def _notebook() -> "Drawing":
    """Import the drawing functions, and Plotly with them, when something is first drawn."""
    from attnviz import notebook

    return notebook


def __dir__() -> list[str]:
    """Return the names of the module, also of those that are imported on first use."""
    return sorted({*globals(), *__all__})


register_drawing(_notebook)
