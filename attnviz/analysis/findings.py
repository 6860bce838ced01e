"""Findings: automatic remarks about an alignment (omitted words …), each with its cell and sentence; `Summary`.

Findings use the words of a trace (`Trace.words`) and ignore `</s>`, punctuation and unknown words where they would
mislead. A finding states what was measured. It is `strong`, and may be called a mistake, if at least nine in ten of its
kind were right when judged by hand (tests/analysis/findings.json has the sentences and verdicts).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.analysis.finding_rules import (
    Finding,
    FindingKind,
    Readable,
    coverage_findings,
    has_word_probabilities,
    identical_findings,
    number_findings,
    probability_findings,
    repeat_findings,
    shift_findings,
    uniform_findings,
)
from attnviz.analysis.labels import merged_cell_text, quote, quoted_name, shorten
from attnviz.analysis.measures import attended_words, entropy, is_uniform
from attnviz.analysis.numbers import percent, significant
from attnviz.languages import gettext, ngettext
from attnviz.text import join_pieces
from attnviz.trace import Aligned, Record

__all__ = ["Finding", "FindingKind", "Readable", "Summary", "cell_of", "findings_of", "summarise"]


@dataclass(frozen=True)
class Summary:
    """An alignment in a few numbers."""

    moves: int
    """Pairs of neighbouring target words, without `</s>` and words of uniform attention."""
    forward: int
    """Number of these pairs whose second word attends no further left than the first; all if monotone."""
    perplexity: float
    """Perplexity of the attention, 2^H, averaged over the steps: the effective number of pieces attended to."""
    strongest: float
    """The largest weight of a step, averaged over the steps."""
    identical: int
    """Number of target words that are spelled like the source word they attend to."""


def summarise(trace: Aligned) -> Summary | None:
    """Return the summary of an alignment; None for a model without attention."""
    if not trace.attends:
        return None
    places = attended_words(trace)
    attended = [places[word] for word in trace.words().places[1] if places[word] >= 0]
    return Summary(
        moves=max(len(attended) - 1, 0),
        forward=int((np.diff(attended) >= 0).sum()),
        perplexity=float(np.exp2(entropy(trace.alignment)).mean()),
        strongest=float(trace.alignment.max(axis=1).mean()),
        identical=sum(1 for _ in identical_findings(trace)),
    )


def findings_of(trace: Readable) -> list[Finding]:
    """Return the findings of a translation: those about source words first, then the others by target word.

    The rules about attention were measured on models with one distribution a step. A transformer therefore has findings
    about probabilities only. Attention of other programs has findings about attention only. Findings about imported
    translators and imported attention are never strong, and are in the order of the rules.
    """
    words = trace.words()
    if not has_word_probabilities(trace) or trace.imported:
        findings = [*coverage_findings(trace, words), *shift_findings(trace, words)]
        findings += [*uniform_findings(trace, words), *identical_findings(trace), *repeat_findings(trace, words)]
        findings += number_findings(words)
        findings += probability_findings(trace, words) if has_word_probabilities(trace) else []
        source, target = words.special
        findings = [one for one in findings if one.source not in source and one.target not in target]
        return [dataclasses.replace(finding, strong=False) for finding in findings]
    if trace.attends and not trace.attends_once:
        return [*number_findings(words), *probability_findings(trace, words)]
    by_source = [*coverage_findings(trace, words), *shift_findings(trace, words)] if trace.attends else []
    by_target = [
        *uniform_findings(trace, words),
        *identical_findings(trace),
        *repeat_findings(trace, words),
        *number_findings(words),
        *probability_findings(trace, words),
    ]
    return by_source + sorted(by_target, key=lambda finding: finding.target or 0)


def cell_of(trace: Readable, finding: Finding) -> tuple[int, int | None]:
    """Return the step and the source piece, both 0-based, at which to display a finding.

    A finding about a source word alone is displayed where the word gets the most attention. One about a target word
    alone has no source piece (None); a finding about a probability is displayed at the word's least likely piece.
    """
    words = trace.words()
    if finding.target is None:
        first = finding.source or 0
        columns = [j for group in words.source_groups[first : (finding.last or first) + 1] for j in group]
        step, column = np.unravel_index(int(trace.alignment[:, columns].argmax()), (len(trace.alignment), len(columns)))
        return int(step), columns[int(column)]
    steps = words.target_groups[finding.target]
    if finding.kind in (FindingKind.IMPROBABLE, FindingKind.NUMBER) and has_word_probabilities(trace):
        return min(steps, key=lambda i: float(trace.log_probabilities[i])), None
    return steps[0], None if finding.source is None else words.source_groups[finding.source][0]


MOSTLY_FORWARD = 0.9
"""Share of moves that do not go back from which an alignment is called word by word.

