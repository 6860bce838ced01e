"""`View`: the data of one drawn translation: trace, what-ifs, level of detail, keys, opened file, comparison.

Nothing is drawn here. A page may have several views, each with its own choices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from attnviz.analysis.gold import GoldLinks
from attnviz.trace import Trace, WhatIfs
from attnviz.trace.drawing import DETAIL_LEVELS as DETAIL_LEVELS
from attnviz.trace.drawing import DetailLevel as DetailLevel
from attnviz.trace.drawing import shows as shows
from attnviz.trace.what_ifs import TranslatorArguments

MAIN = ""
"""Id of a page's own view, whose keys and address parameters have no suffix."""


def view_key(view_id: str, name: str) -> str:
    """Return `name` as the key of the view `view_id`."""
    return name if view_id == MAIN else f"{name}-{view_id}"


@dataclass(frozen=True, eq=False)
class Keyed:
    """A part of a page with its own keys: a view, or a page that shows no single translation."""

    id: str
    """Letters and digits, unique on the page."""

    def key(self, name: str) -> str:
        """Return the key of a component, of an entry in the session state, or of an address parameter."""
        return view_key(self.id, name)


@dataclass(frozen=True, eq=False)
class Compared:
    """Attention of another program for the same sentence pair."""

    names: tuple[str, str]
    """Names of both files, that of the other last."""
    other: Any
    """The attention in the other file."""

    @property
    def identity(self) -> str:
        """Text that differs for each comparison of the same attention."""
        return f"{self.other.fingerprint} {self.names}"


@dataclass(frozen=True, eq=False)
class FilePair:
    """The pair of a file of imported attention that a view shows."""

    name: str
    """Name of the file."""
    number: int
    """Number of the pair, from 1."""
    count: int
    """Number of pairs in the file."""
    record: Callable[[int], Any]
    """Returns the attention of the pair with a number, None where it is a blank line; raises AttnvizError."""
    gold_name: str = ""
    """Name of the file of gold links; empty without one."""
    gold: Callable[[int], GoldLinks | None] = lambda _: None
    """Returns the links of the pair with a number in that file, between the words of its attention.

    None without a file; raises AttnvizError.
    """
    fingerprint: str = field(kw_only=True)
    """Digest of the files, the number of the pair, and what the visitor chose for it."""
    size: int = field(kw_only=True)
    """Bytes of the files."""

    def key(self, number: int) -> str:
        """Return text that differs for each pair, also where pairs have the same words."""
        return f"{self.name} {self.gold_name} {number}"


@dataclass(frozen=True, eq=False)
class View(Keyed):
    """A translation that is shown, and the id that makes its keys unique on the page."""

    trace: Any
    """The translation (trace), imported attention, opened head or judged sentence pair that is shown."""
    what_ifs: WhatIfs | None = None
    """The original translation with its what-ifs; None if the view cannot have any."""
    number: int = 0
    """Number of the what-if that `trace` is, from 1; 0 for the original translation."""
    detail_level: DetailLevel = "everything"
    """Which parts of the view are drawn."""
    first_step: int = 0
    """0-based step at which the view opens."""
    translate_again: Callable[[TranslatorArguments], Trace] | None = None
    """Translates the sentence with interventions; None if the view cannot have what-ifs."""
    forms: tuple[str, ...] = ()
    """Forms of attention that the visitor chooses from, each with its own history entry; empty for most views."""
    step_count: int | None = None
    """Number of steps; None for those of the decoder."""
    compared: Compared | None = None
    """What imported attention is compared with."""
    file: FilePair | None = None
    """The pair of a file that imported attention is."""
    open_gold: Callable[[View, str, bytes], None] | None = None
    """Takes the gold links of this view from a file by its name and content; None if the view cannot have any."""
    show_beside: Callable[[View, str], None] | None = None
    """Shows the translation of this view beside that of the model with this name; None if the view cannot have it."""
    main: View | None = None
    """The page's own view, if the page draws this one instead: its parameters are in the address, too."""

    @property
    def parent(self) -> Any:
        """The translation that the current what-if was made from; None for the original translation."""
        return self.what_ifs.parent(self.number) if self.what_ifs else None

    def shows(self, element_level: DetailLevel) -> bool:
        """Return whether elements of the level `element_level` are shown."""
        return shows(self.detail_level, element_level)

    @property
    def simple(self) -> bool:
        """Whether figures and sentences are those of the level *Idea*."""
        return not self.shows("numbers")

    @property
    def identity(self) -> str:
        """Fingerprint of this translation: model, text, search and every number.

        A trace from a file may claim any sentence and model, and figures are cached for all visitors.
        """
        return str(self.trace.fingerprint)

    @property
    def steps(self) -> int:
        """Number of steps, which the visitor chooses from."""
        return len(self.trace.target_pieces) if self.step_count is None else self.step_count
