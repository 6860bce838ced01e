"""Names and definitions of the measures of training, sentences about a training run and its snapshots, references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attnviz.analysis.learning import halfway_update
from attnviz.languages import gettext, ngettext
from attnviz.trace.snapshots import Snapshots
from attnviz.wording.numbers import decimal, significant, thousands

LINK_MEASURES = ("marks", "content", "exchanged", "articles", "nouns")
"""Measures that are mean weights on gold links."""
ROW_MEASURES = ("diagonal", "order")
"""Measures of whole rows."""
QUALITY_MEASURES = ("loss", "bleu", "aer")
"""Measures of a whole model."""


def measure_names() -> dict[str, str]:
    """Return the name of each measure."""
    return {
        "training": gettext("training loss"),
        "loss": gettext("validation loss"),
        "bleu": gettext("BLEU"),
        "aer": gettext("alignment error rate"),
        "marks": gettext("punctuation"),
        "content": gettext("content words"),
        "nouns": gettext("nouns after an article"),
        "exchanged": gettext("swapped neighbours"),
        "articles": gettext("articles"),
        "diagonal": gettext("along the diagonal"),
        "order": gettext("in the right order"),
    }


def measure_definitions() -> dict[str, str]:
    """Return the definition of each measure."""
    return {
        "training": gettext(
            "Mean of −log p in nats, over all pieces of the training pairs used in 50 consecutive updates."
        ),
        "loss": gettext(
            "Mean of −log p in nats, over all pieces of the validation pairs. The model was not trained on these pairs."
        ),
        "bleu": gettext(
            "Score from 0 to 100 for how many word sequences the greedy translations of validation sentences share "
            "with a human translation (Papineni et al. 2002). The score is computed as in sacreBLEU (Post 2018)."
        ),
        "aer": gettext(
            "Each French word is linked to the English word it attends to most. The alignment error rate says how far "
            "these links differ from gold links, marked by hand. The rate is 0 if all links agree with the gold "
            "links, 1 if no link agrees (Och & Ney 2003)."
        ),
        "marks": gettext("Mean of α on gold links between two punctuation marks."),
        "content": gettext(
            "Mean of α on gold links between two content words that are not swapped neighbours. A content word "
            "has letters and is in no list of articles, pronouns, prepositions, conjunctions or auxiliaries."
        ),
        "nouns": gettext(
            "Mean of α on the gold links between two content words that each directly follow an article. French "
            "adjectives and numerals that precede nouns are excluded. The rule uses no grammar: a noun that does not "
            "follow an article counts only as a content word."
        ),
        "exchanged": gettext(
            "Mean of α on the two gold links of neighbouring words that swap places in translation, as in “green "
            "house” and “maison verte”."
        ),
        "articles": gettext(
            "Mean of α on gold links between an English article (the, a, an) and a French one (le, la, l’, les, "
            "un, une, des, du)."
        ),
        "diagonal": gettext(
            "1 − d/d₀, where d is the mean distance of the weight from the diagonal, and d₀ the same distance "
            "for uniform weights. This measure is 0 for uniform weights and near 1 for weights on the diagonal."
        ),
        "order": gettext(
            "Share of the pairs of swapped neighbours in which each French word attends more to its own English word "
            "than to its neighbour’s English word. Attention along the diagonal would give a share of 0."
        ),
    }


def run_name(run: Snapshots, is_only_run: bool = False) -> str:
    """Return how the attention of a run was trained, as its label; if `is_only_run`, the name of the run instead."""
    if is_only_run:
        return run.name
    return (
        gettext("Guided, weight {weight}", weight=significant(run.guidance)) if run.guidance else gettext("Not guided")
    )


def guidance_text(config: Mapping[str, Any]) -> str:
    """Return whether the attention of a model with this `config` was guided in training; empty where unknown.

    Also empty for models without attention.
    """
    attends = config.get("attention") != "none"
    guidance = 0.0 if config.get("architecture") == "transformer" else config.get("guidance")
    if guidance is None or not attends:
        return ""
    return gettext("attention guided") if guidance else gettext("attention not guided")


def guidance_definition(runs: Sequence[Snapshots]) -> str:
    """Return what guided attention means; empty where none of `runs` was guided."""
    if not any(run.guidance for run in runs):
        return ""
    return gettext(
        "In guided training, each update pulls the attention towards word links (Chen et al. 2016). The word links "
        "were estimated beforehand from the same sentence pairs, not marked by hand."
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
    return (
        gettext("The model’s own translation: {said}", said=_shortened(translation))
        if translation
        else gettext("The model’s own translation is empty.")
    )


_LONGEST = 100
"""Most characters of a shortened translation."""


def _shortened(text: str) -> str:
    """Return `text`, shortened, since models early in training repeat a word up to the length limit."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"


def halfway_sentence(run: Snapshots) -> str:
    """Return the order in which the measures of attention reached half their final change; empty without measures."""
    names = measure_names()
    halfway_updates = [
        (halfway_update(run.curves[name]), name) for name in (*LINK_MEASURES, *ROW_MEASURES) if name in run.curves
    ]
    reached = sorted((update, name) for update, name in halfway_updates if update is not None)
    if not reached:
        return ""
    listed = ", ".join(f"{names[name]} {grouped_digits(update)}" for update, name in reached)
    return gettext(
        "Update at which each measure of attention had made half of its total change: {listed}. (Values between "
        "measurements are interpolated linearly.)",
        listed=listed,
    )


def grouped_digits(number: int) -> str:
    """Return a whole number with thousands separators from five digits on."""
    return thousands(number) if number >= 10_000 else str(number)


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


REFERENCES = (
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
