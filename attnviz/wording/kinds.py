"""What is said of the steps of a translation, by the kind of network that made it: the one place that knows which."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from attnviz.palette import ThemeName
from attnviz.trace import Record, Trace, TransformerTrace
from attnviz.wording import equations, stages, transformer_equations, transformer_stages
from attnviz.wording.equations import Equation, Texts
from attnviz.wording.stages import Stage


@dataclass(frozen=True)
class Told:
    """What is said of one kind of record. Each takes a record of that kind, and then a 0-based step or source piece."""

    stage_titles: Callable[[Any], dict[int, str]]
    narrate: Callable[[Any, int], tuple[Stage, ...]]
    equation_templates: Callable[[Any, ThemeName], tuple[Equation, ...]]
    texts_of_step: Callable[[Any, int, ThemeName], Texts]
    texts_of_source: Callable[[Any, int], Texts]
    texts_of_cells: Callable[[Any, int], dict[str, list[str]]]
    whose: Callable[[Any], str]
    """Says whose looks the alignment is, where a step has many; nothing where it has one."""


_TOLD: Mapping[type[Record], Told] = {
    Trace: Told(
        stages.stage_titles, stages.narrate, equations.equation_templates, equations.texts_of_step,
        equations.texts_of_source, equations.texts_of_cells, lambda _: "",
    ),
    TransformerTrace: Told(
        transformer_stages.head_stage_titles, transformer_stages.narrate_head, transformer_equations.head_equations,
        transformer_equations.head_texts_of_step, transformer_equations.head_texts_of_source,
        transformer_equations.head_texts_of_cells, transformer_stages.shown_heads,
    ),
}  # fmt: skip


def told(record: Record) -> Told:
    """Return what is said of the kind of `record`."""
    return _TOLD[type(record)]
