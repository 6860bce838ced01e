"""A view: one translation in a step room. Several may stand on one page, each with what was chosen in it."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any, Protocol

from attnviz.trace import Branches
from attnviz.ui.page_state.depth import Depth, shows

Session = MutableMapping[Any, Any]
"""What Streamlit keeps of a visit (`st.session_state`), or a dictionary in its place."""

MAIN = ""
"""The id of a page's own view, whose keys and address parameters bear no mark."""


def view_key(view_id: str, name: str) -> str:
    """Return `name` as the key of the view `view_id`."""
    return name if view_id == MAIN else f"{name}-{view_id}"


class Keyed(Protocol):
    """What has keys of its own on a page: a view, or a room that shows no single translation."""

    def key(self, name: str) -> str:
        """Return the key of a component, or of something kept in the session."""


@dataclass(frozen=True, eq=False)
class View:
    """A translation on show, and what tells its keys from those of another view on the page."""

    id: str
    """Letters and digits; another for each view on a page."""
    trace: Any
    """A `Trace` or a `TransformerTrace`: what the page has of each, the parts of the step room know."""
    branches: Branches | None = None
    """What was tried by hand, with the translation it was tried on; None where nothing can be tried."""
    number: int = 0
    """Which of the branches `trace` is, from 1; 0 for the first translation."""
    depth: Depth = "everything"
    """How much of the translation is told."""

    @property
    def parent(self) -> Any:
        """What the branch on show was tried on; None where the first translation is on show."""
        return self.branches.parent(self.number) if self.branches else None

    def key(self, name: str) -> str:
        """Return the key of a component, of something kept in the session, or of an address parameter of this view."""
        return view_key(self.id, name)

    def shows(self, least: Depth) -> bool:
        """Return whether what belongs to the depth `least` is told."""
        return shows(self.depth, least)

    @property
    def identity(self) -> str:
        """What tells this translation from another: model, text, search and every number.

        A trace from a file may claim any sentence and model, and what is drawn is kept for all visitors.
        """
        return str(self.trace.fingerprint)

    @property
    def steps(self) -> int:
        """How many decoder steps there are."""
        return len(self.trace.target_pieces)
