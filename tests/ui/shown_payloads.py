"""Helpers that read the component data and the fetched payloads of a page that AppTest ran."""

import gzip
import json
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from streamlit.testing.v1 import AppTest

from attnviz.figures.registry import FIGURES
from attnviz.figures.subject import Subject
from attnviz.lru_cache import LRUCache
from attnviz.trace.drawing import DetailLevel
from attnviz.ui import payloads
from attnviz.ui.pages import all_pages
from attnviz.ui.selection import OPTIONS, Selection, linked_selection
from tests.saved_pages import SavedView, flattened, saved_view


def blocks(app: AppTest) -> Iterator[Mapping[str, Any]]:
    """Yield the blocks of all views of a page, those in boxes after their box, in the order of the page."""
    for element in app.get("bidi_component"):
        yield from flattened(json.loads(element.proto.json)[0])


def mounted(app: AppTest, component: str) -> list[Any]:
    """Return the data of each of our components of that name, in the order of the page."""
    return [block["data"] for block in blocks(app) if block["kind"] == component]


def fetching(app: AppTest) -> list[dict[str, Any]]:
    """Return the data of our components that fetch a payload, in the order of the page, without the menu of lessons."""
    given = (block.get("data") for block in blocks(app))
    return [one for one in given if isinstance(one, dict) and "/lesson-" not in one.get("at", "/lesson-")]


def page_html(app: AppTest) -> list[str]:
    return [one.proto.body for one in app.get("html")] + [one["text"] for one in blocks(app) if one["kind"] == "html"]


def sent_requests(component: Any) -> dict[str, str]:
    """Return the requests that a component takes along to the browser, by their digests."""
    return (json.loads(component.json or "[null]")[1:] or [{}])[0]


def fetched(at: str, step: int | None = None, **selection: str) -> Any:
    """Return the payload at an address: JSON or a file, of 0-based `step` if of one, for these URL parameters."""
    shown = {name: values[0] for name, values in OPTIONS.items()} | selection
    chosen = urlencode(selection if step is None else selection | {"step": step + 1})
    filled = {"step": step or 0, "word": "", **shown, "selection": chosen, "options": chosen}
    all_pages()
    address = urlsplit(at.format_map(filled))
    digest, name = address.path.split("/")[-2:]
    packed, media_type = payloads.payload(digest, name, dict(parse_qsl(address.query)))
    content = gzip.decompress(packed)
    return json.loads(content) if media_type == payloads.JSON else content


def forget(*caches: LRUCache[Any], alive: bool = False) -> None:
    """Empty caches, as uploads of others do; with `alive`, also of what a session still holds, as a restart does."""
    for cache in caches:
        cache._cached.clear()
        if alive:
            cache._alive.clear()


def shown_at(at: str) -> payloads.Shown:
    """Return what the payload at an address is made of."""
    return payloads._shown(at.split("/")[1])


def payloads_of(app: AppTest, component: str, step: int = 0) -> list[dict[str, Any]]:
    """Return the payload that each of our components of that name fetches, in the order of the page."""
    return [fetched(given["at"], step) for given in mounted(app, component)]


def chart_names(trace: Any, level: DetailLevel = "everything") -> set[str]:
    """Return the names of the charts in the stages of a step of `trace`, at `level`."""
    subject = Subject(trace, 0, level=level)
    drawn_otherwise = "sum" if trace.attends and level != "idea" else None
    shown = [one for one in FIGURES if one.stages and one.is_shown(subject)]
    return {figure.name for figure in shown if not drawn_otherwise or figure.control != drawn_otherwise}


def chart_addresses(app: AppTest) -> dict[str, str]:
    """Return the addresses of the charts' payloads by their names, without those that are sent with the page."""
    places = [given["at"] for given in mounted(app, "chart") if "at" in given and "sent" not in given]
    return {at.split("?")[0].rpartition("/")[2]: at for at in places}


def all_payloads(app: AppTest) -> Iterator[dict[str, Any]]:
    """Yield every payload that the components of a page fetch, but its saved page, which takes longest."""
    for given in fetching(app):
        if not given["at"].split("?")[0].endswith("-file"):
            yield fetched(given["at"])


_DRAWN = {"chart", "equation", "gallery", "player", "side_by_side", "text"}
"""Kinds of blocks that a page for a lecture draws, too."""


