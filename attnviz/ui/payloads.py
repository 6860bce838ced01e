"""Name the payloads that the browser fetches (JSON, files) by their request, keep requests, and make payloads.

A request says what is shown: the arguments of the functions that make payloads (`makes_payload`), such as a
translation or a view, described as JSON. Its digest is in the address, so that the same request has the same address in
every server process, and no sentence is in a server's log. The page also sends the browser each request once in a run.
A process that does not know a digest, after a restart for example, is sent the request (`accept`), and makes what is
shown again.

The digest is keyed with a secret: nobody can order work that no page has ordered.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import hmac
import json
import os
import pkgutil
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, cast, get_args
from urllib.parse import urlencode

import orjson
from platformdirs import user_state_path

from attnviz.analysis.recomputation import Weights
from attnviz.architectures import architecture_of
from attnviz.environment import ATTNVIZ_SECRET
from attnviz.figures.registry import figure_named
from attnviz.figures.subject import Subject
from attnviz.languages import LANGUAGES, language, set_language
from attnviz.lru_cache import LRUCache, once_in_run
from attnviz.palette import ThemeName
from attnviz.ui.embedding import embedding, in_session, in_theme, theme_name
from attnviz.ui.resources import bytes_of, call_of, weights_digest_of, weights_of
from attnviz.ui.selection import Selection, linked_selection
from attnviz.ui.view import FilePair, View

PAYLOAD_PREFIX = "attnviz-payload"
"""Prefix of the addresses of payloads, below the page, before the digest of a request and the name of a payload."""
JSON, FILE = "application/json", "application/octet-stream"
"""Media types of payloads."""
LONGEST_REQUEST = 1 << 17
"""Characters of the longest request that the browser gets and sends."""
_LONGEST_QUERY = 1 << 14
"""Characters of the longest query of an address."""


Payload = dict[str, Any]
"""What the browser gets, as JSON: its form is declared in `components/*.d.ts`."""
Shown = Mapping[str, Any]
"""What is shown, by name: results, views, plain values, and tuples or mappings of them."""


class UnknownPayloadError(LookupError):
    """What is shown has no such payload, or the address has an invalid parameter."""


class UnknownRequestError(LookupError):
    """The process does not know the request with that digest."""


@dataclass(frozen=True)
class PayloadRequest:
    """The inputs of a payload: what is shown, and the parameters of its address, which may be anything."""

    shown: Shown
    parameters: Mapping[str, str]
    name: str = ""
    """That of the payload."""

    @property
    def view(self) -> View:
        """The view that the payload belongs to."""
        view: View = self.shown["view"]
        return view

    @property
    def trace(self) -> Any:
        """The translation that the payload is of: that of the view, unless another one is shown."""
        trace = self.shown.get("trace")
        return self.view.trace if trace is None else trace

    @property
    def parent(self) -> Any:
        """Translation from which this one was made by a change by hand, where it is shown too."""
        return self.shown.get("parent")

    @cached_property
    def weights(self) -> Weights | None:
        """Weights of the model that made the translation, or None where it is not installed."""
        return weights_of(self.trace)

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """The requested steps."""
        text, count = self.parameters.get("steps", ""), len(self.trace.target_pieces)
        return tuple(range(count)) if text == "all" else (_index(text, count),)

    @property
    def step(self) -> int:
        """The requested step of a payload that is of one only."""
        step, *others = self.steps
        if others:
            raise UnknownPayloadError(self.name)
        return step

    @property
    def word(self) -> int | None:
        """Id of a piece that is requested in addition to those that the steps wrote."""
        text = self.parameters.get("word", "")
        return _index(text, self.trace.vocabulary_size) if text else None

    @property
    def theme(self) -> ThemeName:
        """Colours of the figures."""
        theme = self.parameters.get("theme", "light")
        if theme not in get_args(ThemeName):
            raise UnknownPayloadError(theme)
        return cast("ThemeName", theme)

    @property
    def options(self) -> tuple[str, ...]:
        """Values of the display options that the payload depends on."""
        return tuple(self.parameters.get("options", "").split("."))

    @property
    def part(self) -> str:
        """Requested part, in the maker's own terms."""
        return self.parameters.get("part", "")

    @property
    def simple(self) -> bool:
        """Whether figures and sentences are those of the level *Idea*."""
        return self.parameters.get("simple") == "1"

    @property
    def selection(self) -> Selection:
        """The visitor's selection in the view."""
        return linked_selection(self.view, self.parameters)

    @property
    def session(self) -> dict[Any, Any]:
        """What stands for the session state while the payload is made: the entries that are shown."""
        return {**self.shown.get("session", {})}


