"""Mount the player: source sentence, translation, and the controls that move through the decoding steps.

The browser changes the step itself, so that figures follow a key at once; the server does not know the current step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.analysis.labels import summed_pieces_text
from attnviz.analysis.measures import is_uniform
from attnviz.languages import gettext, language
from attnviz.text import SPACE, follows_space, join_pieces
from attnviz.trace import Aligned
from attnviz.ui.components.component import component
from attnviz.ui.resources import cached_for_all
from attnviz.ui.view import View


def player_labels() -> dict[str, str]:
    """Return the labels by their names in the player's markup and script."""
    return {
        "earlier": gettext("Previous step"),
        "later": gettext("Next step"),
        "english": gettext("English"),
        "french": gettext("French"),
        "steps": gettext("Steps"),
        "previous": gettext("Previous"),
        "next": gettext("Next"),
        "play": gettext("Play"),
        "pause": gettext("Pause"),
        "space": gettext("Space"),
        "speed": gettext("Speed"),
        "slider": gettext("Step"),
        "step": gettext("step {step} of {count}"),
        "at": gettext("{i} of {n}"),
        "looks": gettext("Looks at"),
        "examined": gettext("Examined"),
        "strongest": gettext("the largest weight at this step"),
        "held": gettext("your choice, fixed"),
        "alike": gettext("all weights equal"),
        "follow": gettext("follow the largest weight"),
        "escape": gettext("Esc"),
    }


NO_BREAK_SPACE = "\u00a0"
"""Replaces a piece that is only a blank, so that it is underlined and clickable like any other step."""


@dataclass(frozen=True)
class PlayedLanguages:
    """Labels and languages of two sentences that are not English and its French translation."""

    names: tuple[str, str]
    """Labels of the two sentences, in the current language."""
    languages: tuple[str, str] = ("en", "fr")
    """Language codes of the two sentences."""
    second_is_written: bool = True
    """Whether the second sentence is written step by step; otherwise it is complete from the beginning."""


def player(view: View, suspected_errors: Sequence[Mapping[str, Any]] = (), pair: PlayedLanguages | None = None) -> None:
    """Draw both sentences with the current step and source piece marked, and the controls.

    Words that are likely wrong have `suspected_errors` (`ui.step.step_controls`).
    """
    shown = {"simple": view.simple, "suspectedErrors": suspected_errors}
    component("player", key=view.key("player"), data=player_payload(view.trace, pair) | shown)


@cached_for_all
def player_payload(trace: Aligned, pair: PlayedLanguages | None = None) -> dict[str, Any]:
    """Return the payload of the player.

    It has words with their pieces, each source word's share of every alpha (and `of`, the addends of that sum), and for
    every step the source pieces by decreasing weight.
    """
    labels = player_labels()
    if pair is not None:
        labels |= {"english": pair.names[0], "french": pair.names[1]}
    words = trace.words()
    weights = np.stack([trace.alignment[:, list(group)].sum(axis=1) for group in words.source_groups], axis=1)
    source = [
        {
            "text": _surface(trace.source_surfaces, group),
            "space": _opens_with_space(trace.source_surfaces, group),
            "end": _is_end(trace.source_pieces, group),
            "pieces": list(group),
            "parts": _parts(trace.source_surfaces, group),
            "of": summed_pieces_text(len(group)),
        }
        for group in words.source_groups
    ]
    target = [
        {
            "steps": list(group),
            "parts": [_surface(trace.target_pieces, (i,)) for i in group],
            "space": _opens_with_space(trace.target_pieces, group) and trace.target_pieces[group[0]] != SPACE,
            "end": _is_end(trace.target_pieces, group),
        }
        for group in words.target_groups
    ]
    return {
        "identity": trace.fingerprint,
        "language": language(),
        "source": source,
        "target": target,
        "weights": np.clip(weights, 0, 1).round(4).astype(float).tolist(),
        "alike": [step for step in range(len(trace.target_pieces)) if is_uniform(trace, step)],
        "orders": np.argsort(-trace.alignment, axis=1, kind="stable").tolist(),
        "attends": trace.attends,
        "words": labels,
        "spoken": list(pair.languages if pair else ("en", "fr")),
        "written": pair is None or pair.second_is_written,
    }


def _surface(pieces: tuple[str, ...], group: tuple[int, ...]) -> str:
    return join_pieces(pieces[i] for i in group) or NO_BREAK_SPACE


def _parts(pieces: tuple[str, ...], group: tuple[int, ...]) -> list[str]:
    """Return the text of each piece of a word; a leading blank is left out."""
    return [join_pieces([pieces[i]]) for i in group] if len(group) > 1 else [_surface(pieces, group)]


def _opens_with_space(pieces: tuple[str, ...], group: tuple[int, ...]) -> bool:
    """Return whether a space precedes a word that begins with the first piece of `group`."""
    return group[0] > 0 and follows_space(pieces[group[0]])


def _is_end(pieces: tuple[str, ...], group: tuple[int, ...]) -> bool:
    return pieces[group[0]] == "</s>"
