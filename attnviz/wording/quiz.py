"""Questions of the last stop of the tour, and explanations of the answers."""

from __future__ import annotations

from collections.abc import Sequence

from attnviz.analysis.quiz import Odds, Question
from attnviz.languages import gettext
from attnviz.wording.numbers import decimal, percent
from attnviz.wording.tour import no_attention
from attnviz.wording.tour_data import TourData


def opening(told: TourData, asked: Sequence[Question]) -> str:
    """Return the introduction of the quiz, or why there is none."""
    if not told.record.attends:
        return no_attention()
    if not asked:
        return gettext(
            "No word of this translation attends clearly to a single English word, so there is no fair question "
            "to ask. Try a longer sentence: you find some under “Examples”."
        )
    if len(asked) == 1:
        return gettext(
            "Which English word did the model look at most for this word? Tap it. The pictures are hidden until "
            "you have answered."
        )
    return gettext(
        "{count} words of different kinds. For each, tap the English word that the model looked at most. The "
        "pictures are hidden until you have answered.",
        count=len(asked),
    )


def explained(told: TourData, one: Question) -> str:
    """Return the attention and the posterior attention of a word in one sentence."""
    looked = one.looked[0]
    share = percent(float(told.record.words().alignment[one.word, looked]))
    named = {"word": told.source(looked), "share": share}
    if told.after is None or not one.meant:
        text = gettext("{share} of the attention went to {word}.", **named)
    else:
        meant = looked if looked in one.meant else one.meant[0]
        named |= {"later": percent(float(told.after[one.word, meant])), "other": told.source(meant)}
        text = (
            gettext("{word} has α = {share}; after the word, α′ = {later}.", **named)
            if meant == looked
            else gettext(
                "Before the word was known, {word} had α = {share}. After it, {other} has α′ = {later}.", **named
            )
        )
    return f"{text} {gettext('The word order changes here.')}" if one.kind == "crossed" else text


def by_chance(chances: Odds, count: int, *, after: bool) -> str:
    """Return the expected number of correct answers to `count` questions by chance."""
    told = {"chance": decimal(chances.looked, 1), "straight": chances.diagonal, "count": count}
    text = gettext(
        "Expected correct answers: {chance} of {count} at random, {straight} of {count} along the diagonal.", **told
    )
    if after and abs(chances.meant - chances.looked) >= 0.05:
        text += " " + gettext("At random for α′ (after the word): {chance}.", chance=decimal(chances.meant, 1))
    return text


def quiz_words(told: TourData) -> dict[str, str]:
    """Return the texts of the quiz, with placeholders that the browser fills."""
    heads = not told.record.attends_once
    return {
        "ask": gettext("Word {k} of {n}: where did the model look most for {word}?"),
        "english": gettext("English words to choose from"),
        "right": gettext("Right."),
        "wrong": gettext("Not there: {word} got {share}."),
        "shades": gettext(
            "The greener a word, the more the model looked at it. Underlined: the largest posterior attention."
        )
        if told.after is not None
        else gettext("The greener a word, the more the model looked at it."),
        "next": gettext("Next word"),
        "end": gettext("What did I score?"),
        "score": gettext("{hits} of {n} correct by the mean attention of the heads.")
        if heads
        else gettext("{hits} of {n} correct by α."),
        "later": gettext("{hits} of {n} correct by α′, the attention after the word.")
        if told.after is not None
        else "",
        "again": gettext("Ask me again"),
        "lead": gettext("Next: Why attention?"),
        "explained": gettext(
            "The terms of this page are explained beside the step, under “What the words on this page mean”."
        ),
    }
