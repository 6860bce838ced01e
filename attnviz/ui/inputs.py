"""The link that a visitor follows, the session state that begins with it, its invalid values, and the page's address.

`st.query_params` is used at first, and after Back or Forward to another page: otherwise Streamlit (1.67) keeps sending
the address that was opened first, while the browser rewrites its address at every step. Each link is read once. Before
another one is followed, the entries initialised from it are cleared.

The server reads an address with `st.query_params` but never writes it there, since Streamlit would push a history entry
each time. It sends its own parameters to the browser (`components/address.js`), which adds those that it owns, replaces
the history entry, and pushes a new one when another page or translation is shown.

What a visitor chooses for all pages is the request (sentence, own translation to force-decode, model, device, search),
the level of detail, and the language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from attnviz import lazy_streamlit as st
from attnviz.languages import LANGUAGES, language, set_language
from attnviz.trace.drawing import DETAIL_LEVELS, DetailLevel
from attnviz.ui.embedding import embedding, page_session

_LINK = "link"
_MOST = 100_000
"""Largest length of an address that is read, in characters."""


ValidValues = range | Collection[str]
"""Valid values of a parameter: whole numbers, or words; empty if only its own module validates it."""

PAGE = "page"
"""Session state key of the path of the current page."""
SENTENCE_PAGES = "sentence pages"
"""Scope of the entries that all pages with the visitor's sentence share."""
_ENTRIES, _SUBJECTS, _READ, _NOTED = "linked_entries", "subjects", "link_read", "link_noted"


class _Entry(NamedTuple):
    """An entry that is cleared before another link of its scope is followed."""

    scope: str
    """Path of a page, or `SENTENCE_PAGES`."""
    given: bool = False
    """Whether its value began as that of the link."""


def link() -> Mapping[str, str]:
    """Return the parameters of the link, by name."""
    if embedding() is not None:
        return {}
    session = page_session()
    if _LINK not in session:
        session[_LINK] = st.query_params.to_dict()
    return MappingProxyType(session[_LINK])


def follow_link(parameters: Mapping[str, str]) -> None:
    """Make these `parameters` of an address those of the link."""
    page_session()[_LINK] = dict(parameters)


def parse_query(query: str) -> dict[str, str]:
    """Return the parameters in the `query` of an address, by name; the browser may send anything."""
    return dict(parse_qsl(query[:_MOST], keep_blank_values=True))


def linked_entry(
    key: str,
    default: Any,
    *,
    parameter: str = "",
    offered: Collection[str] = (),
    parse: Callable[[str], Any] = str,
    scope: str | None = None,
    noted: bool = False,
) -> Any:
    """Return the entry `key`, which begins with the value of the `parameter` (by default `key`) of the link.

    It begins with `default` if the link has none, or one that is not among the `offered` ones. `parse` converts the
    value. Another link of the `scope`, by default to the current page, clears the entry. If `noted`, an invalid value
    is reported; those of `read_link` are anyway.
    """
    session, entries = page_session(), _entries()
    text = None if key in entries or key in session else link().get(parameter or key)
    given = text is not None and is_valid(text, offered)
    if noted:
        note_if_invalid(parameter or key, text, offered)
    if key not in session:
        session[key] = parse(str(text)) if given else default
    entries.setdefault(key, _Entry(str(session.get(PAGE, "")) if scope is None else scope, given))
    return session[key]


def clear_with_link(*keys: str) -> None:
    """Clear these entries before another link to a page with the visitor's sentence is followed."""
    for key in keys:
        _entries().setdefault(key, _Entry(SENTENCE_PAGES))


def keep_for(key: str, subject: str) -> None:
    """Keep the entry `key` for one `subject`: for another, it begins with its default again."""
    session = page_session()
    subjects: dict[str, str] = session.setdefault(_SUBJECTS, {})
    if subjects.get(key, subject) != subject:
        session.pop(key, None)
    subjects[key] = subject


def is_given(key: str) -> bool:
    """Return whether the entry `key` began with a value of the link."""
    entry = _entries().get(key)
    return entry is not None and entry.given


