"""Several translations side by side, moved together step by step: what each looks with, and what it has written."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from attnviz.languages import gettext, language
from attnviz.text import SPACE, SPECIAL_PIECES, join_pieces
from attnviz.trace import FloatArray, Trace
from attnviz.ui.components.loader import component
from attnviz.ui.page_state.view import View

_STRONGEST = 0.99
"""Quantile of the amounts in all strips of a lane at which its colours end."""


def lanes(view: View, record: dict[str, Any]) -> None:
    """Draw the lanes of `view` and what moves them: `record` is what `lanes_record` returns, or `{"at": address}` of
    where that lies."""
    component("lanes")(key=view.key("lanes"), data=record)


def lanes_record(
    identity: str, labels: Sequence[str], drawn: Sequence[dict[str, Any]], clauses: Sequence[str] = ()
) -> dict[str, Any]:
    """Return what the browser draws: the lanes `drawn`, as many steps as there are `labels`, and the `clauses` of a
    sentence that grows by one a step. `identity` tells these translations from others."""
    words = {
        "previous": gettext("Previous"),
        "next": gettext("Next"),
        "play": gettext("Play"),
        "pause": gettext("Pause"),
        "space": gettext("Space"),
        "steps": gettext("Steps"),
    }
    return {
        "language": language(),
        "identity": identity,
        "labels": list(labels),
        "clauses": list(clauses),
        "lanes": list(drawn),
        "words": words,
    }


def lane(name: str, model: str, told: str, *, notes: Sequence[str], texts: Sequence[str] = ()) -> dict[str, Any]:
    """Return a lane with a text, and a note, for each step; `told` says what it is."""
    return {
        "name": name,
        "model": model,
        "told": told,
        "source": [],
        "weights": None,
        "strip": None,
        "parts": [],
        "texts": list(texts),
        "notes": list(notes),
    }


def written_lane(trace: Any, name: str, told: str, strip_told: str, notes: Sequence[str]) -> dict[str, Any]:
    """Return a lane in which `trace` is written piece by piece, with what each step had to look with: the weights of
    the source words and, if `strip_told` says what it is, the context vector of a recurrent translator, which without
    attention is one for all steps."""
    words = trace.words()
    weights = [
        [float(trace.alignment[i, list(group)].sum()) for group in words.source_groups]
        for i in range(len(trace.target_pieces))
    ]
    return lane(name, trace.model, told, notes=notes) | {
        "source": [
            {"text": text, "space": place > 0 and trace.source_surfaces[group[0]].startswith((SPACE, "</s>"))}
            for place, (text, group) in enumerate(zip(words.source, words.source_groups, strict=True))
        ],
        "weights": np.round(weights, 3).tolist() if trace.attends else None,
        "strip": _strip(trace, strip_told) if strip_told and trace.recurrent and not trace.imported else None,
        "parts": [_part(trace.target_pieces, place) for place in range(len(trace.target_pieces))],
    }


def _strip(trace: Trace, told: str) -> dict[str, Any]:
    contexts = trace.contexts if trace.attends else trace.contexts[:1]
    return {"bytes": _bytes(contexts), "units": contexts.shape[1], "told": told}


def _bytes(rows: FloatArray) -> str:
    """Return numbers as signed bytes of one scale, in base64: they are told by a colour."""
    limit = float(np.quantile(np.abs(rows), _STRONGEST)) or 1.0
    whole = np.clip(np.round(rows / limit * 127), -127, 127).astype(np.int8)
    return base64.b64encode(np.ascontiguousarray(whole).tobytes()).decode("ascii")


def _part(pieces: Sequence[str], place: int) -> str:
    """Return a piece as it follows those before it, its blank included."""
    piece = pieces[place]
    blank = " " if place and (piece.startswith(SPACE) or piece in SPECIAL_PIECES) else ""
    return blank + join_pieces([piece])
