"""What a translation is compared with, as a visitor or his link chose it: another model, sentence or what-if."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from attnviz.languages import gettext
from attnviz.ui.page_state.view import Session, View, view_key

Kind = Literal["model", "sentence", "branch"]
KINDS: tuple[Kind, ...] = get_args(Kind)

KIND, MODEL, SENTENCE, HELD, BRANCH = "compare", "other_model", "other_sentence", "held", "other_branch"
NAMES = (KIND, MODEL, SENTENCE, HELD, BRANCH)
"""The choices, in the session and in the address."""
_OPENED = "comparison_opened"


@dataclass(frozen=True)
class Partner:
    """What a translation stands beside."""

    kind: Kind
    model: str | None
    """Another model, led through the same translation; None where there is none."""
    sentence: str
    """Another sentence, translated by the same model."""
    held: bool
    """Whether it is led through the translation of the first sentence."""
    branch: int
    """The number of a what-if of the same sentence, 0 for what they were tried on."""


def open_comparison(session: Session, view: View, linked: Mapping[str, str], models: Sequence[str]) -> None:
    """Begin with what the link says, the first of a visit, or with the first choices; `models` are the others there
    are. Another first sentence begins anew as the other one."""
    opened = session.get(view.key(_OPENED))
    source = view.trace.source_text
    if opened is None:
        problems = _take_link(session, view, linked, models)
        session[view.key(_OPENED)] = source, chosen_partner(session, view), problems
    elif opened[0] != source:
        session[view.key(SENTENCE)] = source
        session[view.key(_OPENED)] = source, None, ()
    # The model and the what-if on show by now are others.
    if models and session[view.key(MODEL)] not in models:
        session[view.key(MODEL)] = models[0]
    if session[view.key(BRANCH)] not in map(str, other_branches(view)):
        session[view.key(BRANCH)] = str(_usual_branch(view))


def other_branches(view: View) -> list[int]:
    """Return what the translation on show can be compared with of what was tried on its sentence: numbers of what-ifs,
    0 for what they were tried on."""
    count = len(view.branches.branches) if view.branches else 0
    return [number for number in range(count + 1) if number != view.number]


def _usual_branch(view: View) -> int:
    """Return what is compared where nobody chose: a what-if with the first translation, and that with the last one."""
    return 0 if view.number else max(other_branches(view), default=0)


def chosen_partner(session: Mapping[Any, Any], view: View) -> Partner:
    """Return what was chosen; `open_comparison` comes before."""
    return Partner(
        cast("Kind", session[view.key(KIND)]),
        session[view.key(MODEL)],
        str(session[view.key(SENTENCE)] or ""),
        bool(session[view.key(HELD)]),
        int(session[view.key(BRANCH)]),
    )


def link_problems(session: Mapping[Any, Any], view: View) -> tuple[str, ...]:
    """Return sentences about what of the link could not be shown, until something else is chosen."""
    _, partner, problems = session[view.key(_OPENED)]
    return cast("tuple[str, ...]", problems) if partner == chosen_partner(session, view) else ()


def comparison_address(session: Mapping[Any, Any], view: View, models: Sequence[str]) -> dict[str, str | None]:
    """Return the address parameters of what was chosen; None for what is shown where nobody chose."""
    chosen = chosen_partner(session, view)
    other, usual = chosen.kind == "sentence", _usual_branch(view)
    written = {
        KIND: None if chosen.kind == KINDS[0] else chosen.kind,
        MODEL: chosen.model if chosen.kind == "model" and models and chosen.model != models[0] else None,
        SENTENCE: chosen.sentence if other and chosen.sentence != view.trace.source_text else None,
        HELD: "1" if other and chosen.held else None,
        BRANCH: str(chosen.branch) if chosen.kind == "branch" and chosen.branch != usual else None,
    }
    return {view.key(name): value for name, value in written.items()}


def edit(session: Session, view: View, sentence: str) -> None:
    """Take another sentence."""
    session[view.key(SENTENCE)] = sentence


def forget_comparison(session: Session, view_id: str) -> None:
    """Forget what was chosen: another link is to be followed."""
    for name in (*NAMES, _OPENED):
        session.pop(view_key(view_id, name), None)


def _take_link(session: Session, view: View, linked: Mapping[str, str], models: Sequence[str]) -> tuple[str, ...]:
    """Take over what a link says and return a sentence for each of its values that is none."""
    given = {name: linked.get(view.key(name)) for name in NAMES}
    tried = list(map(str, other_branches(view)))
    problems = []
    if given[KIND] not in (None, *KINDS):
        problems.append(
            gettext(
                "This link compares with “{what}”, which there is not: there are {listed}.",
                what=given[KIND],
                listed=", ".join(KINDS),
            )
        )
    if given[MODEL] is not None and given[MODEL] not in models:
        problems.append(
            gettext(
                "This link compares with the model “{model}”, which is not here, or is the one on show.",
                model=given[MODEL],
            )
        )
    if given[HELD] not in (None, "0", "1"):
        problems.append(
            gettext("In this link “held” is “{value}”: it is 1 where the translation is held, or 0.", value=given[HELD])
        )
    if given[BRANCH] is not None and given[BRANCH] not in tried:
        problems.append(
            gettext(
                "This link compares with what-if “{number}”, which is not there, or is the one on show.",
                number=given[BRANCH],
            )
        )
    first = next(iter(models), None)
    session[view.key(KIND)] = given[KIND] if given[KIND] in KINDS else KINDS[0]
    session[view.key(MODEL)] = given[MODEL] if given[MODEL] in models else first
    session[view.key(SENTENCE)] = view.trace.source_text if given[SENTENCE] is None else given[SENTENCE]
    session[view.key(HELD)] = given[HELD] == "1"
    session[view.key(BRANCH)] = given[BRANCH] if given[BRANCH] in tried else str(_usual_branch(view))
    return tuple(problems)