def _entries() -> dict[str, _Entry]:
    entries: dict[str, _Entry] = page_session().setdefault(_ENTRIES, {})
    return entries


def begin_link(*scopes: str) -> None:
    """Clear the entries of these scopes and the invalid values, before another link is read."""
    clear_entries(*scopes)
    drop_link_problems()
    page_session().pop(_READ, None)


def clear_entries(*scopes: str, kept: Collection[str] = ()) -> None:
    """Clear the entries of these scopes, except the `kept` ones, so that they begin with the next link."""
    entries = _entries()
    for key in [key for key, entry in entries.items() if entry.scope in scopes and key not in kept]:
        del entries[key]
        page_session().pop(key, None)


def read_link(offered: Mapping[str, ValidValues]) -> None:
    """Note the invalid values of the link, once for each link, given the valid ones of each parameter."""
    session = page_session()
    if not session.get(_READ):
        session[_READ] = True
        for name, values in offered.items():
            note_if_invalid(name, link().get(name), values)


def note_if_invalid(name: str, value: str | None, offered: ValidValues) -> None:
    """Store the `value` that a link gives the parameter `name`, if invalid; if `offered` is empty, any is valid."""
    if value is not None and offered and not is_valid(value, offered):
        page_session().setdefault(_NOTED, {})[name] = value, offered


def is_valid(value: str, offered: ValidValues) -> bool:
    """Return whether a link may have this value."""
    if isinstance(offered, range):
        return bool(re.fullmatch("[0-9]{1,6}", value)) and int(value) in offered
    return not offered or value in offered


def link_problems() -> dict[str, dict[str, Any]]:
    """Return each invalid value with the valid ones, by the name of its parameter (`InvalidParameter`)."""
    noted = page_session().get(_NOTED, {})
    return {name: {"value": value} | values_payload(offered) for name, (value, offered) in noted.items()}


def values_payload(offered: ValidValues) -> dict[str, Any]:
    """Return the valid values of a parameter for the browser."""
    if isinstance(offered, range):
        return {"first": offered.start, "last": offered.stop - 1, "values": []}
    return {"first": 0, "last": -1, "values": [*offered]}


def drop_link_problems() -> None:
    """Drop the invalid values, when the visitor goes to another page."""
    page_session().pop(_NOTED, None)


Parameters = dict[str, str | None]
"""Address parameters by name; None removes one."""

_ADDRESS = "address"


def open_address(path: str, asked: str | None = None) -> None:
    """Start the address of the page at `path`, empty for the first; it has its own history entry and parameters.

    The browser requests the page that is `asked` for, if it is another: the server does not know its address.
    """
    other = None if asked == path else asked
    page_session()[_ADDRESS] = {"path": path, "other": other, "entry": path or "first", "parameters": {}}


def set_page_address(entry: str, parameters: Parameters) -> None:
    """Add the page's own address `parameters`, and set the `entry` that identifies its history entry."""
    add_parameters(parameters)
    session = page_session()
    session[_ADDRESS]["entry"] = f"{session.get(PAGE) or 'first'} {entry}"


def add_parameters(parameters: Parameters) -> None:
    """Add `parameters` to the address of the page, in this run."""
    page = page_payload()
    page_session()[_ADDRESS] = page | {"parameters": page["parameters"] | parameters}


def page_payload() -> dict[str, Any]:
    """Return the payload of the page's own address."""
    payload: dict[str, Any] = page_session().get(_ADDRESS, {"path": "", "other": None, "entry": "", "parameters": {}})
    return payload


SENTENCE = "sentence"
TARGET = "target"
SEARCH = "search"
MODEL = "model"
DEVICE = "device"
REQUEST = (SENTENCE, TARGET, MODEL, SEARCH)
"""Session state keys that are also address parameters."""
SEARCHES = ("greedy", *(f"beam {width}" for width in (2, 3, 4, 5, 6, 8, 10, 12, 16, 20)))
DEFAULT_SEARCH = "beam 5"
"""It translates better than greedy search and takes a few milliseconds more."""
_PAIR = "listed_pair"


def open_listed_pair(source: str, target: str) -> None:
    """Request the forced translation of a pair of the list."""
    session = page_session()
    set_request(source, target)
    session[_PAIR] = source, target