def _index(text: str, count: int) -> int:
    """Return the number below `count` in a text; raise UnknownPayloadError for any other text."""
    if not (text.isascii() and text.isdigit() and len(text) < 7 and int(text) < count):
        raise UnknownPayloadError(text)
    return int(text)


Maker = Callable[[PayloadRequest], Any]
"""Returns a JSON-serialisable value, or a file as bytes."""


class _Registered(NamedTuple):
    maker: Maker
    of_step: bool
    needs_server: bool


_MAKERS: dict[str, _Registered] = {}
"""By the names of payloads. Each module registers its own when it is imported."""


def makes_payload(*names: str, of_step: bool = False, needs_server: bool = False) -> Callable[[Maker], Maker]:
    """Return a decorator that lets a function make the payloads with these names.

    Args:
        *names: Names of payloads in addresses.
        of_step: Whether they are of the steps of a translation: not every architecture has them.
        needs_server: Whether they cannot be made in advance: they are of what a visitor types or changes, or are files.

    Returns:
        The decorator, which returns the function as it is.
    """

    def register(maker: Maker) -> Maker:
        _MAKERS.update(dict.fromkeys(names, _Registered(maker, of_step, needs_server)))
        return maker

    return register


def _has(request: PayloadRequest) -> bool:
    """Return whether the architecture has the payload of a step, or the figure, that is requested."""
    figure, trace = figure_named(request.name), request.trace
    if figure is None:
        return request.name in architecture_of(trace).payloads
    return not figure.missing(Subject(trace, 0, request.weights, parent=request.parent))


