"""Texts about what-ifs (translations after a change by hand): changes, interventions, and their effect on a step."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from typing import Any, Literal, cast

from attnviz.analysis.what_ifs import PieceChange, StepChange
from attnviz.languages import format_share, gettext
from attnviz.text import EOS, SPACE, SPECIAL_PIECES, join_pieces
from attnviz.trace import Record, Trace, WhatIfs
from attnviz.trace.interventions import (
    ExcludePosition,
    ForceWords,
    Intervention,
    ReplaceEnergies,
    ReplaceWeights,
    Temperature,
    interventions_at,
)
from attnviz.trace.transformer_trace import Head
from attnviz.wording.labels import quote, quoted_name, shorten
from attnviz.wording.numbers import decimal, percent, significant

WordKind = Literal["same", "other", "gone"]
SpacedWords = Sequence[tuple[str, bool]]
"""Words, each with whether a space precedes it."""


def mean_context_name() -> str:
    """Return the name of the choice that gives the decoder the mean of the annotations at every step."""
    return gettext("always the mean annotation")


@dataclass(frozen=True)
class Word:
    """A word of a what-if, compared with the first translation."""

    text: str
    kind: WordKind
    """"same" or "other" than in the first translation, or "gone" where only the first has it."""
    space: bool
    """Whether a space precedes it."""


@dataclass(frozen=True)
class WhatIfTexts:
    """A what-if, or the first translation, in words."""

    description: str
    """The change."""
    on: str
    """What the change was made to, if not to the first translation."""
    words: tuple[Word, ...]
    per_word: str
    """Log probability per word."""


def cards(what_ifs: WhatIfs) -> list[WhatIfTexts]:
    """Return the first translation and each of its what-ifs in words."""
    return [_texts_of(what_ifs, number) for number in range(len(what_ifs.what_ifs) + 1)]


def what_ifs_payload(what_ifs: WhatIfs) -> dict[str, Any]:
    """Return the what-ifs as a JSON payload for the browser, with their labels."""
    words = {
        "title": gettext("What if"),
        "undo": gettext("Undo"),
        "all": gettext("All what-ifs ({count})"),
        "rate": gettext("log p/word"),
        "about": gettext(
            "Log probability of all pieces, divided by the number of words. The nearer to 0, the more probable "
            "the translation."
        ),
        "gone": gettext("left out: {word}"),
    }
    return {"cards": [asdict(texts) for texts in cards(what_ifs)], "words": words}


def probability_change_text(piece: str, before: float, after: float) -> str:
    """Return how the probability of `piece` changes, as “verte”: 56 % → 10 %."""
    was, becomes = format_share(before), format_share(after)
    if was == becomes:
        return gettext("{piece} keeps {share}", piece=quoted_name(piece), share=was)
    return gettext("{piece}: {before} → {after}", piece=quoted_name(piece), before=was, after=becomes)


def log_probability_per_word(trace: Trace) -> float:
    """Return Σ_i log p(y_i) over all pieces, `</s>` included, divided by the number of words."""
    words = [group for group in trace.words().target_groups if trace.target_pieces[group[0]] != "</s>"]
    return float(trace.log_probabilities.sum()) / max(len(words), 1)


def intervention_text(intervention: Intervention, trace: Record | Head, parent: Record | Head) -> str:
    """Return the sentence of the intervention that made `trace` from `parent`."""
    step = (intervention.step or 0) + 1
    match intervention:
        case ReplaceWeights():
            return _weights_text(intervention, trace)
        case ReplaceEnergies(step=None):
            return gettext("Every step has the same energies, set by hand")
        case ReplaceEnergies():
            return gettext("Step {step} has energies set by hand", step=step)
        case Temperature(temperature=math.inf, step=None):
            return gettext("Every step gets the mean of all annotations")
        case Temperature(temperature=temperature, step=None):
            return gettext("Temperature {temperature} at every step", temperature=significant(temperature, 3))
        case Temperature(temperature=temperature):
            return gettext(
                "Temperature {temperature} at step {step}", temperature=significant(temperature, 3), step=step
            )
        case ExcludePosition(position=position, step=None):
            return gettext("No step looks at {piece}", piece=quoted_name(trace.source_pieces[position]))
        case ExcludePosition(position=position):
            return gettext(
                "Step {step} does not look at {piece}", step=step, piece=quoted_name(trace.source_pieces[position])
            )
        case ForceWords() if _is_hypothesis(intervention):
            return gettext("Another beam search hypothesis")
        case ForceWords(pieces=pieces, replaced=replaced):
            return gettext(
                "Step {step}: {new} instead of {old}",
                step=step,
                new=_written_text(trace, step - 1, len(pieces)),
                old=_written_text(parent, step - 1, replaced),
            )


def _is_hypothesis(intervention: Intervention) -> bool:
    """Return whether it writes a whole translation."""
    return isinstance(intervention, ForceWords) and not intervention.step and intervention.pieces[-1] == EOS


def _weights_text(change: ReplaceWeights, trace: Record | Head) -> str:
    if change.step is None:
        if change.lender == "step":
            return gettext("Every step gets the context vector of step {step}", step=int(change.of) + 1)
        return gettext("Every step has the same weights, set by hand")
    step = change.step + 1
    match change.lender:
        case "step":
            return gettext("Step {step} looks where step {other} looked", step=step, other=int(change.of) + 1)
        case "posterior":
            return gettext("Step {step} uses its posterior attention", step=step)
        case "links":
            return gettext("Step {step} follows the gold links", step=step)
        case "model":
            return gettext("Step {step} looks where {model} looks", step=step, model=change.of)
    if change.only is not None:
        return gettext(
            "Step {step} looks only at {piece}", step=step, piece=quoted_name(trace.source_pieces[change.only])
        )
    if change.uniform:
        return gettext("Step {step} looks at all pieces equally", step=step)
    return gettext("Step {step} has weights set by hand", step=step)


def _texts_of(what_ifs: WhatIfs, number: int) -> WhatIfTexts:
    trace, first = what_ifs.trace(number), what_ifs.first
    if not number:
        return WhatIfTexts(
            gettext("First translation"), "", tuple(words_with_changes(first, first)), _per_word_text(first)
        )
    what_if, parent = what_ifs.what_ifs[number - 1], cast("Trace", what_ifs.parent(number))
    text = intervention_text(what_if.intervention, trace, parent)
    if what_if.held and not _is_hypothesis(what_if.intervention):
        text = gettext("{told}, words kept", told=text)
    on = gettext("from what-if {number}", number=what_if.parent) if what_if.parent else ""
    return WhatIfTexts(text, on, tuple(words_with_changes(trace, first)), _per_word_text(trace))


def _per_word_text(trace: Trace) -> str:
    return decimal(log_probability_per_word(trace))


def words_with_changes(trace: Trace, first: Trace) -> Iterator[Word]:
    """Yield the words of `trace`, compared with those of `first`, without `</s>`.

    A word of `first` that is missing between two that stayed is among them.
    """
    yield from changed_words(_spaced_words(trace), _spaced_words(first))


def changed_words(words: SpacedWords, first_words: SpacedWords) -> Iterator[Word]:
    """Yield `words`, compared with `first_words`; both have for each word whether a space precedes it.

    The words before the first difference stay the same: otherwise, of two equal words, the first could be marked
    where the second was added.
    """
    old, new = ([text for text, _ in given] for given in (first_words, words))
    start = next(
        (k for k, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), min(len(old), len(new))
    )
    yield from (Word(text, "same", space) for text, space in words[:start])
    matcher = SequenceMatcher(None, old[start:], new[start:], autojunk=False)
    for kind, i, end, j, last in matcher.get_opcodes():
        if kind == "delete":
            yield from (Word(text, "gone", space) for text, space in first_words[start + i : start + end])
        else:
            state: WordKind = "same" if kind == "equal" else "other"
            yield from (Word(text, state, space) for text, space in words[start + j : start + last])


def _spaced_words(trace: Trace) -> SpacedWords:
    """Return the words of a translation without `</s>`, each with whether a space precedes it."""
    words = zip(trace.words().target, trace.words().target_groups, strict=True)
    spaced: list[tuple[str, bool]] = []
    for text, group in words:
        first = trace.target_pieces[group[0]]
        if first != "</s>":
            spaced.append((text, bool(spaced) and (first in SPECIAL_PIECES or first.startswith(SPACE))))
    return spaced


def _written_text(trace: Record | Head, step: int, count: int) -> str:
    """Return the text of `count` pieces of a translation, in quotation marks."""
    pieces = trace.target_pieces[step : step + count]
    return quoted_name(pieces[0]) if len(pieces) == 1 else quote(shorten(join_pieces(pieces), 30))


def interventions_text(trace: Trace | Head, step: int) -> str:
    """Return the interventions on the attention of 0-based `step`, in their order; empty without any."""
    texts = [intervention_text(one, trace, trace) for one in interventions_at(trace.interventions, step)]
    return ", ".join(text[:1].lower() + text[1:] for text in texts)


def change_sentence(change: StepChange) -> str:
    """Return what changed at a step, compared with the translation before the intervention."""
    after = probability_text(change.written.after, change.least[1])
    name = quoted_name(change.written.piece)
    if change.unchanged:
        return gettext("Nothing changed at this step.")
    if change.moment == "none" or change.written_before is None:
        return gettext(
            "Before the change, the translation ended before this step. Now this step writes {name} with "
            "probability {p}.",
            name=name,
            p=after,
        )
    sentence = _movement_sentence(change)
    if change.moment == "other words":
        sentence = gettext("The words before this step have changed.") + f" {sentence}"
    return " ".join(filter(None, (sentence, _word_sentence(change, name, after), _likelier_sentence(change))))


def _likelier_sentence(change: StepChange) -> str:
    """Return which piece is more likely than the one that is written; empty where none is."""
    likeliest = max(change.pieces, key=lambda one: one.after or 0)
    if (likeliest.after or 0) <= (change.written.after or 0):
        return ""
    return gettext(
        "{name} is more likely than the written piece, with {p}.",
        name=quoted_name(likeliest.piece),
        p=probability_text(likeliest.after, change.least[1]),
    )


def _word_sentence(change: StepChange, name: str, after: str) -> str:
    previous_choice, least = change.written_before, change.least
    before = probability_text(change.written.before, least[0])
    if previous_choice is None or previous_choice.piece_id == change.written.piece_id:
        return gettext(
            "This step still writes {name}; its probability goes from {before} to {p}.",
            name=name,
            p=after,
            before=before,
        )
    return gettext(
        "This step now writes {name}: its probability goes from {before} to {p}. The probability of the previous "
        "choice, {other}, goes from {r} to {q}.",
        name=name,
        p=after,
        before=before,
        other=quoted_name(previous_choice.piece),
        q=probability_text(previous_choice.after, least[1]),
        r=probability_text(previous_choice.before, least[0]),
    )


def change_alt(change: StepChange) -> str:
    """Return the text alternative of the figure of a step's change."""
    listed = "; ".join(
        gettext(
            "{name}: {before} before, {after} after",
            name=quoted_name(piece_change.piece),
            before=_probability_before(change, piece_change),
            after=probability_text(piece_change.after, change.least[1]),
        )
        for piece_change in change.pieces
    )
    sentence = gettext(
        "Most probable pieces of step {step} before and after the change: {listed}.",
        step=change.step + 1,
        listed=listed,
    )
    return sentence if change.moment == "none" else f"{sentence} {_movement_sentence(change)}"


def _movement_sentence(change: StepChange) -> str:
    return gettext(
        "The change moved the context vector by {context} of its length, and the decoder state by {state} of its "
        "own length.",
        context=percent(change.context),
        state=percent(change.state),
    )


def _probability_before(change: StepChange, piece_change: PieceChange) -> str:
    return gettext("not there") if change.moment == "none" else probability_text(piece_change.before, change.least[0])


def probability_text(p: float | None, least: float) -> str:
    """Return a probability as a percentage; for None, that it is below `least`."""
    if p is not None:
        return percent(p)
    return gettext("less than {share}", share=format_share(max(1, math.ceil(100 * least)) / 100))