A single adjective that changes sides with its noun is one move back, in about ten words.
"""
ONE_PIECE_PERPLEXITY = 1.5
"""Perplexity 2^H of a step's attention below which it is said to attend to one piece."""
SECOND_PIECE_RATIO = 0.5
"""Ratio of the second weight to the largest from which the second piece is named too."""
SURE, UNSURE = 0.9, 0.5
"""Probability from which the model is called sure of a word, and below which unsure."""


def finding_sentence(trace: Readable, finding: Finding) -> str:
    """Return a finding in words: what was measured and, if `strong`, what is likely wrong."""
    return {
        FindingKind.OMITTED: _omitted,
        FindingKind.OVERUSED: _overused,
        FindingKind.REPEATED: _repeated,
        FindingKind.UNIFORM: _uniform,
        FindingKind.COLLAPSED: _collapsed,
        FindingKind.SHIFTED: _shifted,
        FindingKind.IDENTICAL: _identical,
        FindingKind.NUMBER: _number,
        FindingKind.IMPROBABLE: _improbable,
    }[finding.kind](trace, finding)


def quoted_source_words(trace: Readable, finding: Finding) -> str:
    """Return the source words of a finding in quotation marks."""
    first = finding.source or 0
    pieces = [j for group in trace.words().source_groups[first : (finding.last or first) + 1] for j in group]
    return quote(shorten(join_pieces(trace.source_surfaces[j] for j in pieces), 60))


def _target_word(trace: Readable, finding: Finding) -> str:
    return quote(shorten(trace.words().target[finding.target or 0], 40))


def _omitted(trace: Readable, finding: Finding) -> str:
    source = quoted_source_words(trace, finding)
    if finding.last is None:
        return gettext(
            "{source} got hardly any attention ({value:.2f}, summed over all steps): was it left out of the "
            "translation?",
            source=source,
            value=finding.value,
        )
    return gettext(
        "{source} got little attention, {value:.2f} per word: was it left out of the translation?",
        source=source,
        value=finding.value,
    )


def _overused(trace: Readable, finding: Finding) -> str:
    values = {"source": quoted_source_words(trace, finding), "value": finding.value}
    if finding.strong:
        return gettext(
            "The attention on {source} adds up to {value:.1f} over all steps. This attention comes from words of "
            "the translation that the model was unsure of: are some of these words superfluous or wrong?",
            **values,
        )
    return gettext("The attention on {source} adds up to {value:.1f}: several words look at it.", **values)


def _repeated(trace: Readable, finding: Finding) -> str:
    values = {"target": _target_word(trace, finding), "count": int(finding.value)}
    if finding.source is None:
        return gettext("{target} was written {count} times, the last two times close together.", **values)
    return gettext(
        "{target} was written {count} times; each time, the model looked most at {source}.",
        source=quoted_source_words(trace, finding),
        **values,
    )


def _uniform(trace: Readable, finding: Finding) -> str:
    return gettext(
        "{target} spread its attention almost evenly: its entropy is {share} of the maximum.",
        target=_target_word(trace, finding),
        share=percent(finding.value),
    )


def _collapsed(trace: Readable, finding: Finding) -> str:
    return gettext(
        "{source} got {share} of all attention, so the alignment shows little more than this one column.",
        source=quoted_source_words(trace, finding),
        share=percent(finding.value),
    )


