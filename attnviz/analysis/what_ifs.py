"""Numbers of what-ifs: weights to force, from gold links or another model, and the effect of a change on a step."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.text import SPACE
from attnviz.trace import Trace

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
    if step >= len(before.target_ids):
        recorded_before = {}
        moment: Moment = "none"
    else:
        recorded_before = _recorded_pieces(before, step)
        moment = "same" if before.target_ids[:step] == after.target_ids[:step] else "other words"
    recorded_after = _recorded_pieces(after, step)
    changes = {
        piece: PieceChange(
            piece,
            (recorded_after.get(piece) or recorded_before[piece])[0],
            *(side[piece][1] if piece in side else None for side in (recorded_before, recorded_after)),
        )
        for piece in {**recorded_after, **recorded_before}
    }
    written = changes[after.target_ids[step]]
    written_before = None if moment == "none" else changes[before.target_ids[step]]
    numbers = (
        (0.0, 0.0)
        if moment == "none"
        else (
            _relative_change(before.contexts[step], after.contexts[step]),
            _relative_change(before.states[step], after.states[step]),
        )
    )
    return StepChange(
        step,
        moment,
        *numbers,
        _likeliest(changes, written, written_before),
        written,
        written_before,
        (_smallest_probability(before, step), _smallest_probability(after, step)),
    )


def _recorded_pieces(trace: Trace, step: int) -> dict[int, tuple[str, float]]:
    """Return name and probability of the recorded pieces of a step, by id."""
    recorded = zip(trace.top_ids[step].tolist(), trace.top_pieces[step], trace.top_probabilities[step], strict=True)
    pieces = {piece: (name, float(p)) for piece, name, p in recorded}
    pieces.setdefault(trace.target_ids[step], (trace.target_pieces[step], float(trace.probabilities[step])))
    return pieces


def _smallest_probability(trace: Trace, step: int) -> float:
    return float(trace.top_probabilities[step].min()) if step < len(trace.target_ids) else 1.0


def _likeliest(
    changes: dict[int, PieceChange], written: PieceChange, written_before: PieceChange | None
) -> tuple[PieceChange, ...]:
    """Return the _MOST likeliest pieces, before or after, with the written ones, by the new probability."""
    ordered = sorted(changes.values(), key=lambda change: -max(change.before or 0, change.after or 0))
    written_changes = [
        change for change in (written, written_before) if change is not None and change not in ordered[:_MOST]
    ]
    chosen = ordered[: _MOST - len(written_changes)] + written_changes
    return tuple(sorted(chosen, key=lambda change: (-(change.after or 0), -(change.before or 0))))


def _relative_change(before: NDArray[np.float32], after: NDArray[np.float32]) -> float:
    old, new = before.astype(np.float64), after.astype(np.float64)
    return float(np.linalg.norm(new - old) / max(np.linalg.norm(old), np.finfo(np.float64).tiny))


Array = NDArray[np.float64]


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
        raise AttnvizError(gettext("This step writes the end mark </s>, which has no word links. Choose another step."))
    for j, i in links:
        if not (0 <= j < ends[0] and 0 <= i < ends[1]):
            raise AttnvizError(
                gettext(
                    "The link {link} names a word that does not exist. Words are counted from 0; there are "
                    "{source} source words and {target} target words.",
                    link=f"{j}-{i}",
                    source=ends[0],
                    target=ends[1],
                )
            )
    linked = sorted({j for j, i in links if i == word})
    if not linked:
        raise AttnvizError(
            gettext(
                "None of the links given ends at the target word “{name}”, so the links give no weights for this "
                "word. Add a link to this word.",
                name=words.target[word],
            )
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
        raise AttnvizError(
            gettext("This model cannot use the attention of a model whose pieces spell a different translation.")
        )
    columns = _overlaps(trace.source_surfaces, other.source_surfaces)
    if columns is None:
        raise AttnvizError(
            gettext("This model cannot use the attention of a model whose pieces spell a different source sentence.")
        )
    shares = columns @ (rows[:, step] @ other.alignment.astype(np.float64))
    weights: Array = shares / shares.sum()
    return weights


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
