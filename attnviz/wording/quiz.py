"""Texts of the quiz at the last stop of the tour: introduction, labels, explanations of answers, expected score."""

from __future__ import annotations

from collections.abc import Sequence

from attnviz.analysis.tour import Odds, Question
from attnviz.languages import gettext
from attnviz.wording.numbers import decimal, fine_percent
from attnviz.wording.tour import no_attention
from attnviz.wording.tour_data import TourData


def opening(tour: TourData, questions: Sequence[Question]) -> str:
    """Return the introduction of the quiz, or why there is none."""
    if not tour.record.attends:
        return no_attention()
    if not questions:
        return gettext(
            "No word of this translation attends clearly to a single English word, so the quiz has no clear "
            "question to ask. Try a longer sentence, for example one from “Examples”."
        )
    if len(questions) == 1:
        return gettext(
            "Which English word did the translator look at most for this word? Choose it. The pictures are hidden "
            "until you have answered."
        )
    return gettext(
        "Here are {count} French words of different kinds. For each, choose the English word that the translator "
        "looked at most. The pictures are hidden until you have answered.",
        count=len(questions),
    )


def explained(tour: TourData, question: Question) -> str:
    """Return the attention and the posterior attention of a word in one sentence."""
    attended = question.attended[0]
    share = fine_percent(float(tour.record.words().alignment[question.word, attended]))
    values = {"word": tour.source(attended), "share": share}
    if tour.after is None or not question.meant:
        text = gettext("{share} of the attention went to {word}.", **values)
    else:
        meant = attended if attended in question.meant else question.meant[0]
        values |= {"later": fine_percent(float(tour.after[question.word, meant])), "other": tour.source(meant)}
        text = (
            gettext("{word}: α = {share} before the French word is known, α′ = {later} after.", **values)
            if meant == attended
            else gettext(
                "Before the French word was known, {word} had α = {share}. Once the French word is known, "
                "{other} has α′ = {later}.",
                **values,
            )
        )
    return f"{text} {gettext('The word order changes at this word.')}" if question.kind == "crossed" else text


def chance_sentence(chances: Odds, count: int, *, after: bool) -> str:
    """Return the expected number of correct answers to `count` questions by chance."""
    values = {"chance": decimal(chances.attended, 1), "straight": chances.diagonal, "count": count}
    text = gettext(
        "Expected correct answers: {chance} of {count} by random guessing, {straight} of {count} by following "
        "the diagonal of the heatmap.",
        **values,
    )
    if after and abs(chances.meant - chances.attended) >= 0.05:
        text += " " + gettext(
            "If answers are judged by α′ (attention after the word), expect {chance} correct answers by random "
            "guessing.",
            chance=decimal(chances.meant, 1),
        )
    return text


def quiz_labels(tour: TourData) -> dict[str, str]:
    """Return the texts of the quiz, with placeholders that the browser fills."""
    heads = not tour.record.attends_once
    return {
        "ask": gettext("Word {k} of {n}: where did the translator look most for “{word}”?"),
        "english": gettext("English words to choose from"),
        "right": gettext("Right."),
        "wrong": gettext("Not this word: {word} got {share} of the attention."),
        "shades": gettext(
            "The greener a word, the more the translator looked at it. The underlined word has the largest posterior "
            "attention."
        )
        if tour.after is not None
        else gettext("The greener a word, the more the translator looked at it."),
        "next": gettext("Next word"),
        "end": gettext("What did I score?"),
        "score": gettext("Correct answers, judged by the mean attention of the heads: {hits} of {n}.")
        if heads
        else gettext("Correct answers, judged by α (before the word): {hits} of {n}."),
        "later": gettext("Correct answers, judged by α′ (after the word): {hits} of {n}.")
        if tour.after is not None
        else "",
        "again": gettext("Ask me again"),
        "lead": gettext("Next: Why attention?"),
        "explained": gettext(
            "The terms of this page are explained beside the step, under “What the words on this page mean”."
        ),
    }
