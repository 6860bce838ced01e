"""Sentences about how an intervention changed a step: written piece, probabilities, context vector and state."""

from __future__ import annotations

import math

from attnviz.analysis.step_change import PieceChange, StepChange
from attnviz.languages import format_share, gettext
from attnviz.wording.labels import quoted_name
from attnviz.wording.numbers import percent


def change_sentence(change: StepChange) -> str:
    """Return what changed at a step, compared with the translation before the intervention."""
    after = probability_text(change.written.after, change.least[1])
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
    sentence = _movement_sentence(change)
    if change.moment == "other words":
        sentence = gettext("The words before this step have changed.") + f" {sentence}"
    return f"{sentence} {_word_sentence(change, name, after)}"


def _word_sentence(change: StepChange, name: str, after: str) -> str:
    previous_choice, least = change.written_before, change.least
    before = probability_text(change.written.before, least[0])
    if previous_choice is None or previous_choice.piece_id == change.written.piece_id:
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
        other=quoted_name(previous_choice.piece),
        q=probability_text(previous_choice.after, least[1]),
        r=probability_text(previous_choice.before, least[0]),
    )


def change_alt(change: StepChange) -> str:
    """Return the text alternative of the figure of a step's change."""
    listed = "; ".join(
        gettext(
            "{name}: {before} before, {after} after",
            name=quoted_name(piece_change.piece),
            before=_probability_before(change, piece_change),
            after=probability_text(piece_change.after, change.least[1]),
        )
        for piece_change in change.pieces
    )
    sentence = gettext(
        "Most probable pieces of step {step} before and after the change: {listed}.",
        step=change.step + 1,
        listed=listed,
    )
    return sentence if change.moment == "none" else f"{sentence} {_movement_sentence(change)}"


def _movement_sentence(change: StepChange) -> str:
    return gettext(
        "The change moved the context vector by {context} of its length, and the decoder state by {state} of its "
        "own length.",
        context=percent(change.context),
        state=percent(change.state),
    )


def _probability_before(change: StepChange, piece_change: PieceChange) -> str:
    return gettext("not there") if change.moment == "none" else probability_text(piece_change.before, change.least[0])


def probability_text(p: float | None, least: float) -> str:
    """Return a probability as a percentage; for None, that it is below `least`."""
    if p is not None:
        return percent(p)
    return gettext("less than {share}", share=format_share(max(1, math.ceil(100 * least)) / 100))
