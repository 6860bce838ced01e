"""Table of the page *Corpus*: read it and its pairs, filter and sort rows; choices in session state and address.

Unlike in a step view, each choice is an entry of the browser's history: Back undoes it, and leads from a pair back to
the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from attnviz.analysis.gold import GoldLinks
from attnviz.corpora import MEASURES
from attnviz.corpora.columns import ATTENTION_SCHEMA
from attnviz.errors import user_error
from attnviz.importing.attention_reader import read_bytes
from attnviz.importing.records import AttentionRecords
from attnviz.lru_cache import LRUCache, cached_in
from attnviz.ui import inputs
from attnviz.ui.embedding import page_session
from attnviz.ui.inputs import DETAIL_LEVEL, language_address, link, linked_entry, set_page_address

ERRORS = ("omitted", "repeated", "unsure", "copied", "drifted")
"""Names of the predefined filters that each find one kind of likely error."""
PRESETS = ("wrong", "all", *ERRORS)
"""Names of the predefined filters; "wrong" shows the pairs of all ERRORS."""
UNLIKELY = 0.1
"""Quantile of the log probability per word up to which the preset "unsure" shows pairs."""
COPIED = 0.5
"""Smallest share of copied words at which the preset "copied" shows a pair."""
_LATER = ("unlinked", "many_to_one", "drifted", "aer_between", "only_one", "file", "record")
"""Columns that some tables lack: measures of later versions, and those of imported attention."""
_COLUMNS = ("number", "source", "target", "file", *(measure.name for measure in MEASURES))
_PRESET_ORDERS: dict[str, tuple[str, str]] = {
    "wrong": ("log_probability_per_word", "ascending"),
    "all": ("number", "ascending"),
    "omitted": ("least_coverage", "ascending"),
    "repeated": ("repeated", "descending"),
    "unsure": ("log_probability_per_word", "ascending"),
    "copied": ("copied_share", "descending"),
    "drifted": ("drifted", "descending"),
}


Brush = tuple[tuple[float, float], ...]
"""Bounds of the selected region: of both measures in a scatter plot, of one in a histogram; none without a region."""


@dataclass(frozen=True)
class Choice:
    """A visitor's choice of rows, order and axes."""

    preset: str = "all"
    query: str = ""
    sort: str = ""
    """Name of a column; empty for the preset's own order."""
    descending: bool = False
    x: str = "length_ratio"
    y: str = "log_probability_per_word"
    brush: Brush = ()


@cached_in(LRUCache(128 << 20, size=lambda table: int(table.nbytes)), "")
def load_table(path: Path) -> Any:
    """Return number, texts and measures of all rows (pyarrow.Table), cached; raise AttnvizError if unreadable."""
    return _read(path, _COLUMNS)


def _read(path: Path, columns: Sequence[str], **arguments: Any) -> Any:
    try:
        missing = [name for name in columns if name in _LATER and name not in parquet.read_schema(path).names]
        present = [name for name in columns if name not in missing]
        table = parquet.read_table(path, columns=present, **arguments)
        table.validate(full=True)  # texts may be damaged, too
        for name in missing:
            field = ATTENTION_SCHEMA.field(name)
            table = table.append_column(field, pa.nulls(len(table), field.type))
        if any(table.schema.field(name).type != ATTENTION_SCHEMA.field(name).type for name in columns):
            raise ValueError("its columns hold something else")
    except (OSError, ValueError, KeyError, pa.ArrowException) as error:
        raise user_error("The table {name} cannot be read: {error}.", name=path.stem, error=str(error)[:80]) from error
    return table


@dataclass(frozen=True)
class CorpusPair:
    """A sentence pair of a table, as the step view opens it."""

    source: str
    target: str
    gold: GoldLinks | None = None
    """Gold links, if the table has them."""
    source_words: tuple[str, ...] = ()
    """Words that the links index."""
    target_words: tuple[str, ...] = ()


def corpus_pair(path: Path, number: int, source: str, target: str) -> CorpusPair:
    """Return the pair in a line of a table, with its gold links; raise AttnvizError where they cannot be read."""
    names = ("source_words", "target_words", "gold")
    rows = _read(path, names, filters=[("number", "=", number)]).to_pylist()
    if not rows or not rows[0]["gold"]:
        return CorpusPair(source, target)
    source_words, target_words, links = (rows[0][name] for name in names)
    sure, possible = (
        frozenset((link["j"], link["i"]) for link in links if link["sure"] is kind) for kind in (True, False)
    )
    return CorpusPair(source, target, GoldLinks(sure, possible - sure), tuple(source_words), tuple(target_words))


def table_records(path: Path, number: int) -> AttentionRecords | None:
    """Return the imported attention in a row of a table; None where a model measured the pair.

    Raise AttnvizError where it cannot be read.
    """
    rows = _read(path, ("record",), filters=[("number", "=", number)]).to_pylist()
    return read_bytes(rows[0]["record"].encode(), path.stem) if rows and rows[0]["record"] else None


def has_files(table: Any) -> bool:
    """Return whether the pairs of a table come from several files."""
    return bool(table["file"].null_count < len(table))


def known_measures(table: Any) -> list[str]:
    """Return the measures that at least one row has."""
    return [measure.name for measure in MEASURES if table[measure.name].null_count < len(table)]


