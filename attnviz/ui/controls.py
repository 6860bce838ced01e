"""Controls whose requests the browser queues: buttons, fields, display options, file uploaders, popovers that close.

Streamlit drops triggers and callbacks of a run that a later message stops (streamlit #9100, #14710), but sends
component state with every message. A request (a click, a key, a changed field) stays in that state until it is handled,
once and in order. The runs of a session never overlap, since `runner.fastReruns` is off.

Fields replace Streamlit's widgets. A widget sends its value with every message, so that an old message overwrites what
the server has set since; and it identifies an option by its label, which is translated. The value of a field is an
ordinary entry of the session state, which visitor and server can set. Until a change is handled, the browser shows the
value that the visitor set (`components/field/field.js`).
"""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypedDict, Unpack

from attnviz import lazy_streamlit as st
from attnviz.languages import gettext, gettexts
from attnviz.lru_cache import begin_run
from attnviz.ui.blocks import Width, box, component, in_view, popover_box, view_blocks
from attnviz.ui.embedding import embedding, page_session
from attnviz.ui.inputs import add_parameters, linked_entry, use_chosen_language
from attnviz.ui.view import View

_INBOX = "inbox"
RESUME = "resume"
"""Key of the request to follow the address, which the browser sends when it is connected again."""
_MOST = 1000
"""Largest number of requests that are read from a message and queued."""

Handler = Callable[[Any], object]
"""Handles a request with this value."""


class BrowserRequest(NamedTuple):
    """A request of a browser."""

    tab: str
    seq: int
    """Sequence number in the tab, from 1."""
    key: str
    """That of the control which the visitor used."""
    value: Any


@dataclass
class Inbox:
    """The requests of a session.

    It is one mutable object in the session state: changing it does not access `st.session_state`, where Streamlit may
    stop a run.
    """

    memory: str = field(default_factory=lambda: secrets.token_hex(8))
    """Random id that differs after a restart of the server, which loses all state."""
    received: dict[str, int] = field(default_factory=dict)
    """By tab, the number of the last request received."""
    waiting: list[BrowserRequest] = field(default_factory=list)
    """Requests that are not handled yet, in order."""
    address: str | None = None
    """Path and query of the browser's address as it sent its last requests; None where none of them waits."""
    controls: dict[str, Handler] = field(default_factory=dict)
    """By the keys of the controls that were drawn last, what handles a value."""
    drawn: tuple[str, dict[str, Handler]] = "", {}
    """Path and controls of the page that was drawn last."""
    left: dict[str, Handler] = field(default_factory=dict)
    """Controls of the page before: the browser may have used them before it knew of the next."""
    actions: list[Callable[[], object]] = field(default_factory=list)
    """What the next run calls before it draws anything."""

    def new_requests(self, message: Any) -> list[BrowserRequest]:
        """Return the requests in a browser's `message`, which may be anything, that are not queued yet.

        Requests to a previous server process are ignored.
        """
        requests: list[BrowserRequest] = []
        if not isinstance(message, Mapping) or message.get("memory") not in (None, "", self.memory):
            return requests
        tab, items = message.get("tab"), message.get("requests")
        if not isinstance(tab, str) or len(tab) > 64 or not isinstance(items, list | tuple):
            return requests
        last = self.received.get(tab, 0)
        for item in items[:_MOST]:
            seq, key = (item.get("seq"), item.get("key")) if isinstance(item, Mapping) else (None, None)
            if isinstance(seq, int | float) and last < seq < 2**53 and isinstance(key, str):
                last = int(seq)
                requests.append(BrowserRequest(tab, last, key, item.get("value")))
        return requests

    def handle(self, message: Any, controls: Mapping[str, Handler]) -> None:
        """Queue the new requests in a browser's `message`, and handle the queued ones, up to the first of no control.

        That to resume a session comes first, since the others were made in that session. The controls are those drawn
        last and further `controls`. A request stays in the queue if its run is stopped before it is handled.
        """
        requests = self.new_requests(message)
        if requests or not self.waiting:
            self.address = str(message.get("address", "")) if requests else None
        for request in requests:
            self.received[request.tab] = request.seq
        self.waiting += sorted(requests, key=lambda request: request.key != RESUME)
        del self.waiting[:-_MOST]
        while self.actions:
            self.actions[0]()
            del self.actions[0]
        self.controls |= controls
        while self.waiting and (act := self.controls.get(self.waiting[0].key)):
            act(self.waiting[0].value)
            del self.waiting[0]
        self.controls = {}

    def handled(self) -> dict[str, int]:
        """Return, by tab, the number of the last request that was handled or dropped."""
        numbers = dict(self.received)
        for request in self.waiting:
            numbers[request.tab] = min(numbers[request.tab], request.seq - 1)
        return numbers


