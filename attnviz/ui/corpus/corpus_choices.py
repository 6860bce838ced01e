"""Store the choices on the page *Corpus* (table, filters, order, axes) in session state and address.

Unlike in a step view, each choice is an entry of the browser's history: Back undoes it, and leads from a pair back to
the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from attnviz.corpora import MEASURES
from attnviz.ui.corpus.table import PRESETS, Brush, Choice
from attnviz.ui.language import language_address
from attnviz.ui.page_state import inputs
from attnviz.ui.page_state.address import set_page_address
from attnviz.ui.page_state.detail_level import DETAIL_LEVEL
from attnviz.ui.page_state.linked import Session, linked_entry

TABLE, PRESET, QUERY, SORT, DESCENDING, X, Y, BRUSH, PART = (
    "table",
    "show",
    "find",
    "sort",
    "descending",
    "x",
    "y",
    "brush",
    "part",
)
"""Names in the address; in the session state with the prefix `corpus_`."""
_MEASURE_NAMES = [measure.name for measure in MEASURES]
_VALID_VALUES: Mapping[str, tuple[str, ...]] = {
    PRESET: PRESETS,
    SORT: ("", "number", *_MEASURE_NAMES),
    DESCENDING: ("", "1"),
    X: tuple(_MEASURE_NAMES),
    Y: tuple(_MEASURE_NAMES),
}
_DEFAULTS = {
    PRESET: "all",
    SORT: "",
    DESCENDING: "",
    X: Choice.x,
    Y: Choice.y,
    QUERY: "",
    BRUSH: "",
    PART: "1",
    TABLE: "",
}
NAMES = tuple(_DEFAULTS)
_MAX_LENGTH = 200


def key(name: str) -> str:
    """Return the session state key of a choice."""
    return f"corpus_{name}"


def open_choices(session: Session, linked: Mapping[str, str]) -> None:
    """Begin the choices with the link; without a table, the page opens where the translations go wrong."""
    for name, default in (_DEFAULTS | ({PRESET: "wrong"} if has_no_table(linked) else {})).items():
        linked_entry(
            session,
            linked,
            key(name),
            default,
            parameter=name,
            offered=_VALID_VALUES.get(name, ()),
            parse=lambda text: text[:_MAX_LENGTH],
        )


def has_no_table(linked: Mapping[str, str]) -> bool:
    """Return whether a link names no table; it then shows the current one."""
    return not linked.get(TABLE)


def current_choice(session: Mapping[Any, Any]) -> Choice:
    """Return the current choice."""
    return Choice(
        preset=session[key(PRESET)],
        query=session[key(QUERY)],
        sort=session[key(SORT)],
        descending=bool(session[key(DESCENDING)]),
        x=session[key(X)],
        y=session[key(Y)],
        brush=brush_of(session[key(BRUSH)]),
    )


def show_pairs(preset: str) -> None:
    """Show the pairs of a predefined filter, without a region."""
    st.session_state[key(PRESET)] = preset
    clear_brush()


def clear_brush() -> None:
    """Clear the selected region, and go to the first part of the rows."""
    st.session_state[key(BRUSH)], st.session_state[key(PART)] = "", "1"


def clear_search() -> None:
    """Clear the search."""
    st.session_state[key(QUERY)] = ""
    clear_brush()


def brush_of(text: str) -> Brush | None:
    """Return the brush of an address, as `brush_text` writes it; None for an invalid one."""
    try:
        numbers = [float(number) for number in text.split("_")]
    except ValueError:
        return None
    if len(numbers) == 2:
        return Brush((numbers[0], numbers[1]))
    return Brush((numbers[0], numbers[1]), (numbers[2], numbers[3])) if len(numbers) == 4 else None


def brush_text(brush: Brush | None) -> str:
    """Return a brush as text for the address, empty for None."""
    return "" if brush is None else "_".join(f"{number:.4g}" for number in (*brush.x, *(brush.y or ())))


def write_address(session: Session) -> None:
    """Write the choices that differ from their defaults into the address."""
    values = {name: str(session[key(name)]) for name in _DEFAULTS}
    parameters = {name: value if value and value != _DEFAULTS[name] else None for name, value in values.items()}
    others = dict.fromkeys((*inputs.REQUEST, DETAIL_LEVEL))  # a link may have them for the other pages
    set_page_address(session, repr(values), others | parameters | language_address())