def matching_rows(table: Any, choice: Choice) -> Any:
    """Return the rows that match the preset and the search."""
    rows = table.filter(_preset_mask(table, choice.preset))
    if choice.query.strip():
        columns = (rows[name] for name in ("source", "target", "file"))
        matches = [pc.match_substring(column, choice.query.strip(), ignore_case=True) for column in columns]
        rows = rows.filter(reduce(pc.or_kleene, matches))
    return rows


@dataclass(frozen=True)
class SortedRows:
    """Rows, and an order that is applied only to the requested part, since reordering many texts is slow."""

    _rows: Any
    _order: Any

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._order)

    def part(self, start: int, count: int | None = None) -> Any:
        """Return `count` rows, or all, from `start` on (pyarrow.Table)."""
        return self._rows.take(self._order.slice(start, count))


def listed_rows(matching: Any, choice: Choice) -> SortedRows:
    """Return the rows of `matching` within the brush, in the chosen order."""
    rows = matching
    for name, bounds in zip((choice.x, choice.y), choice.brush, strict=False):
        low, high = sorted(bounds)
        rows = rows.filter(pc.and_(pc.greater_equal(rows[name], low), pc.less_equal(rows[name], high)))
    order = _PRESET_ORDERS[choice.preset]
    if choice.sort:
        order = choice.sort, "descending" if choice.descending else "ascending"
    keys = [order] if order[0] == "number" else [order, ("number", "ascending")]
    return SortedRows(rows, pc.sort_indices(rows, sort_keys=keys))


def _preset_mask(table: Any, preset: str) -> Any:
    """Return which rows a preset shows; null where the table lacks the measure."""
    if preset == "wrong":
        return reduce(pc.or_kleene, (_preset_mask(table, error) for error in ERRORS))
    if preset in ("omitted", "repeated", "drifted"):
        return pc.greater(table[preset], 0)
    if preset == "unsure":
        logs = table["log_probability_per_word"]
        return pc.less_equal(logs, pc.quantile(logs, q=UNLIKELY, interpolation="lower")[0].cast(pa.float32()))
    if preset == "copied":
        return pc.greater_equal(table["copied_share"], COPIED)
    return pa.array([True] * len(table))


TABLE, PRESET, QUERY = "table", "show", "find"
SORT, DESCENDING, X, Y, BRUSH, PART = "sort", "descending", "x", "y", "brush", "part"
"""Names in the address; in the session state with the prefix `corpus_`."""
_MEASURE_NAMES = [measure.name for measure in MEASURES]
_CHOICES: Mapping[str, tuple[str, Sequence[str]]] = {
    PRESET: ("all", PRESETS),
    SORT: ("", ("", "number", *_MEASURE_NAMES)),
    DESCENDING: ("", ("", "1")),
    X: (Choice.x, _MEASURE_NAMES),
    Y: (Choice.y, _MEASURE_NAMES),
    QUERY: ("", ()),
    BRUSH: ("", ()),
    PART: ("1", ()),
    TABLE: ("", ()),
}
"""Defaults of the choices and, where only some are valid, these."""
_MAX_LENGTH = 200


def key(name: str) -> str:
    """Return the session state key of a choice."""
    return f"corpus_{name}"


def chosen(name: str) -> str:
    """Return the value of a choice."""
    return str(page_session()[key(name)])


def choose(name: str, value: str) -> None:
    """Set the value of a choice."""
    page_session()[key(name)] = value


def open_choices() -> None:
    """Begin the choices with the link; without a table, the page opens where the translations go wrong."""
    for name, (default, offered) in _CHOICES.items():
        first = "wrong" if name == PRESET and not link().get(TABLE) else default
        linked_entry(key(name), first, parameter=name, offered=offered, parse=lambda text: text[:_MAX_LENGTH])


def current_choice() -> Choice:
    """Return the current choice."""
    preset, query, sort, descending, x, y = map(chosen, (PRESET, QUERY, SORT, DESCENDING, X, Y))
    brush = brush_of(chosen(BRUSH))
    return Choice(preset, query, sort, bool(descending), x, y, brush if len(brush) == len({x, y}) else ())


def show_pairs(preset: str) -> None:
    """Show the pairs of a predefined filter, without a region."""
    choose(PRESET, preset)
    clear_brush()


def clear_brush() -> None:
    """Clear the selected region, and go to the first part of the rows."""
    choose(BRUSH, "")
    choose(PART, "1")


def clear_search() -> None:
    """Clear the search."""
    choose(QUERY, "")
    clear_brush()


def brush_of(text: str) -> Brush:
    """Return the brush of an address, as `brush_text` writes it; none for an invalid one."""
    try:
        numbers = [float(number) for number in text.split("_")]
    except ValueError:
        return ()
    return tuple(zip(numbers[::2], numbers[1::2], strict=True)) if len(numbers) in (2, 4) else ()


def brush_text(brush: Brush) -> str:
    """Return a brush as text for the address, empty for none."""
    return "_".join(f"{bound:.4g}" for bounds in brush for bound in bounds)


def write_address() -> None:
    """Write the choices that differ from their defaults into the address."""
    values = {name: chosen(name) for name in _CHOICES}
    parameters = {name: value if value not in ("", _CHOICES[name][0]) else None for name, value in values.items()}
    others = dict.fromkeys((*inputs.REQUEST, DETAIL_LEVEL))  # a link may have them for the other pages
    set_page_address(repr(values), others | parameters | language_address())
