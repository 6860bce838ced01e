"""Compute a row of the table of a corpus: every measure of one sentence pair, by column name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.alignment_error import error_rate
from attnviz.analysis.drift import drifts
from attnviz.analysis.findings import Finding, Kind, findings_of
from attnviz.analysis.findings.function_words import SOURCE_FUNCTION_WORDS
from attnviz.analysis.findings.rules import is_word
from attnviz.analysis.measures import coverage, entropy, links
from attnviz.corpora.analysed_pair import AnalysedPair, merged
from attnviz.corpora.gold_links import gold_links_of
from attnviz.corpora.lines import Line
from attnviz.evaluation.alignment import GoldAlignment, between_words
from attnviz.evaluation.bleu import sentence_bleu, sentence_chrf
from attnviz.trace import Words
from attnviz.wording.findings import finding_sentence

Shares = NDArray[Any]


def row_of(
    line: Line, pair: AnalysedPair, target: str, reference: str | None, posterior: Shares | None, threshold: float
) -> dict[str, Any]:
    """Return the row of a pair without `model` and `search`: texts, measures, links and remarks.

    `posterior` (Ty, Tx) is its posterior attention, None where not requested or not available; links with a share of at
    least `threshold` are stored.
    """
    words = pair.words()
    row: dict[str, Any] = {
        "number": line.number,
        "source": line.source,
        "target": target,
        "reference": reference,
        "source_words": words.source[:-1],
        "target_words": words.target[:-1],
        "source_length": len(words.source) - 1,
        "target_length": len(words.target) - 1,
        "length_ratio": (len(words.target) - 1) / max(len(words.source) - 1, 1),
        **_probability_measures(pair, words),
        **_word_measures(pair, words),
    }
    if pair.attends:
        row |= _attention_measures(pair, words)
        row |= alignment_counts(words.alignment[:-1, :-1], words.source[:-1], words.target[:-1])
        row["links_before"] = _links(words.alignment, threshold)
    if posterior is not None:
        row["links_after"] = _links(merged(posterior, words.source_groups, words.target_groups), threshold)
    if reference is not None:
        row |= {"chrf": sentence_chrf(target, reference), "bleu": sentence_bleu(target, reference)}
    if line.gold is not None:
        row["gold"] = _gold_links(line.gold, pair, words)
        for name, weights in (("aer_before", pair.alignment if pair.attends else None), ("aer_after", posterior)):
            row[name] = None if weights is None else _alignment_error(line.gold, pair, weights)
    return row | remarks_of(pair)


def _probability_measures(pair: AnalysedPair, words: Words) -> dict[str, float]:
    total = float(pair.log_probabilities.sum(dtype=np.float64))
    return {
        "log_probability_per_word": total / max(len(words.target) - 1, 1),
        # For unrelated sentences it may exceed float32.
        "perplexity": float(np.exp(min(-total / len(pair.log_probabilities), 88.0))),
    }


def _word_measures(pair: AnalysedPair, words: Words) -> dict[str, Any]:
    source_words = {word.casefold() for word in words.source[:-1]}
    target_words = [word for word in words.target[:-1] if is_word(word)]
    copied = sum(len(word) > 1 and word.casefold() in source_words for word in target_words)
    sides = ((pair.source_pieces, words.source_groups), (pair.target_pieces, words.target_groups))
    unknown = sum("<unk>" in [pieces[k] for k in group] for pieces, groups in sides for group in groups)
    return {"copied_words": copied, "copied_share": copied / max(len(target_words), 1), "unknown_words": unknown}


def _attention_measures(pair: AnalysedPair, words: Words) -> dict[str, Any]:
    covered = coverage(words.alignment)
    return {
        "entropy": float(entropy(pair.alignment).mean()),
        "largest_weight": float(pair.alignment.max(axis=1).mean()),
        "coverage": covered[:-1].astype(np.float32),
        "least_coverage": least_coverage(covered[:-1], words.source[:-1]),
        "end_share": float(words.alignment[:-1, -1].mean()) if len(words.target) > 1 else None,
    }


def least_coverage(covered: Shares, source: Sequence[str]) -> float | None:
    """Return the least of the `covered` attention (Tx,) on a content word; None where there is no such word."""
    content = [is_word(word) and word.casefold() not in SOURCE_FUNCTION_WORDS for word in source]
    return float(covered[content].min()) if any(content) else None


def alignment_counts(shares: Shares, source: Sequence[str], target: Sequence[str]) -> dict[str, int]:
    """Return counts of an alignment (Ty, Tx) between words, without `</s>`.

    They are the target words without a link, the most target words that link to one source word, and the target words
    in drifted stretches.
    """
    linked = [j for j, _ in links(shares)]
    return {
        "unlinked": len(target) - len(linked),
        "many_to_one": int(np.bincount(linked).max()) if linked else 0,
        "drifted": sum(drift.last - drift.first + 1 for drift in drifts(shares, source, target)),
    }


def _links(shares: Shares, threshold: float) -> list[dict[str, Any]]:
    """Return the links between words without `</s>`: those of at least `threshold`, and the largest of each row."""
    rows, last = shares[:-1], shares.shape[1] - 1
    chosen = sorted({*links(rows, threshold), *links(rows)}, key=lambda link: link[::-1])
    return [{"i": i, "j": j, "weight": float(rows[i, j])} for j, i in chosen if j < last]


def _gold_links(gold: GoldAlignment, pair: AnalysedPair, words: Words) -> list[dict[str, Any]]:
    gold_links = sorted(gold_links_of(gold, pair, words).items(), key=lambda item: item[0][::-1])
    return [{"i": i, "j": j, "sure": sure} for (j, i), sure in gold_links]


def _alignment_error(gold: GoldAlignment, pair: AnalysedPair, shares: Shares) -> float | None:
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
    return {"omitted": kinds.count(Kind.OMITTED), "repeated": kinds.count(Kind.REPEATED), "remarks": remarks}