def inbox() -> Inbox:
    """Return the inbox of the session."""
    session = page_session()
    if _INBOX not in session:
        session[_INBOX] = Inbox()
    box: Inbox = session[_INBOX]
    return box


OUTBOX = "outbox"
"""Session state key of the component."""


def begin_page(controls: Mapping[str, Handler]) -> None:
    """Begin a run: receive the requests of the browser, and handle those of the page's own `controls`, or drawn last.

    What the last run left to this one is called first.
    """
    begin_run()
    payload = gettexts(
        {
            "offline": "No connection to the server. You can still go to another step or stage. Other pages, "
            "translations and changes wait until the connection is back.",
            "page": "No connection to the server. The page opens when the connection is back.",
        }
    )
    state = component("outbox", OUTBOX, payload, default={"sent": None}, on_sent_change=lambda: None, height=1)
    inbox().handle(state.sent, controls)


def begin_fragment() -> None:
    """Begin the run of a fragment: set the language; if the message brought requests, rerun the whole page instead.

    Streamlit (1.67) puts all changes within one tick into one message, which runs only the fragment of the first
    widget, for instance that of a popover that closes.
    """
    use_chosen_language()
    begin_run()
    message = getattr(page_session().get(OUTBOX), "sent", None)
    if inbox().new_requests(message):
        st.rerun()


def end_page(page: Mapping[str, Any]) -> None:
    """Acknowledge the handled requests and send the address parameters of `page`, last in every run.

    A request of a control on this page or on the page before gets another run; one that nothing handles is dropped.
    """
    box, path = inbox(), page.get("path", "")
    if path != box.drawn[0]:
        box.left = box.drawn[1]
    box.drawn = path, box.controls
    box.controls = box.left | box.controls
    while box.waiting:
        if box.waiting[0].key in box.controls:
            st.rerun()
        del box.waiting[0]
    payload = {"handledByTab": box.handled(), "serverId": box.memory, "page": dict(page)}
    component("acknowledgement", "acknowledgement", payload, height=1)


def on_request(key: str, act: Handler) -> None:
    """Call `act` with the value of each request of the control with this `key`, before the page is drawn again."""
    inbox().controls[key] = act


def call_in_rerun(action: Callable[[], object]) -> None:
    """Rerun the page and call `action` first, since the parts that it changes may already be drawn."""
    inbox().actions.append(action)
    st.rerun()


def request_button(
    label: str,
    action: Callable[[], object],
    *,
    key: str,
    type: Literal["primary", "secondary", "tertiary"] = "secondary",  # noqa: A002  as Streamlit's
    disabled: bool = False,
    **arguments: Any,
) -> None:
    """Draw a button; when it was pressed, `action` is called before the page is drawn again.

    The browser sends the press as a request. Outside a view, `arguments` are further ones of `st.button`; its own
    callback serves where there is no browser, as in tests.
    """

    def act(_: Any = None) -> None:
        action()

    if not disabled:
        on_request(key, act)
    if in_view():
        data = {"key": key, "label": label, "type": type, "disabled": disabled}
        component("button", key, data, width="content")
    else:
        st.button(label, key=key, type=type, disabled=disabled, on_click=act, **arguments)


_RESTORED = "restored_fields"
_LONGEST = 100_000
"""Largest length of a text that is accepted, in characters."""


def restore_values(values: Any) -> None:
    """Store a browser's field `values` by key, after a restart of the server; each is set when its field is drawn."""
    if isinstance(values, Mapping):
        page_session()[_RESTORED] = dict(values)


def drop_restored_values() -> None:
    """Drop the restored values of fields that were not drawn, before another link is followed."""
    page_session().pop(_RESTORED, None)


class FieldOptions(TypedDict, total=False):
    """What a field may have besides its label and value."""

    then: Callable[[], object]
    """What is called when a visitor has changed the field, before the page is drawn again."""
    parameter: str
    """Address parameter, with which the value begins, and which has it unless it is the default."""
    labelled: bool
    """Whether the label is shown, or only read out: by default that of a text box and of a box of choices is shown."""
    help: str
    disabled: bool
    placeholder: str
    """Text in an empty text box."""
    height: int
    """Pixels of a text box of several lines, which Ctrl+Enter sends; by default the box is as high as its text."""
    single_line: bool
    """Whether Shift+Enter does not begin a line in a text box."""
    button: str
    """Key of the request button that Enter presses, after it has sent the text of a text box."""
    width: Width


