"""Translate, or read another program's attention; display it, change it, and score it against gold links.

The public interface is what `attnviz.__all__` and the reference list. Everything else may change.

    translator = attnviz.Translator.load("en-fr")
    trace = translator.translate("A dog runs.")
    trace.heatmap().show()
    attnviz.analysis.posterior(trace)
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from attnviz.errors import AttnvizError
from attnviz.extras import import_on_use
from attnviz.trace import Attention, Trace, attention
from attnviz.trace.drawing import register_drawing
from attnviz.trace.interventions import ExcludePosition, ForceWords, ReplaceEnergies, ReplaceWeights, Temperature

if TYPE_CHECKING:
    from attnviz import analysis
    from attnviz.evaluation.compared_models import evaluate
    from attnviz.evaluation.head_finder import find_heads
    from attnviz.evaluation.scoring import alignment_error, symmetrise
    from attnviz.evaluation.two_files import link_agreement
    from attnviz.importing.attention_reader import read_attention
    from attnviz.importing.huggingface import from_huggingface
    from attnviz.installed_models import InstalledModels
    from attnviz.training.loop import train
    from attnviz.training.training_config import TrainingConfig
    from attnviz.translator import Translator

__all__ = [
    "Attention",
    "AttnvizError",
    "ExcludePosition",
    "ForceWords",
    "ReplaceEnergies",
    "ReplaceWeights",
    "Temperature",
    "Trace",
    "TrainingConfig",
    "Translator",
    "alignment_error",
    "analysis",
    "attention",
    "evaluate",
    "find_heads",
    "from_huggingface",
    "link_agreement",
    "models",
    "read_attention",
    "symmetrise",
    "train",
]
__version__ = "0.3.0"


_MODULES = {
    "TrainingConfig": "training.training_config",
    "Translator": "translator",
    "alignment_error": "evaluation.scoring",
    "analysis": "analysis",
    "evaluate": "evaluation.compared_models",
    "find_heads": "evaluation.head_finder",
    "from_huggingface": "importing.huggingface",
    "link_agreement": "evaluation.two_files",
    "read_attention": "importing.attention_reader",
    "symmetrise": "evaluation.scoring",
    "train": "training.loop",
}
"""The module of each name that saved traces do not need; `Translator` imports torch, which loads slowly."""
_NEED_TORCH = frozenset({"Translator", "evaluate", "train"})

__getattr__ = import_on_use(__name__, _MODULES)


def models() -> "InstalledModels":
    """Find the installed translation models.

    Returns:
        Their folders by name, the default model first.
    """
    from attnviz.installed_models import installed_models

    return installed_models()


def _displays() -> Any:
    """Import the drawing functions, and Plotly with them, when something is first drawn."""
    from attnviz import displays

    return displays


def __dir__() -> list[str]:
    """Return the names of the module, also those that are imported on first use, unless they need a missing torch.

    `help` and `inspect.getmembers` get the values of all of them.
    """
    return sorted({*globals(), *__all__} - (frozenset() if find_spec("torch") else _NEED_TORCH))


register_drawing(_displays)
