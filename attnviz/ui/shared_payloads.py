"""Address, make and cache the JSON payloads of a translation, which the browser fetches and all visitors share.

A run of the page only sends their addresses to the browser, since most figures are outside its window at first. Each
payload is made at its first request, and available as long as a session shows the translation.
"""

from __future__ import annotations

import gzip
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast, get_args
from urllib.parse import urlencode

import orjson
import streamlit as st

from attnviz.analysis.recomputation import Weights
from attnviz.languages import LANGUAGES, language, set_language
from attnviz.lru_cache import LRUCache
from attnviz.palette import ThemeName
from attnviz.trace import Trace
from attnviz.ui.resources import weights_digest_of, weights_of
from attnviz.ui.view import View

SHARED_PAYLOAD_PREFIX = "attnviz-shared-payload"
"""Prefix of the addresses of these payloads, below the page, before the translation's fingerprint and a name."""

_TRACES: weakref.WeakValueDictionary[str, Trace] = weakref.WeakValueDictionary()
"""Translations by their fingerprint, as long as a session or a cache holds them."""

_PAYLOADS: LRUCache[bytes] = LRUCache(32 << 20, size=len)
"""LRU cache of compressed payloads. Those of one translation take 150 to 300 kB."""


class UnknownPayloadError(LookupError):
    """The payload does not exist, or no session shows its translation any more."""


@dataclass(frozen=True)
class PayloadRequest:
    """The inputs of a payload."""

    trace: Any
    weights: Weights | None
    """Weights of the model that made the translation, or None where it is not installed."""
    steps: tuple[int, ...]
    theme: ThemeName
    word: int | None
    """Id of a piece that is requested in addition to those that the steps wrote."""
    options: tuple[str, ...] = ()
    """Values of the display options that the payload depends on."""
    parent: Any = None
    """Translation from which this one was made by a change by hand, where the address names it."""
    part: str = ""
    """Requested part of the translation, in the maker's own terms."""
    simple: bool = False
    """Whether figures and sentences are those of the level *Idea*."""


Maker = Callable[[PayloadRequest], Mapping[str, Any]]


def register_trace(trace: Trace) -> Trace:
    """Make the payloads of `trace` available as long as the caller holds the returned object.

    All sessions that show the same translation get the same object.
    """
    return _TRACES.setdefault(trace.fingerprint, trace)


def show_traces(key: str, *traces: Trace) -> tuple[Trace, ...]:
    """Make the payloads of `traces` available to the session until its next call with this `key`.

    Return the objects that all sessions share: the session holds them, for another session that registered them first
    may end.
    """
    shared = tuple(map(register_trace, traces))
    st.session_state[f"shown_traces_{key}"] = shared
    return shared


def shown_trace(fingerprint: str) -> Any:
    """Return the translation with that fingerprint if a session shows it, otherwise None."""
    return _TRACES.get(fingerprint)


def address(
    trace: Trace,
    name: str,
    theme: ThemeName,
    *,
    every: bool,
    word: bool = False,
    options: Sequence[str] = (),
    parent: Trace | None = None,
    models: str = "",
    part: str = "",
    simple: bool = False,
) -> str:
    """Return the address of the payload `name` of `trace`, drawn for `theme` in the current language.

    With `every`, the payload is of all steps; otherwise the address contains `{step}` for one. If the payload depends
    on the chosen `word`, the address contains `{word}`; likewise the names of the display `options` that it depends on.
    The `parent`, from which a what-if was made, must be shown as well. Different payloads have different addresses,
    also after the model was replaced; `models` identifies further models that make the payload, and `part` the part of
    the translation. If `simple`, the payload is that of the level *Idea*.
    """
    parameters = {"theme": theme, "lang": language(), "weights": (weights_digest_of(trace) or "")[:12]}
    parameters |= {
        name: value for name, value in (("models", models), ("part", part), ("simple", "1" if simple else "")) if value
    }
    if parent is not None:
        parameters["parent"] = parent.fingerprint
    steps, chosen = "all" if every else "{step}", "&word={word}" if word else ""
    shown = f"&options={'.'.join(f'{{{option}}}' for option in options)}" if options else ""
    return f"{SHARED_PAYLOAD_PREFIX}/{trace.fingerprint}/{name}?{urlencode(parameters)}{shown}&steps={steps}{chosen}"


def payload(makers: Mapping[str, Maker], fingerprint: str, name: str, parameters: Mapping[str, str]) -> bytes:
    """Return a payload as JSON, compressed by gzip, from the `makers` by name and the `parameters` of its address.

    Raise UnknownPayloadError where there is none.
    """
    trace, maker = _TRACES.get(fingerprint), makers.get(name)
    theme, code = parameters.get("theme", ""), parameters.get("lang", "")
    if trace is None or maker is None or theme not in get_args(ThemeName) or code not in LANGUAGES:
        raise UnknownPayloadError(name)
    steps, word = (
        _steps(parameters.get("steps", ""), len(trace.target_pieces)),
        _word(parameters.get("word", ""), trace),
    )
    options = tuple(parameters.get("options", "")[:40].split("."))
    parent = _parent(parameters.get("parent", ""), trace)
    part, simple = parameters.get("part", "")[:400], parameters.get("simple") == "1"
    key = (
        fingerprint,
        name,
        theme,
        code,
        steps,
        word,
        options,
        parent and parent.fingerprint,
        weights_digest_of(trace),
        parameters.get("models", "")[:40],
        part,
        simple,
    )

    def compute() -> bytes:
        set_language(code)
        request = PayloadRequest(
            trace, weights_of(trace), steps, cast("ThemeName", theme), word, options, parent, part, simple
        )
        text = orjson.dumps(maker(request), option=orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY)
        return gzip.compress(text, compresslevel=1, mtime=0)

    return _PAYLOADS.get(key, compute)


def _steps(text: str, count: int) -> tuple[int, ...]:
    """Return the steps that an address requests, out of `count`."""
    if text == "all":
        return tuple(range(count))
    if not (text.isascii() and text.isdigit() and len(text) < 7 and int(text) < count):
        raise UnknownPayloadError(text)
    return (int(text),)


def _word(text: str, trace: Trace) -> int | None:
    """Return the piece of the vocabulary that an address requests, or None."""
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 7 and int(text) < trace.vocabulary_size):
        raise UnknownPayloadError(text)
    return int(text)


def _parent(fingerprint: str, trace: Trace) -> Trace | None:
    """Return the translation with this fingerprint if it has the same sentence and model as `trace`, its what-if."""
    if not fingerprint:
        return None
    parent = _TRACES.get(fingerprint)
    if parent is None or not parent.translated or not trace.translated:
        raise UnknownPayloadError(fingerprint)
    if (parent.source_ids, dict(parent.config)) != (trace.source_ids, dict(trace.config)):
        raise UnknownPayloadError(fingerprint)
    return parent


MOST_AT_ONCE = 100
"""Largest number of steps that the browser fetches at once; in longer translations it fetches each when it is shown."""


def all_at_once(view: View) -> bool:
    """Return whether the browser fetches the payloads of all steps at once."""
    return view.steps <= MOST_AT_ONCE


def payload_address(view: View, name: str, theme: ThemeName) -> str:
    """Return the address of the payload `name` of `view` at its level of detail."""
    return address(view.trace, name, theme, every=all_at_once(view), simple=view.simple)
