"""Texts of the page *Why attention?*, one for each figure, and references."""

from __future__ import annotations

from typing import NamedTuple

from attnviz.languages import gettext


class Passage(NamedTuple):
    """A heading and its paragraphs, as plain text."""

    heading: str
    paragraphs: tuple[str, ...]
    hint: str = ""
    """Another paragraph about the controls, which the lecture file leaves out."""


def opening() -> Passage:
    """Return the introduction of the page."""
    return Passage(
        gettext("Why attention?"),
        (
            gettext(
                "In 2014 a neural translator read a sentence into one vector of numbers and wrote the translation from "
                "that vector alone (Cho et al. 2014a, Sutskever et al. 2014). Bahdanau, Cho and Bengio let it look "
                "back: before each word it writes, it weighs all source words anew. One vector fails because, however "
                "long the sentence, all of it has to fit into the same few hundred numbers, read once and never looked "
                "up again."
            ),
            gettext(
                "Below are three small models, trained on the same sentences for equally many updates, which differ in "
                "this alone: one has a fixed vector, one weighs by dot products (Luong et al. 2015), one as Bahdanau "
                "et al. did. Your sentence goes through all three."
            ),
        ),
    )


def race() -> Passage:
    """Return the text about the three translations."""
    return Passage(
        gettext("1. Three translators, one sentence"),
        (
            gettext(
                "Press Play, or → and ←. The shade and the bar of an English word are its weight for the piece that is "
                "being written. The stripes are all that the writer is given of the English at that step, a stripe a "
                "number, red below zero, blue above."
            ),
        ),
    )


def forced(model: str, *, given: bool) -> Passage:
    """Return the text about forcing all models through one translation, by `model` or `given` by the user."""
    whose = (
        gettext("It is the translation that was given.")
        if given
        else gettext("It is the translation that {model} makes; give another above, and see.", model=model)
    )
    return Passage(
        gettext("2. The same words, forced through all three"),
        (
            gettext(
                "Now all three are led through one and the same translation. At every word each is asked how likely it "
                "finds it, after the words before. Nobody loses the thread by a mistake of his own: what is left is "
                "how much of the English each still knows. On the scale, each line is a tenth of the one above it."
            ),
            whose,
        ),
    )


def signals() -> Passage:
    """Return the text about gradients and their paths."""
    return Passage(
        gettext("3. How far learning signals travel"),
        (
            gettext(
                "If the vector of an English piece were a little different, how much would the probability of a "
                "written word change? A model asks this when it learns, and changes most what matters most. The answer "
                "is called a gradient, ∂ log p(yᵢ) / ∂xⱼ, and its length says how strong a signal reaches the English. "
                "By the recurrence alone it has to go back from state to state, and fades with every step (Bengio et "
                "al. 1994). By attention it goes straight to what was looked at. So look at the right end of each "
                "picture: what is high there still reaches words far away."
            ),
            gettext(
                "Further right are pairs of a written and a read piece with more steps between them: i back to the "
                "decoder’s first state s₀, and from there j along the encoder. The gradient is exact, and split by its "
                "way into the encoder: by s₀, or by the contexts c₁ … cᵢ and their weights. (The fixed vector has one "
                "context for all steps, the last annotation, and no weights.) Lines are medians, bands hold the middle "
                "half."
            ),
        ),
    )


def by_length() -> Passage:
    """Return the text about the paper's Fig. 2."""
    return Passage(
        gettext("4. The longer the sentence, the worse one vector does"),
        (
            gettext(
                "Fig. 2 of Bahdanau, Cho & Bengio (2014), measured again with these three models: BLEU (0 to 100, how "
                "many runs of words a translation shares with a person’s) by the length of the sentence, with bars "
                "that hold 95 of 100 resamplings. That one vector fails on long sentences was seen before attention "
                "was found (Cho et al. 2014b); it is what attention was invented for."
            ),
        ),
    )


def growth() -> Passage:
    """Return the text about growing sentences and their measure."""
    return Passage(
        gettext("5. How far can a sentence grow?"),
        (
            gettext(
                "A long sentence, clause by clause; each model translates every beginning of it. Does the translation "
                "break before the sentence is complete? It is cut after marks and before words that clauses begin "
                "with: no grammar is known here."
            ),
            gettext(
                "The measure is chrF2 (Popović 2015): how far the runs of up to six letters agree with the translation "
                "of a better model, 100 for the same text. Its limits: the better model is no human, and errs; good "
                "words that are others count as wrong; and the beginning of a sentence need not be a sentence."
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
)
"""References: authors, title, arXiv number where there is one."""
