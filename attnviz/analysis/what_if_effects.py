"""What-ifs: weights to copy, the effect of a change on a step, and sentences about changes and effects."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from attnviz.analysis.labels import decimal, percent, quote, quoted_name, significant
from attnviz.errors import user_error
from attnviz.languages import format_share, gettext, gettexts
from attnviz.text import EOS, SPACE, follows_space, join_pieces
from attnviz.trace import Array, FloatArray, Head, Record, Trace, WhatIfs, float64, interventions_at
from attnviz.trace.interventions import (
    ExcludePosition,
    ForceWords,
    Intervention,
    ReplaceEnergies,
    ReplaceWeights,
    Temperature,
)

UNCHANGED = 1e-4
"""Change of a vector's length, or of a probability, that counts as unchanged; rounding causes less."""

Moment = Literal["same", "other words", "none"]
"""Whether the words before a step are the same in both translations; "none" where the other ended before."""


class PieceChange(NamedTuple):
    """Probabilities of a piece before and after."""

    piece_id: int
    piece: str
    before: float | None
    """Probability in the other translation; None where not recorded, which means below the recorded ones."""
    after: float | None
    """Probability in the changed translation; None where not recorded."""


@dataclass(frozen=True, eq=False)
class StepChange:
    """A step of a changed translation, compared with the same step of another; numbers of "none" are 0."""

    step: int
    """0-based step."""
    moment: Moment
    context: float
    """||c' - c|| / ||c||, from 0."""
    state: float
    """||s' - s|| / ||s||, from 0."""
    pieces: tuple[PieceChange, ...]
    """The likeliest pieces of both, by the larger probability; both written pieces are among them."""
    written: PieceChange
    """The piece that the changed translation wrote."""
    written_before: PieceChange | None
    """The piece that the other translation wrote; None where it ended before."""
    least: tuple[float, float]
    """Smallest recorded probabilities, before and after; unrecorded pieces are below."""

    @property
    def unchanged(self) -> bool:
        """Whether context, state, pieces and probabilities are the same within UNCHANGED."""
        if self.moment == "none" or max(self.context, self.state) > UNCHANGED:
            return False
        changes = (abs((piece.after or 0) - (piece.before or 0)) for piece in self.pieces)
        return self.written_before == self.written and max(changes) <= UNCHANGED


_MOST = 10
"""Number of pieces in a change."""


def step_change(before: Trace, after: Trace, step: int) -> StepChange:
    """Return the change of 0-based `step` from `before` to `after`, with the ten likeliest pieces.

    `after` is the same sentence with an intervention. Raise IndexError where it has no such step.
    """
    step = range(len(after.target_ids))[step]
    moment: Moment = "same" if before.target_ids[:step] == after.target_ids[:step] else "other words"
    moment = moment if step < len(before.target_ids) else "none"
    traces = (after,) if moment == "none" else (before, after)
    *earlier, recorded_after = (recorded_pieces(trace, step) for trace in traces)
    recorded_before = earlier[0] if earlier else {}
    changes = {
        piece: PieceChange(
            piece,
            (recorded_after.get(piece) or recorded_before[piece])[0],
            *(side[piece][1] if piece in side else None for side in (recorded_before, recorded_after)),
        )
        for piece in {**recorded_after, **recorded_before}
    }
    written = changes[after.target_ids[step]]
    written_before = changes[before.target_ids[step]] if earlier else None
    # The likeliest pieces, before or after, with the written ones, by the new probability.
    likeliest = sorted(changes.values(), key=lambda change: -max(change.before or 0, change.after or 0))
    others = [change for change in (written, written_before) if change is not None and change not in likeliest[:_MOST]]
    pieces = sorted(
        likeliest[: _MOST - len(others)] + others, key=lambda change: (-(change.after or 0), -(change.before or 0))
    )
    context, state = (
        [_relative_change(getattr(before, name)[step], getattr(after, name)[step]) for name in ("contexts", "states")]
        if earlier
        else (0.0, 0.0)
    )
    least = float(before.top_probabilities[step].min()) if earlier else 1.0
    least_after = float(after.top_probabilities[step].min())
    return StepChange(step, moment, context, state, tuple(pieces), written, written_before, (least, least_after))


def recorded_pieces(trace: Record, step: int) -> dict[int, tuple[str, float]]:
    """Return piece and probability of the recorded pieces of a step, by id: the likeliest, and the written one."""
    recorded = zip(trace.top_ids[step].tolist(), trace.top_pieces[step], trace.top_probabilities[step], strict=True)
    pieces = {piece: (name, float(p)) for piece, name, p in recorded}
    pieces.setdefault(trace.target_ids[step], (trace.target_pieces[step], float(trace.probabilities[step])))
    return pieces


