"""The step view of a trace with its payloads, for a host without a server of ours: a file, a notebook, another app."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from attnviz.analysis.gold import as_gold_links, validated
from attnviz.analysis.labels import shorten
from attnviz.analysis.recomputation import Weights
from attnviz.architectures import step_texts
from attnviz.browser_modules import COMPONENTS, bundle, component_files, module_path
from attnviz.browser_programs import KATEX, PLOTLY, SERIF_FAMILY, serif_style
from attnviz.export.offline_page import THEMES, compressed, filled, in_every_language
from attnviz.figures.encoding import to_json
from attnviz.languages import LANGUAGES, gettext, language
from attnviz.palette import FONT, ThemeName, palette
from attnviz.trace import WhatIfs
from attnviz.trace.drawing import DetailLevel, HeatmapChoices
from attnviz.ui.components.component import collected
from attnviz.ui.embedding import EmbeddedPayload, Embedding, embedded_in
from attnviz.ui.page_state.gold_state import take_links
from attnviz.ui.page_state.selection import OPTIONS, PAGE_CHOICES, POSTERIOR_OPEN
from attnviz.ui.payloads import PayloadRequest, UnknownPayloadError
from attnviz.ui.resources import has_posterior
from attnviz.ui.step.step_makers import VIEW_MAKERS
from attnviz.ui.step.step_view import step_view
from attnviz.ui.style import PAGE_STYLE, share_properties_css
from attnviz.ui.view import MAIN, View

CHOSEN_HERE = ("face", "by", POSTERIOR_OPEN)
"""Display options that a reader of an embedded view chooses; the others stay as they were."""
_TYPESET = {"definitions", "equation"}
"""Kinds of blocks with formulas."""


@dataclass(frozen=True)
class EmbeddedView:
    """What an embedded view shows, and how."""

    trace: Any
    level: DetailLevel = "numbers"
    """Level of detail."""
    step: int = 0
    """0-based step at which it opens."""
    choices: HeatmapChoices = PAGE_CHOICES
    """How the heatmap is drawn at first."""
    weights: Weights | None = None
    """Weights of the model that made the trace; None for those of the installed model of that name."""
    what_ifs: WhatIfs | None = None
    """The what-ifs that the trace is one of; None for a trace without."""

    def drawn(self, theme: ThemeName) -> dict[str, Any]:
        """Return the blocks of the view in the current language and, by address, all payloads that they fetch."""
        weights = None if self.weights is None else (self.trace.weights_digest or "given", self.weights)
        name = f"{self.trace.fingerprint[:16]}-{self.level}-{self.step}-{language()}-{theme}"
        host = Embedding(name, theme, {}, weights)
        view = View(MAIN, self.trace, self.what_ifs, self.number, self.level, self.step)
        if self.choices.gold is not None:
            take_links(host.session, view, validated(as_gold_links(self.choices.gold), self.trace.words()))
        with embedded_in(host):
            host.options = self._options()
            with collected() as blocks:
                step_view(view)
            found = {address: _made(payload) for address, payload in host.payloads(view.steps)}
        return {"blocks": blocks, "payloads": {address: one for address, one in found.items() if one is not None}}

    @property
    def numbers(self) -> range:
        """Numbers of the what-ifs, 0 for the original translation."""
        return range(1 if self.what_ifs is None else len(self.what_ifs.what_ifs) + 1)

    @property
    def number(self) -> int:
        """Number of the what-if that the trace is."""
        if self.what_ifs is None:
            return 0
        traces = {number: self.what_ifs.trace(number) for number in self.numbers}
        return next(number for number, one in traces.items() if one.fingerprint == self.trace.fingerprint)

    def showing(self, number: int) -> EmbeddedView:
        """Return the view of another what-if, at the same step where it has that; its words have no gold links."""
        if number == self.number or self.what_ifs is None:
            return self
        trace = self.what_ifs.trace(number)
        choices = replace(self.choices, gold=None)
        return replace(self, trace=trace, step=min(self.step, len(trace.target_pieces) - 1), choices=choices)

    def _options(self) -> dict[str, tuple[str, ...]]:
        """Return the values of each display option, the opening one first."""
        found = {}
        for name, values in OPTIONS.items():
            first = values[0] if name == POSTERIOR_OPEN else _text(getattr(self.choices, name))
            others = [value for value in values if value != first] if name in CHOSEN_HERE else []
            found[name] = (first, *others)
        if not has_posterior(self.trace):
            found["face"] = ("before",)
        return found


def view_html(view: EmbeddedView) -> str:
    """Return an HTML page with the view, in every language and both themes, which needs no network."""
    kinds, drawn = set[str](), {}
    for theme, number in itertools.product(THEMES, view.numbers):
        by_language = in_every_language(functools.partial(view.showing(number).drawn, theme))
        for code, one in by_language.items():
            kinds |= _kinds(one["blocks"])
            drawn[f"{code} {theme} {number}"] = compressed(one)
    payload = {
        "names": LANGUAGES,
        "language": language(),
        "footers": in_every_language(lambda: _footer(view.trace)),
        "what_ifs": [*view.numbers],
        "current": view.number,
        "drawn": drawn,
    }
    style = [serif_style(embedded=True), _theme_css(), share_properties_css(), PAGE_STYLE.read_text(encoding="utf-8")]
    parts = {
        "language": language(),
        "title": escape(f"attnviz: {shorten(view.trace.source_text, 80)}"),
        "style": "\n".join([*style, (COMPONENTS / "offline.css").read_text(encoding="utf-8")]),
        # Inside a script element only "</script" and "<!--" are markup, and only with a literal "<".
        "payload": to_json(payload).replace("<", "\\u003c"),
        "programs": PLOTLY.text + (KATEX.text if kinds & _TYPESET else ""),
        "modules": modules_script("offline.js", kinds),
    }
    return filled((COMPONENTS / "offline.html").read_text(encoding="utf-8"), parts)


def _footer(trace: Any) -> str:
    """Return how the numbers of a view were made."""
    return gettext("{how}; made with attnviz.", how=step_texts(trace).made_by_search(trace))


def modules_script(entry: str, kinds: Set[str]) -> str:
    """Return the script of the module `entry` and of the components of these `kinds`."""
    files = component_files()
    needed = [kind for kind in files if kind in kinds]
    texts = {"files.js": f"export default {json.dumps({kind: files[kind] for kind in ['blocks', *needed]})};"}
    return bundle([COMPONENTS / entry, *map(module_path, needed)], texts)


def _kinds(blocks: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the kinds of all blocks, also of those in boxes."""
    inner = [list(several) for block in blocks for several in (block.get("blocks", ()), *block.get("columns", ()))]
    return {block["kind"] for block in blocks}.union(*map(_kinds, inner))


def _theme_css() -> str:
    """Return the CSS of the colours and fonts that Streamlit gives a page."""

    def colours(theme: ThemeName) -> str:
        one = palette(theme)
        found = {
            "background": one.paper,
            "secondary-background": one.sheet,
            "text": one.ink,
            "border": one.line,
            "primary": one.decoder,
            "green": one.encoder,
            "violet": one.decoder,
            "orange": one.context,
            "red": one.minus,
            "blue": one.plus,
        }
        return " ".join(f"--st-{name}-color: {colour};" for name, colour in found.items())

    fonts = f"--st-font: {FONT}; --st-heading-font: '{SERIF_FAMILY}', Georgia, serif; --st-button-radius: 4px;"
    return (
        f":root {{ {fonts} {colours('light')} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {colours('dark')} }} }}"
    )


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _made(payload: EmbeddedPayload) -> Any:
    """Return what a payload's maker makes, None where there is no such payload."""
    try:
        return VIEW_MAKERS[payload.name](PayloadRequest(payload.shown, payload.parameters))
    except UnknownPayloadError:
        return None
