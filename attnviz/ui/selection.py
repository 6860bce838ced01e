"""Address parameters of a view, and the selection that they restore: step, source piece, word, foil, heads, options.

The browser owns the selection (`components/state.js`, which gets the table of parameters as JSON): the fragment of the
address has it, and requests for payloads that depend on it. The server's parameters begin with the query of the link
(`ui.inputs`), into which the browser writes them. A parameter missing there has its default. Parameters of one
page only belong to its fields (`ui.controls`). Steps and pieces count from 0 here, from 1 in an address.

The gold links of a view are typed or drawn by a visitor, or in the address. Where there are none, `gold_of` returns
those of a gold file or of the trace. Links of each pair of a file last as long as the session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from attnviz.analysis.gold import (
    GoldLinks,
    PairLinks,
    linkable_words,
    parse_gold_links,
    recorded_gold_links,
    removed_links_message,
    word_links,
)
from attnviz.analysis.grid import FACES, GRID_UNITS
from attnviz.errors import AttnvizError
from attnviz.installed_models import installed_models
from attnviz.languages import LANGUAGES
from attnviz.lessons import shipped_lessons
from attnviz.palette import COLOURS
from attnviz.trace import Trace, Words
from attnviz.trace.drawing import DETAIL_LEVELS, HeatmapChoices
from attnviz.trace.parts import Heads, head_choices
from attnviz.trace.what_ifs import StoredWhatIfs, WhatIf, decode_what_ifs, encode_what_ifs, what_ifs_identity
from attnviz.ui.embedding import embedding, page_session
from attnviz.ui.inputs import (
    DETAIL_LEVEL,
    LANGUAGE,
    MODEL,
    SEARCH,
    SEARCHES,
    SENTENCE_PAGES,
    ValidValues,
    clear_with_link,
    is_valid,
    keep_for,
    link,
    linked_entry,
    values_payload,
)
from attnviz.ui.resources import has_posterior, with_heads
from attnviz.ui.view import MAIN, FilePair, View, view_key

GOLD = "gold"
"""Session state key, and address parameter."""
TEXT = "gold_text"
"""Key of the text box that links are typed in."""
LINKS_OF_PAIRS, _OPENED_PAIRS = "gold_of_pairs", "gold_opened_pairs"
"""Session state keys: the visitor's links of each pair of a file, and the words of the pairs that were shown.

They last as long as the session, so that links are there again when their file is opened again.
"""
_PROBLEM = "gold_problem"
_LONGEST = 10_000
"""Largest length of an address value that is read, in characters."""


def open_gold(view: View) -> None:
    """Begin the links with the address; drop those of another sentence, with a message.

    Links of another translation of the same sentence stay, and are shown with it; so do those of each pair of a file.
    """
    session, words = page_session(), view.trace.words()
    text, problem, pair = view.key(TEXT), view.key(_PROBLEM), pair_of(view)
    for key in (text, problem):
        keep_for(key, repr((pair, linkable_words(words))))
    clear_with_link(text, problem)
    if pair:
        session.setdefault(_OPENED_PAIRS, {})[pair] = words
        return

    def parse(linked_text: str) -> PairLinks | None:
        try:
            return PairLinks.parse(linked_text[:_LONGEST], words) if linked_text else None
        except AttnvizError as error:
            session[problem] = str(error)
            return None

    stored: PairLinks | None = linked_entry(view.key(GOLD), None, parse=parse, scope=SENTENCE_PAGES)
    if stored is not None and not stored.joins_source(words):
        session[view.key(GOLD)] = None
        session.pop(text, None)
        if stored.links:
            session[problem] = removed_links_message()


def pair_of(view: View) -> str:
    """Return text that identifies the pair of a file that `view` shows, with its words; empty for a translation."""
    return _pair_name(view.file, view.file.number, view.trace.words()) if view.file else ""


def _pair_name(file: FilePair, number: int, words: Words) -> str:
    return f"{file.key(number)} {PairLinks.of(*linkable_words(words), GoldLinks()).digest}"


def gold_of(view: View) -> GoldLinks | None:
    """Return the links between the current words: those of the visitor, else those of a gold file or in the trace.

    None if there are no links, or the model has no attention.
    """
    if not view.trace.attends:
        return None
    stored = _stored(view)
    if stored is not None and stored.joins(view.trace.words()):
        return stored.links or None  # empty where the visitor removed the trace's own links
    with suppress(AttnvizError):  # the page has the message
        if view.file and (given := view.file.own_gold) is not None:
            return given or None
    return recorded_gold_links(view.trace) or None


def gold_entries(view: View) -> dict[str, Any]:
    """Return the entries of the session state from which `gold_of` returns the same links."""
    stored, pair = _stored(view), pair_of(view)
    if stored is None:
        return {}
    return {LINKS_OF_PAIRS: {pair: stored}} if pair else {view.key(GOLD): stored}


def links_of_pairs() -> dict[str, PairLinks]:
    """Return the visitor's links of the pairs of files, as they are now."""
    return dict(page_session().get(LINKS_OF_PAIRS, {}))


