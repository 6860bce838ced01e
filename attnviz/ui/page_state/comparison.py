"""What a translation is compared with: another model, sentence or what-if."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from attnviz.ui.page_state.view import Session, View

Kind = Literal["model", "sentence", "what-if"]
KINDS: tuple[Kind, ...] = get_args(Kind)

KIND, MODEL, SENTENCE, HELD, WHAT_IF = "compare", "other_model", "other_sentence", "held", "other_what_if"
NAMES = (KIND, MODEL, SENTENCE, HELD, WHAT_IF)
"""Session state keys of the choices, and address parameters."""
SOURCE = "compared_source"
"""Session state key of the first sentence when the other one was set."""


@dataclass(frozen=True)
class Partner:
    """The other side of a comparison."""

    kind: Kind
    model: str | None
    """Another model, force-decoded with the same translation; None where there is none."""
    sentence: str
    """Another sentence, translated by the same model."""
    held: bool
    """Whether the other sentence is force-decoded with the translation of the first."""
    what_if: int
    """Number of a what-if of the same sentence, 0 for the original translation."""


def follow_first_sentence(session: Session, view: View) -> None:
    """Copy the first sentence to the other one when it changes."""
    source, key = view.trace.source_text, view.key(SOURCE)
    if session.get(key, source) != source:
        session[view.key(SENTENCE)] = source
    session[key] = source


def other_what_ifs(view: View) -> list[int]:
    """Return the what-ifs that the current translation can be compared with: numbers, 0 for the original."""
    count = len(view.what_ifs.what_ifs) if view.what_ifs else 0
    return [number for number in range(count + 1) if number != view.number]


def default_what_if(view: View) -> int:
    """Return the default: the original translation for a what-if, and the last what-if for the original."""
    return 0 if view.number else max(other_what_ifs(view), default=0)


def chosen_partner(session: Mapping[Any, Any], view: View, models: Sequence[str]) -> Partner:
    """Return the current choice, with defaults for what was not chosen; `models` are the other models."""
    kind, model, sentence, held, what_if = (session.get(view.key(name)) for name in NAMES)
    return Partner(
        kind=cast("Kind", kind if kind in KINDS else KINDS[0]),
        model=model if model in models else next(iter(models), None),
        sentence=view.trace.source_text if sentence is None else str(sentence),
        held=bool(held),
        what_if=next((n for n in other_what_ifs(view) if str(n) == what_if), default_what_if(view)),
    )
