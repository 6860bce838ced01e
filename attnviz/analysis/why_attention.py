"""Texts of the page *Why attention?*: fixed ones, and sentences with the numbers of the user's sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from attnviz.analysis.energy_equations import texts_of
from attnviz.analysis.labels import quote, shorten
from attnviz.analysis.numbers import decimal, percent, significant, small
from attnviz.analysis.prefixes import IMPROBABLE, LEAST_PROBABILITY, ForcedWords, JudgedTranslation, PrefixTranslations
from attnviz.languages import gettext, ngettext

_MIN_RATIO = 10
"""Ratio of a word's probabilities from which two models are said to differ on it."""
_MOST_NAMED = 3


def attention_name(kind: str) -> str:
    """Return the name of a kind of attention."""
    return texts_of(kind).name


def short_kind_name(kind: str) -> str:
    """Return the short name of a kind of attention, for a legend."""
    return texts_of(kind).short_name


def forgetting_sentences(forced_words: ForcedWords, other: int) -> list[str]:
    """Return where the model without attention falls behind model `other` (an index); empty if all have attention."""
    fixed = forced_words.fixed
    if fixed is None:
        return []
    lags, name = forced_words.lag(fixed, other), short_kind_name(forced_words.attentions[other])
    parts = []
    if len(lags) >= 4:
        half = len(lags) // 2
        first, second = (float(np.exp(part.mean())) for part in (lags[:half], lags[half:]))
        parts.append(
            gettext(
                "With attention ({attention}), a word in the first half of the translation is on average {first} "
                "times as probable as with the fixed vector. In the second half, a word is {second} times as probable "
                "with attention as with the fixed vector (geometric means).",
                attention=name,
                first=significant(first),
                second=significant(second),
            )
        )
        if second > first and second > 1:
            parts.append(
                gettext("The gap in probability between the fixed vector and attention grows along the sentence.")
            )
        elif first > 1 and second > 1:
            parts.append(gettext("The fixed vector does worse than attention from the beginning."))
        elif lags.mean() <= 0:
            parts.append(gettext("For this sentence one vector is enough."))
    parts.append(_largest_differences_sentence(forced_words, lags, fixed, other))
    return parts


def _largest_differences_sentence(forced_words: ForcedWords, lags: np.ndarray, fixed: int, other: int) -> str:
    """Return the words on which the two models differ most."""
    positions = [
        int(position)
        for position in np.argsort(-lags, kind="stable")[:_MOST_NAMED]
        if lags[position] >= np.log(_MIN_RATIO)
    ]
    if not positions:
        return gettext("No word is ten times likelier with attention than with the fixed vector.")
    listed = [
        gettext(
            "{word} ({fixed} against {other})",
            word=quote(shorten(forced_words.words[position], 20)),
            fixed=small(float(np.exp(forced_words.log_probabilities[fixed, position]))),
            other=small(float(np.exp(forced_words.log_probabilities[other, position]))),
        )
        for position in positions
    ]
    count = int((lags >= np.log(_MIN_RATIO)).sum())
    values = {"count": count, "all": len(lags), "listed": ", ".join(listed)}
    if count == len(listed):
        return gettext(
            "Words at least ten times less likely with the fixed vector than with attention, {count} of {all}: "
            "{listed}.",
            **values,
        )
    return gettext(
        "Words at least ten times less likely with the fixed vector than with attention: {count} of {all}, above "
        "all {listed}.",
        **values,
    )


