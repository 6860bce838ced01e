"""`View`: the data of one drawn translation: trace, what-ifs, level of detail, keys, opened file, comparison.

Nothing is drawn here. A page may have several views, each with its own choices.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from attnviz.analysis.gold import GoldLinks, validated
from attnviz.trace import Attention, Trace, WhatIfs
from attnviz.trace.drawing import DetailLevel, shows
from attnviz.trace.what_ifs import TranslatorArguments

if TYPE_CHECKING:  # most views show no file
    from attnviz.importing.records import AttentionRecords

MAIN = ""
"""Id of a page's own view, whose keys and address parameters have no suffix."""


def view_key(view_id: str, name: str) -> str:
    """Return `name` as the key of the view `view_id`."""
    return name if view_id == MAIN else f"{name}-{view_id}"


@dataclass(frozen=True, eq=False)
class Compared:
    """Attention of another program for the same sentence pair."""

    names: tuple[str, str]
    """Names of both files, that of the other last."""
    other: Any
    """The attention in the other file."""


@dataclass(frozen=True, eq=False)
class GoldFile:
    """A file of gold links for the pairs of a file of attention."""

    name: str
    links: Callable[[int, Attention], GoldLinks | None]
    """Returns the links of the pair with a number between the words of its attention, None where the file lacks it.

    Raises AttnvizError where they cannot be read.
    """
    digest: str
    """Digest of the links of all pairs."""
    size: int = 0
    """Bytes of the file."""

    @classmethod
    def scored(cls, name: str, links: Sequence[GoldLinks | None]) -> GoldFile:
        """Return the `links` of all pairs, against which a file was scored; None for a pair without gold links."""

        def links_of(number: int, record: Attention) -> GoldLinks | None:
            found = links[number - 1] if number <= len(links) else None
            return None if found is None else validated(found, record.words())

        texts = [None if found is None else found.text() for found in links]
        return cls(name, links_of, hashlib.sha256(repr(texts).encode("ascii")).hexdigest())


@dataclass(frozen=True, eq=False)
class FilePair:
    """A pair of a file of imported attention, and how a visitor reads it."""

    name: str
    """Name of the file."""
    file: AttentionRecords
    number: int = 1
    """Number of the pair, from 1."""
    source: str = ""
    """Tokens, separated by blanks, that replace the file's own; empty to use those."""
    target: str = ""
    normalise: bool = False
    unescape: bool = False
    """Whether the escapes of Moses' tokenizer are undone."""
    other: tuple[str, AttentionRecords] | None = None
    """Name and attention of a file that it is compared with."""
    gold: GoldFile | None = None
    """Gold links of the pairs."""
    problem: str = ""
    """Error message, empty where the file was opened."""
    opening: int = 0
    """Number of the opened file in this session: text typed for one file does not apply to the next."""

    @property
    def fingerprint(self) -> str:
        """Digest of the files and the choices: equal for pairs that are read and marked alike."""
        other, gold = self.other and self.other[1].pairs.digest, self.gold and (self.gold.name, self.gold.digest)
        choices = (self.name, self.number, self.source, self.target, self.normalise, self.unescape)
        text = repr((*choices, self.file.pairs.digest, other, gold))
        return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()

    @property
    def size(self) -> int:
        """Bytes of the files."""
        others = (self.other[1].pairs.size if self.other else 0) + (self.gold.size if self.gold else 0)
        return self.file.pairs.size + others

    def key(self, number: int) -> str:
        """Return text that differs for each pair, also where pairs have the same words."""
        return f"{self.name} {self.gold.name if self.gold else ''} {number}"

    def attention(self, number: int) -> Attention:
        """Return a pair of the file by its number; raise AttnvizError where it cannot be read."""
        typed = (self.source, self.target) if number == self.number else ("", "")
        return self.file.attention(number - 1, *typed, normalise=self.normalise, unescape=self.unescape)

    def record(self, number: int) -> Attention | None:
        """Return the same, None where the pair is a blank line."""
        return None if self.file.is_blank(number - 1) else self.attention(number)

    def gold_links(self, number: int) -> GoldLinks | None:
        """Return the links of a pair in the file of gold links, None without; raise AttnvizError."""
        return self.gold.links(number, self.attention(number)) if self.gold else None

    @cached_property
    def own_gold(self) -> GoldLinks | None:
        """`gold_links` of this pair."""
        return self.gold_links(self.number)


@dataclass(frozen=True, eq=False)
class View:
    """A translation that is shown, and the id that makes its keys unique on the page."""

    id: str
    """Letters and digits, unique on the page."""
    trace: Any = None
    """The translation (trace), imported attention, opened head or judged sentence pair that is shown.

    None for a page that shows no single one.
    """
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

    def key(self, name: str) -> str:
        """Return the key of a component, of an entry in the session state, or of an address parameter."""
        return view_key(self.id, name)

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
