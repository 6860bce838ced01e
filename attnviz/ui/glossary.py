"""Draw sections of text, lists of references, and the box that defines the terms of a page.

The definitions are here, by topic; sections and references come from the caller.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Literal

from attnviz.analysis.page_texts import TextSection
from attnviz.browser_programs import KATEX
from attnviz.languages import gettext, language
from attnviz.ui.blocks import box, component, details, html, popover_box, view_blocks


def text_section(section: TextSection, french: str = "", *, heading: bool = True) -> None:
    """Draw a section's heading, unless its box has it, and its paragraphs; a text in French may be at the end."""
    texts = filter(None, (*section.paragraphs, section.hint))
    paragraphs = [f'<p class="explanation">{escape(text)}</p>' for text in texts]
    if french:
        paragraphs[-1] = f'<div>{paragraphs[-1]}<p class="french" lang="fr">{escape(french)}</p></div>'
    columns = " in-columns" if len(paragraphs) > 1 else ""
    top = f"<h2>{escape(section.heading)}</h2>" if heading else ""
    if section.warning:
        top += f'<p class="warning"><strong>{escape(section.warning)}</strong></p>'
    html(f'<div class="text-section{columns}">{top}{"".join(paragraphs)}</div>')


def opening(page: str, section: TextSection) -> None:
    """Draw the introduction of a page."""
    with view_blocks(f"{page}_introduction"), box(f"{page}_opening"):
        text_section(section)


def references(listed: Sequence[tuple[str, str, str]]) -> None:
    """Draw a box with a list of references: authors, title, and arXiv number if there is one."""
    items = "".join(
        f"<li>{escape(who)}. {escape(title)}."
        + (f' <a href="https://arxiv.org/abs/{number}">arXiv {number}</a>' if number else "")
        + "</li>"
        for who, title, number in listed
    )
    with details(gettext("References"), "references"):
        html(f'<ul class="references" lang="en">{items}</ul>')


Topic = Literal["signs", "attention", "heads", "writing", "learning", "scores"]


def glossary_box(*topics: Topic) -> None:
    """Draw a popover that defines the terms of `topics`."""
    with popover_box(gettext("What the words on this page mean"), "glossary"):
        definitions("glossary_terms", glossary(*topics))


def definitions(key: str, texts: Iterable[str]) -> None:
    """Draw paragraphs with **terms**, `signs` and $formulas$."""
    component("definitions", key, {"texts": [*texts], "katex": KATEX.file_name})


