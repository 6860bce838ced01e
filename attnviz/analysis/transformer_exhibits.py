"""Exhibits of *To the transformer*: forms of attention and their costs, what each changes and why, and equations.

An exhibit is behind the row of weights at the top of the page. The equations mark changed lines: the energy in the
first three exhibits, and the weighted sum in the second and third. The last exhibit has no equations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from attnviz.analysis.numbers import aligned, coloured_latex, thousands
from attnviz.analysis.recomputation import softmax
from attnviz.analysis.step_equations import Equation
from attnviz.analysis.why_attention import TextSection
from attnviz.languages import gettext
from attnviz.palette import ThemeName, palette
from attnviz.trace import FloatArray, Trace
from attnviz.trace.trace import additive_energy, query_and_key
from attnviz.trace.transformer_trace import Head, TransformerTrace

Form = Literal["additive", "general", "product", "scaled", "heads", "self"]
"""Names of the forms, in the order of the page *To the transformer*."""


@dataclass(frozen=True, eq=False)
class AttentionForm:
    """Attention of every step to the source pieces in one form."""

    weights: FloatArray
    """alpha_ij, (Ty, Tx); rows sum to 1. With several heads, their mean."""
    energies: FloatArray | None = None
    """e_ij, whose softmax over j is alpha_ij, (Ty, Tx); None with several heads."""
    heads: FloatArray | None = None
    """Weights of each head, (H, Ty, Tx); None with a single distribution."""
    askers: tuple[int, ...] | None = None
    """0-based source pieces that the query of each step is computed from; None where the decoder has the query."""


def attention_forms(additive: Trace, general: Trace, head: Head | None) -> dict[Form, AttentionForm]:
    """Return the forms of translations with the same pieces; without a `head`, those of recurrent models only.

    `head` is a cross-attention head with energies q_i . k_j / sqrt(d). "product" leaves out the division by sqrt(d),
    and "heads" has all heads of its layer. "self" is the `sharpest_encoder_head`, whose query of a step is that of the
    source piece to which `head` attends most.
    """
    forms: dict[Form, AttentionForm] = {
        "additive": AttentionForm(additive.alignment, additive.energies),
        "general": AttentionForm(general.alignment, general.energies),
    }
    if head is None:
        return forms
    products = head.queries.astype(np.float64) @ head.keys.astype(np.float64).T
    heads = head.record.cross_alignment[head.layer]
    reading, askers = sharpest_encoder_head(head.record), head.alignment.argmax(axis=1)
    return forms | {
        "product": AttentionForm(softmax(products).astype(np.float32), products.astype(np.float32)),
        "scaled": AttentionForm(head.alignment, head.energies),
        "heads": AttentionForm(heads.mean(axis=0), heads=heads),
        "self": AttentionForm(reading.alignment[askers], reading.energies[askers], askers=tuple(map(int, askers))),
    }


def sharpest_encoder_head(record: TransformerTrace) -> Head:
    """Return the head of encoder self-attention with the largest mean of its rows' largest weights."""
    return max(record.heads_of("encoder"), key=lambda head: float(head.alignment.max(axis=1).mean()))


def instructive_step(forms: Mapping[Form, AttentionForm]) -> int:
    """Return the 0-based step at which the forms differ most in their largest weight.

    Steps at which all forms have their largest weight at the same source piece come first. Self-attention, whose
    queries are not those of the steps, does not count.
    """
    weights = np.stack([form.weights for form in forms.values() if form.askers is None])
    strongest, largest = weights.argmax(axis=2), weights.max(axis=2)
    agree = (strongest == strongest[0]).all(axis=0)
    return int((largest.max(axis=0) - largest.min(axis=0) + agree).argmax())


