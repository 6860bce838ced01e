"""What is asked at the last stop of the tour, and each answer explained from its numbers."""

from __future__ import annotations

from collections.abc import Sequence

from attnviz.analysis.quiz import Odds, Question
from attnviz.languages import say
from attnviz.wording.numbers import decimal, percent
from attnviz.wording.tour import no_attention
from attnviz.wording.toured import Toured


def opening(told: Toured, asked: Sequence[Question]) -> str:
    """Return what is said before the first question, or why there is none."""
    if not told.record.attends:
        return no_attention()
    if not asked:
        return say("No word of this translation looks clearly at one English word, so that there is nothing fair to "
                   "ask. Try a longer sentence: some stand under “Examples”.")  # fmt: skip
    if len(asked) == 1:
        return say("Where did it look most for this word? Tap the English one. The pictures are hidden until you have "
                   "answered.")  # fmt: skip
    return say("{count} words of different kinds. For each, tap the English word it looked at most. The pictures are "
               "hidden until you have answered.", count=len(asked))  # fmt: skip


def explained(told: Toured, one: Question) -> str:
    """Return in one sentence where a word looked, and what that was about once it was known."""
    looked = one.looked[0]
    share = percent(float(told.record.words().alignment[one.word, looked]))
    named = {"word": told.source(looked), "share": share}
    if told.after is None or not one.meant:
        text = say("{share} of the look went to {word}.", **named)
    else:
        meant = looked if looked in one.meant else one.meant[0]
        named |= {"later": percent(float(told.after[one.word, meant])), "other": told.source(meant)}
        text = (
            say("α is {share} on {word}; after the word it is {later}.", **named) if meant == looked
            else say("α is {share} on {word}, before the word was known; after it, {other} has {later}.", **named)
        )  # fmt: skip
    return f"{text} {say('Here the order changes.')}" if one.kind == "crossed" else text


def by_chance(chances: Odds, count: int, *, after: bool) -> str:
    """Return what somebody would answer rightly of `count` questions who does not know."""
    told = {"chance": decimal(chances.looked, 1), "straight": chances.diagonal, "count": count}
    text = say("By chance: {chance} of {count}; always straight along the diagonal: {straight} of {count}.", **told)
    if after and abs(chances.meant - chances.looked) >= 0.05:
        text += " " + say("By chance after the word: {chance}.", chance=decimal(chances.meant, 1))
    return text


def quiz_words(told: Toured) -> dict[str, str]:
    """Return the wording of the questions, in whose braces the browser puts what was answered."""
    heads = not told.record.attends_once
    return {
        "ask": say("Word {k} of {n}: where did it look most for {word}?"),
        "english": say("English words to choose from"),
        "right": say("Right."),
        "wrong": say("Not there: {word} got {share}."),
        "shades": say("The greener, the more it looked; underlined is what the look was about after the word.")
        if told.after is not None else say("The greener, the more it looked."),
        "next": say("Next word"),
        "end": say("What did I score?"),
        "score": say("{hits} of {n} where the heads looked most on average.") if heads
        else say("{hits} of {n} where α looked most."),
        "later": say("{hits} of {n} by α′, what the look was about after the word.") if told.after is not None else "",
        "again": say("Ask me again"),
        "lead": say("Next: Why attention?"),
        "explained": say("What the words of the page mean stands beside the step, under “What the words on this page "
                         "mean”."),
    }  # fmt: skip
