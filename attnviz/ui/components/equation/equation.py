"""The equation of a stage, with the numbers of the step on show.

The browser is given what the equations of all steps have in common and the texts that differ, and sets them itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attnviz.browser_programs import KATEX
from attnviz.palette import ThemeName
from attnviz.trace import Trace
from attnviz.ui.components.loader import component
from attnviz.ui.page_state.view import View
from attnviz.wording.equations import (
    equation_templates,
    texts_of_cells,
    texts_of_source,
    texts_of_step,
)


def equation(view: View, stage: int, at: str) -> None:
    """Draw the equation of `stage` for the step and the source piece on show; what it is set from lies at the address
    `at`."""
    component("equation", isolate=False)(key=view.key(f"equation_{stage}"), data={"at": at})


def equation_records(trace: Trace, steps: Sequence[int], theme: ThemeName) -> dict[int, dict[str, Any]]:
    """Return, by stage, what the browser needs to set its equation at any of `steps`, for any source piece.

    Texts have one entry for each step, for each source piece, or for each step a list with one for each piece.
    """
    by_step = [texts_of_step(trace, step, theme) for step in steps]
    by_source = [texts_of_source(trace, source) for source in range(len(trace.source_pieces))]
    by_cell = [texts_of_cells(trace, step) for step in steps]
    records = {}
    for template in equation_templates(trace, theme):
        texts = (
            {name: [one[name] for one in several] for name in several[0] if name in template.places}
            for several in (by_step, by_source, by_cell)
        )
        records[template.stage] = {
            "katex": KATEX.file_name, "latex": template.latex, "note": template.note, "steps": list(steps),
        } | dict(zip(("ofStep", "ofSource", "ofCell"), texts, strict=True))  # fmt: skip
    return records
