"""The forms of attention on *To the transformer*: weights, costs, equations, and what each changes and why.

An exhibit is behind the row of weights at the top of the page. The equations mark changed lines: the energy in the
first three exhibits, and the weighted sum in the second and third. The last exhibit has no equations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from attnviz.analysis.labels import aligned, capitalised, coloured_latex, decimal, percent, quoted_name
from attnviz.analysis.page_texts import ExhibitName
from attnviz.analysis.recomputation import softmax
from attnviz.analysis.step_equations import Equation
from attnviz.languages import format_number, gettext, gettexts
from attnviz.palette import ThemeName, palette
from attnviz.trace import FloatArray, Head, Trace, float64
from attnviz.trace.trace import additive_energy, query_and_key
from attnviz.trace.transformer_trace import TransformerTrace

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
    products = float64(head.queries) @ float64(head.keys).T
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
        additive=additive.total,
        dot=dot.total,
        queries=additive.queries,
        tanh=additive.tanh,
    )


def _number(count: int) -> str:
    return format_number(count).replace("\u202f", r"\ ").replace(",", "{,}")


_SOFTMAX = r"\alpha_{ij} = \operatorname{softmax}_j(e_{ij})"
_GENERAL_ENERGY = r"e_{ij} = s_{i-1}^\top P\, h_j"
_ADDITIVE_ENERGY = rf"e_{{ij}} = {additive_energy(query_and_key())}"
_EMBEDDING_ENERGY = r"e_{ij} = F(a_i)^\top F(b_j)"
_ANNOTATION_SUM = r"c_i = \textstyle\sum_j \alpha_{ij}\, h_j"
_EMBEDDING_SUM = r"\beta_i = \textstyle\sum_j \alpha_{ij}\, b_j"

EQUATION_LINES: dict[ExhibitName, tuple[tuple[str, str], ...]] = {
    "dot": ((_GENERAL_ENERGY, _ADDITIVE_ENERGY), (_SOFTMAX, ""), (_ANNOTATION_SUM, "")),
    "pair": ((_EMBEDDING_ENERGY, _GENERAL_ENERGY), (_SOFTMAX, ""), (_EMBEDDING_SUM, _ANNOTATION_SUM)),
    "heads": (
        (r"e_{ij} = q_i^\top k_j \big/ \sqrt{d}, \quad q = W_Q\, x,\; k = W_K\, m", _EMBEDDING_ENERGY),
        (_SOFTMAX, ""),
        (r"z_i = \textstyle\sum_j \alpha_{ij}\, v_j, \quad v = W_V\, m", _EMBEDDING_SUM),
    ),
    "answers": (),
}
"""The lines of each exhibit in LaTeX, each with the line that it replaces, if any."""


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
            "Two things change: the energy e, and the sum, which adds up embeddings instead of annotations. The vector "
            "a is the embedding of an English piece, b the embedding of a French piece. F is a small feed-forward "
            "network."
        ),
        "heads": gettext(
            "Two things change: the energy e, and the sum, which adds up values instead of embeddings. A separate "
            "matrix computes the values. The query is computed from the residual stream x, keys and values from the "
            "residual stream m. d is the number of units of a head. Every head has its own matrices W."
        ),
        "answers": "",
    }[exhibit]


FORM_EXHIBITS: Mapping[Form, ExhibitName] = {
    "additive": "dot",
    "general": "dot",
    "product": "pair",
    "scaled": "heads",
    "heads": "heads",
    "self": "heads",
}
"""The exhibit behind each form."""


@dataclass(frozen=True)
class FormSources:
    """The translations that the forms are computed from."""

    additive: Trace
    general: Trace
    head: Head | None
    """Cross-attention head of the transformer; None where the transformer is not installed."""


def form_names() -> dict[Form, str]:
    """Return the names of the forms."""
    return gettexts(
        {
            "additive": "Additive",
            "general": "General",
            "product": "Dot product",
            "scaled": "Scaled",
            "heads": "Heads",
            "self": "Self-attention",
        }
    )


def form_trace(form: Form, sources: FormSources) -> Any:
    """Return the translation that a form's weights are from."""
    if form in ("additive", "general") or sources.head is None:
        return sources.additive if form == "additive" else sources.general
    return sources.head.record


def form_model(form: Form, sources: FormSources) -> str:
    """Return the model and, in a transformer, the head or layer that a form's weights are from."""
    if form in ("additive", "general") or sources.head is None:
        return str(form_trace(form, sources).model)
    model, layer = sources.head.model, sources.head.layer + 1
    if form == "heads":
        return gettext("{model}, layer {layer}", model=model, layer=layer)
    if form == "self":
        reading = sharpest_encoder_head(sources.head.record)
        return gettext(
            "{model}, encoder, layer {layer}, head {head}", model=model, layer=reading.layer + 1, head=reading.head + 1
        )
    return gettext("{model}, layer {layer}, head {head}", model=model, layer=layer, head=sources.head.head + 1)


def model_change_text(form: Form, sources: FormSources) -> str:
    """Return the warning that a form's numbers are not from the model of the previous form; empty where they are."""
    model, order = form_trace(form, sources).model, list(form_names())
    if form == "additive" or model == form_trace(order[order.index(form) - 1], sources).model:
        return ""
    return gettext(
        "From here on, another model: {model}. Its weights differ from those before in more than the formula: in what "
        "the model learned. So they do not show which formula is better.",
        model=model,
    )