def picture_names(app: AppTest) -> list[str]:
    """Return the names of the pictures that a page saves, after checking all its payloads."""
    names = []
    for given in fetching(app):
        found = fetched(given["at"])
        if isinstance(found, bytes):
            _check_saved_page(app, saved_view(found.decode("utf-8")))
            continue
        assert found.get("pictures", True), given["at"]
        assert all(table["rows"] for table in found.get("tables", [{"rows": True}])), given["at"]
        for picture in found.get("pictures", ()):
            assert json.loads(picture["figure"])["data"], picture["title"]
            assert len(picture["table"].splitlines()) > 1, picture["title"]
            names.append(picture["file"])
    for given in mounted(app, "verification_badge"):
        assert (fetched(given["at"]) if "at" in given else given)["holds"]
    return names


def _check_saved_page(app: AppTest, saved: SavedView) -> None:
    drawn, shown = (
        {(block["kind"], block["text" if block["kind"] == "text" else "key"]) for block in found}
        for found in (flattened(saved.blocks), blocks(app))
    )
    assert drawn <= shown
    assert not _DRAWN & {kind for kind, _ in shown - drawn}
    assert {at.format(step=0) for at in saved.addresses()} <= saved.payloads.keys()


def plain_texts(app: AppTest) -> list[str]:
    """Return the plain texts of a page, those of its views last."""
    return [element.value for element in app.text] + [one["text"] for one in blocks(app) if one["kind"] == "text"]


def texts(app: AppTest) -> str:
    return "\n".join(plain_texts(app))


def panel_texts(app: AppTest, *keys: str) -> list[str]:
    """Return the texts, captions and HTML in the containers with these keys, in the order of the page."""

    def within_box(block: dict[str, Any], inside: bool) -> Iterator[str]:
        inside = inside or block["key"] in keys
        if inside and block["kind"] in ("text", "caption", "html"):
            yield block["text"]
        for inner in (block.get("blocks", ()), *block.get("columns", ())):
            for one in inner:
                yield from within_box(one, inside)

    def within(node: Any, inside: bool) -> Iterator[str]:
        inside = inside or getattr(node, "key", None) in keys
        if inside and node.type in ("text", "caption"):
            yield node.value
        elif inside and node.type == "html":
            yield node.proto.body
        elif node.type == "bidi_component":
            for block in json.loads(node.proto.json)[0]:
                yield from within_box(block, inside)
        for child in getattr(node, "children", {}).values():
            yield from within(child, inside)

    return list(within(app.main, False))


def address(app: AppTest) -> dict[str, str]:
    """Return the URL parameters that the server sets for a page: the browser adds its own."""
    (end,) = mounted(app, "acknowledgement")
    found = dict(end["page"]["parameters"])
    for view in mounted(app, "view_state"):
        found |= view["own"]
    return {name: value for name, value in found.items() if value is not None}


def shown_trace(app: AppTest) -> Any:
    """Return the trace of the page's own view."""
    identity = mounted(app, "view_state")[0]["identity"]
    traces = (payloads.PayloadRequest(shown_at(given["at"]), {}).trace for given in fetching(app))
    return next(trace for trace in traces if trace.fingerprint == identity)


def selected(app: AppTest) -> Selection:
    """Return the selection in the page's own view when the browser opens the link of the visit."""
    state, trace = mounted(app, "view_state")[0], shown_trace(app)
    view = SimpleNamespace(trace=trace, key=str, steps=len(trace.target_pieces), first_step=state["firstStep"])
    return linked_selection(view, _linked(app))


def _linked(app: AppTest) -> dict[str, str]:
    return {name: value if isinstance(value, str) else value[0] for name, value in app.query_params.items()}


def heatmap_of(app: AppTest, **options: str) -> dict[str, Any]:
    (at,) = (given["at"] for given in mounted(app, "chart") if "sent" in given)
    return fetched(at, **options)


def steps_of(app: AppTest) -> int:
    return int(mounted(app, "view_state")[0]["steps"])


def badge(app: AppTest) -> dict[str, Any]:
    """Return the payload of the verification badge at the selected step."""
    assert not app.exception
    (given,) = mounted(app, "verification_badge")
    return fetched(given["at"], selected(app).step, **{k: v for k, v in _linked(app).items() if k in OPTIONS})
