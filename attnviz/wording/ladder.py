"""The ladder of the page *To the transformer*: each of its rungs changes one line of the equations, which is marked."""

from __future__ import annotations

from typing import Literal, NamedTuple

from attnviz.languages import say
from attnviz.palette import ThemeName, palette
from attnviz.wording.equations import Equation
from attnviz.wording.latex import coloured
from attnviz.wording.why_story import Passage

Rung = Literal["dot", "pair", "heads", "answers"]
"""The exhibits of the page, in its order."""


class Line(NamedTuple):
    """A line of the equations, in LaTeX: what it is, and what it was on the rung before, where that is another."""

    now: str
    before: str = ""


_SOFTMAX = r"\alpha_{ij} = \operatorname{softmax}_j(%s)"
_DOT = r"e_{ij} = s_{i-1}^\top P\, h_j"
_ADDITIVE = r"e_{ij} = v_a^\top \tanh(W_a s_{i-1} + U_a h_j)"
_PAIR = r"e_{ij} = F(a_i)^\top F(b_j)"
LINES: dict[Rung, tuple[Line, ...]] = {
    "dot": (Line(_DOT, _ADDITIVE), Line(_SOFTMAX % "e_{ij}"), Line(r"c_i = \textstyle\sum_j \alpha_{ij}\, h_j")),
    "pair": (Line(_PAIR, _DOT), Line(_SOFTMAX % "e_{ij}"), Line(r"\beta_i = \textstyle\sum_j \alpha_{ij}\, b_j")),
    "heads": (
        Line(r"s_{ij} = q_i^\top k_j \big/ \sqrt{d}, \quad q = W_Q\, x,\; k = W_K\, m", _PAIR),
        Line(_SOFTMAX % "s_{ij}"), Line(r"z_i = \textstyle\sum_j \alpha_{ij}\, v_j, \quad v = W_V\, m"),
    ),
    "answers": (),
}  # fmt: skip
"""Of each rung."""


def ladder_equation(rung: Rung, theme: ThemeName) -> Equation:
    """Return the lines of a rung, below one another, the changed one marked, with what it was before."""
    ink = palette(theme)
    rows = []
    for now, before in LINES[rung]:
        if before:
            rows.append(rf"& {coloured(ink.quiet, before)} & {coloured(ink.quiet, _text(say('before')))}")
            mark = coloured(ink.context, r"\blacktriangleright")
            rows.append(rf"{mark} & {coloured(ink.context, now)} & {coloured(ink.context, _text(say('changed')))}")
        else:
            rows.append(rf"& {now} &")
    return Equation(1, r"\begin{array}{rll}" + r" \\[6pt] ".join(rows) + r"\end{array}", note(rung))


def _text(text: str) -> str:
    return rf"\quad\text{{{text}}}"


def note(rung: Rung) -> str:
    """Return what the letters of a rung stand for."""
    return {
        "dot": say("s is the decoder’s state, h an annotation of the English; v, W, U and P are learned."),
        "pair": say("a and b are embeddings of English and French pieces, F is a small network without a state."),
        "heads": say("x is the residual stream of who asks, m of who is asked; d is the units of a head. Every head "
                     "has its own W."),
        "answers": "",
    }[rung]  # fmt: skip


def rung_names() -> dict[str, str]:
    """Return what the rungs are called."""
    return {
        "dot": say("1. Dot product"), "pair": say("2. No recurrence"), "heads": say("3. Heads and layers"),
        "answers": say("4. All five"),
    }  # fmt: skip


def opening() -> Passage:
    """Return what the page is about."""
    return Passage(say("To the transformer"), (
        say(
            "From the attention of 2014 to the transformer of 2017 are three rungs, and each changes one line: how a "
            "query is held against a key. Your sentence goes up all of them, in models trained on the same pairs; the "
            "line that changes is marked, and all the numbers are real."
        ),
    ))  # fmt: skip


def story(rung: Rung) -> Passage:
    """Return what is to be known of a rung."""
    return {"dot": _dot, "pair": _pair, "heads": _heads, "answers": _answers}[rung]()


def _dot() -> Passage:
    return Passage(say("1. From additive to dot product"), (
        say(
            "Bahdanau et al. ask a small network how well state and annotation go together: it adds them, squashes the "
            "sum unit by unit, and weighs the units. Luong et al. (2015) multiply instead: two vectors that point the "
            "same way have a large product. Both are a sum over units; one only has fewer things to do for each."
        ),
    ), say(
        "Both models are led through the same words, so that step and word on show are the same decision. Choose "
        "a French piece (← →) and an English one (↑ ↓, or click)."
    ))  # fmt: skip


def _pair() -> Passage:
    return Passage(say("2. Attention without recurrence"), (
        say(
            "Parikh et al. (2016) left the recurrent networks out: each piece is its embedding and nothing else. Two "
            "sentences attend to one another, each piece is compared with what it found, and the comparisons are added "
            "up. Theirs told whether one sentence follows from another; ours tells whether the one translates the "
            "other, and translates nothing itself."
        ),
        say(
            "What is lost is order: a sum does not know who came first. The transformer will add positions to the "
            "embeddings to get it back."
        ),
    ))  # fmt: skip


def _heads() -> Passage:
    return Passage(say("3. Scaled dot products, heads and layers"), (
        say(
            "Vaswani et al. (2017) made attention all there is. Query, key and value are three projections; the "
            "product is divided by the root of its units; several heads look at once, each its own way; and layer "
            "upon layer adds what it finds to one residual stream. The English asks itself, the French asks what has "
            "been written, and then the English."
        ),
    ), say(
        "Below are all heads of small-transformer for your sentence. Rows ask, columns are asked, bright is a "
        "large weight (the shade is √α). Choose one to open it."
    ))  # fmt: skip


def _answers() -> Passage:
    return Passage(say("4. All five, side by side"), (
        say(
            "Five translators of your sentence: one vector, dot products, additive attention, a transformer, and the "
            "large additive model of this page. The four small ones had the same data, updates and vocabulary; en-fr "
            "is larger and had far more training. The detector of rung 2 translates nothing and is not among them."
        ),
    ))  # fmt: skip


REFERENCES = (
    ("Bahdanau, Cho & Bengio (2014)", "Neural machine translation by jointly learning to align and translate",
     "1409.0473"),
    ("Luong, Pham & Manning (2015)", "Effective approaches to attention-based neural machine translation",
     "1508.04025"),
    ("Parikh, Täckström, Das & Uszkoreit (2016)", "A decomposable attention model for natural language inference",
     "1606.01933"),
    ("Vaswani et al. (2017)", "Attention is all you need", "1706.03762"),
)  # fmt: skip
"""Who said it first: authors, title, and number at arXiv."""
