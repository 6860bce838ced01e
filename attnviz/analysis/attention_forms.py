"""Texts and equations of the forms of attention on *To the transformer*; texts of the faces of the heatmap.

A face is a matrix that the heatmap can show: attention before the word, posterior attention, or their difference.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.analysis.labels import capitalised, quoted_name
from attnviz.analysis.numbers import aligned, coloured_latex, decimal, percent, thousands
from attnviz.analysis.transformer_exhibits import (
    AttentionForm,
    ExhibitName,
    Form,
    count_multiplications,
    sharpest_encoder_head,
)
from attnviz.languages import gettext
from attnviz.palette import ThemeName, palette
from attnviz.trace import Trace
from attnviz.trace.drawing import Face
from attnviz.trace.parts import FloatArray
from attnviz.trace.trace import additive_energy, query_and_key
from attnviz.trace.transformer_trace import Head

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
    return {
        "additive": gettext("Additive"),
        "general": gettext("General"),
        "product": gettext("Dot product"),
        "scaled": gettext("Scaled"),
        "heads": gettext("Heads"),
        "self": gettext("Self-attention"),
    }


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
    model = form_trace(form, sources).model
    if form == "additive" or model == form_trace(_previous(form), sources).model:
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
    return {
        "additive": _additive_text,
        "general": _general_text,
        "product": _product_text,
        "scaled": _scaled_text,
        "heads": _heads_text,
        "self": _self_text,
    }[form](sources)


def _additive_text(_: FormSources) -> str:
    return gettext(
        "A small network gives each English word an energy e (Bahdanau et al. 2014). The network adds two lists of "
        "numbers: one made from the decoder state s, one from the word’s annotation h. Then the network applies tanh "
        "and sums the results with learned weights v."
    )


def _general_text(sources: FormSources) -> str:
    trace = sources.additive
    additive, general = (
        count_multiplications(
            {**trace.config, "attention": kind}, len(trace.source_pieces), len(trace.target_pieces)
        ).total
        for kind in ("additive", "general")
    )
    return gettext(
        "Luong et al. (2015) do without the small network. A learned matrix P makes the annotation h as long as the "
        "state s. The energy is the dot product of s and P h. For this sentence, with the sizes of the model before, "
        "that takes {general} multiplications instead of {additive}.",
        general=thousands(general),
        additive=thousands(additive),
    )


def _product_text(_: FormSources) -> str:
    return gettext(
        "In a transformer (Vaswani et al. 2017), one matrix makes a query q for the French word, another a key k "
        "for each English word. The energy, called score in that paper, is the dot product of q and k. Without a "
        "recurrent state, training can compute all queries at once. This head was trained with energies divided by √d, "
        "as in the next form; here the division is left out."
    )


def _scaled_text(sources: FormSources) -> str:
    length = sources.head.keys.shape[1] if sources.head else 0
    return gettext(
        "Each energy is divided by √d = {root}, where d = {length} is the length of q and k. The longer q and k are, "
        "the more products are added up, and the further apart the energies tend to be. Energies that lie far apart "
        "give nearly all attention to one word, and training can hardly change such attention.",
        root=decimal(math.sqrt(length), 0 if math.isqrt(length) ** 2 == length else 2),
        length=length,
    )


def _heads_text(sources: FormSources) -> str:
    return gettext(
        "A layer has several heads, here {count}. Each head n has its own matrices, so the heads can look for "
        "different things. The last row is the mean of the heads. The transformer does not use the mean of its heads: "
        "each head makes its own weighted sum, and the sums are concatenated.",
        count=_head_count(sources),
    )


def _self_text(_: FormSources) -> str:
    return gettext(
        "The formula stays the same, but query and key come from the same sentence: x is the list of numbers that an "
        "English piece has before this layer. Each piece makes a query q and looks at all pieces of its own sentence, "
        "itself included. So a transformer reads a sentence without recurrence. In the decoder, each French piece "
        "looks in the same way at itself and at the pieces before it."
    )


def _head_count(sources: FormSources) -> int:
    return sources.head.heads_of_layer if sources.head else 0


def form_sentence(form: Form, forms: Mapping[Form, AttentionForm], sources: FormSources, step: int) -> str:
    """Return the numbers of a form at 0-based `step`, compared with those of the previous form of the same model."""
    pieces, now = sources.additive.source_pieces, forms[form]
    best = int(now.weights[step].argmax())
    name, share = quoted_name(pieces[best]), percent(float(now.weights[step, best]))
    if form == "additive" and now.energies is not None:
        return gettext(
            "The largest energy is that of {name}: {energy}. The softmax turns all energies into weights, which add "
            "up to {whole}. The weight of {name} is {share}.",
            name=name,
            energy=decimal(float(now.energies[step, best])),
            whole=percent(1.0),
            share=share,
        )
    if now.heads is not None:
        listed = [
            gettext("head {number} to {name}, {share}", number=number, name=name_of, share=share_of)
            for number, (name_of, share_of) in enumerate((_strongest(pieces, head[step]) for head in now.heads), 1)
        ]
        return gettext(
            "Each head gives its largest weight to one word: {heads}. In the mean of the heads, {name} has the "
            "largest weight: {share}.",
            heads="; ".join(listed),
            name=name,
            share=share,
        )
    former = forms["product"] if form == "scaled" else None
    if former and former.energies is not None and now.energies is not None:
        return gettext(
            "Division by √d changes the largest energy from {former} to {energy}, and the weight of {name} from "
            "{before} to {share}.",
            former=decimal(float(former.energies[step, best])),
            energy=decimal(float(now.energies[step, best])),
            name=name,
            before=percent(float(former.weights[step, best])),
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


def _previous(form: Form) -> Form:
    order = list(form_names())
    return order[order.index(form) - 1]


def _strongest(pieces: tuple[str, ...], weights: FloatArray) -> tuple[str, str]:
    best = int(np.argmax(weights))
    return quoted_name(pieces[best]), percent(float(weights[best]))


SYMBOLS: dict[Face, str] = {"before": "α", "after": "α′", "difference": "α′ − α"}
"""Symbol of each face's values."""


def face_names() -> dict[str, str]:
    """Return the name of each `Face`."""
    return {
        "before": gettext("Before the word"),
        "after": gettext("After the word"),
        "difference": gettext("Difference"),
    }


def face_explanation(face: Face) -> str:
    """Return what a face shows and how it differs from the others."""
    if face == "before":
        return gettext(
            "Before the word: α, the attention weights of each step. Each step computes its weights before it knows "
            "the word that it will write."
        )
    if face == "after":
        return gettext(
            "After the word: α′, the posterior attention, computed once the word is known. For each column, Bayes’ "
            "rule multiplies α by the probability that the word would have if the step looked only at that column. "
            "Where α misses the right word, a common reason is that the step computes α before it knows the word. "
            "Neither α nor α′ is the cause of the word. The stage “After the word” below uses only one step, but α′ "
            "also uses the other steps of the translation."
        )
    return gettext(
        "The difference, α′ − α: blue where the word raises the weight of the column, red where the word lowers this "
        "weight. Where α misses the right word, a common reason is that the step computes α before it knows the word. "
        "Neither α nor α′ is the cause of the word."
    )
