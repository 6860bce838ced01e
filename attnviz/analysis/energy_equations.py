"""The energy of each kind of attention: its units, names, equation, and the symbols of a translator's equations.

Symbols and sizes are those of `trace.trace`.

The diagram labels its parts with these symbols.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.numpy_scorers import scorer_of
from attnviz.analysis.recomputation import Weights, submodule_weights
from attnviz.languages import gettext
from attnviz.trace import Array, Trace, float64
from attnviz.trace.trace import additive_energy, query_and_key

SATURATED = 0.99
"""|tanh| from which a unit is saturated: its slope, 1 - tanh^2, is then below 2 %."""


@dataclass(frozen=True)
class EnergyDecomposition:
    """The units k = 1 ... n' of one energy e_ij.

    Additive: contribution_k = v_k tanh(query_k + key_k). Product: contribution_k = query_k key_k, with `score` 1, or
    times v_k in a user's own kind. Transformer: that times 1 / sqrt(units).
    """

    query: Array
    """(W_a s_{i-1})_k of additive attention, (s_{i-1})_k of a product, or q_k of a transformer, (n',)."""
    key: Array
    """The key as `Trace.keys_at` returns it, for instance (U_a h_j)_k or (P h_j)_k, (n',).

    Location-aware attention adds (L f_ij)_k. For a transformer it is k_k.
    """
    activation: Array
    """Activation of each unit, tanh(query + key) or query * key, (n',)."""
    score: Array
    """Weight of each unit, (v_a)_k, 1, or 1 / sqrt(n'), (n',)."""
    bounded: bool = True
    """Whether the activation is a tanh, as in additive attention."""
    names: tuple[str, str] = ("queryₖ", "keyₖ")
    """Labels of unit k of the query and of the key."""
    scaled: bool = False
    """Whether `score` is 1 / sqrt(n'), as in a transformer."""

    @property
    def contributions(self) -> Array:
        """Contribution of each unit, score * activation, (n',)."""
        return self.score * self.activation

    @property
    def energy(self) -> float:
        """Energy e_ij, the sum of the contributions."""
        return float(self.contributions.sum())


def energy_decomposition(attention: Any, weights: Weights | None, step: int, position: int) -> EnergyDecomposition:
    """Return the decomposition of the energy of 0-based `step` and source `position`, in float64.

    `attention` is a recurrent trace or a head. Of a head, contribution_k = q_k k_k / sqrt(d/H); for masked cells it is
    the energy before the mask. v_a is taken from the trace; only traces of early versions need `weights`. Raise
    ValueError for a model without attention, and where v_a is not available; MissingFunctionError for a user's own kind
    without a NumPy class.
    """
    query = float64(attention.queries[step])
    if attention.has_heads:
        key = float64(attention.keys[position])
        score = np.full(len(query), 1 / np.sqrt(len(query)))
        return EnergyDecomposition(query, key, query * key, score, bounded=False, names=("qₖ", "kₖ"), scaled=True)
    key = float64(attention.keys_at(step)[position])
    scorer = scorer_of(attention.config)
    score = score_vector(attention, weights)
    return EnergyDecomposition(query, key, scorer.activations(query, key), score, scorer.bounded, scorer.names)


def score_vector(trace: Trace, weights: Weights | None) -> Array:
    """Return v_a, (n',), or ones for products; raise ValueError where there is none (see `energy_decomposition`)."""
    decoder: dict[str, NDArray[Any]] = {}
    if trace.score_vector.size:
        decoder["attention.score"] = trace.score_vector
    elif weights is not None:
        decoder = submodule_weights(weights, "decoder.")
    try:
        return scorer_of(trace.config).score_vector(decoder, trace.keys.shape[1])
    except KeyError:
        raise ValueError("the trace lacks v_a, and the model that made it is not here") from None


def saturated(decomposition: EnergyDecomposition) -> NDArray[np.bool_]:
    """Return which units of an additive energy are saturated, (n',); products never are."""
    return (np.abs(decomposition.activation) >= SATURATED) & decomposition.bounded


NEW, OLD = "⟦i⟧", "⟦before⟧"
"""Placeholders of the number of a step, from 1, and of the step before."""


@dataclass(frozen=True)
class WeightSymbols:
    """Symbols of the weights of state, context and word, in LaTeX; empty where there is no weight.

    Several weights with the same letter are that letter alone.
    """

    state: str = ""
    context: str = ""
    word: str = ""
    bias: str = ""


@dataclass(frozen=True)
class Terms:
    """Symbols besides x, h, e, α, c, s, t and y, in LaTeX; empty where a translator has none."""

    query: str = ""
    """Weights of the querying state."""
    key: str = ""
    """Weights of an annotation."""
    key_bias: str = ""
    energy: str = ""
    """Weights of an energy's units."""
    embedded: str = f"E y_{{{OLD}}}"
    """Embedding of the previous word."""
    intermediates: tuple[str, ...] = ()
    """Intermediate values of the recurrence: gates, candidate."""
    recurrence: WeightSymbols = WeightSymbols()
    """Weights of the recurrence, where they are written out."""
    readout: WeightSymbols = WeightSymbols()
    logit_weights: str = ""
    """Weights of the logits."""
    logit_bias: str = ""


_INTERMEDIATE = {"gru": ("x", "z", "r", r"\tilde s"), "lstm": ("x", "e", "f", r"\tilde m", "o", "m")}
"""Intermediate values of a recurrence that is written out, in the order of its equations."""


def terms(trace: Trace) -> Terms:
    """Return the symbols in the equations of `trace`."""
    form = trace.form
    readouts = {"maxout": WeightSymbols("U_o", "C_o", "V_o", "b")} | dict.fromkeys(
        ("affine", "tanh"), WeightSymbols("W_t", "W_t", bias="b_t" if form["readout_bias"] else "")
    )
    letters = _INTERMEDIATE[form["cell"]] if form["writes_gates"] else ("z", r"\tilde s")
    return replace(
        texts_of(trace.config["attention"]).terms,
        key_bias="b_a" if form["key_bias"] else "",
        intermediates=tuple(f"{letter}_{{{NEW}}}" for letter in letters),
        recurrence=WeightSymbols("U", "W", "W", "b") if form["writes_gates"] else WeightSymbols(),
        readout=readouts.get(form["readout"], WeightSymbols()),
        logit_weights="W_o",
        logit_bias="b_o" if form["output_bias"] else "",
    )


_SYMBOL = re.compile(r"(\\tilde )?([A-Za-z])(?:_(?:\{([^}]{0,80})\}|(\w)))?|(\S)")
Symbol = tuple[str, str]
"""A symbol and its index; for text between symbols the index is empty."""


def symbols(latex: str) -> list[Symbol]:
    """Return the symbols of a LaTeX expression, each with its index, and the text between them."""
    parts = []
    for tilde, letter, index, short, other in _SYMBOL.findall(latex):
        parts.append((other or f"{letter}{chr(0x303) if tilde else ''}", index or short))
    return parts


@dataclass(frozen=True)
class ScorerTexts:
    """Texts of one kind of attention."""

    name: str
    short_name: str
    """Short name, for a legend."""
    terms: Terms = field(default_factory=Terms)
    """Symbols of the weights of query, key and energy."""
    energy: tuple[str, ...] = ()
    """The energy in LaTeX, by line.

    {state} and {annotation} stand for the two vectors, {bias} for a bias of the key, and ⟦name⟧ for a number of this
    step.
    """
    note: str = ""
    """Note below the equation, where the query is the state before the step, s_{i-1}."""
    note_after: str = ""
    """Note below the equation, where the query is the state after the step, s_i."""
    fit: str = ""
    """Sentence of the tour on how query and key are compared.

    {units} and {count} stand for the lengths of an annotation and of a query.
    """
    units: str = ""
    """Caption, in HTML, of the bars of an energy's units; empty where an energy is not a sum of units."""
    more: str = ""
    """Further sentence of stage 1 on the energies' dependence on other inputs; empty for most kinds."""


def texts_of(kind: str) -> ScorerTexts:
    """Return the texts of a kind of attention, general ones for a user's own kind, whose energies are unknown."""
    match kind:
        case "additive":  # e = v . tanh(W s + U h)
            return ScorerTexts(
                gettext("Additive attention"),
                gettext("additive"),
                Terms(query="W_a", key="U_a", energy="v_a"),
                _additive_lines("{bias}", "⟦query⟧", "⟦key⟧"),
                gettext(
                    "Energy measures how well the state before this word fits a source piece, here piece {piece}. One "
                    "layer applied to the concatenated state and annotation would give the same energy.",
                    piece="⟦j⟧",
                ),
                gettext(
                    "Energy measures how well the updated state fits a source piece, here piece {piece}.", piece="⟦j⟧"
                ),
                gettext(
                    "An annotation has {units} numbers. Learned matrices turn the state into a query and the "
                    "annotation into a key, of {count} numbers each. A learned formula then makes one number of query "
                    "and key: it adds them, applies tanh, and takes a weighted sum."
                ),
                gettext(
                    '<span class="wide">For each unit: the value of <span class="decoder">the query</span>, the value '
                    'of <span class="encoder">the key</span> with the sum of query and key (◆), the tanh of this sum, '
                    "the learned weight v, and the running sum of v times tanh. The last value of the running sum is "
                    "the energy. </span>▮ marks a saturated unit, |tanh| ≥ {saturated}. One layer applied to the "
                    "concatenation [s ; h] gives the same result as W<sub>a</sub> s + U<sub>a</sub> h.",
                    saturated=SATURATED,
                ),
            )
        case "general":  # e = s . P h
            return ScorerTexts(
                gettext("General attention"),
                gettext("general"),
                Terms(key="P"),
                _product_lines("P\\,{annotation}"),
                _fit_note(),
                _fit_note(),
                gettext(
                    "An annotation has {units} numbers. A learned matrix turns the annotation into a key, as long as "
                    "the state, which is the query. Then query and key are multiplied number by number, and the "
                    "products are added up."
                ),
                gettext(
                    '<span class="wide">For each unit: the value of <span class="decoder">the state</span>, the value '
                    'of <span class="encoder">the projected annotation</span>, and the running sum of their products. '
                    "The last value of the running sum is the energy.</span>"
                ),
            )
        case "dot":  # e = s . h
            return ScorerTexts(
                gettext("Dot-product attention"),
                gettext("dot product"),
                Terms(),
                _product_lines("{annotation}"),
                gettext(
                    "Energy measures how well the state fits this source piece. Dot-product attention needs no matrix, "
                    "because an annotation is as long as the state. Each direction of the encoder has half as many "
                    "units as the decoder."
                ),
                _fit_note(),
                gettext(
                    "An annotation has {units} numbers, as many as the state. The state is the query, the annotation "
                    "the key: they are multiplied number by number, and the products are added up."
                ),
                gettext(
                    '<span class="wide">For each unit: the value of <span class="decoder">the state</span>, the value '
                    'of <span class="encoder">the annotation</span>, and the running sum of their products. The last '
                    "value of the running sum is the energy.</span>"
                ),
            )
        case "location":  # e = s . w, with a w for each position
            return ScorerTexts(
                gettext("Location attention"),
                gettext("location"),
                Terms(),
                _product_lines("w_{⟦j⟧}"),
                gettext(
                    "Energy measures how well the state fits position {place} of the sentence. The key w belongs to "
                    "the position: it is the same for any word at that position.",
                    place="⟦j⟧",
                ),
                "",
                gettext(
                    "Each position in the sentence has its own key of {count} numbers, whatever word is there. The key "
                    "of a position is multiplied number by number by the state, which is the query, and the products "
                    "are added up."
                ),
                gettext(
                    '<span class="wide">For each unit: the value of <span class="decoder">the state</span>, the value '
                    'of <span class="encoder">the position</span>, and the running sum of their products. The last '
                    "value of the running sum is the energy.</span>"
                ),
                gettext(
                    "With location attention, a key belongs to a position in the sentence, not to the word at that "
                    "position."
                ),
            )
        case "location-aware":  # e = v . tanh(W s + U h + L f), f = F * alpha
            return replace(
                texts_of("additive"),
                name=gettext("Location-aware attention"),
                short_name=gettext("location-aware"),
                energy=(
                    r"f_{⟦i⟧} &= F * \alpha_{⟦before⟧}",
                    *_additive_lines(r" + L f_{⟦i⟧,⟦j⟧}", "⟦query⟧", "⟦key⟧", r"L\,⟦features⟧"),
                ),
                note=gettext(
                    "Energy measures how well the state before this word fits source piece {piece}. The energy also "
                    "depends on the weights α of the previous step. The filters F compute features f from the weights "
                    "at each position and its neighbours. Before the first word, all weights α are 0.",
                    piece="⟦j⟧",
                ),
                fit=gettext(
                    "An annotation has {units} numbers. Learned matrices turn three inputs into {count} numbers each: "
                    "the state (which gives the query), the annotation (the key), and the attention that the previous "
                    "step gave to this piece and its neighbours. A learned formula then makes one number of the three: "
                    "it adds them, applies tanh, and takes a weighted sum."
                ),
                more=gettext(
                    "The energy of a piece also depends on the attention that the previous step gave to this piece and "
                    "its neighbours."
                ),
            )
        case "none":
            return ScorerTexts(gettext("One fixed vector"), gettext("fixed vector"))
    name = kind.rpartition(":")[2]
    return ScorerTexts(
        name,
        name,
        energy=(r"e_{⟦i⟧,⟦j⟧} &= a\bigl({state}, {annotation}\bigr)", r"&= ⟦energy⟧"),
        note=gettext(
            "Energy measures how well the state fits a source piece. attnviz does not know how {name} computes this "
            "energy.",
            name=name,
        ),
        fit=gettext("attnviz does not know how {name} compares query and key.", name=name),
    )


def _additive_lines(more: str, *numbers: str) -> tuple[str, ...]:
    """Return the lines of an additive energy: its symbols, with `more` inside the tanh, and its numbers.

    Each of `numbers` is a summand inside the tanh and has a line of its own.
    """
    symbols = additive_energy(query_and_key("{state}", "{annotation}", more), r"\bigl(", r"\bigr)")
    values = additive_energy("\n&\\quad + ".join(numbers), r"\Bigl(", r"\Bigr)")
    return rf"e_{{⟦i⟧,⟦j⟧}} &= {symbols}", *f"&= {values}".split("\n"), r"&= ⟦energy⟧"


def _product_lines(key: str) -> tuple[str, ...]:
    """Return the lines of the energy state . `key`."""
    return rf"e_{{⟦i⟧,⟦j⟧}} &= {{state}}^\top {key}", r"&= ⟦query⟧", r"&\quad \cdot ⟦key⟧", r"&= ⟦energy⟧"


def _fit_note() -> str:
    return gettext("Energy measures how well the decoder's state fits this source piece.")


def fill_placeholders(lines: tuple[str, ...], texts: Mapping[str, Any]) -> tuple[str, ...]:
    """Return `lines` of LaTeX with each {name} of `texts` replaced; other braces are LaTeX's."""
    filled_lines = []
    for line in lines:
        for name, text in texts.items():
            line = line.replace(f"{{{name}}}", text)
        filled_lines.append(line)
    return tuple(filled_lines)
