"""Define the terms of a page in a box: each page names its topics, and each term is defined in one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal

import streamlit as st

from attnviz.languages import gettext, language

Topic = Literal["signs", "attention", "heads", "writing", "learning", "scores"]


def glossary_box(key: str, *topics: Topic) -> None:
    """Draw a popover with key `key` that defines the terms of `topics`."""
    with st.popover(gettext("What the words on this page mean"), type="tertiary", key=key):
        st.markdown("\n\n".join(glossary(*topics)))


def glossary(*topics: Topic) -> Iterator[str]:
    """Yield the definitions of the terms of `topics`, in Markdown."""
    for topic in topics:
        yield from _TOPICS[topic]()


def _signs() -> Iterator[str]:
    """Yield the meaning of the signs in sentences and numbers."""
    yield gettext(
        "**Piece**: what the model reads and writes instead of words: a frequent word, or a part of a rarer one."
    )
    yield gettext(
        "**·**: before a piece, as in ·cycle: it continues the word before it. In the two sentences a thin line "
        "marks where the pieces of a word meet."
    )
    yield gettext(
        "**`<s>`, `</s>`, `<unk>`**: the start of a sentence, its end, and a stretch of text the model has never seen."
    )
    if language() != "en":
        yield gettext(
            "**0.5**: numbers on the page are written as the language does; those in the files have a decimal point."
        )


def _attention() -> Iterator[str]:
    """Yield the terms of attention, from annotation to context vector."""
    yield gettext(
        "**Encoder** and **decoder**: the half of a translator that reads the English, and the half that writes the "
        "French."
    )
    yield gettext("**Annotation** $h_j$: what the encoder says of piece $j$, having read the sentence from both ends.")
    yield gettext("**State** $s_i$: all that the decoder keeps in mind after step $i$, a list of numbers.")
    yield gettext(
        "**Query** and **key**: what the decoder’s state asks for and what an annotation has to offer, "
        "each a list of numbers; together they make the energy."
    )
    yield gettext(
        "**Energy** $e_{ij}$: how well the decoder, before step $i$, fits annotation $j$; any number, also negative."
    )
    yield gettext(
        "**Weight** $\\alpha_{ij}$: the energies of a step made positive and adding up to 1: the share of its look."
    )
    yield gettext(
        "**Prior**, **likelihood**, **posterior**: the weight of a piece before the word is known; how likely the word "
        "is had the context been that piece’s annotation alone; and their product, divided by its sum: what the look "
        "was about, once the word is known."
    )
    yield gettext("**√α**: colours by the square root of the weight, so that small weights can be seen.")
    yield gettext(
        "**Context vector** $c_i$: the annotations added up, each times its weight: what the decoder sees "
        "of the sentence at step $i$."
    )


def _heads() -> Iterator[str]:
    """Yield the terms of a transformer and of what leads to it."""
    yield gettext("**Embedding**: the list of numbers that a piece is looked up as, before anything is read around it.")
    yield gettext(
        "**Head**: one of the looks that a transformer takes at each step, with queries, keys and values of its own. "
        "**Score**: how well its query and a key fit, before the softmax; elsewhere called energy."
    )
    yield gettext(
        "**Value**: what a piece gives to a head that looks at it, a list of numbers, as strongly as its weight."
    )
    yield gettext(
        "**Layer**: heads side by side, and a small network after them; the next layer starts from what came out of it."
    )
    yield gettext(
        "**Residual stream**: the list of numbers that runs through all layers of a transformer; each block reads it "
        "and adds something to it."
    )
    yield gettext("**Mask**: what hides from a look the words that are not written yet.")


def _writing() -> Iterator[str]:
    """Yield the terms of decoding and of measures over whole sentences."""
    yield gettext(
        "**Gate**: a number from 0 to 1 for each unit that lets a value through, not at all to wholly. "
        "**Candidate**: the new state proposed, of which the update gate takes its part."
    )
    yield gettext("**Saturated**: so far out that tanh is almost 1 or −1, and hardly moves any more.")
    yield gettext("**Maxout**: of every two numbers, the larger goes on.")
    yield gettext(
        "**Logit**: the score of a piece before the softmax makes probabilities of all scores; 1 more "
        "makes a piece 2.7 times as likely against any other."
    )
    yield gettext(
        "**Entropy** $H$: how widely a step looks, in bits: 0 at one piece alone, and 1 more for twice as "
        "many pieces looked at alike."
    )
    yield gettext(
        "**Coverage**: how much a source word was looked at in all steps together, about 1 for a word "
        "translated by one."
    )
    yield gettext(
        "**Greedy search**: take the likeliest piece at each step; **beam search** keeps the best few "
        "translations alive."
    )


def _learning() -> Iterator[str]:
    """Yield the terms of training and of models without attention."""
    yield gettext(
        "**Fixed vector**: one list of numbers, always equally long, that has to hold a whole sentence; a model "
        "without attention writes from nothing else."
    )
    yield gettext("**Recurrence**: reading or writing word by word, each time handing on a state.")
    yield gettext("**Update**: one change of all that a model has learnt, after it has seen some sentences.")
    yield gettext("**Loss**: how much the right words surprise a model, on the average; less is better.")
    yield gettext(
        "**Gradient**: how much a result would change if a number were a little different; a model learns by it."
    )


def _scores() -> Iterator[str]:
    """Yield the terms of translation and alignment scores."""
    yield gettext("**BLEU**: how many runs of up to four words a translation shares with a person’s, from 0 to 100.")
    yield gettext(
        "**chrF2**: the same with runs of up to six letters, so that a wrong ending costs less than a wrong word."
    )
    yield gettext(
        "**AER**, alignment error rate: how far the looks disagree with links that people drew between words of "
        "the two sentences: 0 when all agree, 1 when none do."
    )


_TOPICS: Mapping[Topic, Callable[[], Iterator[str]]] = {
    "signs": _signs,
    "attention": _attention,
    "heads": _heads,
    "writing": _writing,
    "learning": _learning,
    "scores": _scores,
}