def gradient_share_sentences(kinds: Sequence[str], shares: Sequence[tuple[float, float] | None]) -> tuple[str, str]:
    """Return the share of the gradient that reaches the most-attended piece in models with these `kinds` of attention.

    `shares` are the share of the gradient that reaches the piece that additive attention attends to most, and the share
    that a uniform gradient would have, which is in the second sentence; None where unknown. Both sentences are empty if
    all are unknown.
    """
    known = [(kind, share) for kind, share in zip(kinds, shares, strict=True) if share is not None]
    if not known:
        return "", ""
    return (
        gettext(
            "Share of the gradient that reaches the most-attended piece: {listed}",
            listed=", ".join(f"{short_kind_name(kind)} {percent(share[0])}" for kind, share in known),
        ),
        gettext(
            "The most-attended piece is the one with the largest weight under additive attention. If the gradient "
            "were spread evenly over all pieces, {alike} of it would reach the most-attended piece.",
            alike=percent(known[0][1][1]),
        ),
    )


def small_length(length: float) -> str:
    """Return the norm of a gradient to two digits."""
    return small(length) if length < 1 else significant(length)


def growth_sentence(growth: PrefixTranslations) -> str:
    """Return how many content words of the whole sentence each of the three models leaves out."""
    last = {kind: row[-1] for kind, row in zip(growth.attentions, growth.translations, strict=True)}
    return gettext(
        "A better model estimates that the fixed vector leaves out {fixed} of the {all} content words of the whole "
        "sentence, general attention {general}, and additive attention {additive}.",
        fixed=len(last["none"].omitted),
        all=len(last["none"].content),
        general=len(last["general"].omitted),
        additive=len(last["additive"].omitted),
    )


def judgement_note(judged: JudgedTranslation, score: float | None) -> str:
    """Return the left-out and improbable words of a translation, and its chrF2 `score` if any, a line for each."""
    parts = [
        ngettext(
            "{count} of {all} English content words left out",
            "{count} of {all} English content words left out",
            len(judged.omitted),
            all=len(judged.content),
        ),
        ngettext(
            "{count} of {all} French words with p below {limit}",
            "{count} of {all} French words with p below {limit}",
            judged.improbable,
            all=len(judged.words),
            limit=percent(IMPROBABLE),
        ),
    ]
    if score is not None:
        parts.append(f"chrF2 {decimal(score, 0)}")
    return "\n".join(parts)


def shares_by_length_sentence(
    buckets: tuple[str, str], fixed: tuple[float, float], additive: tuple[float, float]
) -> tuple[str, str]:
    """Return the BLEU of a fixed vector beside that of additive attention, in the first and last bucket.

    The second sentence, on how far both fall, is empty where attention does not fall or falls more.
    """
    (short, long), (short_share, long_share) = (
        buckets,
        [a / b if b else 0.0 for a, b in zip(fixed, additive, strict=True)],
    )
    sentence = gettext(
        "The fixed vector reaches {short_share} of the BLEU of additive attention on sentences of {short} words, and "
        "{long_share} on sentences of {long} words.",
        short=_bucket_name(short),
        short_share=percent(short_share),
        long=_bucket_name(long),
        long_share=percent(long_share),
    )
    if additive[1] >= additive[0] or long_share >= short_share:
        return sentence, ""
    harder = gettext(
        "Long sentences are harder with attention too: the BLEU of additive attention falls from {before} to {after}. "
        "With the fixed vector, BLEU falls from {fixed_before} to {fixed_after}.",
        before=decimal(additive[0], 1),
        after=decimal(additive[1], 1),
        fixed_before=decimal(fixed[0], 1),
        fixed_after=decimal(fixed[1], 1),
    )
    return sentence, harder


def _bucket_name(bucket: str) -> str:
    return gettext("more than {count}", count=bucket[1:]) if bucket.startswith(">") else bucket


def length_sentence(words: int, bucket: str, scores: dict[str, float]) -> str:
    """Return the length bucket of a sentence, and the BLEU of each kind of attention there."""
    listed = ", ".join(f"{short_kind_name(kind)} {decimal(score, 1)}" for kind, score in scores.items())
    return ngettext(
        "Your sentence has {count} word. BLEU for sentences of {bucket} words: {listed}.",
        "Your sentence has {count} words. BLEU for sentences of {bucket} words: {listed}.",
        words,
        bucket=bucket,
        listed=listed,
    )


