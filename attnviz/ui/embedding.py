"""A view whose payloads travel with it, for hosts without a server of ours: files, notebooks, other people's apps.

While an `Embedding` is current, payloads get addresses of their own, and nothing is read from or written to a Streamlit
session. What needs the server (word links drawn by hand, what-ifs, typed words, saved pictures) is left out.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attnviz import lazy_streamlit as st

if TYPE_CHECKING:  # `server` needs this module before it answers
    from attnviz.analysis.recomputation import Weights
    from attnviz.palette import ThemeName
    from attnviz.text import Tokenizer

Session = MutableMapping[Any, Any]
"""Streamlit's session state (`st.session_state`), or a dictionary in its place."""
_PLACE = re.compile(r"\{(\w+)\}")
_OPTIONS = "&".join(f"{name}={{{name}}}" for name in ("face", "by", "root", "end", "margins", "values"))
"""The part of an address with the options of the heatmap that a reader may choose."""
_Value = TypeVar("_Value")


_Payload = tuple[str, Mapping[str, Any], Mapping[str, str]]
"""Name of a payload that travels with a view, what is shown, and the parameters of its address."""


@dataclass
class Embedding:
    """A host that embeds the payloads of a view."""

    name: str
    """Distinguishes the payloads of one view from those of another."""
    theme: ThemeName
    """Colours of the figures."""
    options: Mapping[str, tuple[str, ...]]
    """Values of each display option that a reader can choose from, the first at first; one for a fixed option."""
    changes: bool = False
    """Whether a change by hand gets an answer: a translator is at hand."""
    weights: tuple[str, Weights] | None = None
    """Digest and weights of the model that made the translation; None for those of the installed model."""
    tokenizer: Tokenizer | None = None
    """Of the model that made the translation; None for that of the installed model."""
    session: Session = field(default_factory=dict)
    """Stands for the session state."""
    _templates: dict[str, _Payload] = field(default_factory=dict)
    """By address with placeholders, also in the parameters."""

    def address(self, name: str, shown: Mapping[str, Any], parameters: Mapping[str, str], query: str) -> str:
        """Return the address of a payload, with its placeholders."""
        query = query.replace("{selection}", "steps={step}").replace("{options}", _OPTIONS)
        address = f"{self.name}/{len(self._templates)}/{name}?{query}"
        of_query = dict(part.split("=", 1) for part in query.split("&") if "=" in part)
        given = {key: value for key, value in parameters.items() if value}
        self._templates[address] = name, shown, given | of_query
        return address

    def payloads(self, steps: int) -> Iterator[tuple[str, str, Mapping[str, Any], Mapping[str, str]]]:
        """Yield each payload that a reader can come to see in so many `steps`: address, name, shown, parameters."""
        for address, (name, shown, parameters) in self._templates.items():
            places = set(_PLACE.findall(address))
            choices = [values if option in places else values[:1] for option, values in self.options.items()]
            step_range = range(steps) if "step" in places else [0]
            for step, chosen in itertools.product(step_range, itertools.product(*choices)):
                options = dict(zip(self.options, chosen, strict=True))
                filling = {"step": str(step), "word": "", **options}  # as the browser fills it (`filledAddress`)

                def filled(text: str, filling: Mapping[str, str] = filling) -> str:
                    return _PLACE.sub(lambda place: filling[place[1]], text)

                own = {parameter: filled(value) for parameter, value in parameters.items()}
                of_step = {"step": str(step + 1)} if "step" in places else {}
                yield filled(address), name, shown, options | own | of_step


_CURRENT: ContextVar[Embedding | None] = ContextVar("embedding", default=None)
_SESSION: ContextVar[Session | None] = ContextVar("session", default=None)
"""What stands for the session state of the visitor."""


def embedding() -> Embedding | None:
    """Return the host that embeds the payloads of what is drawn now; None on a page of the app."""
    return _CURRENT.get()


@contextmanager
def set_within(variable: ContextVar[_Value], value: _Value) -> Iterator[None]:
    """Set a context variable within."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


@contextmanager
def embedded_in(host: Embedding) -> Iterator[None]:
    """Make `host` the current one."""
    with set_within(_CURRENT, host), in_session(host.session), in_theme(host.theme):
        yield


_THEME: ContextVar[ThemeName | None] = ContextVar("theme", default=None)


def in_theme(theme: ThemeName) -> AbstractContextManager[None]:
    """Draw within in the colours of a theme."""
    return set_within(_THEME, theme)


def theme_name() -> ThemeName:
    """Return the theme in which is drawn: that of a payload or of a host, else that of the visitor's browser."""
    return _THEME.get() or ("dark" if st.context.theme.type == "dark" else "light")


def in_session(session: Session) -> AbstractContextManager[None]:
    """Let `session` stand for the session state: of a host, or of a page whose payload is made."""
    return set_within(_SESSION, session)


def page_session() -> Session:
    """Return the session state of the visitor, or what stands for it."""
    session = _SESSION.get()
    return cast("Session", st.session_state) if session is None else session