def _shifted(trace: Readable, finding: Finding) -> str:
    return gettext(
        "The diagonal of the heatmap is shifted. The attention of words that are the same in both languages, such as "
        "{target}, is off: {steps}.",
        target=_target_word(trace, finding),
        steps=_distance_text(int(finding.value)),
    )


def _identical(trace: Readable, finding: Finding) -> str:
    words = trace.words()
    merge = merged_cell_text(
        len(words.target_groups[finding.target or 0]), len(words.source_groups[finding.source or 0])
    )
    return gettext(
        "{target} is spelled like the source word that it looked at: α = {value:.2f}{of}.",
        target=_target_word(trace, finding),
        value=finding.value,
        of=f" ({merge})" if merge else "",
    )


def _number(trace: Readable, finding: Finding) -> str:
    return gettext(
        "The English sentence has {source}, the translation {target}: is the number wrong?",
        source=quoted_source_words(trace, finding),
        target=_target_word(trace, finding),
    )


def _improbable(trace: Readable, finding: Finding) -> str:
    target, p = _target_word(trace, finding), significant(finding.value)
    count = len(trace.words().target_groups[finding.target or 0])
    if count == 1:
        return gettext("The model found {target} unlikely: probability {p}.", target=target, p=p)
    step, _ = cell_of(trace, finding)
    return gettext(
        "The model found {target} unlikely: probability {p} for its piece {piece}.",
        target=target,
        p=p,
        piece=quoted_name(trace.target_pieces[step]),
    )


def nothing_found_text(trace: Any) -> str:
    """Return what was checked where nothing was found, and what could not be checked."""
    if not trace.translated:
        return gettext(
            "The weights show nothing unusual. The checks see weights only, neither meaning nor probabilities: they "
            "cannot tell whether the translation is right."
        )
    if trace.has_heads:
        sentences = [
            gettext(
                "No word was improbable. A step has many attention distributions, and no single distribution shows "
                "what was left out or said twice."
            )
        ]
    elif not trace.attends:
        sentences = [
            gettext(
                "No word was improbable. Without attention, attnviz cannot check whether words were left out or "
                "repeated."
            )
        ]
    else:
        sentences = [
            gettext(
                "The checks cannot see meaning: a wrong word may pass them, and a word that got attention can still "
                "be missing. They see weights and probabilities, where nothing is unusual: every content word got "
                "attention, none got too much, no word was repeated, and no word was improbable."
            )
        ]
    if trace.unknown_characters:
        listed = ", ".join(map(quote, trace.unknown_characters[:10]))
        sentences.append(
            gettext("The checks ignore the characters that the model does not know: {listed}.", listed=listed)
        )
    return " ".join(sentences)


def _distance_text(words: int) -> str:
    """Return in words how far right (positive) or left the words of a shifted diagonal attend."""
    if words > 0:
        return ngettext("{count} word to the right", "{count} words to the right", words)
    return ngettext("{count} word to the left", "{count} words to the left", -words)


def summary_sentence(summary: Summary | None) -> str:
    """Return the summary of an alignment in words."""
    if summary is None:
        return gettext("Without attention there is no alignment to read: every step got the same context vector.")
    sentences = [
        *([_order_sentence(summary)] if summary.moves else []),
        ngettext(
            "On average, the most attended piece gets {share} of a step’s attention. The attention of a step spreads "
            "over about {count:.1f} piece on average.",
            "On average, the most attended piece gets {share} of a step’s attention. The attention of a step spreads "
            "over about {count:.1f} pieces on average.",
            summary.perplexity,
            share=percent(summary.strongest),
        ),
    ]
    if summary.identical:
        sentences.append(
            ngettext(
                "One word is spelled as in the source.",
                "{count} words are spelled as in the source.",
                summary.identical,
            )
        )
    return " ".join(sentences)