def text_box(label: str, *, key: str, default: str = "", **options: Unpack[FieldOptions]) -> str:
    """Draw a text box; return its text, which the session state has under `key`, at first `default`."""
    return str(_draw("text", label, key, default, **options))


def select_box(
    label: str, choices: Mapping[str, str], *, key: str, default: str | None = None, **options: Unpack[FieldOptions]
) -> str:
    """Draw a box of choices; return the chosen value, which the session state has under `key`.

    `choices` maps values to labels in the current language; `default` is one of the values, by default the first.
    """
    return _choice("select", label, choices, key, default, **options)


def segmented_control(
    label: str, choices: Mapping[str, str], *, key: str, default: str | None = None, **options: Unpack[FieldOptions]
) -> str:
    """Draw the choices as adjacent buttons; otherwise like `select_box`."""
    return _choice("segments", label, choices, key, default, **options)


def _choice(
    kind: str, label: str, choices: Mapping[str, str], key: str, default: str | None, **options: Unpack[FieldOptions]
) -> str:
    first = next(iter(choices), "") if default is None else default
    return str(_draw(kind, label, key, first, choices, **options))


def switch(label: str, *, key: str, default: bool = False, **options: Unpack[FieldOptions]) -> bool:
    """Draw a switch; return whether it is on, which the session state has under `key`."""
    return bool(_draw("switch", label, key, default, **options))


def disclosure(label: str, *, key: str) -> bool:
    """Draw a button that opens and closes a section; return whether it is open.

    The session state has that under `key`. The caller draws the section below while it is open.
    """
    return bool(_draw("disclosure", label, key, False, width="stretch"))


def _draw(
    kind: str,
    label: str,
    key: str,
    default: Any,
    choices: Mapping[str, str] = MappingProxyType({}),
    **options: Unpack[FieldOptions],
) -> Any:
    """Draw a field; return its value."""
    session, then = page_session(), options.pop("then", None)

    def accepts(value: Any) -> bool:
        if isinstance(default, bool):
            return isinstance(value, bool)
        return isinstance(value, str) and (len(value) <= _LONGEST if kind == "text" else value in choices)

    if parameter := options.pop("parameter", ""):
        offered = ("0", "1") if kind == "switch" else tuple(choices)
        parse = "1".__eq__ if kind == "switch" else str
        linked_entry(key, default, parameter=parameter, offered=offered, parse=parse, noted=True)
    restored = session.get(_RESTORED, {})
    if key in restored and accepts(value := restored.pop(key)):
        session[key] = value
    if key not in session or not accepts(session[key]):
        session[key] = default
    value = session[key]
    if parameter:
        text = str(int(value)) if kind == "switch" else str(value)
        add_parameters({parameter: None if value == default else text})

    def set_value(given: Any) -> None:
        if accepts(given):
            page_session()[key] = given
            if then:
                then()

    on_request(key, set_value)
    _mount(key, kind, label, choices, value=value, **options)
    return value


_DEFAULTS = {
    "value": "",
    "help": "",
    "disabled": False,
    "placeholder": "",
    "height": 0,
    "button": "",
    "single_line": False,
    "option": "",
}
"""Payload of a field (`FieldPayload`), except for what each field has of its own."""


def _mount(key: str, kind: str, label: str, choices: Mapping[str, str], **data: Any) -> None:
    """Mount a field; what its `data` lack has its default.

    Streamlit stores a component's state under its key, so that the component of a field outside a view has another one.
    """
    is_box = kind in ("text", "select")
    width = data.pop("width", "stretch" if is_box else "content")
    own = {"key": key, "kind": kind, "label": label, "labelled": is_box, "options": [*choices.items()]}
    help_name = gettext("Help for {name}", name=label) if data.get("help") else ""
    with view_blocks(f"field_{key}", width=width), box(key, width=width):
        component("field", "", _DEFAULTS | own | {"helpName": help_name} | data)