def foils_of(trace: Record, step: int) -> list[tuple[int, str, float]]:
    """Return id, piece and probability of the recorded pieces that a step did not write, the likeliest first."""
    recorded = recorded_pieces(trace, step)
    return [(index, *recorded[index]) for index in recorded if index != trace.target_ids[step]]


def _relative_change(before: FloatArray, after: FloatArray) -> float:
    old, new = float64(before), float64(after)
    return float(np.linalg.norm(new - old) / max(np.linalg.norm(old), np.finfo(np.float64).tiny))


def weights_from_links(trace: Trace, step: int, links: Collection[tuple[int, int]]) -> Array:
    """Return uniform weights (Tx,) over the source words linked to the word of 0-based `step`; they sum to 1.

    Words share the weight equally, and so do the pieces of a word. `links` are (source word, target word), both from 0,
    as `pharaoh` writes them. Raise AttnvizError where a link names a word that does not exist, or the word has no link.
    """
    words = trace.words()
    # </s>, the last word of both sides, has no links.
    ends = len(words.source) - 1, len(words.target) - 1
    word = words.word_at(step)
    if word == ends[1]:
        raise user_error("This step writes the end mark </s>, which has no word links. Choose another step.")
    for j, i in links:
        if not (0 <= j < ends[0] and 0 <= i < ends[1]):
            raise user_error(
                "The link {link} names a word that does not exist. Words are counted from 0; there are {source} "
                "source words and {target} target words.",
                link=f"{j}-{i}",
                source=ends[0],
                target=ends[1],
            )
    linked = sorted({j for j, i in links if i == word})
    if not linked:
        raise user_error(
            "None of the links given ends at the target word “{name}”, so the links give no weights for this word. "
            "Add a link to this word.",
            name=words.target[word],
        )
    weights = np.zeros(len(trace.source_pieces))
    for j in linked:
        group = list(words.source_groups[j])
        weights[group] = 1 / len(linked) / len(group)
    return weights


def weights_from_trace(trace: Trace, step: int, other: Trace) -> Array:
    """Return the attention of `other` for the text of 0-based `step`, as weights over the pieces of `trace`, (Tx,).

    `other` is the same translation of the same sentence by another model. A piece of one model shares its weight among
    those of the other by characters, spaces not counted; weights sum to 1. Raise AttnvizError where the texts differ.
    """
    rows = _overlaps(other.target_pieces, trace.target_pieces)
    if rows is None:
        raise user_error("This model cannot use the attention of a model whose pieces spell a different translation.")
    columns = _overlaps(trace.source_surfaces, other.source_surfaces)
    if columns is None:
        raise user_error(
            "This model cannot use the attention of a model whose pieces spell a different source sentence."
        )
    shares = columns @ (rows[:, step] @ float64(other.alignment))
    return shares / shares.sum()


def _overlaps(pieces: Sequence[str], other_pieces: Sequence[str]) -> Array | None:
    """Return the share of each of `other_pieces` in each of `pieces`, (pieces, other pieces); columns sum to 1.

    It is None where the pieces do not spell the same text.

    The last piece of both is `</s>`. A piece that is only a space belongs to the next.
    """
    texts = [[piece.replace(SPACE, "") for piece in side[:-1]] + ["\0"] for side in (pieces, other_pieces)]
    if "".join(texts[0]) != "".join(texts[1]):
        return None
    owners = [index for index, text in enumerate(texts[0]) for _ in text]
    shares, offset = np.zeros((len(pieces), len(other_pieces))), 0
    for column, text in enumerate(texts[1]):
        covered = owners[offset : offset + max(1, len(text))]
        np.add.at(shares[:, column], covered, 1 / len(covered))
        offset += len(text)
    return shares


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
    texts = []
    for number in range(len(what_ifs.what_ifs) + 1):
        trace, description, on = what_ifs.trace(number), gettext("First translation"), ""
        if number:
            what_if, parent = what_ifs.what_ifs[number - 1], cast("Trace", what_ifs.parent(number))
            description = intervention_text(what_if.intervention, trace, parent)
            if what_if.held and not _is_hypothesis(what_if.intervention):
                description = gettext("{told}, words kept", told=description)
            on = gettext("from what-if {number}", number=what_if.parent) if what_if.parent else ""
        # Of all pieces, `</s>` included, but divided by the number of words.
        words = [group for group in trace.words().target_groups if trace.target_pieces[group[0]] != "</s>"]
        per_word = decimal(float(trace.log_probabilities.sum()) / max(len(words), 1))
        texts.append(WhatIfTexts(description, on, tuple(words_with_changes(trace, what_ifs.first)), per_word))
    return texts