Origin = Literal["model", "reference", "visitor"]
"""Whose translation all models are forced to write."""


class TextSection(NamedTuple):
    """A heading and its paragraphs, as plain text."""

    heading: str
    paragraphs: tuple[str, ...]
    hint: str = ""
    """Another paragraph about the controls, which the lecture file leaves out."""
    warning: str = ""
    """What the reader must not conclude, in bold above the paragraphs."""
    lead: str = ""
    """What can be read while the section is closed."""


def why_introduction() -> TextSection:
    """Return the introduction of the page."""
    return TextSection(
        gettext("Why attention?"),
        (
            gettext(
                "In 2014, neural translators turned a sentence, however long, into one vector of fixed length: 1,000 "
                "numbers in Cho et al. (2014a), 8,000 in Sutskever et al. (2014). The decoder knew the sentence "
                "through this vector alone. Bahdanau, Cho and Bengio let the translator look back: before each word, "
                "it weighs all source words anew."
            ),
        ),
    )


def growth_section() -> TextSection:
    """Return the text about a long sentence and its first words."""
    return TextSection(
        gettext("1. A long sentence through one vector"),
        (
            gettext(
                "A fixed vector is equally long for a short sentence and for a long one. The longer the sentence, the "
                "less room each word has. With attention, the model keeps a vector for each word, and mixes these "
                "vectors anew at each step."
            ),
            gettext(
                "Three small models, trained on the same sentences, translate the same sentence. They differ in what "
                "the decoder gets of the sentence: one fixed vector, or a new mixture of annotations for each word. "
                "General and additive attention compute the weights of the mixture in two ways (section 3)."
            ),
        ),
        hint=gettext("Move the slider: the models then translate only the first words of the sentence."),
    )


def additive_and_general() -> str:
    """Return how the energies of the two recurrent kinds of attention differ."""
    return gettext(
        "Additive attention adds the state and the annotation, each multiplied by a matrix, then applies tanh and a "
        "weighted sum. General attention multiplies the annotation by a matrix, then takes the dot product with the "
        "state."
    )


def judge_section(model: str) -> str:
    """Return how `model` judges the translations of the growing sentence."""
    return gettext(
        "{model}, a better model than the three small models, is forced to write each translation. The shade of a "
        "French word shows its probability in {model}: the product of the probabilities of its pieces. {model} also "
        "estimates which English words each French word comes from (its posterior attention). An English word counts "
        "as left out, and is struck through, if no French word comes from it by half or more. French words with a "
        "probability below {least} do not count. An English word that is not struck through may still be translated "
        "badly: its French words are then improbable. Content words are all words but articles, pronouns, "
        "prepositions and the like. chrF2 (Popović 2015), 0 to 100, measures how similar a translation is to a "
        "reference translation. The models with attention have a few more parameters than the model with a fixed "
        "vector. The page Translate usually shows a larger model.",
        model=model,
        least=percent(LEAST_PROBABILITY),
    )


def length_section() -> TextSection:
    """Return the text about the paper's Fig. 2."""
    return TextSection(
        gettext("2. The longer the sentence, the worse one vector does"),
        (
            gettext(
                "This figure repeats Fig. 2 of Bahdanau, Cho & Bengio (2014) with the three small models. The figure "
                "shows the BLEU for each sentence length. BLEU, 0 to 100, measures how many runs of words a "
                "translation shares with a human translation. When the test sentences are resampled at random, the "
                "BLEU stays within the error bar 95 times in 100. Cho et al. (2014b) saw that one vector fails on "
                "long sentences; attention was invented to solve this problem."
            ),
        ),
    )