def links_of_pair(file: FilePair, number: int, record: Any) -> GoldLinks:
    """Return the links of a pair of `file` with its attention: the visitor's, else gold links, else its own.

    Raise AttnvizError where the gold links cannot be read.
    """
    if (stored := links_of_pairs().get(_pair_name(file, number, record.words()))) is not None:
        return stored.links
    if (given := file.gold_links(number)) is not None:
        return given
    return recorded_gold_links(record) or GoldLinks(frozenset((j, i) for j, i, _ in word_links(record)))


def has_links_for_other_words(view: View) -> bool:
    """Return whether links are stored, but for other words than the current ones."""
    stored = _stored(view)
    return stored is not None and bool(stored.links) and not stored.joins(view.trace.words())


def problem_of(view: View) -> str:
    """Return the error in the last links, or why they were dropped; empty if there is none."""
    return str(page_session().get(view.key(_PROBLEM), ""))


def set_problem(view: View, message: str) -> None:
    """Store why links could not be taken."""
    page_session()[view.key(_PROBLEM)] = message


def set_links(view: View, text: str, identity: str = "") -> None:
    """Parse and store links that a visitor typed or drew; empty text removes them.

    They belong to the pair of this `identity` that `view` showed, by default to the current one. On an error the
    previous links stay, and `problem_of` returns the message.
    """
    session = page_session()
    pair = identity if identity in session.get(_OPENED_PAIRS, {}) else pair_of(view)
    words = session.get(_OPENED_PAIRS, {}).get(pair) or view.trace.words()
    session.pop(view.key(_PROBLEM), None)
    try:
        links = PairLinks.of(*linkable_words(words), parse_gold_links(text, words) if text.strip() else GoldLinks())
    except AttnvizError as error:
        set_problem(view, str(error))
        return
    if pair:
        session.setdefault(LINKS_OF_PAIRS, {})[pair] = links
    else:
        session[view.key(GOLD)] = links


def drawn_identity(view: View) -> str:
    """Return text that identifies what links are drawn for in `view`."""
    return pair_of(view) or view.identity


def set_drawn_links(view: View, request: Any) -> None:
    """Store the links of a browser's request, which may be anything; write those of the current words in the text box.

    They may be of a pair that `view` showed before: the visitor may go to another pair at once after an edit.
    """
    session = page_session()
    match request:
        case {"identity": str(identity), "links": str(links)}:
            if identity == drawn_identity(view) or identity in session.get(_OPENED_PAIRS, {}):
                set_links(view, links[:_LONGEST], identity)
            if identity == drawn_identity(view):
                session[view.key(TEXT)] = links[:_LONGEST]


def take_links(view: View, links: GoldLinks) -> None:
    """Store links between the words of `view`, none to remove them, and write them in the text box."""
    set_links(view, links.text())
    page_session()[view.key(TEXT)] = links.text()


def set_gold(links: GoldLinks, source: Sequence[str], target: Sequence[str]) -> None:
    """Set the links between the words of `source` and `target` in the page's own view."""
    session = page_session()
    session[view_key(MAIN, GOLD)] = PairLinks.of(source, target, links)
    session.pop(view_key(MAIN, TEXT), None)


def gold_text(view: View) -> str | None:
    """Return the links for the address; None if there are none."""
    stored = _stored(view)
    return stored.text() if stored is not None and stored.links else None


def _stored(view: View) -> PairLinks | None:
    session, pair = page_session(), pair_of(view)
    stored: PairLinks | None = session.get(LINKS_OF_PAIRS, {}).get(pair) if pair else session.get(view.key(GOLD))
    return stored


LESSON, OWN_LESSON = "lesson", "own"
"""Address parameter of the open lesson, and its value for a visitor's file."""
LESSONS = (*shipped_lessons(), OWN_LESSON)
"""Values of that parameter."""
HEADS = "heads"
"""Session state key of the choice, and address parameter."""


def with_chosen_heads(trace: Any) -> Any:
    """Return `trace` with the attention of the heads that the visitor chose, at first those of the link.

    A trace without heads, or without these, is returned unchanged.
    """
    chosen = linked_entry(HEADS, None, scope=SENTENCE_PAGES)
    return with_heads(trace, str(chosen))


def current_heads(view: View) -> str | None:
    """Return the current heads for the address; None for the mean of all, and where there are none."""
    heads = getattr(view.trace, "heads", Heads())  # single heads and sentence pairs have no choice
    return None if heads == Heads() else heads.name