def what_ifs_payload(what_ifs: WhatIfs) -> dict[str, Any]:
    """Return the what-ifs as a JSON payload for the browser, with their labels."""
    words = gettexts(
        {
            "title": "What if",
            "undo": "Undo",
            "all": "All what-ifs ({count})",
            "rate": "log p/word",
            "about": (
                "Log probability of all pieces, divided by the number of words. The nearer to 0, the more probable the "
                "translation."
            ),
            "gone": "left out: {word}",
        }
    )
    return {"cards": [asdict(texts) for texts in cards(what_ifs)], "words": words}


def probability_change_text(piece: str, before: float, after: float) -> str:
    """Return how the probability of `piece` changes, as “verte”: 56 % → 10 %."""
    was, becomes = format_share(before), format_share(after)
    if was == becomes:
        return gettext("{piece} keeps {share}", piece=quoted_name(piece), share=was)
    return gettext("{piece}: {before} → {after}", piece=quoted_name(piece), before=was, after=becomes)


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
            return gettext("No step looks at {piece}", piece=quoted_name(trace.source_surfaces[position]))
        case ExcludePosition(position=position):
            return gettext(
                "Step {step} does not look at {piece}", step=step, piece=quoted_name(trace.source_surfaces[position])
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
            "Step {step} looks only at {piece}", step=step, piece=quoted_name(trace.source_surfaces[change.only])
        )
    return gettext(
        "Step {step} looks at all pieces equally" if change.uniform else "Step {step} has weights set by hand",
        step=step,
    )


def words_with_changes(trace: Trace, first: Trace) -> Iterator[Word]:
    """Yield the words of `trace`, compared with those of `first`, without `</s>`.

    A word of `first` that is missing between two that stayed is among them.
    """
    return changed_words(spaced_words(trace), spaced_words(first))


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


def spaced_words(trace: Trace, *, source: bool = False) -> SpacedWords:
    """Return the words of a translation, or of its source, without `</s>`, each with whether a space precedes it."""
    words, pieces = trace.words(), trace.source_surfaces if source else trace.target_pieces
    names, groups = (words.source, words.source_groups) if source else (words.target, words.target_groups)
    spaced: list[tuple[str, bool]] = []
    for text, group in zip(names, groups, strict=True):
        if text != "</s>":
            spaced.append((text, bool(spaced) and follows_space(pieces[group[0]])))
    return spaced


def _written_text(trace: Record | Head, step: int, count: int) -> str:
    """Return the text of `count` pieces of a translation, in quotation marks."""
    pieces = trace.target_pieces[step : step + count]
    return quoted_name(pieces[0]) if len(pieces) == 1 else quote(join_pieces(pieces), 30)


def interventions_text(trace: Trace | Head, step: int) -> str:
    """Return the interventions on the attention of 0-based `step` in words, in their order; empty without any."""
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
            "Before the change, the translation ended before this step. Now this step writes {name} with probability "
            "{p}.",
            name=name,
            p=after,
        )
    least, previous = change.least, change.written_before
    before = probability_text(change.written.before, least[0])
    sentences = [gettext("The words before this step have changed.")] if change.moment == "other words" else []
    sentences.append(_movement_sentence(change))
    if previous.piece_id == change.written.piece_id:
        sentences.append(
            gettext(
                "This step still writes {name}; its probability goes from {before} to {p}.",
                name=name,
                p=after,
                before=before,
            )
        )
    else:
        sentences.append(
            gettext(
                "This step now writes {name}: its probability goes from {before} to {p}. The probability of the "
                "previous choice, {other}, goes from {r} to {q}.",
                name=name,
                p=after,
                before=before,
                other=quoted_name(previous.piece),
                q=probability_text(previous.after, least[1]),
                r=probability_text(previous.before, least[0]),
            )
        )
    likeliest = max(change.pieces, key=lambda one: one.after or 0)
    if (likeliest.after or 0) > (change.written.after or 0):
        sentences.append(
            gettext(
                "{name} is more likely than the written piece, with {p}.",
                name=quoted_name(likeliest.piece),
                p=probability_text(likeliest.after, least[1]),
            )
        )
    return " ".join(sentences)


def change_alt(change: StepChange) -> str:
    """Return the text alternative of the figure of a step's change."""
    listed = "; ".join(
        gettext(
            "{name}: {before} before, {after} after",
            name=quoted_name(piece_change.piece),
            before=gettext("not there")
            if change.moment == "none"
            else probability_text(piece_change.before, change.least[0]),
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
        "The change moved the context vector by {context} of its length, and the decoder state by {state} of its own "
        "length.",
        context=percent(change.context),
        state=percent(change.state),
    )


def probability_text(p: float | None, least: float) -> str:
    """Return a probability as a percentage; for None, that it is below `least`."""
    if p is not None:
        return percent(p)
    return gettext("less than {share}", share=format_share(max(1, math.ceil(100 * least)) / 100))
