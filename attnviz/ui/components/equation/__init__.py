"""Mount the equation of a stage with the numbers of the current step, and make its payload.

The browser gets the common part of all steps' equations and the texts that differ, and typesets them itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attnviz.analysis.step_equations import Equation, Texts
from attnviz.architectures import step_texts
from attnviz.browser_programs import KATEX
from attnviz.trace import Record
from attnviz.ui.components.component import component
from attnviz.ui.embedding import theme_name
from attnviz.ui.view import View


def equation(view: View, stage: int | str, at: str) -> None:
    """Draw the equation of `stage` for the current step and source piece, from the payload at the address `at`."""
    component("equation", key=view.key(f"equation_{stage}"), data={"at": at})


def inline_equation(view: View, template: Equation, name: str) -> None:
    """Draw an equation that is the same at every step of `view`; `name` is unique in the view."""
    payload = equation_payload(template, range(view.steps), [{}] * view.steps, [{}], [{}] * view.steps)
    component("equation", key=view.key(f"equation_{name}"), data=payload)


def equation_payloads(trace: Record, steps: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Return, by stage, the payload of its equation at any of `steps`, for any source piece.

    Texts have one entry for each step or for each source piece, or for each step a list with one for each piece.
    """
    texts = step_texts(trace)
    by_step = [texts.texts_of_step(trace, step, theme_name()) for step in steps]
    by_source = [texts.texts_of_source(trace, source) for source in range(len(trace.source_pieces))]
    by_cell = [texts.texts_of_cells(trace, step) for step in steps]
    return {
        template.stage: equation_payload(template, steps, by_step, by_source, by_cell)
        for template in texts.equation_templates(trace, theme_name())
    }


def equation_payload(
    template: Equation,
    steps: Sequence[int],
    by_step: Sequence[Texts],
    by_source: Sequence[Texts],
    by_cell: Sequence[Mapping[str, list[str]]],
) -> dict[str, Any]:
    """Return the payload of one equation `template` at any of `steps`."""
    texts_by_key = {"ofStep": by_step, "ofSource": by_source, "ofCell": by_cell}
    filled = {
        key: {name: [one[name] for one in texts] for name in texts[0] if name in template.places}
        for key, texts in texts_by_key.items()
    }
    return {
        "katex": KATEX.file_name,
        "latex": template.latex,
        "note": template.note,
        "steps": list(steps),
    } | filled
