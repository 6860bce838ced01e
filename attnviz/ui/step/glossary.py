"""What the words on the page mean."""

from __future__ import annotations

from collections.abc import Iterator

from attnviz.languages import language, say


def glossary() -> Iterator[str]:
    """Yield what the words of the page mean, in Markdown."""
    yield from _signs()
    yield from _attention()
    yield from _writing()


def _signs() -> Iterator[str]:
    """Yield what the signs in sentences and numbers mean."""
    yield say("**Piece**: what the model reads and writes instead of words: a frequent word, or a part of a rarer one.")
    yield say("**·**: before a piece, as in ·cycle: it continues the word before it. In the two sentences a thin line "
              "marks where the pieces of a word meet.")  # fmt: skip
    yield say("**`<s>`, `</s>`, `<unk>`**: the start of a sentence, its end, and a stretch of text the model has never "
              "seen.")  # fmt: skip
    if language() != "en":
        yield say(
            "**0.5**: numbers on the page are written as the language does; those in the files have a decimal point."
        )


def _attention() -> Iterator[str]:
    """Yield the words for looking: from annotation to context vector."""
    yield say("**Annotation** $h_j$: what the encoder says of piece $j$, having read the sentence from both ends.")
    yield say("**State** $s_i$: all that the decoder keeps in mind after step $i$, a list of numbers.")
    yield say(
        "**Query** and **key**: what the decoder’s state asks for and what an annotation has to offer, "
        "each a list of numbers; together they make the energy."
    )
    yield say("**Energy** $e_{ij}$: how well the decoder, before step $i$, fits annotation $j$; any number, also "
              "negative.")  # fmt: skip
    yield say(
        "**Weight** $\\alpha_{ij}$: the energies of a step made positive and adding up to 1: the share of its look."
    )
    yield say(
        "**Prior**, **likelihood**, **posterior**: the weight of a piece before the word is known; how likely the word "
        "is had the context been that piece’s annotation alone; and their product, divided by its sum: what the look "
        "was about, once the word is known."
    )
    yield say(
        "**Head**: one of the looks that a transformer takes at each step, with queries, keys and values of its own. "
        "**Score**: how well its query and a key fit, before the softmax; elsewhere called energy."
    )
    yield say(
        "**Residual stream**: the list of numbers that runs through all layers of a transformer; each block reads it "
        "and adds something to it."
    )
    yield say("**√α**: colours by the square root of the weight, so that small weights can be seen.")
    yield say(
        "**Context vector** $c_i$: the annotations added up, each times its weight: what the decoder sees "
        "of the sentence at step $i$."
    )


def _writing() -> Iterator[str]:
    """Yield the words for writing, and those for whole sentences."""
    yield say(
        "**Gate**: a number from 0 to 1 for each unit that lets a value through, not at all to wholly. "
        "**Candidate**: the new state proposed, of which the update gate takes its part."
    )
    yield say("**Saturated**: so far out that tanh is almost 1 or −1, and hardly moves any more.")
    yield say("**Maxout**: of every two numbers, the larger goes on.")
    yield say(
        "**Logit**: the score of a piece before the softmax makes probabilities of all scores; 1 more "
        "makes a piece 2.7 times as likely against any other."
    )
    yield say(
        "**Entropy** $H$: how widely a step looks, in bits: 0 at one piece alone, and 1 more for twice as "
        "many pieces looked at alike."
    )
    yield say(
        "**Coverage**: how much a source word was looked at in all steps together, about 1 for a word "
        "translated by one."
    )
    yield say("**Greedy search**: take the likeliest piece at each step; **beam search** keeps the best few "
              "translations alive.")  # fmt: skip