@dataclass(frozen=True)
class Multiplications:
    """Multiplications for all energies of a sentence, by purpose."""

    keys: int
    """Once for each source piece: U_a h_j, or P h_j."""
    queries: int
    """Once for each step: W_a s_{i-1}; 0 for general attention."""
    pairs: int
    """For each step and source piece: the units times v_a, or times one another."""
    tanh: int
    """Number of tanh evaluations, which cost several multiplications each."""

    @property
    def total(self) -> int:
        """All multiplications, without tanh."""
        return self.keys + self.queries + self.pairs


def count_multiplications(config: Mapping[str, Any], source: int, target: int) -> Multiplications:
    """Return the counts for a model's `config`, additive or general, `source` pieces Tx and `target` pieces Ty.

    Additive, with n' alignment units: 2n n' Tx + n n' Ty + n' Tx Ty, and n' Tx Ty tanh. General: 2n n Tx + n Tx Ty.
    Raise ValueError for another kind of attention.
    """
    n, kind = int(config["hidden_size"]), str(config["attention"])
    if kind == "general":
        return Multiplications(2 * n * n * source, 0, n * source * target, 0)
    if kind == "additive":
        units = int(config["alignment_size"])
        pairs = units * source * target
        return Multiplications(2 * n * units * source, n * units * target, pairs, pairs)
    raise ValueError(f"nothing is counted for attention {kind!r}")


ExhibitName = Literal["dot", "pair", "heads", "answers"]
"""Names of the exhibits, in order of the page."""


def work_equation(
    additive: Multiplications, dot: Multiplications, sizes: tuple[int, int], lengths: tuple[int, int]
) -> Equation:
    """Return both counts as formulas; `sizes` are the units of state and energy, `lengths` those of the sentences."""
    (state_size, key_size), (source, target) = sizes, lengths
    lines = (
        rf"\text{{{gettext('additive')}}} &= 2n n' T_x + n n' T_y + n' T_x T_y",
        rf"&= 2 \cdot {state_size} \cdot {key_size} \cdot {source} + {state_size} \cdot {key_size} \cdot {target}",
        rf"&\quad + {key_size} \cdot {source} \cdot {target}",
        rf"&= {_number(additive.total)}",
        rf"\text{{{gettext('general')}}} &= 2n n\, T_x + n\, T_x T_y",
        rf"&= 2 \cdot {state_size} \cdot {state_size} \cdot {source} + {state_size} \cdot {source} \cdot {target}",
        rf"&= {_number(dot.total)}",
    )
    note = gettext(
        "The state has n units, and the additive energy has n′ units. The English sentence has Tₓ pieces, and the "
        "French sentence has Tᵧ pieces. An annotation has 2n numbers."
    )
    return Equation(1, aligned(*lines), note)


def work_sentence(additive: Multiplications, dot: Multiplications) -> str:
    """Return what general attention saves, and where."""
    return gettext(
        "All energies of this sentence take {additive} multiplications with additive attention, or {dot} with general "
        "attention. General attention uses the state directly as its query, which saves {queries} multiplications. "
        "General attention computes no tanh, while additive attention computes tanh {tanh} times. With general "
        "attention, the energies of a step are a single product of a matrix and a vector.",
        additive=thousands(additive.total),
        dot=thousands(dot.total),
        queries=thousands(additive.queries),
        tanh=thousands(additive.tanh),
    )


def _number(count: int) -> str:
    return thousands(count).replace("\u202f", r"\ ").replace(",", "{,}")


class EquationLine(NamedTuple):
    """A line of the equations, in LaTeX, and the line that it replaces."""

    now: str
    before: str = ""