def form_equation(form: Form, sources: FormSources, theme: ThemeName) -> str:
    """Return energy and weight of a form in LaTeX, with the part that changed since the previous form marked."""
    ink = palette(theme).context

    def changed(body: str) -> str:
        return coloured_latex(ink, rf"\underbrace{{{body}}}_{{\text{{{gettext('changed')}}}}}")

    if form == "heads":
        index = coloured_latex(ink, "(n)")
        return aligned(
            rf"e_{{ij}}^{{{index}}} &= q_i^{{{index}\top}} k_j^{{{index}}} \big/ \sqrt{{d}}, \quad "
            + changed(rf"n = 1, \ldots, {_head_count(sources)}"),
            rf"\alpha_{{ij}}^{{{index}}} &= \operatorname{{softmax}}_j(e_{{ij}}^{{{index}}})",
        )
    energy = {
        "additive": additive_energy(query_and_key()),
        "general": changed(r"s_{i-1}^\top P\, h_j"),
        "product": changed(r"q_i^\top k_j") + r", \quad q_i = W_Q\, x_i, \quad k_j = W_K\, m_j",
        "scaled": r"q_i^\top k_j" + changed(r"\big/ \sqrt{d}"),
        "self": r"q_i^\top k_j \big/ \sqrt{d}, \quad q_i = W_Q\, x_i, \quad " + changed(r"k_j = W_K\, x_j"),
    }[form]
    return aligned(rf"e_{{ij}} &= {energy}", r"\alpha_{ij} &= \operatorname{softmax}_j(e_{ij})")


def form_text(form: Form, sources: FormSources) -> str:
    """Return what a form changes, and why."""
    trace, length = sources.additive, sources.head.keys.shape[1] if sources.head else 0
    additive, general = (
        count_multiplications(
            {**trace.config, "attention": kind}, len(trace.source_pieces), len(trace.target_pieces)
        ).total
        for kind in ("additive", "general")
    )
    return {
        "additive": gettext(
            "A small network gives each English word an energy e (Bahdanau et al. 2014). The network adds two lists of "
            "numbers: one made from the decoder state s, one from the word’s annotation h. Then the network applies "
            "tanh and sums the results with learned weights v."
        ),
        "general": gettext(
            "Luong et al. (2015) do without the small network. A learned matrix P makes the annotation h as long as "
            "the state s. The energy is the dot product of s and P h. For this sentence, with the sizes of the model "
            "before, that takes {general} multiplications instead of {additive}.",
            general=general,
            additive=additive,
        ),
        "product": gettext(
            "In a transformer (Vaswani et al. 2017), one matrix makes a query q for the French word, another a key k "
            "for each English word. The energy, called score in that paper, is the dot product of q and k. Without a "
            "recurrent state, training can compute all queries at once. This head was trained with energies divided by "
            "√d, as in the next form; here the division is left out."
        ),
        "scaled": gettext(
            "Each energy is divided by √d = {root}, where d = {length} is the length of q and k. The longer q and k "
            "are, the more products are added up, and the further apart the energies tend to be. Energies that lie far "
            "apart give nearly all attention to one word, and training can hardly change such attention.",
            root=decimal(math.sqrt(length), 0 if math.isqrt(length) ** 2 == length else 2),
            length=length,
        ),
        "heads": gettext(
            "A layer has several heads, here {count}. Each head n has its own matrices, so the heads can look for "
            "different things. The last row is the mean of the heads. The transformer does not use the mean of its "
            "heads: each head makes its own weighted sum, and the sums are concatenated.",
            count=_head_count(sources),
        ),
        "self": gettext(
            "The formula stays the same, but query and key come from the same sentence: x is the list of numbers that "
            "an English piece has before this layer. Each piece makes a query q and looks at all pieces of its own "
            "sentence, itself included. So a transformer reads a sentence without recurrence. In the decoder, each "
            "French piece looks in the same way at itself and at the pieces before it."
        ),
    }[form]


def _head_count(sources: FormSources) -> int:
    return sources.head.heads_of_layer if sources.head else 0


def form_sentence(form: Form, forms: Mapping[Form, AttentionForm], sources: FormSources, step: int) -> str:
    """Return the numbers of a form at 0-based `step`, compared with those of the previous form of the same model."""
    pieces, now = sources.additive.source_surfaces, forms[form]
    best = int(now.weights[step].argmax())
    name, share = quoted_name(pieces[best]), percent(now.weights[step, best])
    if form == "additive" and now.energies is not None:
        return gettext(
            "The largest energy is that of {name}: {energy}. The softmax turns all energies into weights, which add up "
            "to {whole}. The weight of {name} is {share}.",
            name=name,
            energy=decimal(now.energies[step, best]),
            whole=percent(1.0),
            share=share,
        )
    if now.heads is not None:
        listed = [
            gettext(
                "head {number} to {name}, {share}",
                number=number,
                name=quoted_name(pieces[int(weights.argmax())]),
                share=percent(weights.max()),
            )
            for number, weights in enumerate(now.heads[:, step], 1)
        ]
        return gettext(
            "Each head gives its largest weight to one word: {heads}. In the mean of the heads, {name} has the largest "
            "weight: {share}.",
            heads="; ".join(listed),
            name=name,
            share=share,
        )
    former = forms["product"] if form == "scaled" else None
    if former and former.energies is not None and now.energies is not None:
        return gettext(
            "Division by √d changes the largest energy from {former} to {energy}, and the weight of {name} from "
            "{before} to {share}.",
            former=decimal(former.energies[step, best]),
            energy=decimal(now.energies[step, best]),
            name=name,
            before=percent(former.weights[step, best]),
            share=share,
        )
    if now.askers is not None:
        return gettext(
            "The query is that of {asking}, the English piece that the head of the form “Scaled” looks at most. {name} "
            "gets its largest weight: {share}.",
            asking=quoted_name(pieces[now.askers[step]]),
            name=capitalised(name),
            share=share,
        )
    return gettext("{name} has the largest weight: {share}.", name=capitalised(name), share=share)