def translations_section() -> TextSection:
    """Return the text about the three translations."""
    return TextSection(
        gettext("3. Three translators, step by step"),
        (
            gettext(
                "Press Play below; after that, → and ← change the step. The shade and the bar of an English word show "
                "its attention weight for the piece being written. The stripes show the context vector: what the "
                "decoder gets of the English sentence at the current step. What it got at earlier steps lives on in "
                "its state. Each stripe is one number, red below zero, blue above."
            ),
            additive_and_general(),
        ),
        lead=gettext(
            "The three models translate your sentence side by side. The fixed vector is the same at every step; with "
            "attention, the context vector changes from step to step."
        ),
    )


def forced_section(model: str, origin: Origin) -> TextSection:
    """Return the text about forcing all models through one translation: that of `model`, or of another `origin`."""
    whose = {
        "model": gettext("This translation is by {model}; you can enter another translation above.", model=model),
        "reference": gettext("This is a reference translation; you can enter another translation above."),
        "visitor": gettext("You entered this translation."),
    }[origin]
    return TextSection(
        gettext("4. All three models are made to write the same words"),
        (
            gettext(
                "Since all models write the same words, no model goes on from a mistake of its own. A word that is "
                "far less probable with the fixed vector suggests that this vector has lost part of the sentence. The "
                "models were trained separately, so small differences mean little. Each grid line marks a tenth of "
                "the probability of the line above it."
            ),
            whose,
        ),
        lead=gettext(
            "All three models are forced to write the same translation. At every word we ask each model how probable "
            "the word is after the previous words."
        ),
    )


def gradient_section() -> TextSection:
    """Return the text about gradients and their paths."""
    return TextSection(
        gettext("5. A fixed vector learns, but cannot select"),
        (
            gettext(
                "While a model learns, it changes its numbers so that the correct French piece becomes more probable. "
                "The gradient says how much the vector of each English piece affects the probability of the correct "
                "French piece. The gradient also passes through a fixed vector, so a model with a fixed vector "
                "learns. But it cannot choose an English piece for each French piece. The shares measured for your "
                "sentence are below."
            ),
        ),
        lead=gettext(
            "A fixed vector is the same for all French pieces. Attention can send a larger share of the gradient to "
            "the English piece that is translated."
        ),
    )


def gradient_paths_section() -> TextSection:
    """Return the text about the figure of gradients and their paths."""
    return TextSection(
        gettext("How far gradients travel"),
        (
            gettext(
                "If the vector of an English piece were a little different, how much would the log probability of a "
                "French piece change? The answer is the gradient ∂ log p(yᵢ) / ∂xⱼ. Through a fixed vector, the "
                "gradient reaches every English piece. With attention, the piece that is translated often gets a "
                "larger share of it."
            ),
            gettext(
                "The horizontal axis counts the recurrent steps from a French piece back to an English piece. One "
                "line shows the gradient through the start state s₀. In a long recurrence, such a gradient tends to "
                "fade (Bengio et al. 1994). Another line shows the gradient through the context vectors c₁ … cᵢ. "
                "Without attention, all context vectors are the last annotation. Lines show medians; bands hold the "
                "middle half of the values."
            ),
        ),
    )


WHY_REFERENCES = (
    (
        "Bahdanau, Cho & Bengio 2014",
        "Neural machine translation by jointly learning to align and translate",
        "1409.0473",
    ),
    ("Cho et al. 2014a", "Learning phrase representations using RNN encoder-decoder", "1406.1078"),
    ("Cho et al. 2014b", "On the properties of neural machine translation", "1409.1259"),
    ("Sutskever, Vinyals & Le 2014", "Sequence to sequence learning with neural networks", "1409.3215"),
    ("Luong, Pham & Manning 2015", "Effective approaches to attention-based neural machine translation", "1508.04025"),
    ("Bengio, Simard & Frasconi 1994", "Learning long-term dependencies with gradient descent is difficult", ""),
    ("Popović 2015", "chrF: character n-gram F-score for automatic MT evaluation", ""),
    ("European Union 2016", "Regulation (EU) 2016/679, recital 6, in English and French. CC BY 4.0", ""),
)
"""References: authors, title, arXiv number where there is one."""
