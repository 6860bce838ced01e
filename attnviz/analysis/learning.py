"""What attention has learnt at a checkpoint: measures, their definitions, sentences about a run, and references.

Links count where they are sure and neither word has another sure link: one row and one cell then describe a word. Each
measure has baselines. Rows and columns are words without `</s>`, so that a row may sum to less than 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.numbers import decimal, significant, thousands
from attnviz.analysis.word_classes import is_article, is_content, is_punctuation, precedes_noun
from attnviz.languages import gettext, ngettext
from attnviz.trace.snapshots import Snapshots
from attnviz.trace.word_link_text import Link

Alignment = NDArray[np.float64]
"""Attention by words, (target words, source words)."""

CLASSES = ("marks", "content", "nouns", "articles", "exchanged")
"""Classes of links."""


class LinkedPair(Protocol):
    """A sentence pair with gold links."""

    @property
    def source(self) -> tuple[str, ...]:
        """The source words."""

    @property
    def target(self) -> tuple[str, ...]:
        """The target words."""

    @property
    def sure(self) -> Collection[Link]:
        """The sure links."""


@dataclass(frozen=True)
class MeasuredValue:
    """Value of one measure."""

    value: float
    count: int
    """Number of links, pairs of neighbours or sentences that it averages over."""


def learning_measures(gold: Sequence[LinkedPair], alignments: Sequence[Alignment]) -> dict[str, MeasuredValue]:
    """Return the measures of the alignments of the sentence pairs `gold`.

    - `marks`, `content`, `nouns`, `articles`, `exchanged`: mean of alpha_ij over the links of the class
      (`link_classes`), in [0, 1];
    - `order`: share of `exchanged_neighbours` in which each word attends more to its own partner than to the other's,
      in [0, 1];
    - `diagonal`: mean `diagonality` of the sentences, 0 for uniform attention, 1 for attention along the diagonal.

    A measure without a link or sentence to average over is missing.
    """
    collected: dict[str, list[float]] = {}
    for pair, alignment in zip(gold, alignments, strict=True):
        for name, links in link_classes(pair).items():
            collected.setdefault(name, []).extend(float(alignment[i, j]) for j, i in sorted(links))
        for i, j in exchanged_neighbours(pair):
            uncrossed = alignment[i, j + 1] > alignment[i, j] and alignment[i + 1, j] > alignment[i + 1, j + 1]
            collected.setdefault("order", []).append(float(uncrossed))
        if min(alignment.shape) > 1:
            collected.setdefault("diagonal", []).append(diagonality(alignment))
    return {name: MeasuredValue(float(np.mean(values)), len(values)) for name, values in collected.items() if values}


def learning_baselines(gold: Sequence[LinkedPair]) -> dict[str, dict[str, float]]:
    """Return the baselines of each of the `learning_measures`: attention without training, and the gold links.

    These are `alike` (uniform), `diagonal`, and `links`, which gives each target word uniform weights on its sure
    links.
    """
    baselines: Mapping[str, Callable[[LinkedPair], Alignment]] = {
        "alike": uniform_attention,
        "diagonal": diagonal_attention,
        "links": link_attention,
    }
    levels: dict[str, dict[str, float]] = {}
    for name, baseline in baselines.items():
        for measure, measured in learning_measures(gold, [baseline(pair) for pair in gold]).items():
            levels.setdefault(measure, {})[name] = measured.value
    return levels


def single_links(pair: LinkedPair) -> set[Link]:
    """Return the sure links whose words have no other sure link."""
    sources, targets = Counter(j for j, _ in pair.sure), Counter(i for _, i in pair.sure)
    return {(j, i) for j, i in pair.sure if sources[j] == targets[i] == 1}


def exchanged_neighbours(pair: LinkedPair) -> list[Link]:
    """Return (i, j) where target words i and i + 1 have single links to source words j + 1 and j.

    Such neighbours have changed places, as most adjectives and nouns do between English and French.
    """
    single = single_links(pair)
    return sorted((i, j - 1) for j, i in single if (j - 1, i + 1) in single)


def link_classes(pair: LinkedPair) -> dict[str, set[Link]]:
    """Return the single links of each class.

    `exchanged` are those of `exchanged_neighbours`. Of the others, `marks` join two punctuation marks, `articles` two
    articles, and `content` two content words (`analysis.word_classes`); the rest has no class. These classes are
    disjoint. `nouns` are the links in `content` between nouns (`are_nouns`).
    """
    exchanged = {link for i, j in exchanged_neighbours(pair) for link in ((j + 1, i), (j, i + 1))}
    classes: dict[str, set[Link]] = {name: set() for name in CLASSES} | {"exchanged": exchanged}
    for j, i in single_links(pair) - exchanged:
        source, target = pair.source[j], pair.target[i]
        if is_punctuation(source) and is_punctuation(target):
            classes["marks"].add((j, i))
        elif is_article(source, "source") and is_article(target, "target"):
            classes["articles"].add((j, i))
        elif is_content(source, "source") and is_content(target, "target"):
            classes["content"].add((j, i))
    classes["nouns"] = {(j, i) for j, i in classes["content"] if are_nouns(pair, j, i)}
    return classes


def are_nouns(pair: LinkedPair, j: int, i: int) -> bool:
    """Return whether content words j and i, 0-based, are nouns by a rule that needs no tagger.

    Each directly follows an article, and the French word is no adjective that may precede a noun. Most nouns are
    missed.
    """
    follow_articles = (
        j > 0 and i > 0 and is_article(pair.source[j - 1], "source") and is_article(pair.target[i - 1], "target")
    )
    return follow_articles and not precedes_noun(pair.target[i])


def diagonality(alignment: Alignment) -> float:
    """Return 1 - d / d_alike, at most 1, and 0 for uniform rows; both sides have at least two words.

    d = mean_i sum_j alpha_ij |(j + 1/2) / J - (i + 1/2) / I| with rows scaled to sum to 1, and d_alike is d of uniform
    rows.
    """
    rows, columns = alignment.shape
    source_positions, target_positions = (np.arange(columns) + 0.5) / columns, (np.arange(rows) + 0.5) / rows
    distances = np.abs(source_positions - target_positions[:, None])
    sums = alignment.sum(axis=1, keepdims=True)
    shares = np.divide(alignment, sums, out=np.full(alignment.shape, 1 / columns), where=sums > 0)
    return float(1 - (shares * distances).sum(axis=1).mean() / distances.mean())


def uniform_attention(pair: LinkedPair) -> Alignment:
    """Return uniform attention: 1/J for each of J source words."""
    return np.full((len(pair.target), len(pair.source)), 1 / len(pair.source))


def diagonal_attention(pair: LinkedPair) -> Alignment:
    """Return attention of each target word to the source word at the same relative position."""
    rows, columns = len(pair.target), len(pair.source)
    places = ((np.arange(rows) + 0.5) * columns / rows).astype(int)
    attention: Alignment = np.eye(columns)[places]
    return attention


def link_attention(pair: LinkedPair) -> Alignment:
    """Return uniform attention of each target word to its sure links; words without links have uniform attention."""
    linked = np.zeros((len(pair.target), len(pair.source)))
    for j, i in pair.sure:
        linked[i, j] = 1
    sums = linked.sum(axis=1, keepdims=True)
    attention: Alignment = np.divide(linked, sums, out=uniform_attention(pair), where=sums > 0)
    return attention


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
    return gettext("attention guided") if guidance else gettext("attention not guided")


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
    names = learning_measure_names()
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
