"""What attention learns in training: names and definitions of the measures, sentences about a run, references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attnviz.analysis.labels import decimal, significant
from attnviz.languages import format_number, gettext, gettexts, ngettext
from attnviz.trace.snapshots import Snapshots


def halfway_update(curve: Sequence[tuple[int, float]]) -> int | None:
    """Return the update at which `curve` first reaches the middle between its first and last values, to two digits.

    `curve` has pairs (update, value), interpolated linearly. None where first and last values differ by less than 0.02.
    """
    if len(curve) < 2 or abs(curve[-1][1] - curve[0][1]) < 0.02:
        return None
    first, change = curve[0][1], curve[-1][1] - curve[0][1]
    shares = [(value - first) / change for _, value in curve]
    k = next(k for k, share in enumerate(shares) if share >= 0.5)
    part = (0.5 - shares[k - 1]) / (shares[k] - shares[k - 1])
    update = curve[k - 1][0] + part * (curve[k][0] - curve[k - 1][0])
    return int(float(f"{update:.2g}"))


LINK_MEASURES = ("marks", "content", "exchanged", "articles", "nouns")
"""Measures that are mean weights on gold links."""
ROW_MEASURES = ("diagonal", "order")
"""Measures of whole rows."""
QUALITY_MEASURES = ("loss", "bleu", "aer")
"""Measures of a whole model."""


def learning_measure_names() -> dict[str, str]:
    """Return the name of each measure."""
    return gettexts(
        {
            "training": "training loss",
            "loss": "validation loss",
            "bleu": "BLEU",
            "aer": "alignment error rate",
            "marks": "punctuation",
            "content": "content words",
            "nouns": "nouns after an article",
            "exchanged": "swapped neighbours",
            "articles": "articles",
            "diagonal": "along the diagonal",
            "order": "in the right order",
        }
    )


def measure_definitions() -> dict[str, str]:
    """Return the definition of each measure."""
    return gettexts(
        {
            "training": (
                "Mean of −log p in nats, over all pieces of the training pairs used in 50 consecutive updates."
            ),
            "loss": (
                "Mean of −log p in nats, over all pieces of the validation pairs. The model was not trained on these "
                "pairs."
            ),
            "bleu": (
                "Score from 0 to 100 for how many word sequences the greedy translations of validation sentences share "
                "with a human translation (Papineni et al. 2002). The score is computed as in sacreBLEU (Post 2018)."
            ),
            "aer": (
                "Each French word is linked to the English word it attends to most. The alignment error rate says how "
                "far these links differ from gold links, marked by hand. The rate is 0 if all links agree with the "
                "gold links, 1 if no link agrees (Och & Ney 2003)."
            ),
            "marks": "Mean of α on gold links between two punctuation marks.",
            "content": (
                "Mean of α on gold links between two content words that are not swapped neighbours. A content word has "
                "letters and is in no list of articles, pronouns, prepositions, conjunctions or auxiliaries."
            ),
            "nouns": (
                "Mean of α on the gold links between two content words that each directly follow an article. French "
                "adjectives and numerals that precede nouns are excluded. The rule uses no grammar: a noun that does "
                "not follow an article counts only as a content word."
            ),
            "exchanged": (
                "Mean of α on the two gold links of neighbouring words that swap places in translation, as in “green "
                "house” and “maison verte”."
            ),
            "articles": (
                "Mean of α on gold links between an English article (the, a, an) and a French one (le, la, l’, les, "
                "un, une, des, du)."
            ),
            "diagonal": (
                "1 − d/d₀, where d is the mean distance of the weight from the diagonal, and d₀ the same distance for "
                "uniform weights. This measure is 0 for uniform weights and near 1 for weights on the diagonal."
            ),
            "order": (
                "Share of the pairs of swapped neighbours in which each French word attends more to its own English "
                "word than to its neighbour’s English word. Attention along the diagonal would give a share of 0."
            ),
        }
    )


def run_name(run: Snapshots, is_only_run: bool = False) -> str:
    """Return how the attention of a run was trained, as its label; if `is_only_run`, the name of the run instead."""
    if is_only_run:
        return run.name
    return (
        gettext("Guided, weight {weight}", weight=significant(run.guidance)) if run.guidance else gettext("Not guided")
    )


def guidance_of(config: Mapping[str, Any]) -> float | None:
    """Return the weight of the guided-attention loss in the training of a model with this `config`, 0 without guidance.

    None where that is unknown, or there is no attention.
    """
    if config.get("attention") == "none" or config.get("architecture") == "decomposable":
        return None
    guidance = 0.0 if config.get("architecture") == "transformer" else config.get("guidance")
    return None if guidance is None else float(guidance)


def guidance_text(config: Mapping[str, Any]) -> str:
    """Return whether the attention of a model with this `config` was guided in training; empty where unknown."""
    guidance = guidance_of(config)
    if guidance is None:
        return ""
    return gettext("attention guided" if guidance else "attention not guided")


def guidance_sentence(config: Mapping[str, Any]) -> str:
    """Return that word links taught the attention of a model which words match; empty where they did not."""
    if not guidance_of(config):
        return ""
    return gettext("Word links, estimated beforehand, taught this attention which words match.")


def unguided_model(config: Mapping[str, Any], others: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return the name of a model among `others`, configs by name, whose attention was not guided.

    One with the same form of attention as `config` comes first. None where `config` was not guided, or all others were.
    """
    unguided = [name for name, other in others.items() if guidance_of(other) == 0]
    if not guidance_of(config) or not unguided:
        return None
    return min(unguided, key=lambda name: others[name].get("attention") != config.get("attention"))


