"""The step view in a saved page, unpacked as the page's script does."""

import base64
import gzip
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.figures.payloads import figure_at


def flattened(blocks: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the blocks of a view, those in boxes after their box, in order."""
    for block in blocks:
        yield block
        for inner in (block.get("blocks", ()), *block.get("columns", ())):
            yield from flattened(inner)


@dataclass(frozen=True)
class SavedView:
    """The step view in one language, theme and what-if."""

    blocks: list[dict[str, Any]]
    payloads: dict[str, Any]
    """By address."""

    def mounted(self, kind: str) -> list[Any]:
        return [block["data"] for block in flattened(self.blocks) if block["kind"] == kind]

    def texts(self) -> list[str]:
        return [block["text"] for block in flattened(self.blocks) if "text" in block]

    def addresses(self) -> list[str]:
        """Return the addresses of the payloads that blocks draw, with placeholders."""
        found = (block.get("data") for block in flattened(self.blocks))
        return [data["at"] for data in found if isinstance(data, dict) and "at" in data]

    def payload(self, key: str, **selected: Any) -> Any:
        """Return the payload of the block with this key, at the opening selection with what else is `selected`."""
        (at,) = (block["data"]["at"] for block in flattened(self.blocks) if block["key"] == key)
        opening = {one["name"]: one["values"][0] for one in self.parameters if one["kind"] == "option"}
        return self.payloads[at.format_map(opening | {"step": 0, "word": ""} | selected)]

    @property
    def parameters(self) -> list[dict[str, Any]]:
        """The parameters of the view, each option with its values, the opening one first."""
        (state,) = self.mounted("view_state")
        return state["parameters"]

    def values_of(self, option: str) -> list[str]:
        """Return the values of a display option that a reader can choose, the opening one first."""
        (found,) = (one["values"] for one in self.parameters if one["name"] == option)
        return list(found)

    def heatmap(self, **options: str) -> Any:
        return figure_at(self.payload("heatmap", **options), "every")

    def figure(self, key: str, step: int) -> dict[str, Any]:
        """Return Plotly's JSON of the figure with this key at 0-based `step`."""
        return figure_at(self.payload(key), step)


def page_payload(text: str) -> dict[str, Any]:
    """Return what the script of a page reads, with views still packed."""
    found = re.search(r'id="payload">(.*?)</script>', text)
    return json.loads(found[1])


def saved_view(text: str, language: str = "en", theme: str = "light", number: int = 0) -> SavedView:
    """Return the view of a page in this language and theme, of the what-if with this number."""
    return unpacked_view(page_payload(text)["drawn"][f"{language} {theme} {number}"])


def unpacked_view(packed: str) -> SavedView:
    """Return a view with its payloads, unpacked as the browser does (`unpackedView` in `requests.js`)."""
    view = json.loads(gzip.decompress(base64.b64decode(packed)))
    payloads = {
        at: payload | {"values": {step: view["texts"][text] for step, text in payload["values"].items()}}
        if payload.get("values")
        else payload
        for at, payload in view["payloads"].items()
    }
    return SavedView(view["blocks"], payloads)
