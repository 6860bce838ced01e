"""What a visitor chose of a table, kept in the session and in the address.

Here, unlike in a step room, each choice is an entry of the browser's history: Back undoes it, and from a pair leads
back to the table as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from attnviz.corpora import MEASURES
from attnviz.ui.corpus.table import PRESETS, Brush, Choice
from attnviz.ui.language import language_address
from attnviz.ui.page_state import inputs
from attnviz.ui.page_state.address import keep_page
from attnviz.ui.page_state.depth import DEPTH
from attnviz.ui.page_state.view import Session

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
"""Names in the address; in the session with `corpus_` before them."""
_NAMES = [one.name for one in MEASURES]
_OFFERED: Mapping[str, tuple[str, ...]] = {
    PRESET: PRESETS,
    SORT: ("", "number", *_NAMES),
    DESCENDING: ("", "1"),
    X: tuple(_NAMES),
    Y: tuple(_NAMES),
}
_DEFAULT = {
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
NAMES = tuple(_DEFAULT)
_LONGEST = 200


def key(name: str) -> str:
    """Return the key of a choice in the session."""
    return f"corpus_{name}"


def open_choices(session: Session, linked: Mapping[str, str], anew: bool) -> None:
    """Take over what a link says where nobody has chosen or, if `anew`, in any case; what is unknown is not chosen.

    A link that names no table leaves what was chosen before."""
    for name, default in _DEFAULT.items():
        kept = session.get(key(name))
        if kept is None or (anew and linked.get(TABLE)):
            value = linked.get(name, default)[:_LONGEST]
            kept = value if value in _OFFERED.get(name, (value,)) else default
        # Said anew at each run: a widget that is not drawn would forget it.
        session[key(name)] = kept


def chosen(session: Mapping[Any, Any]) -> Choice:
    """Return what is chosen."""
    return Choice(
        preset=session[key(PRESET)],
        query=session[key(QUERY)] or "",
        sort=session[key(SORT)],
        descending=bool(session[key(DESCENDING)]),
        x=session[key(X)],
        y=session[key(Y)],
        brush=brush_of(session[key(BRUSH)]),
    )


def all_of_it() -> None:
    """Have no region marked, and the first part of the rows on show."""
    st.session_state[key(BRUSH)], st.session_state[key(PART)] = "", "1"


def find_all() -> None:
    """Search for nothing."""
    st.session_state[key(QUERY)] = ""
    all_of_it()


def brush_of(text: str) -> Brush | None:
    """Return the brush of an address, as `brush_text` writes it; None where it is none."""
    try:
        numbers = [float(number) for number in text.split("_")]
    except ValueError:
        return None
    if len(numbers) == 2:
        return Brush((numbers[0], numbers[1]))
    return Brush((numbers[0], numbers[1]), (numbers[2], numbers[3])) if len(numbers) == 4 else None


def brush_text(brush: Brush | None) -> str:
    """Return a brush as it stands in the address, empty for none."""
    return "" if brush is None else "_".join(f"{number:.4g}" for number in (*brush.x, *(brush.y or ())))


def write_address(session: Session) -> None:
    """Have in the address what is chosen and is not what the page opens with."""
    said = {name: str(session[key(name)] or "") for name in _DEFAULT}
    wanted = {name: value if value and value != _DEFAULT[name] else None for name, value in said.items()}
    others = dict.fromkeys((*inputs.REQUEST, DEPTH))  # a link may have them for the other pages
    keep_page(session, repr(said), others | wanted | language_address())
