"""Records: what the browser draws a picture of a translation from, fetched by itself.

A run of the page does not make them, it only says where they are: most are not in the window when a translation comes
on show. Each is made when a browser first asks for it, once for all visitors, from a translation that somebody has on
show.
"""

from __future__ import annotations

import gzip
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast, get_args
from urllib.parse import urlencode

import orjson

from attnviz.analysis.recomputation import Weights
from attnviz.kept import Kept
from attnviz.languages import LANGUAGES, language, set_language
from attnviz.palette import ThemeName
from attnviz.trace import Trace
from attnviz.ui.resources import weights_digest_of, weights_of

PLACE = "attnviz-record"
"""What the addresses of records begin with, below the page; then come the translation's fingerprint and a name."""

_ON_SHOW: weakref.WeakValueDictionary[str, Trace] = weakref.WeakValueDictionary()
"""Translations by their fingerprint, as long as a visitor, or a cache, has them."""

_MADE: Kept[bytes] = Kept(32 << 20, size=len)
"""Records of all visitors, packed. Those of one translation take 150 to 300 kB."""


class UnknownRecordError(LookupError):
    """There is no such record, or nobody has its translation on show any more."""


@dataclass(frozen=True)
class Asked:
    """What a record is made from."""

    trace: Any
    weights: Weights | None
    """Of the model that made the translation, where it is here."""
    steps: tuple[int, ...]
    theme: ThemeName
    word: int | None
    """A piece that is asked about besides those that the steps wrote."""
    after: bool = False
    """Whether α′ is on show, the reading of the steps after their words."""
    parent: Any = None
    """The translation that was changed by hand, where it is asked about."""
    part: str = ""
    """Which part of the translation is asked about, as its maker calls it."""


Maker = Callable[[Asked], Mapping[str, Any]]


def on_show(trace: Trace) -> Trace:
    """Have the records of `trace` made for whoever asks, as long as the object that is returned is held by somebody: it
    is the same for all who show the same translation."""
    return _ON_SHOW.setdefault(trace.fingerprint, trace)


def shown_trace(fingerprint: str) -> Any:
    """Return the translation of that fingerprint which somebody has on show, or None."""
    return _ON_SHOW.get(fingerprint)


def address(
    trace: Trace,
    name: str,
    theme: ThemeName,
    *,
    every: bool,
    word: bool = False,
    after: bool = False,
    parent: Trace | None = None,
    models: str = "",
    part: str = "",
) -> str:
    """Return where the browser finds the record `name` of `trace`, drawn for `theme` in the language in use.

    It is that of all steps (`every`), or has `{step}` in the place of one; for a record that depends on the `word`
    chosen, `{word}` in its place; `after` says that α′ is on show. The `parent`, what was changed by hand, must be on
    show as well. Another record has another address, also where it is another only because the model was replaced;
    `models` tells other models that it is made by from those they may be replaced by, and `part` which part of the
    translation it is of.
    """
    asked = {"theme": theme, "lang": language(), "weights": (weights_digest_of(trace) or "")[:12]}
    asked |= {name: value for name, value in (("models", models), ("part", part)) if value}
    if parent is not None:
        asked["parent"] = parent.fingerprint
    steps, chosen = "all" if every else "{step}", "&word={word}" if word else ""
    seen = "&after=1" if after else ""
    return f"{PLACE}/{trace.fingerprint}/{name}?{urlencode(asked)}{seen}&steps={steps}{chosen}"


def record(makers: Mapping[str, Maker], fingerprint: str, name: str, asked: Mapping[str, str]) -> bytes:
    """Return a record as JSON, packed by gzip; `makers` are those there are, `asked` the parameters of its address.

    Raise UnknownRecordError where there is none.
    """
    trace, maker = _ON_SHOW.get(fingerprint), makers.get(name)
    theme, code = asked.get("theme", ""), asked.get("lang", "")
    if trace is None or maker is None or theme not in get_args(ThemeName) or code not in LANGUAGES:
        raise UnknownRecordError(name)
    steps, word = _steps(asked.get("steps", ""), len(trace.target_pieces)), _word(asked.get("word", ""), trace)
    after, parent = asked.get("after") == "1", _parent(asked.get("parent", ""), trace)
    part = asked.get("part", "")[:400]
    key = (
        fingerprint,
        name,
        theme,
        code,
        steps,
        word,
        after,
        parent and parent.fingerprint,
        weights_digest_of(trace),
        asked.get("models", "")[:40],
        part,
    )

    def made() -> bytes:
        set_language(code)
        given = Asked(trace, weights_of(trace), steps, cast("ThemeName", theme), word, after, parent, part)
        text = orjson.dumps(maker(given), option=orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY)
        return gzip.compress(text, compresslevel=1, mtime=0)

    return _MADE.get(key, made)


def _steps(text: str, count: int) -> tuple[int, ...]:
    """Return the steps that an address asks for, of `count`."""
    if text == "all":
        return tuple(range(count))
    if not (text.isascii() and text.isdigit() and len(text) < 7 and int(text) < count):
        raise UnknownRecordError(text)
    return (int(text),)


def _word(text: str, trace: Trace) -> int | None:
    """Return the piece of the vocabulary that an address asks about, if it does."""
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 7 and int(text) < trace.vocabulary_size):
        raise UnknownRecordError(text)
    return int(text)


def _parent(fingerprint: str, trace: Trace) -> Trace | None:
    """Return the translation by its fingerprint that `trace` may have been made from: the same sentence and model."""
    if not fingerprint:
        return None
    parent = _ON_SHOW.get(fingerprint)
    if parent is None or not parent.translated or not trace.translated:
        raise UnknownRecordError(fingerprint)
    if (parent.source_ids, dict(parent.config)) != (trace.source_ids, dict(trace.config)):
        raise UnknownRecordError(fingerprint)
    return parent