def _described(value: Any) -> Any:
    """Return a value as JSON; a data class or a result is the call that makes it again (`_restored`)."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Mapping):
        return {"entries": [[key, _described(one)] for key, one in value.items()]}
    if isinstance(value, frozenset):
        return {"set": sorted(map(_described, value))}
    if isinstance(value, Sequence):
        return [_described(one) for one in value]
    if hasattr(value, "fingerprint"):
        function, arguments = call_of(value)
    else:
        # no payload depends on these
        left_out = ("open_gold", "show_beside", "main") if isinstance(value, View) else ()
        given = {field.name: getattr(value, field.name) for field in fields(value) if field.name not in left_out}
        defaults = {field.name: field.default for field in fields(value)}
        function, arguments = type(value), {name: one for name, one in given.items() if one != defaults[name]}
    name = f"{function.__module__}:{function.__qualname__}"
    return {"call": name, "arguments": {name: _described(one) for name, one in arguments.items()}}


def _restored(value: Any) -> Any:
    """Return what `_described` described; raise AttnvizError where a result cannot be made again."""
    match value:
        case list():
            return tuple(map(_restored, value))
        case {"entries": entries}:
            return {key: _restored(one) for key, one in entries}
        case {"set": members}:
            return frozenset(map(_restored, members))
        case {"call": str(name), "arguments": arguments} if name.startswith("attnviz."):
            return pkgutil.resolve_name(name)(**{name: _restored(one) for name, one in arguments.items()})
    return value


@functools.cache
def _secret() -> bytes:
    """Return the secret of the app: that of the environment, else one that all its processes read from a file."""
    if given := os.environ.get(ATTNVIZ_SECRET):
        return given.encode("utf-8")
    return _stored_secret(user_state_path("attnviz", appauthor=False) / "secret")


def _stored_secret(path: Path) -> bytes:
    """Return the secret in a file, a new one where there is none; where it cannot be stored, it is this process's."""
    made = secrets.token_bytes(32)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        written = path.with_name(f"{path.name}-{secrets.token_hex(4)}")
        with os.fdopen(os.open(written, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(made)
        with suppress(FileExistsError):
            os.link(written, path)  # complete at once, and never in place of another process's
        written.unlink()
    with suppress(OSError):
        return path.read_bytes() or made
    return made


def _digest(text: str) -> str:
    return hmac.new(_secret(), text.encode("ascii"), hashlib.sha256).hexdigest()[:32]


_TEXTS: LRUCache[str] = LRUCache(8 << 20, size=len)
"""LRU cache of requests as JSON, by their digests."""


def _results(value: Any) -> Iterator[Any]:
    """Yield the results in a value."""
    if isinstance(value, FilePair):
        yield value
    elif hasattr(value, "arrays"):
        yield getattr(value, "record", value)
    elif isinstance(value, (Mapping, Sequence)) and not isinstance(value, str):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from _results(one)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _results(getattr(value, field.name))


_SHOWN: LRUCache[Shown] = LRUCache(
    96 << 20, size=lambda shown: 2000 + sum(map(bytes_of, {id(one): one for one in _results(shown)}.values()))
)
"""LRU cache of what requests show, by their digests; each of its results counts once."""
_PAYLOADS: LRUCache[tuple[bytes, str]] = LRUCache(32 << 20, size=lambda payload: len(payload[0]))
"""LRU cache of compressed payloads and their media types. Those of one translation take 150 to 300 kB."""


@dataclass
class _Run:
    """The requests of a run of the page or of a fragment."""

    digests: dict[Any, tuple[str, Shown]] = field(default_factory=dict)
    """Digests by the `_identity` of what is shown, which they keep: most addresses are of the same few requests."""
    unsent: dict[str, str] = field(default_factory=dict)
    """Requests by digest; each is empty once the browser has got it."""


@once_in_run
def _run() -> _Run:
    """Return the run that this thread does."""
    return _Run()


def take_requests() -> dict[str, str]:
    """Return the requests that the browser is to get with the next component, by their digests."""
    run = _run()
    waiting = {digest: text for digest, text in run.unsent.items() if text}
    run.unsent |= dict.fromkeys(waiting, "")
    return waiting


def _identity(value: Any) -> Any:
    """Return what is equal for mappings of the same objects, as long as these exist."""
    return tuple((name, _identity(one)) for name, one in value.items()) if isinstance(value, Mapping) else id(value)


def shown_address(name: str, shown: Shown, query: str = "", **parameters: str) -> str:
    """Return the address of the payload `name` of what is `shown`, in the current language and theme.

    The `query` is added to its `parameters` as it is: {step}, {selection} and the names of options in it stand for
    what is selected in the browser.
    """
    if (host := embedding()) is not None:
        if name in _MAKERS and _MAKERS[name].needs_server:
            return ""
        return host.address(name, shown, {"lang": language(), "theme": host.theme} | parameters, query)
    run, identity = _run(), _identity(shown)
    if identity not in run.digests:
        text = json.dumps(_described(shown), sort_keys=True, separators=(",", ":"))
        digest = _digest(text)
        run.digests[identity] = digest, shown
        _TEXTS.add(digest, text)
        _SHOWN.add(digest, shown)
        if len(text) <= LONGEST_REQUEST:
            run.unsent.setdefault(digest, text)
    digest, _ = run.digests[identity]
    ambient = {"lang": language(), "theme": theme_name()}
    chosen = urlencode({name: value for name, value in (ambient | parameters).items() if value})
    return f"{PAYLOAD_PREFIX}/{digest}/{name}?{'&'.join(filter(None, (chosen, query)))}"


def accept(digest: str, text: str) -> bool:
    """Keep a request that a browser sends; return False, without any work, where no page has made it."""
    if not text.isascii() or not hmac.compare_digest(_digest(text), digest):
        return False
    _TEXTS.add(digest, text)
    return True


def is_known(digest: str) -> bool:
    """Return whether this process knows the request with this digest."""
    return _TEXTS.find(digest) is not None


def _shown(digest: str) -> Shown:
    text = _TEXTS.find(digest)
    if text is None:
        raise UnknownRequestError(digest)
    return _SHOWN.get(digest, lambda: _restored(json.loads(text)))


def payload(digest: str, name: str, parameters: Mapping[str, str], visitor: str | None = None) -> tuple[bytes, str]:
    """Return a payload, compressed by gzip, and its media type.

    Args:
        digest: The digest of a request.
        name: The name of the payload.
        parameters: The parameters of its address, which may be anything.
        visitor: Random id of the visitor, in whose turn translations are made.

    Raises:
        UnknownRequestError: The browser is to send the request.
        UnknownPayloadError: There is no such payload.
        AttnvizError: It cannot be made; the message says why.
    """
    code = parameters.get("lang", "en")
    if name not in _MAKERS or code not in LANGUAGES or sum(map(len, parameters.values())) > _LONGEST_QUERY:
        raise UnknownPayloadError(name)
    from attnviz.ui.waiting import translating_for  # it imports the server, which a view in a file does not need

    set_language(code)
    with translating_for(visitor):
        request = PayloadRequest(_shown(digest), parameters, name)
        shows_trace = "trace" in request.shown or "view" in request.shown
        weights = weights_digest_of(request.trace) if shows_trace else None  # a model may be installed or removed
        key = (digest, name, weights, *sorted(parameters.items()))
        return _PAYLOADS.get(key, lambda: _packed(made(request)))


def made(request: PayloadRequest) -> Any:
    """Return the requested payload; raise UnknownPayloadError where there is none, AttnvizError where it fails."""
    maker, of_step, _ = _MAKERS[request.name]
    if of_step and not _has(request):
        raise UnknownPayloadError(request.name)
    with in_session(request.session), in_theme(request.theme):
        return maker(request)


def _packed(content: Any) -> tuple[bytes, str]:
    """Return what a maker made, compressed by gzip, and its media type."""
    if isinstance(content, bytes):
        text, media_type = content, FILE
    else:
        text, media_type = orjson.dumps(content, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY), JSON
    return gzip.compress(text, compresslevel=1, mtime=0), media_type


def address(
    trace: Any,
    name: str,
    query: str = "",
    *,
    every: bool = True,
    version: str = "",
    simple: bool = False,
    **shown: Any,
) -> str:
    """Return the address of the payload `name` of `trace`, in the current language and theme.

    With `every`, the payload is of all steps; otherwise the address contains `{step}` for one. The `query` has what
    else it depends on in the browser: the chosen `word={word}`, and display options, such as `options={face}.{by}`.
    The `version` is that of further files that it is made from. If `simple`, the payload is that of the level *Idea*.
    What else is `shown`, such as the `parent` of a what-if, is part of the request.
    """
    steps = "steps=all" if every else "steps={step}"
    return shown_address(
        name,
        {"trace": trace, **shown},
        "&".join(filter(None, (steps, query))),
        weights=(weights_digest_of(trace) or "")[:12],
        version=version,
        simple="1" if simple else "",
    )


MOST_AT_ONCE = 100
"""Largest number of steps that the browser fetches at once; in longer translations it fetches each when it is shown."""


def all_at_once(view: View) -> bool:
    """Return whether the browser fetches the payloads of all steps at once."""
    return view.steps <= MOST_AT_ONCE


def payload_address(view: View, name: str) -> str:
    """Return the address of the payload `name` of `view` at its level of detail."""
    return address(view.trace, name, every=all_at_once(view), simple=view.simple)
