"""The alignment and the step read aloud: findings, the whole alignment, and each step in plain words."""

from __future__ import annotations

import numpy as np

from attnviz.analysis.findings import Finding, Kind, Summary
from attnviz.analysis.measures import entropy
from attnviz.languages import say
from attnviz.text import piece_name
from attnviz.trace import Trace
from attnviz.wording.labels import quote, shorten

MOSTLY_FORWARD = 0.9
"""Share of moves to the right, or none, from which an alignment is called word by word: one move back in ten words is
a single adjective that changed its side."""
ALONE = 1.5
"""2^H below which a step is said to look at one piece: the rest of its look is a few per cent."""
HARDLY_LESS = 0.5
"""Share of the largest weight from which the second is named too."""
SURE, UNSURE = 0.9, 0.5
"""Probability from which the model is called sure of a word, and below which unsure: then all others together were
likelier."""


def finding_sentence(trace: Trace, finding: Finding) -> str:
    """Return a finding in plain words."""
    words = trace.words()
    forced = trace.search.method == "forced"
    return _templates(forced)[finding.kind].format(
        source="" if finding.source is None else shorten(words.source[finding.source], 40),
        target="" if finding.target is None else shorten(words.target[finding.target], 40),
        value=finding.value, percent=f"{finding.value:.0%}".replace("%", " %"),
        steps=_distance(int(finding.value)),
    )  # fmt: skip


def _templates(forced: bool) -> dict[Kind, str]:
    """Return what is said of each kind of finding; a word that was given is no guess."""
    return {
        Kind.OMITTED: say("“{source}” was hardly looked at, {value:.2f} in all: left out?"),
        Kind.OVERUSED: say("“{source}” was looked at {value:.1f} times in all: said twice?"),
        Kind.REPEATED: say("“{target}” was written {value:.0f} times, each time looking most at “{source}”."),
        Kind.UNIFORM: say("“{target}” looked everywhere alike: its entropy is {percent} of the largest."),
        Kind.COLLAPSED: say("“{source}” got {percent} of all attention: the alignment has collapsed into one column."),
        Kind.SHIFTED: say("The diagonal is shifted: words that are the same in both languages, such as “{target}”, "
                          "look {steps} of themselves."),
        Kind.COPIED: say("“{target}” is copied: it looked at itself, {percent}."),
        Kind.IMPROBABLE: say("The model found “{target}” unlikely: probability {value:.2g}.") if forced
        else say("“{target}” was a guess: probability {value:.2g}."),
    }  # fmt: skip


def _distance(words: int) -> str:
    """Return in words how far to the right (positive) or left the words of a shifted diagonal look."""
    if abs(words) == 1:
        return say("1 word to the right") if words > 0 else say("1 word to the left")
    if words > 0:
        return say("{count} words to the right", count=words)
    return say("{count} words to the left", count=-words)


def summary_sentence(trace: Trace, summary: Summary | None) -> str:
    """Return the whole alignment in plain words."""
    if summary is None:
        return say("Without attention there is no alignment to read: every step got the same context vector.")
    told = [
        _order(summary),
        say("A step looks at {alike:.1f} of {count} pieces, as it were, and gives the strongest {percent:.0f} % on "
            "average.", alike=summary.alike, count=len(trace.source_pieces), percent=100 * summary.strongest),
    ]  # fmt: skip
    if summary.copied == 1:
        told.append(say("One word is copied."))
    elif summary.copied:
        told.append(say("{count} words are copied.", count=summary.copied))
    return " ".join(told)


def _order(summary: Summary) -> str:
    back = summary.moves - summary.forward
    if back == 0:
        return say("The sentence was read from left to right, without a step back.")
    if summary.forward >= MOSTLY_FORWARD * summary.moves:
        return say("Mostly word by word: {back} of {moves} moves from word to word go back to the left.",
                   back=back, moves=summary.moves)  # fmt: skip
    return say("With changes of order: {back} of {moves} moves from word to word go back to the left.",
               back=back, moves=summary.moves)  # fmt: skip


def step_reading(trace: Trace, step: int) -> str:
    """Return 0-based `step` in plain words: where it looked, how widely, how far from the step before, how surely."""
    name = shorten(piece_name(trace.target_pieces[step]), 30)
    start = say("Step {step}, “{name}”.", step=step + 1, name=name)
    return " ".join([start, *_look(trace, step), _certainty(trace, step)])


def _look(trace: Trace, step: int) -> list[str]:
    if trace.config["attention"] == "none":
        return []
    alpha = trace.alignment[step]
    names = [quote(shorten(piece_name(piece), 30)) for piece in trace.source_pieces]
    first, *others = np.argsort(-alpha, kind="stable")
    seen = names[first]
    if others and alpha[others[0]] >= HARDLY_LESS * alpha[first]:
        seen = say("{first}, then at {second}", first=seen, second=names[others[0]])
    bits = float(entropy(alpha))
    alone = 2**bits < ALONE
    wide = say("at that one alone") if alone else say("as widely as {count:.1f} pieces alike", count=2**bits)
    told = [
        say("It looked most at {seen}, {wide} (H = {bits:.2f} of {most:.2f} bits).",
            seen=seen, wide=wide, bits=bits, most=np.log2(len(alpha))),
    ]  # fmt: skip
    if step:
        told.append(_move(int(first) - int(trace.alignment[step - 1].argmax())))
    return told


def _move(pieces: int) -> str:
    """Return in words how far on (positive) or back a step looks from the one before."""
    if pieces == 0:
        return say("That is where the step before looked.")
    if abs(pieces) == 1:
        on, back = say("That is 1 piece on from the step before."), say("That is 1 piece back from the step before.")
        return on if pieces > 0 else back
    if pieces > 0:
        return say("That is {count} pieces on from the step before.", count=pieces)
    return say("That is {count} pieces back from the step before.", count=-pieces)


def _certainty(trace: Trace, step: int) -> str:
    p = float(trace.probabilities[step])
    rivals = [k for k, index in enumerate(trace.top_ids[step]) if index != trace.target_ids[step]]
    sure = say("sure") if p >= SURE else say("fairly sure") if p >= UNSURE else say("unsure")
    if not rivals:
        return say("The model was {sure} of the word.", sure=sure)
    rival, q = trace.top_pieces[step][rivals[0]], float(trace.top_probabilities[step][rivals[0]])
    name = quote(shorten(piece_name(rival), 30))
    if q > p:
        return say("The model would rather have said {name}, {percent:.0f} %.", name=name, percent=100 * q)
    return say("The model was {sure} of the word; next came {name} with {percent:.0f} %.",
               sure=sure, name=name, percent=100 * q)  # fmt: skip
