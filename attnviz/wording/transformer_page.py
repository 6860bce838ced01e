"""Texts and equations of the page *To the transformer*: what each of its parts changes, why, and at what cost.

Changed lines of the equations are marked: the score in every part, from the second on also the weighted sum.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from attnviz.languages import gettext
from attnviz.palette import ThemeName, palette
from attnviz.wording.equations import Equation
from attnviz.wording.latex import coloured
from attnviz.wording.why_story import Passage

Rung = Literal["dot", "pair", "heads", "answers"]
"""The parts of the page, in order."""


class Line(NamedTuple):
    """A line of the equations, in LaTeX, and the line that it replaces."""

    now: str
    before: str = ""


_SOFTMAX = r"\alpha_{ij} = \operatorname{softmax}_j(%s)"
_DOT = r"e_{ij} = s_{i-1}^\top P\, h_j"
_ADDITIVE = r"e_{ij} = v_a^\top \tanh(W_a s_{i-1} + U_a h_j)"
_PAIR = r"e_{ij} = F(a_i)^\top F(b_j)"
_CONTEXT = r"c_i = \textstyle\sum_j \alpha_{ij}\, h_j"
_SEEN = r"\beta_i = \textstyle\sum_j \alpha_{ij}\, b_j"
LINES: dict[Rung, tuple[Line, ...]] = {
    "dot": (Line(_DOT, _ADDITIVE), Line(_SOFTMAX % "e_{ij}"), Line(_CONTEXT)),
    "pair": (Line(_PAIR, _DOT), Line(_SOFTMAX % "e_{ij}"), Line(_SEEN, _CONTEXT)),
    "heads": (
        Line(r"s_{ij} = q_i^\top k_j \big/ \sqrt{d}, \quad q = W_Q\, x,\; k = W_K\, m", _PAIR),
        Line(_SOFTMAX % "s_{ij}"),
        Line(r"z_i = \textstyle\sum_j \alpha_{ij}\, v_j, \quad v = W_V\, m", _SEEN),
    ),
    "answers": (),
}
"""The lines of each part."""


def ladder_equation(rung: Rung, theme: ThemeName) -> Equation:
    """Return the lines of a part, with changed lines marked and their previous form."""
    ink = palette(theme)
    rows = []
    for now, before in LINES[rung]:
        if before:
            rows.append(rf"& {coloured(ink.quiet, before)} & {coloured(ink.quiet, _text(gettext('before')))}")
            mark = coloured(ink.context, r"\blacktriangleright")
            rows.append(rf"{mark} & {coloured(ink.context, now)} & {coloured(ink.context, _text(gettext('changed')))}")
        else:
            rows.append(rf"& {now} &")
    return Equation(1, r"\begin{array}{rll}" + r" \\[6pt] ".join(rows) + r"\end{array}", note(rung))


def _text(text: str) -> str:
    return rf"\quad\text{{{text}}}"


def note(rung: Rung) -> str:
    """Return the meaning of the symbols of a part."""
    return {
        "dot": gettext(
            "Only the score changes; softmax and sum stay. s is the decoder’s state, h an annotation of the "
            "English; v, W, U and P are learned."
        ),
        "pair": gettext(
            "The score changes, and what is summed up: embeddings instead of annotations. a and b are "
            "embeddings of English and French pieces, F is a small network without a state."
        ),
        "heads": gettext(
            "The score changes, and what is summed up: values, made by a matrix of their own. x is the "
            "residual stream of who asks, m of who is asked; d is the units of a head. Every head has its "
            "own W."
        ),
        "answers": "",
    }[rung]


def rung_names() -> dict[str, str]:
    """Return the titles of the parts."""
    return {
        "dot": gettext("1. Dot product"),
        "pair": gettext("2. No recurrence"),
        "heads": gettext("3. Heads and layers"),
        "answers": gettext("4. All five"),
    }


def opening() -> Passage:
    """Return the introduction of the page."""
    return Passage(
        gettext("To the transformer"),
        (
            gettext(
                "Recurrence is reading word by word, each time handing on a list of numbers. A transformer has none, "
                "only attention: in training it reads all words of a sentence at the same time, as graphics cards do "
                "best; a word reaches any other in one step; and several looks at once can look for several things. "
                "The third tab has one at work on your sentence."
            ),
            gettext(
                "Three steps lead there from the attention of 2014: another formula for how well two words fit; then "
                "recurrence left out, in a model that judges translations and writes none; then the transformer. The "
                "last tab has all translators side by side, and what they score. Your sentence goes through every one."
            ),
        ),
    )


def story(rung: Rung) -> Passage:
    """Return the text of a part."""
    return {"dot": _dot, "pair": _pair, "heads": _heads, "answers": _answers}[rung]()


def _dot() -> Passage:
    return Passage(
        gettext("1. From additive to dot product"),
        (
            gettext(
                "What changes is one formula: how well a word fits what the translator has in mind, its state. "
                "Bahdanau et al. ask a small network: it adds the two lists of numbers, squashes each sum and weighs "
                "it. Luong et al. (2015) multiply them place by place and add up: two lists that point the same way "
                "have a large product. It takes fewer multiplications, counted below; the price is that a learned "
                "matrix P must first make both lists equally long."
            ),
        ),
        gettext(
            "Both models are led through the same words, so that step and word on show are the same decision. Choose "
            "a French piece (← →) and an English one (↑ ↓, or click)."
        ),
    )


def _pair() -> Passage:
    return Passage(
        gettext("2. Attention without recurrence"),
        (
            gettext(
                "What changes: no word waits for the one before. Each piece is only its embedding, the list of numbers "
                "it is looked up as, so that all can be reckoned at the same time. The price is order: a sum does not "
                "know who came first. The transformer will get it back by positions, numbers for first, second, third, "
                "added to the embeddings."
            ),
            gettext(
                "Parikh et al. (2016) held two sentences against one another: each piece looks for what fits it in the "
                "other, is compared with what it found, and the comparisons are added up. Theirs told whether one "
                "sentence follows from another; ours tells whether one translates the other, and translates nothing "
                "itself."
            ),
        ),
    )


def _heads() -> Passage:
    return Passage(
        gettext("3. Scaled dot products, heads and layers"),
        (
            gettext(
                "Vaswani et al. (2017) made attention all there is: the English looks at itself, the French at what "
                "has been written, and then at the English. A head is one such look; several work side by side, each "
                "of its own kind. A layer is a row of heads, and the next layer looks at what came out of it. The "
                "price: every word is held against every other, in every layer, and order has to be learned from "
                "positions."
            ),
            gettext(
                "In a head, three matrices make three lists of numbers of each piece (projections): a query, what it "
                "asks for; a key, what it is found by; a value, what it gives. Their products are divided by √d, lest "
                "they grow with the length d of the lists. What is found is added to the residual stream, the list of "
                "numbers that runs up through all layers. A mask hides from the French what is not written yet."
            ),
        ),
        gettext(
            "Below are all heads of small-transformer for your sentence. Rows ask, columns are asked, bright is a "
            "large weight (the shade is √α). Choose one to open it."
        ),
    )


def _answers() -> Passage:
    return Passage(
        gettext("4. All five, side by side"),
        (
            gettext(
                "Five translators of your sentence: one vector, dot products, additive attention, a transformer, and "
                "the large additive model of this page. The four small ones had the same data, updates and vocabulary; "
                "en-fr is larger and had far more training. The detector of tab 2 translates nothing and is not among "
                "them. BLEU, 0 to 100, is how many runs of words a translation shares with a person’s."
            ),
        ),
    )


REFERENCES = (
    (
        "Bahdanau, Cho & Bengio (2014)",
        "Neural machine translation by jointly learning to align and translate",
        "1409.0473",
    ),
    (
        "Luong, Pham & Manning (2015)",
        "Effective approaches to attention-based neural machine translation",
        "1508.04025",
    ),
    (
        "Parikh, Täckström, Das & Uszkoreit (2016)",
        "A decomposable attention model for natural language inference",
        "1606.01933",
    ),
    ("Vaswani et al. (2017)", "Attention is all you need", "1706.03762"),
)
"""References: authors, title, arXiv number."""
