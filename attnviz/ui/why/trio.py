"""The three models of the page: they differ in their attention alone."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from attnviz import AttnvizError, Trace
from attnviz.languages import gettext
from attnviz.model_folder import EVERY_FILE, stamp
from attnviz.ui.resources import devices, models, translate

MODELS = ("small-fixed", "small-dot", "small-additive")
"""Names of their folders, in the order of the page: what each later one has, the one before lacks."""
JUDGE = "en-fr"
"""The model whose translations are the good ones, where it is here."""
_BEAM = 5


@dataclass(frozen=True)
class Trio:
    """A sentence as the three models have it."""

    own: tuple[Trace, ...]
    """Their own translations."""
    good: Trace
    """A translation that all are to be led through, as the model that made it was, or that was given."""

    @property
    def longest(self) -> Trace:
        """The one of their own translations that takes most steps."""
        return max(self.own, key=lambda trace: len(trace.target_pieces))


def missing() -> str:
    """Return which of the models are not here, in a sentence; nothing where all are."""
    absent = [name for name in MODELS if name not in models()]
    if not absent:
        return ""
    return gettext(
        "This page compares three small models that differ in their attention alone: {names}. Not among the "
        "models here: {absent}. They come with attnviz, in its folder models; copy or link them beside yours.",
        names=", ".join(MODELS),
        absent=", ".join(absent),
    )


def judge() -> str | None:
    """Return the model that the three are measured by: `JUDGE`, or the first other one; None where there is none."""
    others = [name for name in models() if name not in MODELS]
    return JUDGE if JUDGE in others else next(iter(others), None)


def trio(text: str, given: str | None, device: str = "auto", beam: int = _BEAM) -> Trio:
    """Return what the three make of a sentence, and of a translation: that `given`, or that of the judge, or, where
    there is none, of the last of the three. Nothing must be `missing`. Raise AttnvizError on bad input."""
    folders = models()
    own = tuple(translate(str(folders[name]), device, text, beam, None) for name in MODELS)
    other = judge()
    good = (
        own[-1]
        if given is None and other is None
        else translate(str(folders[other or MODELS[-1]]), device, text, beam, given)
    )
    return Trio(own, good)


def led_through(good: Trace) -> tuple[Trace, ...]:
    """Return the three led through the translation in `good`; raise AttnvizError where they cannot be."""
    where = good.device if good.device in devices() else "cpu"
    if not good.translation.strip():
        raise AttnvizError(gettext("The translation to lead the models through is empty."))
    return tuple(translate(str(models()[name]), where, good.source_text, 1, good.translation) for name in MODELS)


def trio_stamp() -> str:
    """Return what tells the models, as their files are now, from others: part of the address of what they make."""
    folders = models()
    names = [*MODELS, *filter(None, [judge()])]
    text = repr([stamp(str(folders[name]), *EVERY_FILE) for name in names if name in folders])
    return hashlib.sha256(text.encode()).hexdigest()[:12]
