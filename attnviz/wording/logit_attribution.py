"""Titles and sentences of a logit attribution, and the source pieces with much attention but little effect."""

from __future__ import annotations

from typing import Any

import numpy as np

from attnviz.analysis.logit_attribution import LogitAttribution
from attnviz.languages import gettext
from attnviz.text import piece_name
from attnviz.trace import Trace
from attnviz.wording.labels import quote, shorten
from attnviz.wording.numbers import decimal, signed, thousands

MUCH_WEIGHT = 0.2
"""Attention from which a source piece is expected to matter: a fifth, more than an equal share of six pieces."""
LITTLE_EFFECT = 0.03
"""Share of the sum of absolute contributions below which a contribution counts as none; its bar is invisible."""


def logit_attribution_heading(name: str, foil: str | None = None) -> str:
    """Return the title of a logit attribution; `name` and `foil` are the quoted piece and foil."""
    if foil is None:
        return gettext("Logit attribution: {name} against the mean of the vocabulary", name=name)
    return gettext("Why {name} and not {against}", name=name, against=foil)


def logit_attribution_title(name: str, foil: str | None = None) -> str:
    """Return what the bars add up to, for an axis; `name` and `foil` are piece and foil."""
    if foil is None:
        return gettext("{name} − mean", name=shorten(name, 9))
    return f"{shorten(name, 9)} − {shorten(foil, 9)}"


def logit_attribution_sentence(trace: Trace, entries: LogitAttribution, name: str, foil: str | None) -> str:
    """Return the logit attribution in words; `name` and `foil` are piece and foil."""
    state_name = gettext("the new state s_i") if trace.reads_new_state else gettext("the state")
    attends = trace.attends
    parts = gettext(
        "{source} {amount}, {through} {state}, the previous word {previous}, the bias {bias}.",
        source=gettext("the source words add") if attends else gettext("the vector of the whole sentence adds"),
        amount=signed(float(entries.source.sum())),
        through=state_name,
        state=signed(entries.state),
        previous=signed(entries.previous_word),
        bias=signed(entries.bias),
    )
    logit = signed(entries.logit)
    if foil is None:
        sentences = [
            gettext(
                "The logit of “{name}” minus the mean logit of the vocabulary is {logit}: {parts}",
                name=name,
                logit=logit,
                parts=parts,
            )
        ]
    else:
        likelier, less_likely = (name, foil) if entries.logit >= 0 else (foil, name)
        sentences = [
            gettext(
                "“{ahead}” is {often} as likely as “{behind}”. The logit of “{name}” minus that of “{foil}” is "
                "{logit}: {parts}",
                ahead=likelier,
                often=odds_text(abs(entries.logit)),
                behind=less_likely,
                name=name,
                foil=foil,
                logit=logit,
                parts=parts,
            )
        ]
    if not attends:
        return sentences[0]
    names = [piece_name(piece) for piece in trace.source_pieces]
    alpha = trace.alignment[entries.step]
    strongest = int(np.abs(entries.source).argmax())
    amount = signed(float(entries.source[strongest]))
    sentences.append(
        gettext(
            "The source piece “{name}” has the largest effect: {amount}, with attention weight {weight:.2f}.",
            name=names[strongest],
            amount=amount,
            weight=alpha[strongest],
        )
    )
    idle = idle_sources(entries, alpha)
    if idle:
        listed = ", ".join(f"{quote(names[j])} ({decimal(float(alpha[j]))})" for j in idle)
        sentences.append(gettext("Source pieces with much attention but almost no effect: {listed}.", listed=listed))
    return " ".join(sentences)


def odds_text(difference: float) -> str:
    """Return in words how many times likelier a `difference` of logits, from 0, makes a piece."""
    times = np.exp(min(difference, 50))
    if times >= 1e6:
        return gettext("more than a million times")
    if times < 1000:
        return gettext("{count} times", count=decimal(times, 1 if times < 100 else 0))
    return gettext("about {count} times", count=thousands(round(float(f"{times:.1e}"))))


def idle_sources(entries: LogitAttribution, alpha: np.ndarray[Any, Any]) -> list[int]:
    """Return the source pieces with much attention `alpha` (Tx,) and almost no effect on the logit.

    The thresholds are MUCH_WEIGHT and LITTLE_EFFECT.
    """
    total = abs(entries.bias) + abs(entries.state) + abs(entries.previous_word) + float(np.abs(entries.source).sum())
    small = np.abs(entries.source) < LITTLE_EFFECT * total
    return [int(j) for j in np.flatnonzero((alpha >= MUCH_WEIGHT) & small)]


def no_logit_attribution_reason() -> str:
    """Return why a logit does not split into parts in a model with a tanh or a cell before its output layer."""
    return gettext(
        "This model has no logit attribution, because a logit does not split into one part per input. A tanh or a GRU "
        "lies between the context vector and the logit."
    )
