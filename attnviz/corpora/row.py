"""An analysed pair of a batch, and its row in the table of a corpus: every measure by column name, and gold links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.alignment_error import Link, error_rate
from attnviz.analysis.drift import drifts
from attnviz.analysis.finding_rules import is_word
from attnviz.analysis.findings import Finding, Kind, finding_sentence, findings_of
from attnviz.analysis.measures import coverage, entropy, links
from attnviz.analysis.prefixes import content_words
from attnviz.corpora.corpus_lines import Line
from attnviz.evaluation.alignment import GoldAlignment, between_words, memberships
from attnviz.evaluation.bleu import sentence_bleu, sentence_chrf
from attnviz.text import BOS, EOS, SPECIAL_PIECES, UNK, Tokenizer, join_pieces, word_groups
from attnviz.trace import Words


@dataclass(frozen=True, eq=False)
class AnalysedPair:
    """The fields of a `Trace` that measures need, without states."""

    source_pieces: tuple[str, ...]
    source_surfaces: tuple[str, ...]
    target_pieces: tuple[str, ...]
    target_surfaces: tuple[str, ...]
    alignment: NDArray[Any]
    """Attention alpha, (Ty, Tx); the last column is 0 where the model does not read `</s>`."""
    log_probabilities: NDArray[Any]
    """Log probabilities log p(y_i), (Ty,), in nats."""
    attends: bool
    attends_once: bool
    translated: ClassVar[bool] = True
    imported: ClassVar[bool] = False

    @property
    def probabilities(self) -> NDArray[Any]:
        """Probabilities p(y_i), (Ty,)."""
        probabilities: NDArray[Any] = np.exp(self.log_probabilities)
        return probabilities

    def words(self) -> Words:
        """Return the alignment by words, as `Trace.words` does."""
        return self._words

    @cached_property
    def _words(self) -> Words:
        source, target = word_groups(self.source_surfaces), word_groups(self.target_surfaces)
        return Words(
            source=tuple(join_pieces(self.source_surfaces[i] for i in group) or "<unk>" for group in source),
            target=tuple(join_pieces(self.target_surfaces[i] for i in group) or "<unk>" for group in target),
            alignment=merged_by_words(self.alignment, source, target),
            source_groups=source,
            target_groups=target,
        )


def merged_by_words(
    shares: NDArray[Any], source: tuple[tuple[int, ...], ...], target: tuple[tuple[int, ...], ...]
) -> NDArray[np.float32]:
    """Return shares between pieces, (Ty, Tx), as shares between words, (target words, source words).

    It returns what `Words.merged_by_words` does, but needs groups of neighbouring pieces.
    """
    columns = np.add.reduceat(shares, [group[0] for group in source], axis=1)
    rows = np.add.reduceat(columns, [group[0] for group in target], axis=0)
    by_words: NDArray[np.float32] = (rows / [[len(group)] for group in target]).astype(np.float32)
    return by_words


def pieces_of(tokenizer: Tokenizer, ids: list[int], text: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the pieces of a sentence, `</s>` last, and the same with the typed characters in place of each `<unk>`.

    A leading `<s>`, which some imported models read, is left out: it is no word of the sentence.
    Both are equal where the `text` is None.
    """
    count = ids.index(EOS) if EOS in ids else len(ids)  # padding may follow, and some models do not read </s>
    first = int(ids[:1] == [BOS])
    pieces = (*tokenizer.pieces(ids[first:count]), SPECIAL_PIECES[EOS])
    if text is None or UNK not in ids:
        return pieces, pieces
    return pieces, (*tokenizer.sentence_surfaces(text)[first:count], SPECIAL_PIECES[EOS])


def gold_links_of(gold: GoldAlignment, pair: AnalysedPair, words: Words) -> dict[Link, bool]:
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
        row["links_after"] = _links(merged_by_words(posterior, words.source_groups, words.target_groups), threshold)
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
    content = list(content_words(source))
    return float(covered[content].min()) if content else None


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
