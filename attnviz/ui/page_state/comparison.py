"""Store what a translation is compared with: another model, sentence or what-if."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from attnviz.ui.page_state.link_problems import note_if_invalid
from attnviz.ui.page_state.view import Session, View, view_key

Kind = Literal["model", "sentence", "what-if"]
KINDS: tuple[Kind, ...] = get_args(Kind)

KIND, MODEL, SENTENCE, HELD, WHAT_IF = "compare", "other_model", "other_sentence", "held", "other_what_if"
NAMES = (KIND, MODEL, SENTENCE, HELD, WHAT_IF)
"""Session state keys of the choices, and address parameters."""
_SOURCE = "compared_source"
"""Session state key of the first sentence, once the link is read."""


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


def open_comparison(session: Session, view: View, linked: Mapping[str, str], models: Sequence[str]) -> None:
    """Initialise the choices from the link, once a session, or with defaults; `models` are the other models.

    When the first sentence changes, it is copied to the other one.
    """
    source = view.trace.source_text
    if (first := session.get(view.key(_SOURCE))) is None:
        _read_link(session, view, linked, models)
    elif first != source:
        session[view.key(SENTENCE)] = source
    session[view.key(_SOURCE)] = source
    # The current model or what-if may have changed.
    if models and session[view.key(MODEL)] not in models:
        session[view.key(MODEL)] = models[0]
    if session[view.key(WHAT_IF)] not in map(str, other_what_ifs(view)):
        session[view.key(WHAT_IF)] = str(_default_what_if(view))


def other_what_ifs(view: View) -> list[int]:
    """Return the what-ifs that the current translation can be compared with: numbers, 0 for the original."""
    count = len(view.what_ifs.what_ifs) if view.what_ifs else 0
    return [number for number in range(count + 1) if number != view.number]


def _default_what_if(view: View) -> int:
    """Return the default: the original translation for a what-if, and the last what-if for the original."""
    return 0 if view.number else max(other_what_ifs(view), default=0)


def chosen_partner(session: Mapping[Any, Any], view: View) -> Partner:
    """Return the current choice; call `open_comparison` first."""
    return Partner(
        cast("Kind", session[view.key(KIND)]),
        session[view.key(MODEL)],
        str(session[view.key(SENTENCE)] or ""),
        bool(session[view.key(HELD)]),
        int(session[view.key(WHAT_IF)]),
    )


def comparison_address(session: Mapping[Any, Any], view: View, models: Sequence[str]) -> dict[str, str | None]:
    """Return the address parameters of the choices; None for defaults."""
    chosen = chosen_partner(session, view)
    is_sentence, default = chosen.kind == "sentence", _default_what_if(view)
    written = {
        KIND: None if chosen.kind == KINDS[0] else chosen.kind,
        MODEL: chosen.model if chosen.kind == "model" and models and chosen.model != models[0] else None,
        SENTENCE: chosen.sentence if is_sentence and chosen.sentence != view.trace.source_text else None,
        HELD: "1" if is_sentence and chosen.held else None,
        WHAT_IF: str(chosen.what_if) if chosen.kind == "what-if" and chosen.what_if != default else None,
    }
    return {view.key(name): value for name, value in written.items()}


def set_other_sentence(session: Session, view: View, sentence: str) -> None:
    """Set the other sentence."""
    session[view.key(SENTENCE)] = sentence


def forget_comparison(session: Session, view_id: str) -> None:
    """Clear the choices, before another link is followed."""
    for name in (*NAMES, _SOURCE):
        session.pop(view_key(view_id, name), None)


def _read_link(session: Session, view: View, linked: Mapping[str, str], models: Sequence[str]) -> None:
    """Read the choices from a link, and note its invalid values."""
    values = {name: linked.get(view.key(name)) for name in NAMES}
    what_ifs = list(map(str, other_what_ifs(view)))
    offered = {KIND: KINDS, MODEL: models, HELD: ("0", "1"), WHAT_IF: what_ifs}
    for name, valid in offered.items():
        note_if_invalid(session, view.key(name), values[name], valid)
    first_model = next(iter(models), None)
    session[view.key(KIND)] = values[KIND] if values[KIND] in KINDS else KINDS[0]
    session[view.key(MODEL)] = values[MODEL] if values[MODEL] in models else first_model
    session[view.key(SENTENCE)] = view.trace.source_text if values[SENTENCE] is None else values[SENTENCE]
    session[view.key(HELD)] = values[HELD] == "1"
    session[view.key(WHAT_IF)] = values[WHAT_IF] if values[WHAT_IF] in what_ifs else str(_default_what_if(view))
