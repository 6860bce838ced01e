"""The row of a pair in the table of a corpus: every measure by column name, and gold links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.findings import Finding, FindingKind, finding_sentence, findings_of
from attnviz.analysis.measures import coverage, drifts, entropy, error_rate, links
from attnviz.analysis.word_classes import content_words, is_word
from attnviz.evaluation.alignment import GoldAlignment, between_words, memberships
from attnviz.trace import Link, Words

if TYPE_CHECKING:
    from attnviz.evaluation.forced import ForcedPair


def gold_links_of(gold: GoldAlignment, pair: ForcedPair, words: Words) -> dict[Link, bool]:
    """Return the links (source, target), 0-based, between the words of `pair`, and whether each is sure.

    A gold word corresponds to the words that share letters with it. Where these are several, the link is possible for
    each. Punctuation is separate: the mark in "station?" is linked to marks of the other side, if any, and not to what
    "station" is linked to. Marks inside gold words have no gold links: equal marks are possible links.
    """
    source = _matching_words(pair.source_surfaces, words.source_groups, gold.source)
    target = _matching_words(pair.target_surfaces, words.target_groups, gold.target)
    mapped_links = {
        (j, i): False
        for source_word, target_word in product(source, target)
        if source_word.words or target_word.words
        for j, i in product(source_word.punctuation, target_word.punctuation)
        if words.source[j] == words.target[i]
    }
    for links_of_kind, sure in ((gold.possible, False), (gold.sure, True)):
        for j, i in links_of_kind:
            for found in _word_and_mark_links(source[j], target[i]):
                for link in found:
                    mapped_links[link] = mapped_links.get(link, False) or (sure and len(found) == 1)
    return mapped_links


class _MatchingWords(NamedTuple):
    """Words and punctuation marks of the pair that correspond to one gold word."""

    words: list[int]
    punctuation: list[int]


def _word_and_mark_links(source: _MatchingWords, target: _MatchingWords) -> Iterator[list[Link]]:
    """Yield the links that correspond to one gold link: those of words and those of punctuation."""
    if source.punctuation and target.punctuation:
        yield [(j, i) for j, i in product(source.punctuation, target.punctuation)]
    if source.words and target.words:
        yield [(j, i) for j, i in product(source.words, target.words)]
    elif not (source.punctuation and target.punctuation):
        yield [(j, i) for j, i in product(source.words + source.punctuation, target.words + target.punctuation)]


def _matching_words(
    surfaces: Sequence[str], groups: Sequence[Sequence[int]], gold_words: Sequence[str]
) -> list[_MatchingWords]:
    shares = memberships(surfaces[:-1], gold_words)
    matches = [_MatchingWords([], []) for _ in gold_words]
    for k, group in enumerate(groups[:-1]):
        text = "".join(surfaces[piece] for piece in group)
        for word in np.flatnonzero(shares[:, list(group)].any(axis=1)):
            (matches[word].words if is_word(text) else matches[word].punctuation).append(k)
    return matches


Shares = NDArray[Any]


def measures_of(pair: ForcedPair, threshold: float) -> dict[str, Any]:
    """Return the measures of a pair, its words, links with a share of at least `threshold`, and remarks."""
    words = pair.words()
    row = {
        **word_columns(words),
        **_probability_measures(pair, words),
        **_word_measures(pair, words),
        **remarks_of(pair),
    }
    if pair.attends:
        row |= attention_measures(words, pair.alignment, coverage(words.alignment)[:-1])
        row["links_before"] = _links(words.alignment, threshold)
    if pair.posterior is not None:
        row["links_after"] = _links(words.merged(pair.posterior), threshold)
    return row


def scores_against(reference: str, translation: str) -> dict[str, Any]:
    """Return the columns of a translation that has a reference."""
    from attnviz.evaluation.bleu import sentence_bleu, sentence_chrf

    return {
        "reference": reference,
        "chrf": sentence_chrf(translation, reference),
        "bleu": sentence_bleu(translation, reference),
    }


def gold_measures(gold: GoldAlignment, pair: ForcedPair) -> dict[str, Any]:
    """Return the columns of a pair that has gold links."""
    links = sorted(gold_links_of(gold, pair, pair.words()).items(), key=lambda item: item[0][::-1])
    return {
        "gold": [{"i": i, "j": j, "sure": sure} for (j, i), sure in links],
        "aer_before": _alignment_error(gold, pair, pair.alignment) if pair.attends else None,
        "aer_after": None if pair.posterior is None else _alignment_error(gold, pair, pair.posterior),
    }


def word_columns(words: Words) -> dict[str, Any]:
    """Return the words of both sides without special tokens, and their counts."""
    source, target = words.linkable.source, words.linkable.target
    return {
        "source_words": source,
        "target_words": target,
        "source_length": len(source),
        "target_length": len(target),
        "length_ratio": len(target) / max(len(source), 1),
    }


def _probability_measures(pair: ForcedPair, words: Words) -> dict[str, float]:
    return {
        "log_probability_per_word": pair.log_likelihood / max(len(words.target) - 1, 1),
        # For unrelated sentences it may exceed float32.
        "perplexity": float(np.exp(min(-pair.log_likelihood / len(pair.log_probabilities), 88.0))),
    }


def _word_measures(pair: ForcedPair, words: Words) -> dict[str, Any]:
    source_words = {word.casefold() for word in words.source[:-1]}
    target_words = [word for word in words.target[:-1] if is_word(word)]
    copied = sum(len(word) > 1 and word.casefold() in source_words for word in target_words)
    sides = ((pair.source_pieces, words.source_groups), (pair.target_pieces, words.target_groups))
    unknown = sum("<unk>" in [pieces[k] for k in group] for pieces, groups in sides for group in groups)
    return {"copied_words": copied, "copied_share": copied / max(len(target_words), 1), "unknown_words": unknown}


def attention_measures(words: Words, alignment: Shares, covered: Shares) -> dict[str, Any]:
    """Return the measures of an `alignment` between pieces (Ty, Tx), and between `words`.

    `covered` is the total attention on each source word without special tokens. Entropy and shares are of rows with
    attention: a row of zeros counts as unlinked.
    """
    inner = words.linkable
    pieces = np.asarray(alignment, dtype=np.float64)
    pieces = pieces[pieces.any(axis=1)]
    attending = words.alignment[words.places[1]]
    attending = attending[attending.any(axis=1)]
    content = list(content_words(inner.source))
    linked = [j for j, _ in links(inner.alignment)]
    drifted = drifts(inner.alignment, inner.source, inner.target)
    return {
        "entropy": float(entropy(pieces).mean()) if len(pieces) else None,
        "largest_weight": float(pieces.max(axis=1).mean()) if len(pieces) else None,
        "coverage": covered.astype(np.float32),
        "least_coverage": float(covered[content].min()) if content else None,
        "end_share": float(attending[:, -1].mean()) if len(attending) and words.source[-1] == "</s>" else None,
        "unlinked": len(inner.target) - len(linked),
        "many_to_one": int(np.bincount(linked).max()) if linked else 0,
        "drifted": sum(drift.last - drift.first + 1 for drift in drifted),
    }


def _links(shares: Shares, threshold: float) -> list[dict[str, Any]]:
    """Return the links between words without `</s>`: those of at least `threshold`, and the largest of each row."""
    rows, last = shares[:-1], shares.shape[1] - 1
    chosen = sorted({*links(rows, threshold), *links(rows)}, key=lambda link: link[::-1])
    return [{"i": i, "j": j, "weight": float(rows[i, j])} for j, i in chosen if j < last]


def _alignment_error(gold: GoldAlignment, pair: ForcedPair, shares: Shares) -> float | None:
    word_shares = between_words(gold, pair.source_surfaces[:-1], pair.target_surfaces[:-1], shares)
    try:
        return error_rate([links(word_shares)], [gold]).aer
    except ValueError:
        return None


def remarks_of(pair: Any) -> dict[str, Any]:
    """Return the findings on a pair, with the numbers of omissions and repetitions."""
    findings: list[Finding] = findings_of(pair)
    kinds = [finding.kind for finding in findings]
    remarks = [
        {"kind": finding.kind.value, "strong": finding.strong, "remark": finding_sentence(pair, finding)}
        for finding in findings
    ]
    return {
        "omitted": kinds.count(FindingKind.OMITTED),
        "repeated": kinds.count(FindingKind.REPEATED),
        "remarks": remarks,
    }