def option_field(
    view: View,
    name: str,
    kind: Literal["segments", "select", "switch", "disclosure"],
    label: str,
    choices: Mapping[str, str] = MappingProxyType({}),
    **options: Unpack[FieldOptions],
) -> None:
    """Draw the choice of the option `name`, which the browser owns; nothing where it is fixed.

    Its `choices`, which map values to their labels, may be adjacent buttons ("segments") or a box ("select"). A
    "disclosure" opens and closes a section, which page.css hides.
    """
    host = embedding()
    if host is None or len(host.options[name]) > 1:
        data = {"labelled": False, "width": "content", **options}
        _mount(view.key(name), kind, label, choices, option=name, **data)


def shown_if(condition: str, text: str) -> str:
    """Return `text` as HTML that is shown only under a `condition`, a class in page.css that starts with `if-`."""
    return f'<span class="if-{condition}">{text}</span>'


def by_unit(words: str, steps: str, only_words: bool = False) -> str:
    """Return as HTML the text for a heatmap by words and that for one by steps, of which one is shown.

    With `only_words`, the heatmap shows words for sure.
    """
    return words if only_words else shown_if("words", words) + shown_if("steps", steps)


def popover(label: str, *, key: str, **arguments: Any) -> Any:
    """Draw the button `label`, which opens a popover, and return the popover.

    A container with this `key` holds the button. `close_popover` closes it. Outside a view, `arguments` are those of
    `st.popover`.
    """
    if in_view():
        with box(key, width="content"):
            return popover_box(label, current_key(key))
    with st.container(key=key, width="content"):
        return st.popover(label, key=current_key(key), **arguments)


def close_popover(key: str) -> None:
    """Replace the popover by a new one in the next rerun: it is closed, and its widgets have no value.

    If the server set whether the popover is open, a visitor who opened or closed it at the same moment would find the
    opposite.
    """
    session, count = page_session(), f"{key}_count"
    session[count] = session.get(count, 0) + 1


def current_key(key: str) -> str:
    """Return the key of the popover that is drawn now; keys of its widgets begin with it."""
    return f"{key}_{page_session().get(f'{key}_count', 0)}"


Take = Callable[[str, bytes], None]
"""Receives the name and the content of a file."""
TakeAll = Callable[[Sequence[tuple[str, bytes]]], None]
"""Receives the names and contents of files that were chosen together."""


def uploader(label: str, take: Take, *, key: str, megabytes: int) -> None:
    """Draw the uploader of the popover `key`, for files of at most so many `megabytes`; `take` gets each file once.

    `take` is called at the start of a rerun. Every file type is accepted: Streamlit's message about a wrong type exists
    in English only.
    """
    own, most = f"{current_key(key)}_file", megabytes * 2**20
    if not in_view():
        st.html(f"<style>{_translated_css(own, megabytes, gettext('Choose a file'))}</style>")
        if (file := st.file_uploader(label, key=own, max_upload_size=megabytes)) is not None:
            call_in_rerun(partial(_take, key, partial(take, file.name, file.getvalue())))
        return
    too_large = gettext("The file is larger than {most} MB.", most=megabytes)
    component("file_choice", own, {"key": own, "label": label, "bytes": most, "tooLarge": too_large})

    def take_file(value: Any) -> None:  # the browser reads the file and sends it as a request
        match value:
            case {"name": str(name), "content": str(text)} if len(content := base64.b64decode(text)) <= most:
                _take(key, partial(take, name, content))

    on_request(own, take_file)


def multiple_uploader(label: str, take: TakeAll, *, key: str, megabytes: int) -> None:
    """Draw the uploader as `uploader` does, for one or several files, which `take` gets together."""
    own = f"{current_key(key)}_file"
    st.html(f"<style>{_translated_css(own, megabytes, gettext('Choose files'))}</style>")
    if files := st.file_uploader(label, key=own, max_upload_size=megabytes, accept_multiple_files=True):
        call_in_rerun(partial(_take, key, partial(take, [(file.name, file.getvalue()) for file in files])))


def _take(key: str, take: Callable[[], None]) -> None:
    close_popover(key)
    take()


def _translated_css(key: str, megabytes: int, button: str) -> str:
    """Return CSS that replaces the texts of Streamlit's uploader `key`, which exist in English only."""
    size = gettext("up to {size} MB", size=megabytes)
    box = f".st-key-{key} [data-testid='stFileUploaderDropzone"
    return "".join(
        f"{selector} {{ font-size: 0; }} {selector}::after {{ content: {json.dumps(text, ensure_ascii=False)}; "
        "font-size: 1rem; }"
        for selector, text in ((f"{box}'] button p", button), (f"{box}Instructions'] span", size))
    )