POSTERIOR_OPEN = "after_word"
"""Name of the choice whether the section on posterior attention is open."""
PAGE_CHOICES = HeatmapChoices(end=True)
"""Default choices of a heatmap on the page: with a row for every step, `</s>` included."""
SWITCHES = {name: value for name, value in vars(PAGE_CHOICES).items() if isinstance(value, bool)}
"""The choices of a heatmap that are on or off, with their defaults."""
OPTIONS: dict[str, tuple[str, ...]] = {
    "by": GRID_UNITS,
    "face": FACES,
    "colours": COLOURS,
    **{name: ("1", "0") if default else ("0", "1") for name, default in SWITCHES.items()},
    POSTERIOR_OPEN: ("0", "1"),
}
"""Values of each choice of a view, the default first: how its heatmap is drawn, and whether a section is open."""

WHAT_IFS, WHAT_IF = "what_ifs", "what_if"
"""Address parameters: all what-ifs, and the number of the current one."""
_PREVIOUS = "what_ifs_behind"
"""Session state key of the what-ifs of the translation that was shown before a file was opened."""


def open_what_ifs(first: Trace, saved: Sequence[WhatIf] | None = None) -> bool:
    """Set the what-ifs of `first`; return whether the last run showed the same translation.

    Only a page's own view has what-ifs. Another translation starts without what-ifs, the first of a session with those
    of its link, and one from a file with those `saved` in it. When the file is closed, the previous what-ifs are
    restored.
    """
    session, linked = page_session(), link()
    clear_with_link(WHAT_IFS, _PREVIOUS)
    stored: StoredWhatIfs | None = session.get(WHAT_IFS)
    identity = what_ifs_identity(first) if saved is None else first.fingerprint
    if stored is not None and stored.identity == identity:
        return True
    previous: StoredWhatIfs | None = session.pop(_PREVIOUS, None)
    if saved is not None:
        session[WHAT_IFS] = StoredWhatIfs(identity, tuple(saved), linked=False)
        session[_PREVIOUS] = stored if stored is not None and stored.linked else previous
    elif previous is not None and previous.identity == identity:
        session[WHAT_IFS] = previous
    elif stored is None:
        what_ifs, problems = decode_what_ifs(linked.get(WHAT_IFS, ""))
        number = linked.get(WHAT_IF, "")
        current = next((k for k in range(len(what_ifs) + 1) if str(k) == number), 0)
        session[WHAT_IFS] = StoredWhatIfs(identity, what_ifs, current, problems=problems)
    else:
        session[WHAT_IFS] = StoredWhatIfs(identity)
    return False


def stored_what_ifs(view_id: str) -> StoredWhatIfs:
    """Return the what-ifs of a view."""
    stored: StoredWhatIfs = page_session().get(view_key(view_id, WHAT_IFS), StoredWhatIfs())
    return stored


def what_ifs_text(view: View) -> str | None:
    """Return the what-ifs for the address; None for those left out of it."""
    stored = stored_what_ifs(view.id)
    return encode_what_ifs(stored.what_ifs) or None if stored.linked else None


def what_if_number(view: View) -> str | None:
    """Return the number of the current what-if for the address; None for the original translation."""
    current = stored_what_ifs(view.id).current
    return str(current) if current and what_ifs_text(view) else None


ParameterKind = Literal["number", "nearest", "name", "choice", "option", "text"]
"""Kinds of parameters.

A "number" counts from its first valid value in the address, and from 0 elsewhere; "nearest" is a number that is clipped
to the last valid value. A "name" is a number that is the same everywhere. An "option" is a choice that has its first
valid value by default.
"""
STAGES, STOPS = 5, 8
"""Number of stages of a step, and of stops of the tour."""
_LONGEST_TYPED = 80
"""Largest length of a typed word in a link, in characters."""
ORDERS = ("sentence", "strongest")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a view's address."""

    name: str
    kind: ParameterKind
    offered: Callable[[View], ValidValues] = lambda _: ()
    text: Callable[[View], str | None] | None = None
    """Formats the server's value for the address; None for one of the page (`set_page_address`)."""


def _option_values(name: str, view: View) -> tuple[str, ...]:
    """Return the values of a display option; without posterior attention, only α can be shown."""
    if (host := embedding()) is not None:
        return tuple(host.options[name])
    return OPTIONS[name][:1] if name == "face" and not has_posterior(view.trace) else OPTIONS[name]