def _order_sentence(summary: Summary) -> str:
    backward = summary.moves - summary.forward
    if backward == 0:
        return gettext("The attention moves through the sentence from left to right, without going back.")
    mostly, moves = summary.forward >= MOSTLY_FORWARD * summary.moves, summary.moves
    if mostly:
        return ngettext(
            "Mostly word by word: at {count} of {moves} moves from one target word to the next, the alignment goes "
            "back to the left.",
            "Mostly word by word: at {count} of {moves} moves from one target word to the next, the alignment goes "
            "back to the left.",
            backward,
            moves=moves,
        )
    return ngettext(
        "The word order changes: at {count} of {moves} moves from one target word to the next, the alignment goes "
        "back to the left.",
        "The word order changes: at {count} of {moves} moves from one target word to the next, the alignment "
        "goes back to the left.",
        backward,
        moves=moves,
    )


def step_attention_sentence(trace: Aligned, step: int) -> str:
    """Return 0-based `step` in words: attention, its width, its distance from the step before, and certainty."""
    start = gettext("Step {step}, {name}.", step=step + 1, name=quoted_name(trace.target_pieces[step]))
    sure = [_certainty_sentence(trace, step)] if isinstance(trace, Record) else []
    return " ".join([start, *_attention_sentences(trace, step), *sure])


def _attention_sentences(trace: Aligned, step: int) -> list[str]:
    if not trace.attends:
        return []
    alpha = trace.alignment[step]
    if not alpha.any():
        return [gettext("This token is linked to nothing.")]
    if is_uniform(trace, step):
        return [gettext("This step gave every piece the same share, {share}.", share=percent(float(alpha[0])))]
    first, *others = np.argsort(-alpha, kind="stable")
    attended = quoted_name(trace.source_pieces[first])
    if others and alpha[others[0]] >= SECOND_PIECE_RATIO * alpha[first]:
        attended = gettext(
            "{first}, then at {second}", first=attended, second=quoted_name(trace.source_pieces[others[0]])
        )
    bits = float(entropy(alpha))
    is_one_piece = 2**bits < ONE_PIECE_PERPLEXITY
    spread = (
        gettext("and at hardly anything else")
        if is_one_piece
        else ngettext(
            "with attention spread over about {count:.1f} pieces",
            "with attention spread over about {count:.1f} pieces",
            2**bits,
        )
    )
    sentences = [
        ngettext(
            "This step looked most at {seen}, {wide} (entropy H = {count:.2f} of {most:.2f} bits).",
            "This step looked most at {seen}, {wide} (entropy H = {count:.2f} of {most:.2f} bits).",
            bits,
            seen=attended,
            wide=spread,
            most=np.log2(len(alpha)),
        ),
    ]
    if step and not is_uniform(trace, step - 1):
        sentences.append(_move_sentence(int(first) - int(trace.alignment[step - 1].argmax())))
    return sentences


def _move_sentence(pieces: int) -> str:
    """Return in words how far forward (positive) or back a step attends from the one before."""
    if pieces == 0:
        return gettext("This step and the previous step looked most at the same piece.")
    if pieces > 0:
        return ngettext(
            "This step looked {count} piece further to the right than the previous step.",
            "This step looked {count} pieces further to the right than the previous step.",
            pieces,
        )
    return ngettext(
        "This step looked {count} piece further to the left than the previous step.",
        "This step looked {count} pieces further to the left than the previous step.",
        -pieces,
    )


def _certainty_sentence(trace: Record, step: int) -> str:
    p = float(trace.probabilities[step])
    foils = [k for k, index in enumerate(trace.top_ids[step]) if index != trace.target_ids[step]]
    sure = gettext("sure") if p >= SURE else gettext("fairly sure") if p >= UNSURE else gettext("unsure")
    if not foils:
        return gettext("The model was {sure} of the word.", sure=sure)
    foil, q = trace.top_pieces[step][foils[0]], float(trace.top_probabilities[step][foils[0]])
    name, share = quoted_name(foil), percent(q)
    if q > p:
        return gettext("The model preferred {name}, with probability {share}.", name=name, share=share)
    return gettext(
        "The model was {sure} of the word; the next most likely piece was {name}, with probability {share}.",
        sure=sure,
        name=name,
        share=share,
    )