def guidance_definition(runs: Sequence[Snapshots], models: Mapping[str, Mapping[str, Any]]) -> str:
    """Return what guided attention means, and which of `models`, configs by name, were guided.

    Empty where none of `runs` was guided.
    """
    if not any(run.guidance for run in runs):
        return ""
    definition = gettext(
        "In guided training, each update pulls the attention towards word links (Chen et al. 2016). The word links "
        "were estimated beforehand from the same sentence pairs, not marked by hand."
    )
    weights = {name: guidance_of(config) for name, config in models.items()}
    guided, unguided = [name for name, weight in weights.items() if weight], [n for n, w in weights.items() if w == 0]
    if not guided or not unguided:
        return definition
    which = gettext(
        "Of the installed models, these were trained with guidance: {guided}; these without: {unguided}.",
        guided=", ".join(guided),
        unguided=", ".join(unguided),
    )
    return f"{definition} {which}"


def compared_guidance_sentence(one: Mapping[str, Any], other: Mapping[str, Any], names: tuple[str, str]) -> str:
    """Return which of two models, given by config, was guided; empty where both were or neither was."""
    weights = guidance_of(one), guidance_of(other)
    if None in weights or bool(weights[0]) == bool(weights[1]):
        return ""
    guided, free = names if weights[0] else names[::-1]
    return gettext(
        "Training pulled the attention of {guided} towards word links, but not that of {free}. The models may also "
        "differ in size and training data.",
        guided=guided,
        free=free,
    )


def measured_values_text(run: Snapshots, update: int) -> str:
    """Return the measured loss, BLEU and AER after `update` updates."""
    values = {name: run.value(name, update) for name in (*QUALITY_MEASURES, "training")}
    parts = []
    if values["loss"] is not None:
        parts.append(gettext("validation loss {loss}", loss=decimal(values["loss"])))
    elif values["training"] is not None:
        parts.append(gettext("training loss {loss}", loss=decimal(values["training"])))
    if values["bleu"] is not None:
        parts.append(gettext("BLEU {bleu}", bleu=decimal(values["bleu"], 1)))
    if values["aer"] is not None:
        parts.append(gettext("AER {aer}", aer=decimal(values["aer"])))
    return ", ".join(parts)


def own_translation_sentence(run: Snapshots, sentence: int, moment: int) -> str:
    """Return the greedy translation of `sentence` (an index) by the model of snapshot `moment` (an index)."""
    translation = run.translations[moment][sentence].strip()
    if not translation:
        return gettext("The model’s own translation is empty.")
    if len(translation) > _LONGEST:  # models early in training repeat a word up to the length limit
        translation = f"{translation[: _LONGEST - 1].rstrip()}…"
    return gettext("The model’s own translation: {said}", said=translation)


_LONGEST = 100
"""Most characters of a shortened translation."""


def halfway_sentence(run: Snapshots) -> str:
    """Return the order in which the measures of attention reached half their final change; empty without measures."""
    names = learning_measure_names()
    halfway_updates = [
        (halfway_update(run.curves[name]), name) for name in (*LINK_MEASURES, *ROW_MEASURES) if name in run.curves
    ]
    reached = sorted((update, name) for update, name in halfway_updates if update is not None)
    if not reached:
        return ""
    listed = ", ".join(f"{names[name]} {format_number(update)}" for update, name in reached)
    return gettext(
        "Update at which each measure of attention had made half of its total change: {listed}. (Values between "
        "measurements are interpolated linearly.)",
        listed=listed,
    )


def link_counts_text(runs: Sequence[Snapshots]) -> str:
    """Return on how many links and sentences the measures are computed; empty where no links were used."""
    counts = runs[0].counts
    if "aer" not in counts:
        return ""
    return gettext(
        "The alignment is measured on {sentences} with gold links, marked by hand. The gold links are {marks}, "
        "{content} links of content words (among them {nouns} links of nouns after an article), {articles} links of "
        "articles, and {pairs}. Loss and BLEU are measured on {validation}.",
        sentences=ngettext("{count} sentence pair", "{count} sentence pairs", counts["aer"]),
        marks=ngettext("{count} link of punctuation", "{count} links of punctuation", counts.get("marks", 0)),
        content=counts.get("content", 0),
        nouns=counts.get("nouns", 0),
        articles=counts.get("articles", 0),
        pairs=ngettext(
            "{count} pair of neighbouring words that swap places",
            "{count} pairs of neighbouring words that swap places",
            counts.get("order", 0),
        ),
        validation=ngettext("{count} validation sentence", "{count} validation sentences", counts.get("bleu", 0)),
    )


LEARNING_REFERENCES = (
    (
        "Bahdanau, Cho & Bengio 2014",
        "Neural machine translation by jointly learning to align and translate",
        "1409.0473",
    ),
    ("Och & Ney 2003", "A systematic comparison of various statistical alignment models", ""),
    ("Papineni, Roukos, Ward & Zhu 2002", "BLEU: a method for automatic evaluation of machine translation", ""),
    ("Post 2018", "A call for clarity in reporting BLEU scores", "1804.08771"),
    (
        "Chen, Matusov, Khadivi & Peter 2016",
        "Guided alignment training for topic-aware neural machine translation",
        "1607.01628",
    ),
)
"""References: authors, title, arXiv number where there is one."""
