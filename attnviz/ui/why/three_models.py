"""Load the three models of the page, which differ in their attention only."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from attnviz import AttnvizError, Trace
from attnviz.languages import gettext
from attnviz.model_folder import EVERY_FILE, stamp
from attnviz.ui.resources import devices, models, translate

MODELS = ("small-fixed", "small-dot", "small-additive")
"""Names of their folders, in the order of the page: no attention, general attention, additive attention."""
JUDGE = "en-fr"
"""Name of the model whose translations serve as references, where it is installed."""
_BEAM = 5


@dataclass(frozen=True)
class Trio:
    """The three models' translations of a sentence."""

    own: tuple[Trace, ...]
    """Their own translations."""
    reference: Trace
    """Translation that all are force-decoded with: the judge's, or one that the visitor typed."""

    @property
    def longest(self) -> Trace:
        """The one of their own translations with the most steps."""
        return max(self.own, key=lambda trace: len(trace.target_pieces))


def missing_models_reason() -> str:
    """Return which of the models are not installed, as a sentence; empty where all are."""
    absent = [name for name in MODELS if name not in models()]
    if not absent:
        return ""
    return gettext(
        "This page compares three small models that differ only in their attention: {names}. Not installed: "
        "{absent}. attnviz supplies them in its folder models; copy or link them next to your own models.",
        names=", ".join(MODELS),
        absent=", ".join(absent),
    )


def judge() -> str | None:
    """Return the reference model: `JUDGE`, or the first other one; None where there is none."""
    others = [name for name in models() if name not in MODELS]
    return JUDGE if JUDGE in others else next(iter(others), None)


def trio(text: str, target: str | None, device: str = "auto", beam: int = _BEAM) -> Trio:
    """Return the three models' translations of `text`, and the translation for forced decoding.

    That is `target`, else the judge's, else that of the last of the three. Callers check first that all are installed.
    Raise AttnvizError on bad input.
    """
    folders = models()
    own = tuple(translate(str(folders[name]), device, text, beam, None) for name in MODELS)
    other = judge()
    reference = (
        own[-1]
        if target is None and other is None
        else translate(str(folders[other or MODELS[-1]]), device, text, beam, target)
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
        translate(str(models()[name]), device, reference.source_text, 1, reference.translation) for name in MODELS
    )


def trio_stamp() -> str:
    """Return a digest of the current files of the models, part of the addresses of what they make."""
    folders = models()
    names = [*MODELS, *filter(None, [judge()])]
    text = repr([stamp(str(folders[name]), *EVERY_FILE) for name in names if name in folders])
    return hashlib.sha256(text.encode()).hexdigest()[:12]