BROWSER_PARAMETERS = (
    Parameter("step", "nearest", lambda view: range(1, view.steps + 1)),
    Parameter("source", "number", lambda view: range(1, len(view.trace.source_pieces) + 1)),
    Parameter("word", "number", lambda view: range(view.trace.vocabulary_size)),
    Parameter("foil", "number", lambda view: range(view.trace.vocabulary_size)),
    Parameter("typed_word", "text"),
    Parameter("typed_foil", "text"),
    Parameter("stage", "name", lambda _: range(1, STAGES + 1)),
    Parameter("tour", "name", lambda _: range(1, STOPS + 1)),
    Parameter("order", "choice", lambda _: ORDERS),
    *(Parameter(name, "option", partial(_option_values, name)) for name in OPTIONS),
    Parameter("form", "option", lambda view: view.forms),
)
"""Parameters of a view that the browser owns. In the address the names of all end with the view's id, if it has one."""
SERVER_PARAMETERS = (
    Parameter("heads", "choice", lambda view: head_choices(view.trace), current_heads),
    Parameter("what_ifs", "text", text=what_ifs_text),
    Parameter(
        "what_if",
        "name",
        lambda view: range(len(made) + 1 if (made := view.what_ifs and view.what_ifs.traces) else 0),
        what_if_number,
    ),
    Parameter("gold", "text", text=gold_text),
    Parameter(DETAIL_LEVEL, "choice", lambda _: DETAIL_LEVELS),
    Parameter(LESSON, "choice", lambda _: LESSONS),
    Parameter(LANGUAGE, "choice", lambda _: LANGUAGES),
    Parameter(MODEL, "choice", lambda _: tuple(installed_models())),
    Parameter(SEARCH, "choice", lambda _: SEARCHES),
)
"""Those that the server owns."""


def browser_parameters(view: View) -> list[dict[str, Any]]:
    """Return the browser's parameters of `view` as JSON: see `ViewParameter` in `components/types.d.ts`."""
    left_out = () if embedding() is None else ("word", "foil", "typed_word", "typed_foil")
    return [
        {"name": one.name, "key": view.key(one.name), "kind": one.kind}
        | values_payload(one.offered(view))
        | ({"last": _LONGEST_TYPED} if one.kind == "text" else {})
        for one in BROWSER_PARAMETERS
        if one.name not in left_out and (one.kind != "option" or one.offered(view))
    ]


def own_parameters(view: View) -> dict[str, str | None]:
    """Return the server's parameters of `view`, by their names in the address."""
    return {view.key(one.name): one.text(view) for one in SERVER_PARAMETERS if one.text}


def offered_in(view: View) -> dict[str, ValidValues]:
    """Return the valid values of the server's parameters of `view`, by their names in the address."""
    return {view.key(one.name): one.offered(view) for one in SERVER_PARAMETERS}


@dataclass(frozen=True)
class Selection:
    """A visitor's selection in a view; None for the default of the step."""

    step: int = 0
    source: int | None = None
    """Source piece; None for the one with the largest weight at each step."""
    word: int | None = None
    """Id of the piece whose logit is attributed; None for the written one."""
    foil: int | None = None
    """Id of the foil, the piece it is compared with; None for the likeliest other one."""
    typed_word: str = ""
    """Text typed by the visitor, whose first piece is `word`."""
    typed_foil: str = ""
    choices: HeatmapChoices = PAGE_CHOICES


def _browser_values(view: View, linked: Mapping[str, str]) -> dict[str, str]:
    """Return the valid values in a link of the browser's parameters of `view`, by their plain names."""
    values = {}
    for parameter in BROWSER_PARAMETERS:
        if (value := linked.get(view.key(parameter.name))) is not None:
            offered = parameter.offered(view)
            if parameter.kind == "nearest" and isinstance(offered, range) and is_valid(value, range(10**6)):
                value = str(min(int(value), offered[-1]))
            if is_valid(value, offered):
                values[parameter.name] = value[:_LONGEST_TYPED] if parameter.kind == "text" else value
    return values


def linked_selection(view: View, linked: Mapping[str, str]) -> Selection:
    """Return the selection of an address; invalid values are ignored."""
    values = _browser_values(view, linked)
    options: dict[str, Any] = {
        name: values[name] == "1" if name in SWITCHES else values[name]
        for name in OPTIONS
        if name in values and name != POSTERIOR_OPEN
    }
    numbers = {name: int(values[name]) for name in ("step", "source", "word", "foil") if name in values}
    word, foil = numbers.get("word"), numbers.get("foil")
    return Selection(
        numbers["step"] - 1 if "step" in numbers else view.first_step,
        numbers["source"] - 1 if "source" in numbers else None,
        word,
        foil,
        "" if word is None else values.get("typed_word", ""),
        "" if foil is None else values.get("typed_foil", ""),
        replace(PAGE_CHOICES, **options),
    )


def source_of(selection: Selection, trace: Trace) -> int:
    """Return the current source piece: the chosen one, or the one with the largest weight."""
    return int(np.argmax(trace.alignment[selection.step])) if selection.source is None else selection.source
