"""Words about the numbers: the alignment and the step read aloud, each finding a way to its cell."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from attnviz.analysis.measures import entropy
from attnviz.analysis.reading import Finding, Kind, Summary, place, read, summarise
from attnviz.figures.labels import piece_name, shorten
from attnviz.figures.palette import ThemeName
from attnviz.trace import Trace
from attnviz.ui.components import component
from attnviz.ui.resources import trace_identity

AT_ONCE = 5
"""Findings on show before one asks for the rest."""

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

FINDINGS = {
    Kind.OMITTED: "“{source}” was hardly looked at, {value:.2f} in all: left out?",
    Kind.OVERUSED: "“{source}” was looked at {value:.1f} times in all: said twice?",
    Kind.UNIFORM: "“{target}” looked everywhere alike: its entropy is {percent} of the largest.",
    Kind.COLLAPSED: "“{source}” got {percent} of all attention: the alignment has collapsed into one column.",
    Kind.SHIFTED: "The diagonal is shifted: words that are the same in both languages, such as “{target}”, look "
    "{steps} of themselves.",
    Kind.COPIED: "“{target}” is copied: it looked at itself, {percent}.",
    Kind.IMPROBABLE: "“{target}” was a guess: probability {value:.2g}.",
}
FORCED = "The model found “{target}” unlikely: probability {value:.2g}."
"""Instead of a guess, where the translation was given."""
NOTHING = "Nothing stands out: no word left out, looked at too often or guessed."
NO_ATTENTION = "Without attention there is no alignment to read: every step got the same context vector."
SEVERITY = (
    Kind.COLLAPSED, Kind.SHIFTED, Kind.OMITTED, Kind.OVERUSED, Kind.UNIFORM, Kind.IMPROBABLE, Kind.COPIED,
)  # fmt: skip
"""What is told first."""


def reading_view(trace: Trace, theme: ThemeName) -> None:  # noqa: ARG001  its colours are the page's own
    """Write the reading of the alignment and of the step on show."""
    component("reading", "html", "css", isolate=False)(key="reading", data=_record(trace, trace_identity(trace)))


@st.cache_data(max_entries=64, show_spinner=False)
def _record(_trace: Trace, identity: tuple[object, ...]) -> dict[str, Any]:  # noqa: ARG001  the key of the cache
    return reading_record(_trace)


def reading_record(trace: Trace) -> dict[str, Any]:
    """Return what the browser writes, the same at every step: plain text, and for each finding the cell it leads to,
    from 1 (`source` None: whichever was looked at most)."""
    found = sorted(read(trace), key=lambda finding: SEVERITY.index(finding.kind))
    entries = []
    for finding in found:
        step, source = place(trace, finding)
        cell = {"step": step + 1, "source": None if source is None else source + 1}
        entries.append({"text": finding_sentence(trace, finding), "kind": finding.kind.value} | cell)
    return {
        "summary": summary_sentence(trace, summarise(trace)) + ("" if entries else f" {NOTHING}"),
        "findings": entries,
        "steps": {str(i + 1): step_reading(trace, i) for i in range(len(trace.target_pieces))},
        "atOnce": AT_ONCE, "more": "{n} more",
    }  # fmt: skip


def finding_sentence(trace: Trace, finding: Finding) -> str:
    """Return a finding in plain words."""
    words = trace.words()
    template = FINDINGS[finding.kind]
    if finding.kind is Kind.IMPROBABLE and trace.search.method == "forced":
        template = FORCED
    distance = abs(int(finding.value))
    side = "right" if finding.value > 0 else "left"
    return template.format(
        source="" if finding.source is None else shorten(words.source[finding.source], 40),
        target="" if finding.target is None else shorten(words.target[finding.target], 40),
        value=finding.value, percent=f"{finding.value:.0%}".replace("%", " %"),
        steps=f"{distance} {'word' if distance == 1 else 'words'} to the {side}",
    )  # fmt: skip


def summary_sentence(trace: Trace, summary: Summary | None) -> str:
    """Return the whole alignment in plain words."""
    if summary is None:
        return NO_ATTENTION
    back = summary.moves - summary.forward
    if back == 0:
        order = "The sentence was read from left to right, without a step back."
    else:
        how = "Mostly word by word" if summary.forward >= MOSTLY_FORWARD * summary.moves else "With changes of order"
        order = f"{how}: {back} of {summary.moves} moves from word to word go back to the left."
    spread = (
        f"A step looks at {summary.alike:.1f} of {len(trace.source_pieces)} pieces, as it were, and gives the "
        f"strongest {100 * summary.strongest:.0f} % on average."
    )
    copied = (
        ["", " One word is copied."][summary.copied] if summary.copied < 2 else f" {summary.copied} words are copied."
    )
    return f"{order} {spread}{copied}"


def step_reading(trace: Trace, step: int) -> str:
    """Return 0-based `step` in plain words: where it looked, how widely, how far from the step before, how surely."""
    name = shorten(piece_name(trace.target_pieces[step]), 30)
    return " ".join([f"Step {step + 1}, “{name}”.", *_look(trace, step), _certainty(trace, step)])


def _look(trace: Trace, step: int) -> list[str]:
    if trace.config["attention"] == "none":
        return []
    alpha = trace.alignment[step]
    names = [f"“{shorten(piece_name(piece), 30)}”" for piece in trace.source_pieces]
    first, *others = np.argsort(-alpha, kind="stable")
    second = f", then at {names[others[0]]}" if others and alpha[others[0]] >= HARDLY_LESS * alpha[first] else ""
    bits = float(entropy(alpha))
    wide = "at that one alone" if 2**bits < ALONE else f"as widely as {2**bits:.1f} pieces alike"
    told = [f"It looked most at {names[first]}{second}, {wide} (H = {bits:.2f} of {np.log2(len(alpha)):.2f} bits)."]
    if step:
        move = int(first) - int(trace.alignment[step - 1].argmax())
        if move == 0:
            told.append("That is where the step before looked.")
        else:
            pieces = f"{abs(move)} {'piece' if abs(move) == 1 else 'pieces'}"
            told.append(f"That is {pieces} {'on' if move > 0 else 'back'} from the step before.")
    return told


def _certainty(trace: Trace, step: int) -> str:
    p = float(trace.probabilities[step])
    rivals = [k for k, index in enumerate(trace.top_ids[step]) if index != trace.target_ids[step]]
    sure = "sure" if p >= SURE else "fairly sure" if p >= UNSURE else "unsure"
    if not rivals:
        return f"The model was {sure} of the word."
    rival, q = trace.top_pieces[step][rivals[0]], float(trace.top_probabilities[step][rivals[0]])
    name = f"“{shorten(piece_name(rival), 30)}”"
    if q > p:
        return f"The model would rather have said {name}, {100 * q:.0f} %."
    return f"The model was {sure} of the word; next came {name} with {100 * q:.0f} %."