def is_listed_pair() -> bool:
    """Return whether the request is still the pair that was opened from the list."""
    session = page_session()
    return session.get(_PAIR) == (session.get(SENTENCE), session.get(TARGET))


def open_request(sentence: str, models: Collection[str]) -> None:
    """Begin the request with the link; `sentence` and the first of the `models`, at least one, are the defaults."""
    session = page_session()
    for name, default, offered in (
        (SENTENCE, sentence, ()),
        (TARGET, "", ()),
        (MODEL, next(iter(models)), models),
        (SEARCH, DEFAULT_SEARCH, SEARCHES),
    ):
        linked_entry(name, default, offered=offered, scope=SENTENCE_PAGES)
    if session[MODEL] not in models:  # its folder is gone
        session[MODEL] = next(iter(models))


def set_request(sentence: str, target: str = "") -> None:
    """Set the sentence and its own translation, which may be empty."""
    page_session().update({SENTENCE: sentence, TARGET: target})


def drop_target() -> None:
    """Clear the own translation: it belongs to the previous sentence, or the visitor cleared it."""
    page_session()[TARGET] = ""


def beam_of(search: str) -> int:
    """Return the beam width of a choice of search: 1 for "greedy", 5 for "beam 5"."""
    return 1 if search == "greedy" else int(search.removeprefix("beam "))


LANGUAGE = "lang"
"""Session state key and address parameter."""


def use_chosen_language() -> None:
    """Set the visitor's language for the current thread.

    The page and each fragment (`controls.begin_fragment`) call this first: Streamlit may run them in a thread that last
    used another visitor's language.
    """
    chosen = st.session_state.get(LANGUAGE) or link().get(LANGUAGE)
    set_language(chosen if chosen in LANGUAGES else _browser_language())


def language_address() -> dict[str, str | None]:
    """Return the address parameter of the language; None for the language of the visitor's browser."""
    return {LANGUAGE: None if language() == _browser_language() else language()}


def _browser_language() -> str:
    code = (st.context.locale or "").lower().partition("-")[0]
    return code if code in LANGUAGES else "en"


DEFAULT_LEVEL: DetailLevel = "idea"
"""Default level of a visitor without a link or a choice."""
DETAIL_LEVEL = "depth"
"""Session state key, widget key of the switch, and address parameter."""
_CHOSEN = "depth_chosen"


def page_detail_level() -> DetailLevel:
    """Return the current level: that of the switch, at first that of the link, else the visitor's last choice.

    A link sets the level, but only the switch makes it the visitor's own choice.
    """
    default = _last_detail_level() or DEFAULT_LEVEL
    level: DetailLevel = linked_entry(DETAIL_LEVEL, default, offered=DETAIL_LEVELS, scope=SENTENCE_PAGES)
    return level


def choose_detail_level() -> None:
    """Make the current level the visitor's own choice."""
    session = page_session()
    session[_CHOSEN] = session[DETAIL_LEVEL]


def chosen_detail_level() -> DetailLevel | None:
    """Return the visitor's last choice in this session, which the browser is to store; None where there is none."""
    level: DetailLevel | None = page_session().get(_CHOSEN)
    return level


def _last_detail_level() -> DetailLevel | None:
    """Return the visitor's last choice, in this session or an earlier one; None where there is none."""
    chosen = chosen_detail_level() or remembered(DETAIL_LEVEL)
    return next((level for level in DETAIL_LEVELS if level == chosen), None)


def detail_level_address() -> dict[str, str | None]:
    """Return the address parameter of the level; None where neither a link nor the visitor chose one."""
    chosen = is_given(DETAIL_LEVEL) or _last_detail_level()
    return {DETAIL_LEVEL: page_session()[DETAIL_LEVEL] if chosen else None}


def cookie(name: str) -> str:
    """Return the name of the cookie in which the browser stores a choice for a year."""
    return f"attnviz_{name}"


def remembered(name: str) -> str | None:
    """Return the choice that the browser had stored when this session began; it may be forged."""
    return st.context.cookies.get(cookie(name))