_SOFTMAX = r"\alpha_{ij} = \operatorname{softmax}_j(e_{ij})"
_GENERAL_ENERGY = r"e_{ij} = s_{i-1}^\top P\, h_j"
_ADDITIVE_ENERGY = rf"e_{{ij}} = {additive_energy(query_and_key())}"
_EMBEDDING_ENERGY = r"e_{ij} = F(a_i)^\top F(b_j)"
_ANNOTATION_SUM = r"c_i = \textstyle\sum_j \alpha_{ij}\, h_j"
_EMBEDDING_SUM = r"\beta_i = \textstyle\sum_j \alpha_{ij}\, b_j"
EQUATION_LINES: dict[ExhibitName, tuple[EquationLine, ...]] = {
    "dot": (
        EquationLine(_GENERAL_ENERGY, _ADDITIVE_ENERGY),
        EquationLine(_SOFTMAX),
        EquationLine(_ANNOTATION_SUM),
    ),
    "pair": (
        EquationLine(_EMBEDDING_ENERGY, _GENERAL_ENERGY),
        EquationLine(_SOFTMAX),
        EquationLine(_EMBEDDING_SUM, _ANNOTATION_SUM),
    ),
    "heads": (
        EquationLine(r"e_{ij} = q_i^\top k_j \big/ \sqrt{d}, \quad q = W_Q\, x,\; k = W_K\, m", _EMBEDDING_ENERGY),
        EquationLine(_SOFTMAX),
        EquationLine(r"z_i = \textstyle\sum_j \alpha_{ij}\, v_j, \quad v = W_V\, m", _EMBEDDING_SUM),
    ),
    "answers": (),
}
"""The lines of each exhibit."""


def exhibit_equation(exhibit: ExhibitName, theme: ThemeName) -> Equation:
    """Return the lines of an exhibit, with changed lines marked and their previous form."""
    ink = palette(theme)
    rows = []
    for now, before in EQUATION_LINES[exhibit]:
        if before:
            rows.append(
                rf"& {coloured_latex(ink.quiet, before)} & {coloured_latex(ink.quiet, _latex_text(gettext('before')))}"
            )
            mark = coloured_latex(ink.context, r"\blacktriangleright")
            changed = coloured_latex(ink.context, _latex_text(gettext("changed")))
            rows.append(rf"{mark} & {coloured_latex(ink.context, now)} & {changed}")
        else:
            rows.append(rf"& {now} &")
    return Equation(1, r"\begin{array}{rll}" + r" \\[6pt] ".join(rows) + r"\end{array}", note(exhibit))


def _latex_text(text: str) -> str:
    return rf"\quad\text{{{text}}}"


def note(exhibit: ExhibitName) -> str:
    """Return the meaning of the symbols of an exhibit."""
    return {
        "dot": gettext(
            "From additive to general attention, only the energy e changes; softmax and sum stay the same. s is the "
            "decoder state, h the annotation of an English piece; v, W, U and P are learned."
        ),
        "pair": gettext(
            "Two things change: the energy e, and the sum, which adds up embeddings instead of annotations. The "
            "vector a is the embedding of an English piece, b the embedding of a French piece. F is a small "
            "feed-forward network."
        ),
        "heads": gettext(
            "Two things change: the energy e, and the sum, which adds up values instead of embeddings. A "
            "separate matrix computes the values. The query is computed from the residual stream x, keys and values "
            "from the residual stream m. d is the number of units of a head. Every head has its own matrices W."
        ),
        "answers": "",
    }[exhibit]


def exhibit_titles() -> dict[str, str]:
    """Return the titles of the exhibits behind the row."""
    return {
        "dot": gettext("Additive and general"),
        "pair": gettext("No recurrence"),
        "heads": gettext("Heads and layers"),
    }


def exhibits_introduction() -> TextSection:
    """Return the introduction of the page."""
    return TextSection(
        gettext("To the transformer"),
        (
            gettext(
                "Changes to one formula lead from the attention of 2014 to the transformer. Where the model changes, "
                "too, the page says so."
            ),
        ),
    )


def exhibit_section(exhibit: ExhibitName) -> TextSection:
    """Return the text of an exhibit."""
    return {"dot": _dot_section, "pair": _pair_section, "heads": _heads_section, "answers": _answers_section}[exhibit]()


