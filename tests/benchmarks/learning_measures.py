"""What attention has learnt at a checkpoint: measures on gold links, with baselines.

Links count where they are sure and neither word has another sure link: one row and one cell then describe a word. Each
measure has baselines. Rows and columns are words without `</s>`, so that a row may sum to less than 1.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.word_classes import is_article, is_content, is_punctuation
from attnviz.evaluation.alignment import GoldAlignment
from attnviz.trace.word_link_text import Link

Alignment = NDArray[np.float64]
"""Attention by words, (target words, source words)."""
CLASSES = ("marks", "content", "nouns", "articles", "exchanged")
"""Classes of links."""


@dataclass(frozen=True)
class MeasuredValue:
    value: float
    count: int
    """Number of links, pairs of neighbours or sentences that it averages over."""


def learning_measures(gold: Sequence[GoldAlignment], alignments: Sequence[Alignment]) -> dict[str, MeasuredValue]:
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


def learning_baselines(gold: Sequence[GoldAlignment]) -> dict[str, dict[str, float]]:
    """Return the baselines of each of the `learning_measures`: uniform and diagonal attention, and the gold links."""
    baselines = {"alike": uniform_attention, "diagonal": diagonal_attention, "links": link_attention}
    levels: dict[str, dict[str, float]] = {}
    for name, baseline in baselines.items():
        for measure, measured in learning_measures(gold, [baseline(pair) for pair in gold]).items():
            levels.setdefault(measure, {})[name] = measured.value
    return levels


def single_links(pair: GoldAlignment) -> set[Link]:
    """Return the sure links whose words have no other sure link."""
    sources, targets = Counter(j for j, _ in pair.sure), Counter(i for _, i in pair.sure)
    return {(j, i) for j, i in pair.sure if sources[j] == targets[i] == 1}


def exchanged_neighbours(pair: GoldAlignment) -> list[Link]:
    """Return (i, j) where target words i and i + 1 have single links to source words j + 1 and j: exchanged words."""
    single = single_links(pair)
    return sorted((i, j - 1) for j, i in single if (j - 1, i + 1) in single)


def link_classes(pair: GoldAlignment) -> dict[str, set[Link]]:
    """Return the single links of each class, which are disjoint but for `nouns`, a part of `content`.

    `exchanged` are those of `exchanged_neighbours`; of the others, `marks` join two punctuation marks, `articles` two
    articles, and `content` two content words (`analysis.word_classes`).
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


def are_nouns(pair: GoldAlignment, j: int, i: int) -> bool:
    """Return whether content words j and i, 0-based, each follow an article; the rule misses most nouns."""
    if j == 0 or i == 0 or precedes_noun(pair.target[i]):
        return False
    return is_article(pair.source[j - 1], "source") and is_article(pair.target[i - 1], "target")


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


def uniform_attention(pair: GoldAlignment) -> Alignment:
    """Return uniform attention: 1/J for each of J source words."""
    return np.full((len(pair.target), len(pair.source)), 1 / len(pair.source))


def diagonal_attention(pair: GoldAlignment) -> Alignment:
    """Return attention of each target word to the source word at the same relative position."""
    rows, columns = len(pair.target), len(pair.source)
    places = ((np.arange(rows) + 0.5) * columns / rows).astype(int)
    return np.eye(columns)[places]


def link_attention(pair: GoldAlignment) -> Alignment:
    """Return uniform attention of each target word to its sure links; words without links have uniform attention."""
    linked = np.zeros((len(pair.target), len(pair.source)))
    for j, i in pair.sure:
        linked[i, j] = 1
    sums = linked.sum(axis=1, keepdims=True)
    return np.divide(linked, sums, out=uniform_attention(pair), where=sums > 0)


_BEFORE_NOUNS = """
ancien ancienne anciennes anciens beau beaux bel belle belles bon bonne bonnes bons bref brève brèves brefs court
courte courtes courts dernier dernière dernières derniers différent différente différentes différents divers diverse
diverses faux fausse fausses gentil gentille gentilles gentils grand grande grandes grands gros grosse grosses haut
haute hautes hauts jeune jeunes joli jolie jolies jolis long longs longue longues mauvais mauvaise mauvaises meilleur
meilleure meilleures meilleurs moindre moindres nombreuse nombreuses nombreux nouveau nouveaux nouvel nouvelle
nouvelles pauvre pauvres petit petite petites petits pire pires premier première premières premiers principal
principale principales principaux prochain prochaine prochaines prochains propre propres second seconde secondes
seconds seul seule seules seuls simple simples vaste vastes véritable véritables vieil vieille vieilles vieux vrai
vraie vraies vrais
deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize vingt trente quarante cinquante
soixante cent cents mille
"""
BEFORE_NOUNS = frozenset(_BEFORE_NOUNS.split())
"""French adjectives that usually precede their noun, and numerals, in lower case; ordinals have a rule."""


def precedes_noun(word: str) -> bool:
    """Return whether the French `word` may precede its noun: it is in the list, or an ordinal (`sixième`)."""
    return word.lower() in BEFORE_NOUNS or word.lower().rstrip("s").endswith("ième")
