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
            "No word of this translation looks clearly at one English word, so that there is nothing fair to "
            "ask. Try a longer sentence: some stand under “Examples”."
        )
    if len(asked) == 1:
        return gettext(
            "Where did it look most for this word? Tap the English one. The pictures are hidden until you have "
            "answered."
        )
    return gettext(
        "{count} words of different kinds. For each, tap the English word it looked at most. The pictures are "
        "hidden until you have answered.",
        count=len(asked),
    )


def explained(told: TourData, one: Question) -> str:
    """Return the attention and the posterior attention of a word in one sentence."""
    looked = one.looked[0]
    share = percent(float(told.record.words().alignment[one.word, looked]))
    named = {"word": told.source(looked), "share": share}
    if told.after is None or not one.meant:
        text = gettext("{share} of the look went to {word}.", **named)
    else:
        meant = looked if looked in one.meant else one.meant[0]
        named |= {"later": percent(float(told.after[one.word, meant])), "other": told.source(meant)}
        text = (
            gettext("α is {share} on {word}; after the word it is {later}.", **named)
            if meant == looked
            else gettext("α is {share} on {word}, before the word was known; after it, {other} has {later}.", **named)
        )
    return f"{text} {gettext('Here the order changes.')}" if one.kind == "crossed" else text


def by_chance(chances: Odds, count: int, *, after: bool) -> str:
    """Return the expected number of correct answers to `count` questions by chance."""
    told = {"chance": decimal(chances.looked, 1), "straight": chances.diagonal, "count": count}
    text = gettext("By chance: {chance} of {count}; always straight along the diagonal: {straight} of {count}.", **told)
    if after and abs(chances.meant - chances.looked) >= 0.05:
        text += " " + gettext("By chance after the word: {chance}.", chance=decimal(chances.meant, 1))
    return text


def quiz_words(told: TourData) -> dict[str, str]:
    """Return the texts of the quiz, with placeholders that the browser fills."""
    heads = not told.record.attends_once
    return {
        "ask": gettext("Word {k} of {n}: where did it look most for {word}?"),
        "english": gettext("English words to choose from"),
        "right": gettext("Right."),
        "wrong": gettext("Not there: {word} got {share}."),
        "shades": gettext("The greener, the more it looked; underlined is what the look was about after the word.")
        if told.after is not None
        else gettext("The greener, the more it looked."),
        "next": gettext("Next word"),
        "end": gettext("What did I score?"),
        "score": gettext("{hits} of {n} where the heads looked most on average.")
        if heads
        else gettext("{hits} of {n} where α looked most."),
        "later": gettext("{hits} of {n} by α′, what the look was about after the word.")
        if told.after is not None
        else "",
        "again": gettext("Ask me again"),
        "lead": gettext("Next: Why attention?"),
        "explained": gettext(
            "What the words of the page mean stands beside the step, under “What the words on this page mean”."
        ),
    }