def _dot_section() -> TextSection:
    return TextSection(
        gettext("From additive to general attention"),
        (
            gettext(
                "One formula changes: the one that says how well an annotation fits the decoder state. Annotation and "
                "state are lists of numbers. Bahdanau et al. use a small network: two matrices turn annotation and "
                "state into lists of the same length; it adds these lists, applies tanh to each sum, and takes a "
                "weighted sum of the results. Luong et al. (2015) need one matrix, P, which makes the annotation as "
                "long as the state; they multiply both lists number by number and add up the products (“general” "
                "attention). For lists of given lengths, the sum is largest where both point in the same direction. "
                "At equal sizes, Luong’s formula takes fewer multiplications; the numbers are below. Luong et al. "
                "compare with the state after the step; here, both models use the state before it."
            ),
        ),
        gettext(
            "Both models are forced to write the same French words. Choose a French piece (← →) and an English piece "
            "(↑ ↓, or click)."
        ),
        gettext(
            "Two models stand side by side, each trained with its own formula. Their numbers differ because of the "
            "formula and because of the training, so they do not show which formula is better."
        ),
    )


def _pair_section() -> TextSection:
    return TextSection(
        gettext("Attention without recurrence"),
        (
            gettext(
                "What changes: to compute a word, the model needs no result from the previous word. Each piece is "
                "represented only by its embedding, a list of numbers read from a table. So all pieces can be "
                "computed at the same time. The drawback is the loss of word order: attention is a weighted sum, "
                "which is the same in any word order. To recover word order, the transformer adds to each embedding "
                "numbers that encode the position of the piece (first, second, third)."
            ),
            gettext(
                "The model of Parikh et al. (2016) compares two sentences. Each piece of one sentence looks for "
                "matching pieces in the other sentence and is compared with the pieces found. The comparisons of all "
                "pieces are then added up. The model of Parikh et al. said whether one sentence follows from another. "
                "Our model says whether one sentence is a translation of another; our model itself does not translate."
            ),
        ),
        warning=gettext("Another model, trained for another task: its numbers cannot be compared with those before."),
    )


def _heads_section() -> TextSection:
    return TextSection(
        gettext("Scaled dot products, heads and layers"),
        (
            gettext(
                "Vaswani et al. (2017) replaced recurrence by attention. English words look at each other; French "
                "words look at the words already written, then look at the English words. A head computes one "
                "attention distribution; several heads, each with its own matrices, work side by side. A layer is a "
                "row of heads; each layer reads the output of the layer before it. One drawback: every layer compares "
                "every word with every other word. Another drawback: the model has to learn word order from positions."
            ),
            gettext(
                "In a head, three matrices turn each piece into three lists of numbers (projections). The query "
                "is what the piece looks for. The key is what other pieces compare their queries with. The value "
                "is what the piece passes on. Products of queries and keys are divided by √d, so that they do "
                "not grow with the length d of the lists. The output of a head is added to the residual stream, "
                "the list of numbers that runs through all layers. A mask keeps each French word from attending "
                "to words that are not written yet."
            ),
        ),
        gettext(
            "Below are all heads of small-transformer for your sentence. A row is a query, a column is a key; a "
            "bright cell is a large weight (the shade is √α). Choose a head to open it."
        ),
        gettext(
            "Another model: a transformer, which differs from the recurrent models in more than its formula of "
            "attention. Its numbers cannot be compared with theirs."
        ),
    )


def _answers_section() -> TextSection:
    return TextSection(
        gettext("All five models, side by side"),
        (
            gettext(
                "Five models translate your sentence: one with a fixed vector, one with general attention, one with "
                "additive attention, a transformer, and en-fr, the large additive model. The four small models had "
                "the same data, number of updates and vocabulary. The model en-fr is larger than the four small "
                "models and was trained far longer. The model without recurrence does not translate, so it is not "
                "among the five models. BLEU, 0 to 100, measures how many runs of words a translation shares with a "
                "human translation."
            ),
        ),
        warning=gettext(
            "Five models that differ in more than their attention: which of them translates better does not show which "
            "form of attention is better."
        ),
    )


EXHIBIT_REFERENCES = (
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
