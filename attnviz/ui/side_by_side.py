"""Mount translations as lanes that are stepped together: attention and output, or a version for each step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from attnviz.analysis.models_side_by_side import model_name, step_caption
from attnviz.languages import gettext, gettexts, language, ngettext
from attnviz.text import SPACE, follows_space, join_pieces
from attnviz.ui.blocks import component, packed
from attnviz.ui.payloads import Payload
from attnviz.ui.view import View

_STRONGEST = 0.99
"""Quantile of the absolute values in all strips of a lane at which the colour scale ends."""


def lanes(view: View, payload: Payload) -> None:
    """Draw the lanes of `view` and their controls.

    They are what `lanes_payload` or `translations_payload` returns, or `{"at": address, "waiting": text}` of it, with
    the text to show until it is computed.
    """
    component("side_by_side", view.key("lanes"), payload)


def lanes_payload(
    identity: str,
    labels: Sequence[str],
    lane_payloads: Sequence[Payload],
    *,
    slider: str = "",
    result: str = "",
    legend: Sequence[tuple[str, str]] = (),
) -> Payload:
    """Return the payload of the lanes `lane_payloads`, with one step for each of `labels`.

    `identity` distinguishes these translations from others. Lanes that are rows below one another, each with a version
    for each step, have a `slider`, which names the steps. `result` is a sentence about all lanes, above them. `legend`
    has the meanings of shades, each with the class of its shade: `level-0` to `level-3`, or `omitted`.
    """
    words = gettexts(
        {
            "previous": "Previous",
            "next": "Next",
            "play": "Play",
            "pause": "Pause",
            "space": "Space",
        }
    ) | {"steps": slider or gettext("Steps"), "slider": slider}
    return {
        "language": language(),
        "identity": identity,
        "labels": list(labels),
        "result": result,
        "legend": list(legend),
        "lanes": list(lane_payloads),
        "words": words,
    }


def translations_payload(
    traces: Sequence[Any], describe: Callable[[Any], tuple[str, str]] = lambda _: ("", "")
) -> Payload:
    """Return the payload of lanes in which `traces` are written piece by piece, with what each step attends to.

    `describe` returns the summary of a lane, and the caption of its context vectors, empty to leave these out.
    """
    count, written = max(len(trace.target_pieces) for trace in traces), []
    for trace in traces:
        steps = len(trace.target_pieces)
        ended = ngettext("translation finished after {count} step", "translation finished after {count} steps", steps)
        notes = [step_caption(trace, step) for step in range(steps)] + [ended] * (count - steps)
        written.append(_written_lane(trace, *describe(trace), notes))
    labels = [gettext("step {step} of {count}", step=step + 1, count=count) for step in range(count)]
    return lanes_payload("-".join(trace.fingerprint for trace in traces), labels, written)


def version(words: Sequence[tuple[str, int, str]], source: Sequence[tuple[str, bool]] = ()) -> Payload:
    """Return a version of a translation.

    `words` are its words, each with the blank before it, the level of its shade from 0 to 3, and a title. `source` are
    the source words, each with the blank before it, and whether the translation leaves it out.
    """
    return {"words": list(words), "source": list(source)}


def lane(name: str, model: str = "", **given: Any) -> Payload:
    """Return the lane of one of the translations side by side; it has `versions` and `notes` for each step."""
    blank: Payload = {"summary": "", "source": [], "weights": None, "strip": None, "parts": [], "versions": []}
    return {"name": name, "model": model, **blank, **given}


def _written_lane(trace: Any, summary: str, strip_caption: str, notes: Sequence[str]) -> Payload:
    """Return the lane of `trace`.

    It has the weights of the source words and, where `strip_caption` describes it, the context vector of a recurrent
    translator, which without attention is one for all steps.
    """
    words = trace.words()
    weights = [
        [float(trace.alignment[i, list(group)].sum()) for group in words.source_groups]
        for i in range(len(trace.target_pieces))
    ]
    strip = None
    if strip_caption and trace.recurrent:  # signed bytes on one scale: precise enough for colours
        contexts = trace.contexts if trace.attends else trace.contexts[:1]
        limit = float(np.quantile(np.abs(contexts), _STRONGEST)) or 1.0
        whole = np.clip(np.round(contexts / limit * 127), -127, 127)
        strip = {"bytes": packed(whole, "i1"), "units": contexts.shape[1], "caption": strip_caption}
    return lane(
        model_name(trace),
        trace.model,
        summary=summary,
        notes=notes,
        source=[
            {"text": text, "space": place > 0 and trace.source_surfaces[group[0]].startswith((SPACE, "</s>"))}
            for place, (text, group) in enumerate(zip(words.source, words.source_groups, strict=True))
        ],
        weights=np.round(weights, 3).tolist() if trace.attends else None,
        strip=strip,
        # as pieces follow those before them, with leading blanks
        parts=[
            (" " if place and follows_space(piece) else "") + join_pieces([piece])
            for place, piece in enumerate(trace.target_pieces)
        ],
    )
