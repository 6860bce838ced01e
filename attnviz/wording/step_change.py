"""The effect of an intervention on a step in words."""

from __future__ import annotations

import math

from attnviz.analysis.step_change import PieceChange, StepChange
from attnviz.languages import format_share, gettext
from attnviz.wording.labels import quoted_name
from attnviz.wording.numbers import percent


def change_sentence(change: StepChange) -> str:
    """Return what changed at a step, compared with the translation before the intervention."""
    after = probability(change.written.after, change.least[1])
    name = quoted_name(change.written.piece)
    if change.unchanged:
        return gettext("Nothing changed at this step.")
    if change.moment == "none" or change.written_before is None:
        return gettext(
            "Before the change, the translation ended before this step. Now this step writes {name} with "
            "probability {p}.",
            name=name,
            p=after,
        )
    sentence = _moved(change)
    if change.moment == "other words":
        sentence = gettext("The words before this step have changed.") + f" {sentence}"
    return f"{sentence} {_outcome(change, name, after)}"


def _outcome(change: StepChange, name: str, after: str) -> str:
    other, least = change.written_before, change.least
    before = probability(change.written.before, least[0])
    if other is None or other.piece_id == change.written.piece_id:
        return gettext(
            "This step still writes {name}; its probability goes from {before} to {p}.",
            name=name,
            p=after,
            before=before,
        )
    return gettext(
        "This step now writes {name}: its probability goes from {before} to {p}. The previous choice, {other}, "
        "goes from {r} to {q}.",
        name=name,
        p=after,
        before=before,
        other=quoted_name(other.piece),
        q=probability(other.after, least[1]),
        r=probability(other.before, least[0]),
    )


def change_alt(change: StepChange) -> str:
    """Return the text alternative of the figure of a step's change."""
    listed = "; ".join(
        gettext(
            "{name} {before} before, {after} after",
            name=quoted_name(piece_change.piece),
            before=_before(change, piece_change),
            after=probability(piece_change.after, change.least[1]),
        )
        for piece_change in change.pieces
    )
    sentence = gettext(
        "Most probable pieces of step {step} before and after the change: {listed}.",
        step=change.step + 1,
        listed=listed,
    )
    return sentence if change.moment == "none" else f"{sentence} {_moved(change)}"


def _moved(change: StepChange) -> str:
    return gettext(
        "The change moved the context vector by {context} of its length, the decoder state by {state} of its own "
        "length.",
        context=percent(change.context),
        state=percent(change.state),
    )


def _before(change: StepChange, piece_change: PieceChange) -> str:
    return gettext("not there") if change.moment == "none" else probability(piece_change.before, change.least[0])


def probability(p: float | None, least: float) -> str:
    """Return a probability as a percentage; for None, that it is below `least`."""
    if p is not None:
        return percent(p)
    return gettext("less than {share}", share=format_share(max(1, math.ceil(100 * least)) / 100))
