"""Fixed texts of the page *Why attention?* (introduction, sections, references), and the type of a text section."""

from __future__ import annotations

from typing import Literal, NamedTuple

from attnviz.languages import gettext

Origin = Literal["model", "reference", "visitor"]
"""Whose translation all models are forced to write."""


class TextSection(NamedTuple):
    """A heading and its paragraphs, as plain text."""

    heading: str
    paragraphs: tuple[str, ...]
    hint: str = ""
    """Another paragraph about the controls, which the lecture file leaves out."""


def opening() -> TextSection:
    """Return the introduction of the page."""
    return TextSection(
        gettext("Why attention?"),
        (
            gettext(
                "In 2014, neural translators turned a sentence, however long, into one vector of a few hundred "
                "numbers. They wrote the translation from this vector alone (Cho et al. 2014a, Sutskever et al. "
                "2014). Bahdanau, Cho and Bengio let the translator look back: before each word, it weighs all "
                "source words anew."
            ),
        ),
    )


def growth() -> TextSection:
    """Return the text about a long sentence and its first words."""
    return TextSection(
        gettext("1. A long sentence through one vector"),
        (
            gettext(
                "A fixed vector has the same few hundred numbers for a short sentence and for a long one. The longer "
                "the sentence, the less room each word has. Attention keeps a vector for each word, and looks at the "
                "words that it needs."
            ),
            gettext(
                "Three small models translate the same sentence. They learned from the same sentences; only what the "
                "decoder gets of the sentence differs. The page Translate usually shows a larger model. Move the "
                "slider: the models then translate only the first words."
            ),
            additive_and_general(),
        ),
    )


def additive_and_general() -> str:
    """Return how the energies of the two recurrent kinds of attention differ."""
    return gettext(
        "Additive attention adds the state and the annotation, each multiplied by a matrix, then applies tanh and a "
        "weighted sum. General attention multiplies state and annotation number by number, after one matrix, and adds "
        "up the products."
    )


def judging(model: str) -> str:
    """Return how `model` judges the translations of the growing sentence."""
    return gettext(
        "The better model {model} is forced to write each translation. The shade of a French word shows its "
        "probability in {model}: the product of the probabilities of its pieces. A struck-through English word is "
        "left out of the translation: without this word, the French would be almost as probable. {model} estimates "
        "this. It computes how much more probable each French piece is with the English sentence than without, and "
        "divides this gain among the English words. Content words are all words but articles, pronouns, "
        "prepositions and the like. chrF2 (Popović 2015) compares a translation with a reference translation, from 0 "
        "to 100.",
        model=model,
    )


def by_length() -> TextSection:
    """Return the text about the paper's Fig. 2."""
    return TextSection(
        gettext("2. The longer the sentence, the worse one vector does"),
        (
            gettext(
                "This figure repeats Fig. 2 of Bahdanau, Cho & Bengio (2014) with these three models. It shows "
                "the BLEU for each length of the sentence. BLEU, 0 to 100, measures how many runs of words a "
                "translation shares with a human translation. When the test sentences are resampled at random, "
                "the BLEU stays within the bar 95 times in 100. Cho et al. (2014b) saw that one vector fails on "
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
                "its attention weight for the piece being written. The stripes show the vector in which the decoder "
                "receives the English sentence at that step. Each stripe is one number, red below zero, blue above."
            ),
        ),
    )


def forced(model: str, origin: Origin) -> TextSection:
    """Return the text about forcing all models through one translation: that of `model`, or of another `origin`."""
    whose = {
        "model": gettext("This translation is by {model}; you can enter another translation above.", model=model),
        "reference": gettext("This is a reference translation; you can enter another translation above."),
        "visitor": gettext("This translation is the one you gave."),
    }[origin]
    return TextSection(
        gettext("4. All three models write the same words"),
        (
            gettext(
                "Now all three models are forced to write the same translation. At every word we ask each model "
                "how probable this word is after the words before it. Since all models write the same words, no "
                "model goes on from a mistake of its own. The difference shows how much of the English sentence "
                "each model still knows. Each grid line marks a tenth of the probability of the line above it."
            ),
            whose,
        ),
    )


def signals() -> TextSection:
    """Return the text about gradients and their paths."""
    return TextSection(
        gettext("5. A fixed vector learns, but cannot select"),
        (
            gettext(
                "A model learns from the gradient: how much the probability of a French piece changes with the vector "
                "of each English piece. A fixed vector is the same for all French pieces, so it cannot select the "
                "right English piece. Attention can."
            ),
        ),
    )


def signal_paths() -> TextSection:
    """Return the text about the figure of gradients and their paths."""
    return TextSection(
        gettext("How far learning signals travel"),
        (
            gettext(
                "If the vector of an English piece were a little different, how much would the probability of a "
                "French piece change? The answer is the gradient ∂ log p(yᵢ) / ∂xⱼ. Through a fixed vector, the "
                "gradient reaches every English piece. Attention sends a larger share to the right one."
            ),
            gettext(
                "The horizontal axis counts the recurrent steps from a French piece back to an English piece. One "
                "line is the gradient through the start state s₀. It gets weaker with every step (Bengio et al. "
                "1994). The other line is the gradient through the context vectors c₁ … cᵢ. Without attention, they "
                "all are the last annotation. Lines are medians; bands hold the middle half."
            ),
        ),
    )


REFERENCES = (
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
