"""Options of the functions that draw traces, and make data frames of them, and the registry of these functions.

`attnviz/__init__.py` registers `attnviz.displays`, so that traces import neither Plotly, pandas nor higher layers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict, get_args

from numpy.typing import NDArray

from attnviz.arguments import also_spelled, check_whole_argument
from attnviz.languages import gettext
from attnviz.palette import DEFAULT_COLOURS, Colours, ThemeName

By = Literal["steps", "words"]
"""What a row and a column stand for: a decoder step and a source piece, or a word, whose number is a mean or a sum."""
Face = Literal["before", "after", "difference"]
"""Which values are displayed: alpha, the posterior once the word is known, or posterior minus alpha."""


LONGEST_LABEL = 80
"""Letters of the longest label of a figure outside the page, whose margins fit its labels."""


@dataclass(frozen=True, kw_only=True)
class HeatmapChoices:
    """How a heatmap is drawn: on the page, in files, by `trace.heatmap` and on the command line."""

    by: By = "steps"
    """What a row and a column stand for; with `gold` links, always words (`unit`)."""
    face: Face = "before"
    """Which values are displayed: alpha, the posterior, or posterior minus alpha, blue for more and red for less."""
    colours: Colours = DEFAULT_COLOURS
    """Colour scale of shares; "difference" has its own."""
    root: bool = False
    """Whether colours follow the square root, which makes small weights visible; numbers stay exact."""
    end: bool | None = None
    """Whether `</s>` is drawn; None draws it in step views, which have a row for every step, but not in figures."""
    margins: bool = False
    """Whether the sum of each column, sum_i alpha_ij, and the entropy H_i of each row in bits are drawn."""
    values: bool = False
    """Whether each cell has its number."""
    step: int | None = None
    """Step, 0-based, whose row is framed."""
    longest: int = LONGEST_LABEL
    """Letters of the longest label; longer words are shortened."""
    gold: Any = None
    """Gold links, which are marked, and so are false links of the displayed values: text such as `0-0 1?2` (source
    word, `-` if sure or `?` if possible, target word, from 0, special tokens such as `</s>` excluded), pairs such as
    `[(0, 0), (1, 2)]`, which are sure links, or `GoldLinks`."""

    @property
    def unit(self) -> By:
        """What a row and a column stand for in the figure: words where it marks links, which join words."""
        return "words" if self.gold else self.by


class HeatmapOptions(TypedDict, total=False):
    """Keyword arguments in place of `HeatmapChoices`: its fields, and the American spelling of `colours`."""

    by: By
    face: Face
    colours: Colours
    colors: Colours
    root: bool
    end: bool | None
    margins: bool
    values: bool
    step: int | None
    longest: int
    gold: Any


@also_spelled(colors="colours")
def heatmap_choices(choices: HeatmapChoices | None, **named: Any) -> HeatmapChoices:
    """Return `choices`, by default all defaults, with the `named` fields instead."""
    return replace(choices or HeatmapChoices(), **named)


class StepFigureOptions(TypedDict, total=False):
    """Options of the figure of a step, with the defaults of `displays.draw_step`."""

    weights: Mapping[str, NDArray[Any]] | None
    foil: int | None
    theme: ThemeName
    longest: int


class BeamTreeOptions(TypedDict, total=False):
    """Options of the figure of a beam tree, with the defaults of `figures.beam_tree`."""

    step: int | None
    shown: Sequence[int]


DetailLevel = Literal["idea", "numbers", "everything"]
"""Level of detail of a step view; each includes those before it."""
DETAIL_LEVELS: tuple[DetailLevel, ...] = get_args(DetailLevel)
"""All levels, the lowest first."""


def shows(level: DetailLevel, element_level: DetailLevel) -> bool:
    """Return whether elements of the level `element_level` are shown at `level`."""
    return DETAIL_LEVELS.index(level) >= DETAIL_LEVELS.index(element_level)


def step_index(trace: Any, step: int) -> int:
    """Return a 0-based step, also for negative indices; raise AttnvizError where there is none."""
    steps = len(trace.target_pieces)
    check_whole_argument(gettext("step"), step, -steps, steps - 1)
    return range(steps)[step]


_provider: Callable[[], Any] | None = None


def register_drawing(provider: Callable[[], Any]) -> None:
    """Register `provider`, which returns the module of the drawing functions; it is called when one is first needed."""
    global _provider  # one for the whole program, set once
    _provider = provider


def drawing() -> Any:
    """Return the module of the drawing functions; raise RuntimeError where none is registered."""
    if _provider is None:
        raise RuntimeError("nobody has been named to draw traces")
    return _provider()