def glossary(*topics: Topic) -> Iterator[str]:
    """Yield the definitions of the terms of `topics`, with **terms**, `signs` and $formulas$."""
    texts: dict[Topic, list[str]] = {
        "signs": [
            gettext("**Piece**: a frequent word, or a part of a rarer word. The model reads and writes pieces."),
            gettext(
                "**·** before a piece, as in ·cycle: the piece continues the word before it. In the English and French "
                "sentences, a thin line separates the pieces of a word."
            ),
            gettext(
                "**`<s>`, `</s>`, `<unk>`**: the start mark, the end mark of a sentence, and text that the model does "
                "not know. The end mark is a piece like any other: it gets attention, too."
            ),
        ],
        "attention": [
            gettext(
                "**Encoder** and **decoder**: the half of a translator that reads the English sentence, and the half "
                "that writes the French sentence."
            ),
            gettext(
                "**Annotation** $h_j$: the list of numbers that the encoder computes for piece $j$, after reading the "
                "sentence in both directions."
            ),
            gettext("**State** $s_i$: the decoder’s memory after step $i$, a list of numbers."),
            gettext(
                "**Query** and **key**: two lists of numbers. The query is computed from the decoder’s state, the key "
                "from an annotation; together they give the energy."
            ),
            gettext(
                "**Energy** $e_{ij}$: how well the decoder’s state before step $i$ fits annotation $j$. An energy can "
                "be any number, even a negative one."
            ),
            gettext(
                "**Attention weight** $\\alpha_{ij}$: the share of attention that step $i$ gives to piece $j$; the "
                "softmax computes it from the energies."
            ),
            gettext(
                "**√α**: a switch. With it, the colours show the square root of the weight, so that small weights are "
                "visible."
            ),
            gettext(
                "**Context vector** $c_i$: the sum of the annotations, each multiplied by its weight. It is what the "
                "decoder gets of the English sentence at step $i$; what it got at earlier steps lives on in its state."
            ),
        ],
        "heads": [
            gettext(
                "**Embedding**: the list of numbers for a piece alone, before the model reads the pieces around it."
            ),
            gettext(
                "**Head**: a part of a transformer that computes one attention distribution at each step, from its own "
                "queries, keys and values. The energy of a head says how well its query fits a key; papers on "
                "transformers call the energy **score**."
            ),
            gettext(
                "**Value**: the list of numbers that a piece gives to a head. The head multiplies this value by the "
                "weight of the piece."
            ),
            gettext(
                "**Layer**: heads side by side, followed by a feed-forward network. The output of a layer is the input "
                "of the next layer."
            ),
            gettext(
                "**Residual stream**: the list of numbers that runs through all layers of a transformer. Each block "
                "(attention or feed-forward network) reads this list and adds something to it."
            ),
            gettext("**Mask**: the mask gives the weight 0 to words that are not written yet."),
        ],
        "writing": [
            gettext(
                "**Gate**: a number from 0 to 1 for each unit. At 0, the gate blocks a value; at 1, it lets the whole "
                "value through. **Candidate**: the proposed new state. The update gate decides how much of the "
                "candidate is used. **GRU**, gated recurrent unit: a network with such gates that computes the next "
                "state."
            ),
            gettext(
                "**Saturated** unit: a unit whose input is so far from 0 that its tanh is almost 1 or −1, and hardly "
                "changes any more."
            ),
            gettext("**Maxout**: a layer that takes its numbers in pairs and keeps only the larger of each pair."),
            gettext(
                "**Logit**: the score of a piece, before the softmax turns all scores into probabilities. If the logit "
                "of piece A is 1 larger than that of piece B, then A is 2.7 times as likely as B."
            ),
            gettext(
                "**Entropy** $H$: how widely a step spreads its attention, in bits. The entropy is 0 when one piece "
                "gets all the attention. If several pieces get equal attention, doubling their number raises the "
                "entropy by 1 bit."
            ),
            gettext(
                "**Prior**: the attention weight of a piece before the word is known. **Likelihood**: how likely the "
                "word is if the context is that piece’s annotation alone. **Posterior**: prior times likelihood, "
                "divided by the sum of these products over all pieces. The posterior is the attention once the word is "
                "known."
            ),
            gettext(
                "**Coverage**: the attention that a source word gets in all steps together. The coverage is about 1 "
                "for a source word translated by one word."
            ),
            gettext(
                "**Greedy search**: the decoder takes the likeliest piece at each step. **Beam search**: the decoder "
                "keeps a few of the best partial translations at each step."
            ),
            gettext(
                "**Pharaoh**: a text format for word links. Words are counted from 0: `0-1` links the first source "
                "word with the second target word."
            ),
        ],
        "learning": [
            gettext(
                "**Fixed vector**: one list of numbers, always of the same length, that must hold a whole sentence. A "
                "model without attention translates from the fixed vector alone."
            ),
            gettext("**Recurrence**: reading or writing word by word, and passing a state from each word to the next."),
            gettext("**Update**: one change of all parameters of a model, after the model has seen some sentences."),
            gettext("**Loss**: how much the right words surprise a model, on average. A lower loss is better."),
            gettext(
                "**Gradient**: how much a result, such as the loss, would change if one number in the model were a "
                "little different. Training uses gradients to improve the model."
            ),
        ],
        "scores": [
            gettext(
                "**BLEU**: a score from 0 to 100 for how many sequences of one to four words a translation shares with "
                "a human translation."
            ),
            gettext(
                "**chrF2**: a score like BLEU that compares sequences of up to six letters instead of words. A wrong "
                "ending lowers chrF2 less than a wrong word."
            ),
            gettext(
                "**AER**, alignment error rate: how far the attention disagrees with word links marked by hand. The "
                "AER is 0 when all links agree, and 1 when no link agrees."
            ),
        ],
    }
    decimal_sign = gettext(
        "**0.5**: this page writes numbers with the decimal sign of your language; files always use a point."
    )
    if language() != "en":
        texts["signs"].append(decimal_sign)
    for topic in topics:
        yield from texts[topic]
