"""An alignment in a few numbers and sentences: its order, its width, and the attention and certainty of each step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attnviz.analysis.findings import identical_findings
from attnviz.analysis.labels import percent, quoted_name
from attnviz.analysis.measures import attended_words, entropy, is_uniform, ranked
from attnviz.analysis.what_if_effects import foils_of
from attnviz.languages import gettext, ngettext
from attnviz.trace import Aligned, Record


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


def summary_sentence(summary: Summary | None) -> str:
    """Return the summary of an alignment in words."""
    if summary is None:
        return gettext("Without attention there is no alignment to read: every step got the same context vector.")
    backward, mostly = summary.moves - summary.forward, summary.forward >= MOSTLY_FORWARD * summary.moves
    sentences = []
    if summary.moves and not backward:
        sentences.append(gettext("The attention moves through the sentence from left to right, without going back."))
    elif summary.moves:
        sentences.append(
            ngettext(
                "Mostly word by word: at {count} of {moves} moves from one target word to the next, the alignment goes "
                "back to the left."
                if mostly
                else "The word order changes: at {count} of {moves} moves from one target word to the next, the "
                "alignment goes back to the left.",
                "Mostly word by word: at {count} of {moves} moves from one target word to the next, the alignment goes "
                "back to the left."
                if mostly
                else "The word order changes: at {count} of {moves} moves from one target word to the next, the "
                "alignment goes back to the left.",
                backward,
                moves=summary.moves,
            )
        )
    sentences.append(
        ngettext(
            "On average, the most attended piece gets {share} of a step’s attention. The attention of a step spreads "
            "over about {count:.1f} piece on average.",
            "On average, the most attended piece gets {share} of a step’s attention. The attention of a step spreads "
            "over about {count:.1f} pieces on average.",
            summary.perplexity,
            share=percent(summary.strongest),
        )
    )
    if summary.identical:
        sentences.append(
            ngettext(
                "One word is spelled as in the source.",
                "{count} words are spelled as in the source.",
                summary.identical,
            )
        )
    return " ".join(sentences)


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
        return [gettext("This step gave every piece the same share, {share}.", share=percent(alpha[0]))]
    first, *others = ranked(alpha)
    attended = quoted_name(trace.source_surfaces[first])
    if others and alpha[others[0]] >= SECOND_PIECE_RATIO * alpha[first]:
        attended = gettext(
            "{first}, then at {second}", first=attended, second=quoted_name(trace.source_surfaces[others[0]])
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
        moved = first - int(trace.alignment[step - 1].argmax())
        if moved == 0:
            sentences.append(gettext("This step and the previous step looked most at the same piece."))
        else:
            sentences.append(
                ngettext(
                    "This step looked {count} piece further to the right than the previous step."
                    if moved > 0
                    else "This step looked {count} piece further to the left than the previous step.",
                    "This step looked {count} pieces further to the right than the previous step."
                    if moved > 0
                    else "This step looked {count} pieces further to the left than the previous step.",
                    abs(moved),
                )
            )
    return sentences


def _certainty_sentence(trace: Record, step: int) -> str:
    p = float(trace.probabilities[step])
    foils = foils_of(trace, step)
    sure = gettext("sure" if p >= SURE else "fairly sure" if p >= UNSURE else "unsure")
    if not foils:
        return gettext("The model was {sure} of the word.", sure=sure)
    _, foil, q = foils[0]
    name, share = quoted_name(foil), percent(q)
    if q > p:
        return gettext("The model preferred {name}, with probability {share}.", name=name, share=share)
    return gettext(
        "The model was {sure} of the word; the next most likely piece was {name}, with probability {share}.",
        sure=sure,
        name=name,
        share=share,
    )
