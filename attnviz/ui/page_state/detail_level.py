"""Store the level of detail of the page: the idea, the numbers, or everything."""

from __future__ import annotations

from attnviz.trace.drawing import DetailLevel
from attnviz.ui.embedding import page_session
from attnviz.ui.page_state.linked import SENTENCE_PAGES, is_given, linked_entry
from attnviz.ui.view import DETAIL_LEVELS

DEFAULT_LEVEL: DetailLevel = "idea"
"""Default level of a visitor without a link or a choice."""
DETAIL_LEVEL = "depth"
"""Session state key, widget key of the switch, and address parameter."""
_CHOSEN = "depth_chosen"


def open_detail_level(earlier_choice: str | None) -> DetailLevel:
    """Return the current level: that of the switch, at first that of the link, else the visitor's last choice.

    `earlier_choice` is that of an earlier session. A link sets the level, but only the switch makes it the visitor's
    own choice.
    """
    default = chosen_detail_level(earlier_choice) or DEFAULT_LEVEL
    level: DetailLevel = linked_entry(DETAIL_LEVEL, default, offered=DETAIL_LEVELS, scope=SENTENCE_PAGES)
    return level


def choose_detail_level() -> None:
    """Make the current level the visitor's own choice."""
    session = page_session()
    session[_CHOSEN] = session[DETAIL_LEVEL]


def chosen_detail_level(earlier_choice: str | None = None) -> DetailLevel | None:
    """Return the visitor's last choice, in this session or an earlier one; None where there is none."""
    chosen = page_session().get(_CHOSEN, earlier_choice)
    return next((level for level in DETAIL_LEVELS if level == chosen), None)


def detail_level_address(earlier_choice: str | None) -> dict[str, str | None]:
    """Return the address parameter of the level; None where neither a link nor the visitor chose one."""
    chosen = is_given(DETAIL_LEVEL) or chosen_detail_level(earlier_choice)
    return {DETAIL_LEVEL: page_session()[DETAIL_LEVEL] if chosen else None}
