"""Translate with the three models of *Why attention?*, which differ only in attention, and a reference model.

The three models can also be force-decoded with one translation: a given one, else a stored reference translation, else
that of the reference model.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from attnviz import AttnvizError, Trace
from attnviz.analysis.page_texts import Origin
from attnviz.evaluation.example_sentences import REFERENCE_TRANSLATIONS
from attnviz.installed_models import installed_models
from attnviz.languages import gettext
from attnviz.model_folder import EVERY_FILE, architecture, read_config, stamp
from attnviz.ui.resources import devices, translate

MODELS = ("small-fixed", "small-dot", "small-additive")
"""Names of the model folders, in the order of the page: no attention, general attention, additive attention."""
PREFERRED_REFERENCE = "en-fr"
"""Name of the preferred reference model."""
_BEAM = 5


@dataclass(frozen=True)
class Trio:
    """The three models' translations of a sentence."""

    own: tuple[Trace, ...]
    """The translation that each model chose itself."""
    reference: Trace
    """Translation that all are force-decoded with, as a trace of the reference model; `origin` says whose it is."""

    @property
    def origin(self) -> Origin:
        """Whose translation all are force-decoded with."""
        if self.reference.search.method != "forced":
            return "model"
        given = REFERENCE_TRANSLATIONS.get(self.reference.source_text)
        return "reference" if given and given.french == self.reference.translation else "visitor"

    @property
    def longest(self) -> Trace:
        """The one of the models' own translations with the most steps."""
        return max(self.own, key=lambda trace: len(trace.target_pieces))


def missing_models_reason() -> str:
    """Return which of the models are not installed, as a sentence; empty where all are."""
    absent = [name for name in MODELS if name not in installed_models()]
    if not absent:
        return ""
    return gettext(
        "This page compares three small models that differ only in their attention: {names}. Models not installed: "
        "{absent}. attnviz supplies the missing models in its folder “models”: copy or symlink them into the folder "
        "of your own models.",
        names=", ".join(MODELS),
        absent=", ".join(absent),
    )


def reference_model() -> str | None:
    """Return the name of the reference model: the preferred one, or the first other one; None where there is none."""
    others = [name for name in installed_models() if name not in MODELS]
    return PREFERRED_REFERENCE if PREFERRED_REFERENCE in others else next(iter(others), None)


def judge_model() -> str | None:
    """Return the name of the model that judges translations, like `reference_model` one of the others.

    None where no other model has one attention distribution a step, which `corpora.judging` needs.
    """
    folders = installed_models()
    others = [name for name in (PREFERRED_REFERENCE, *folders) if name in folders and name not in MODELS]
    return next((name for name in others if _has_one_distribution_per_step(folders[name])), None)


def _has_one_distribution_per_step(folder: Path) -> bool:
    return architecture(folder) == "rnnsearch" and read_config(folder)["attention"] != "none"


def translate_trio(text: str, target: str | None, device: str = "auto", beam: int = _BEAM) -> Trio:
    """Return the three models' translations of `text`, and the translation for forced decoding.

    That is `target`, else the reference, else the reference model's, else that of the last of the three. Callers check
    first that all are installed. Raise AttnvizError on bad input.
    """
    if target is None and text in REFERENCE_TRANSLATIONS:
        target = REFERENCE_TRANSLATIONS[text].french
    folders = installed_models()
    own = tuple(translate(str(folders[name]), device, text, beam, None) for name in MODELS)
    reference_name = reference_model()
    reference = (
        own[-1]
        if target is None and reference_name is None
        else translate(str(folders[reference_name or MODELS[-1]]), device, text, beam, target)
    )
    return Trio(own, reference)


def force_decoded(reference: Trace) -> tuple[Trace, ...]:
    """Return the traces of the three models, force-decoded with the translation in `reference`.

    Raise AttnvizError where that is impossible.
    """
    device = reference.device if reference.device in devices() else "cpu"
    if not reference.translation.strip():
        raise AttnvizError(
            gettext("The translation for forced decoding is empty. Try another sentence or translation.")
        )
    return tuple(
        translate(str(installed_models()[name]), device, reference.source_text, 1, reference.translation)
        for name in MODELS
    )


def trio_stamp() -> str:
    """Return a digest of the models' current files, for the addresses of payloads."""
    folders = installed_models()
    names = [*MODELS, *filter(None, [reference_model()])]
    text = repr([stamp(str(folders[name]), *EVERY_FILE) for name in names if name in folders])
    return hashlib.sha256(text.encode()).hexdigest()[:12]
