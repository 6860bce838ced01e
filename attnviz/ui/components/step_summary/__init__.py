"""Mount the summary of the current step: what it wrote, and the outcome of each of its stages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attnviz.analysis.labels import quote, shorten
from attnviz.analysis.stages import Narration, Stage
from attnviz.languages import gettext
from attnviz.trace import Record
from attnviz.ui.components.component import component
from attnviz.ui.view import View


def step_summary(view: View, stages: Sequence[Stage], steps: Mapping[str, Any]) -> None:
    """Draw the summary of the current step, with its `stages`.

    `steps` is what `summary_payload` returns, or `{"at": address}` of it.
    """
    payload = {"stages": stage_names(stages), "steps": steps}
    component("step_summary", key=view.key("facts"), data=payload)


def stage_names(stages: Sequence[Stage]) -> list[dict[str, Any]]:
    """Return number, place, title and short name of each of `stages`; without attention there are three of the five."""
    titles = [stage.title() for stage in stages]
    return [
        {"number": stage.number, "place": place, "title": title, "name": title.partition(" (")[0]}
        for place, (stage, title) in enumerate(zip(stages, titles, strict=True), 1)
    ]


def summary_payload(trace: Record, words: Narration, sentence: Callable[[Any, int], str]) -> dict[str, Any]:
    """Return the payload of each step in `words`; `sentence` returns the sentence of one step."""
    return {
        str(i): {
            "heading": gettext("Step {i} of {n}", i=i + 1, n=len(trace.target_pieces)),
            "part": _part(trace, i),
            "sentence": sentence(trace, i),
            "outcomes": [stage.outcome for stage in stages],
        }
        for i, stages in words.items()
    }


def _part(trace: Record, step: int) -> str:
    """Return which piece of which word `step` wrote; empty for a word of one piece."""
    words = trace.words()
    for word, group in zip(words.target, words.target_groups, strict=True):
        if step in group and len(group) > 1:
            k = group.index(step) + 1
            return gettext("piece {k} of {n} of the word {word}", k=k, n=len(group), word=quote(shorten(word, 30)))
    return ""
