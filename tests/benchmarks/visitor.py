"""A simulated visitor without a browser, which costs little: protobuf messages of Streamlit over a websocket."""

import asyncio
import json
import re
import secrets
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Self
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect

PATIENCE = 150
"""Seconds after which an answer is taken not to come."""
_ON_DEMAND = "session-payload|-(tables|pictures|file|lecture)[?]|/lesson-(page|template)[?]"
"""Addresses of tables and files to save, which a browser fetches only when a visitor asks for them."""


class Mistake(Exception):
    """The server did not do what was requested."""


class Visitor:
    """One session of the app. Each action ends once the server has sent all of its results."""

    def __init__(self, address: str, socket: ClientConnection) -> None:
        self._address, self._socket = address, socket
        self._widgets: dict[str, str] = {}
        self._states: dict[str, WidgetState] = {}
        self._hashes: set[str] = set()
        self._tab = secrets.token_hex(8)
        self._requests = 0
        """Number of the requests that were sent."""
        self._handled = 0
        """Number of the last request that the server has acknowledged."""
        self.session = ""
        """Id of the session, once the page is open."""
        self._page = self._path = self._query = ""
        self._shown: dict[str, Any] = {}
        self._places: dict[str, str] = {}
        """Of each component that fetches what it draws from, where that is."""
        self.kilobytes = 0.0
        """What came from the server, so far."""

    @property
    def source(self) -> str:
        return "".join(word["text"] for word in self._shown["source"])

    @classmethod
    async def arrive(cls, address: str) -> Self:
        """Connect to the server at `address`, "http://..."."""
        stream = f"{address.replace('http', 'ws', 1)}/_stcore/stream"
        return cls(address, await connect(stream, subprotocols=["streamlit"], max_size=None))

    async def leave(self) -> None:
        await self._socket.close()

    async def open(self, path: str = "", query: str = "") -> float:
        """Open the page at `path`, with the `query` of an address; return the seconds that took."""
        self._path, self._query = path, query
        return await self._run("open the page")

    async def translate(self, sentence: str, mark: str) -> float:
        """Translate a sentence with a word `mark` that no other has; return the seconds until it is displayed."""
        took = await self._request("translate", ("sentence", sentence))
        if mark not in self.source:
            raise Mistake(f"the page shows another sentence than {sentence!r}")
        return took

    async def step(self) -> float:
        """Go to the next step, or from the last to the first; return the seconds until its numbers were there."""
        self._shown["step"] = (self._shown["step"] + 1) % sum(len(word["steps"]) for word in self._shown["target"])
        return await self._fetch("verification")

    async def read(self, *, everything: bool = False) -> float:
        """Fetch the data of all figures, or `everything`, one after the other; return the seconds that took."""
        places = [name for name, place in self._places.items() if everything or not re.search(_ON_DEMAND, place)]
        return sum([await self._fetch(name, "Attnviz-Later: 1\r\n") for name in places])

    async def _request(self, what: str, *requests: tuple[str, Any]) -> float:
        """Send requests, by key and value, as outbox.js does; return the seconds until the page has run with them."""
        first, self._requests = self._requests + 1, self._requests + len(requests)
        items = [{"seq": seq, "key": key, "value": value} for seq, (key, value) in enumerate(requests, first)]
        sent = json.dumps({"sent": {"tab": self._tab, "memory": "", "requests": items}})
        state = WidgetState(id=self._widgets["outbox"], json_value=sent)
        self._states[state.id] = state
        took = await self._run(what)
        if self._handled != self._requests:
            raise Mistake(f"to {what} was not handled: {self._handled} of {self._requests} requests")
        return took

    async def _fetch(self, name: str, headers: str = "") -> float:
        """Fetch what the component `name` draws from, if it fetches that; return the seconds that took."""
        if name not in self._places:
            return 0.0
        place, started = urlsplit(self._address), time.perf_counter()
        path = self._places[name].format_map(defaultdict(str, step=self._shown.get("step", 0)))
        headers += f"Host: {place.netloc}\r\nAccept-Encoding: gzip\r\nConnection: close\r\n"
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        try:
            async with asyncio.timeout(PATIENCE):
                writer.write(f"GET /{path} HTTP/1.1\r\n{headers}\r\n".encode())
                answer = await reader.read()
        except TimeoutError as error:
            raise Mistake(f"to fetch {name} took more than {PATIENCE} s") from error
        finally:
            writer.close()
            await writer.wait_closed()
        if not answer.startswith(b"HTTP/1.1 200 "):
            raise Mistake(f"{path} was answered by {answer[:60]!r}")
        self.kilobytes += len(answer) / 1000
        return time.perf_counter() - started

    async def _run(self, what: str, *triggers: WidgetState) -> float:
        """Have the page run, or a part of it; return the seconds until it has. Raise Mistake where it fails."""
        message = BackMsg()
        asked = message.rerun_script
        asked.page_script_hash, asked.page_name, asked.query_string = self._page, self._path, self._query
        asked.widget_states.widgets.extend([*self._states.values(), *triggers])
        asked.cached_message_hashes.extend(self._hashes)
        asked.context_info.url, asked.context_info.locale = f"{self._address}/", "en-US"
        started = time.perf_counter()
        await self._socket.send(message.SerializeToString())
        try:
            async with asyncio.timeout(PATIENCE):
                while not self._heard(ForwardMsg.FromString(await self._payload()), what):
                    pass
        except TimeoutError as error:
            raise Mistake(f"to {what} took more than {PATIENCE} s") from error
        return time.perf_counter() - started

    async def _payload(self) -> bytes:
        payload = await self._socket.recv(decode=False)
        self.kilobytes += len(payload) / 1000
        return payload

    def _heard(self, message: ForwardMsg, what: str) -> bool:
        if message.metadata.cacheable and message.hash:
            self._hashes.add(message.hash)
        if message.HasField("navigation"):
            self._page = message.navigation.page_script_hash
        elif message.HasField("new_session"):
            self.session = message.new_session.initialize.session_id or self.session
        elif message.HasField("delta") and message.delta.HasField("new_element"):
            self._element(message, what)
        return message.HasField("script_finished") and (message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN)

    def _element(self, message: ForwardMsg, what: str) -> None:
        """Store the ids of widgets by their keys, and the player's payload."""
        element = message.delta.new_element
        kind = getattr(element, str(element.WhichOneof("type")))
        if element.HasField("exception"):
            raise Mistake(f"to {what} raised {element.exception.type}: {element.exception.message}")
        identity = getattr(kind, "id", "")
        key = identity.rpartition("-")[2]
        self._widgets[key] = identity
        if not element.HasField("bidi_component"):
            return
        for name, record in _components(key, element.bidi_component.json):
            self._component(name, record)

    def _component(self, key: str, record: Any) -> None:
        if key == "acknowledgement":
            self._handled = record["handledByTab"].get(self._tab, 0)
        if isinstance(record, dict) and isinstance(at := record.get("at"), str):
            self._places[key] = at
        if key in ("player", "view_state"):
            if key == "view_state" and record["identity"] != self._shown.get("identity_on_show"):
                record |= {"step": 0, "identity_on_show": record["identity"]}
            self._shown |= record


def _components(key: str, text: str) -> Iterator[tuple[str, Any]]:
    """Yield key and data of the components in an element; earlier versions of the app had one in each."""
    data = json.loads(text or "null")
    data = data[0] if isinstance(data, list) else data
    if not (isinstance(data, list) and all(isinstance(block, dict) and "kind" in block for block in data)):
        yield key, data
        return
    waiting = list(data)
    while waiting:
        block = waiting.pop(0)
        yield block["key"] or key, block.get("data")
        waiting += [inner for several in (block.get("blocks", ()), *block.get("columns", ())) for inner in several]
