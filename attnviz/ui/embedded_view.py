"""The step view of a trace with its payloads, for a host without a server of ours: a file, a notebook, another app."""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape
from typing import Any, get_args

from attnviz.analysis.gold import as_gold_links, validated
from attnviz.analysis.labels import shorten
from attnviz.analysis.recomputation import Weights
from attnviz.architectures import step_texts
from attnviz.browser_modules import COMPONENTS, modules_script, page_style
from attnviz.browser_programs import KATEX, PLOTLY, SERIF_FAMILY, font_style, katex_style
from attnviz.errors import AttnvizError
from attnviz.figures.encoding import to_json
from attnviz.languages import LANGUAGES, gettext, language, set_language
from attnviz.palette import FONT, ThemeName, palette
from attnviz.text import Tokenizer
from attnviz.trace import WhatIfs
from attnviz.trace.drawing import DetailLevel, HeatmapChoices
from attnviz.trace.what_ifs import TranslatorArguments
from attnviz.ui.blocks import collected
from attnviz.ui.embedding import Embedding, embedded_in
from attnviz.ui.payloads import PayloadRequest, made
from attnviz.ui.resources import has_posterior
from attnviz.ui.selection import OPTIONS, PAGE_CHOICES, POSTERIOR_OPEN, SWITCHES, take_links
from attnviz.ui.step.step_view import step_view
from attnviz.ui.step.what_if_panel import current_view, handle_what_if
from attnviz.ui.view import MAIN, View

THEMES: tuple[ThemeName, ...] = get_args(ThemeName)
MOST_CELLS = 2500
"""Cells up to which a reader chooses all options of the heatmap: it is drawn for each combination, up to 96 times."""
_CHOSEN_IN_LARGE = ("face", "by", POSTERIOR_OPEN)
"""Options that a reader chooses in larger heatmaps, too."""
_TYPESET = {"definitions", "equation"}
"""Kinds of blocks with formulas."""


Drawn = Mapping[str, Any]
"""Blocks and, by address, their payloads."""


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
    translate_again: Callable[[TranslatorArguments], Any] | None = None
    """Translates the sentence with interventions; None where no translator is at hand."""
    tokenizer: Tokenizer | None = None
    """Of the translator; None for that of the installed model of that name."""
    session: dict[Any, Any] = field(default_factory=dict)
    """What a reader has changed."""

    def __post_init__(self) -> None:
        """Draw `</s>` unless the choices say otherwise: a view has a row for every step."""
        object.__setattr__(self, "choices", replace(self.choices, end=self.choices.end is not False))

    def drawn(self, theme: ThemeName) -> Drawn:
        """Return the blocks of the view in the current language and, by address, all payloads that they fetch."""
        view, gold = self.current(), None
        if self.choices.gold is not None:
            gold = validated(as_gold_links(self.choices.gold), self.trace.words())
        drawn_as = [_text(getattr(self.choices, name)) for name in OPTIONS if name != POSTERIOR_OPEN]
        chosen = self.level, view.first_step, drawn_as, gold and gold.text(), self.weights is None
        given = (view.trace.fingerprint, *chosen, language(), theme)
        name = hashlib.sha256(repr(given).encode()).hexdigest()[:16]
        host = self._host(name, theme)
        with embedded_in(host):
            if gold is not None:
                take_links(view, gold)
            host.options = self._options()
            return embedded(host, partial(step_view, view), view.steps)

    def current(self) -> View:
        """Return what is shown now: the trace, or what a reader made of it."""
        if self.translate_again is None:
            return View(MAIN, self.trace, self.what_ifs, self.number, self.level, self.step)
        with embedded_in(self._host("current", "light")):
            view = current_view(self.trace, self.translate_again)
        return replace(view, detail_level=self.level, first_step=self.step)

    def answer(self, request: Mapping[str, Any]) -> None:
        """Handle a reader's `request` for a what-if, as the app does (`handle_what_if`)."""
        view = self.current()
        with embedded_in(self._host("answer", "light")):
            handle_what_if(view, request)

    def _host(self, name: str, theme: ThemeName) -> Embedding:
        weights = None if self.weights is None else (self.trace.weights_digest or "given", self.weights)
        return Embedding(name, theme, {}, self.translate_again is not None, weights, self.tokenizer, self.session)

    @property
    def traces(self) -> tuple[Any, ...]:
        """The original translation and its what-ifs, by their numbers."""
        return (self.what_ifs.first, *self.what_ifs.traces) if self.what_ifs else (self.trace,)

    @property
    def number(self) -> int:
        """Number of the what-if that the trace is."""
        return [one.fingerprint for one in self.traces].index(self.trace.fingerprint)

    def showing(self, number: int) -> EmbeddedView:
        """Return the view of another what-if, at the same step where it has that; its words have no gold links."""
        if number == self.number:
            return self
        trace = self.traces[number]
        step, choices = min(self.step, len(trace.target_pieces) - 1), replace(self.choices, gold=None)
        return replace(self, trace=trace, step=step, choices=choices, session={})

    def _options(self) -> dict[str, tuple[str, ...]]:
        """Return the values of each display option, the opening one first."""
        found, is_small = {}, self.trace.attends and self.trace.alignment.size <= MOST_CELLS
        for name, values in OPTIONS.items():
            first = values[0] if name == POSTERIOR_OPEN else _text(getattr(self.choices, name))
            is_chosen = name in _CHOSEN_IN_LARGE or (is_small and name in SWITCHES)
            found[name] = (first, *(value for value in values if is_chosen and value != first))
        if not has_posterior(self.trace):
            found["face"] = ("before",)
        return found


def embedded(host: Embedding, draw: Callable[[], object], steps: int) -> Drawn:
    """Return the blocks that `draw` draws for the current `host`, and all payloads that they fetch in any step.

    In place of a payload that cannot be made is the message that says why, which the reader sees instead. The values of
    charts are numbers of `texts`, since several payloads may have the same.
    """
    with collected() as blocks:
        draw()
    payloads, texts = {}, dict[str, int]()
    for address, name, shown, parameters in host.payloads(steps):
        try:
            payload = made(PayloadRequest(shown, parameters, name))
        except AttnvizError as error:
            payload = {"refused": str(error)}
        values = payload.get("values", {})
        numbers = {step: texts.setdefault(text, len(texts)) for step, text in values.items()}
        payloads[address] = payload | ({"values": numbers} if values else {})
    return {"blocks": blocks, "payloads": payloads, "texts": [*texts]}


def made_with_attnviz() -> str:
    """Return the footer of a page that shows no single translation."""
    return gettext("Made with attnviz. This file opens without an internet connection.")


def drawn_page(
    title: str,
    name: str,
    draw: Callable[[], object],
    steps: int = 0,
    footer: Callable[[], str] = made_with_attnviz,
    languages: Sequence[str] = tuple(LANGUAGES),
) -> bytes:
    """Return an HTML page of what `draw` draws, with its payloads of so many `steps`; a reader chooses no options.

    `name` distinguishes its payloads from others; the further arguments are those of `_html_page`.
    """
    options = {option: values[:1] for option, values in OPTIONS.items()}

    def drawn(theme: ThemeName, _: int) -> Drawn:
        host = Embedding(f"{name}-{language()}-{theme}", theme, options)
        with embedded_in(host):
            return embedded(host, draw, steps)

    return _html_page(title, drawn, footer, languages=languages).encode("utf-8")


def view_html(view: EmbeddedView) -> str:
    """Return an HTML page with the view, in every language and both themes, which needs no network."""

    def draw(theme: ThemeName, number: int) -> Drawn:
        return view.showing(number).drawn(theme)

    def footer() -> str:
        return gettext("{how}; made with attnviz.", how=step_texts(view.trace).made_by_search(view.trace))

    return _html_page(
        f"attnviz: {shorten(view.trace.source_text, 80)}", draw, footer, range(len(view.traces)), view.number
    )


def _html_page(
    title: str,
    draw: Callable[[ThemeName, int], Drawn],
    footer: Callable[[], str],
    numbers: Sequence[int] = (0,),
    current: int = 0,
    languages: Sequence[str] = tuple(LANGUAGES),
) -> str:
    """Return an HTML page in several languages and both themes, which needs no network.

    It opens in the current language. Its text does not tell what it shows, which is compressed.

    Args:
        title: Title of the document.
        draw: Returns what is shown in the current language, for a theme and one of the `numbers`.
        footer: Returns in the current language how it was made.
        numbers: Numbers of the what-ifs that a reader chooses from, 0 for the original.
        current: The number at which the page opens.
        languages: Codes of the languages that a reader chooses from.

    Returns:
        The page.
    """
    kinds, drawn = set[str](), {}
    for theme in THEMES:
        for number in numbers:
            for code, one in _in_each(languages, partial(draw, theme, number)).items():
                kinds |= _kinds(one["blocks"])
                drawn[f"{code} {theme} {number}"] = _compressed(one)
    payload = {
        "names": {code: LANGUAGES[code] for code in languages},
        "language": language(),
        "footers": _in_each(languages, footer),
        "what_ifs": [*numbers],
        "current": current,
        "drawn": drawn,
    }
    typeset = katex_style() if kinds & _TYPESET else ()
    style = [
        font_style(embedded=True),
        *typeset,
        f":root {{ {_FONTS} {_colours('light')} }}",
        f"@media (prefers-color-scheme: dark) {{ :root {{ {_colours('dark')} }} }}",
        page_style(),
    ]
    parts = {
        "language": language(),
        "title": escape(title),
        "style": "\n".join([*style, (COMPONENTS / "offline.css").read_text(encoding="utf-8")]),
        # Inside a script element only "</script" and "<!--" are markup, and only with a literal "<".
        "payload": to_json(payload).replace("<", "\\u003c"),
        "programs": PLOTLY.text + (KATEX.text if typeset else ""),
        "modules": modules_script("offline.js", kinds) + 'attnvizModule("ui/components/offline.js");',
    }
    return _filled((COMPONENTS / "offline.html").read_text(encoding="utf-8"), parts)


def _in_each(languages: Sequence[str], make: Callable[[], Any]) -> dict[str, Any]:
    """Return the result of `make` in each of the languages, by code."""
    first, results = language(), {}
    try:
        for code in languages:
            set_language(code)
            results[code] = make()
    finally:
        set_language(first)
    return results


def _compressed(payload: Any) -> str:
    """Return `payload`, with NumPy arrays, as base64-encoded gzip of JSON."""
    return base64.b64encode(gzip.compress(to_json(payload).encode("utf-8"), mtime=0)).decode("ascii")


def _filled(template: str, parts: Mapping[str, str]) -> str:
    """Return `template` with each {{name}} replaced, in one pass, so that inserted text is not substituted again."""
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)


def packed_view(view: EmbeddedView, theme: ThemeName, number: int = 0) -> str:
    """Return a view in the current language with its payloads, compressed, for the module `guest.js`.

    `number` counts the answers to a reader, so that an answer that changes nothing differs, too.
    """
    return _compressed({**view.drawn(theme), "theme": theme, "language": language(), "number": number})


@functools.cache
def guest_script() -> str:
    """Return the script of a view in a page of others: the modules, and the programs that draw and typeset."""
    katex_fonts, formulas = katex_style()
    own = re.sub(r"\bbody (?=button|summary)", "& ", page_style().replace(":root {", "& {"))
    light, dark = (f"{_FONTS} {_colours(theme)}" for theme in THEMES)
    frame = (
        "background: var(--paper); color: var(--ink); font: 1rem/1.5 var(--sans); padding: 0.5rem 1rem; "
        "container: attnviz / inline-size; outline: none; text-align: start;"
    )
    page = f"& {{ {light} {frame} }}\n&[data-theme=dark] {{ {dark} }}\n{formulas}\n{own}"
    # Neither program is a module: one declares its name, the other looks for a loader of modules first.
    plotly = f"globalThis.Plotly ??= (() => {{\n{PLOTLY.text}\nreturn Plotly;\n}})();\n"
    katex = f"(() => {{\nlet define, exports, module;\n{KATEX.text}\n}})();\n"
    faces = json.dumps(font_style(embedded=True) + katex_fonts)
    fonts = f"const fonts = new CSSStyleSheet();\nfonts.replaceSync({faces});\n"
    applied = "document.adoptedStyleSheets.push(fonts);\n"
    modules = modules_script("guest.js", page_style=page, change=partial(_WIDTH_QUERY.sub, "@container attnviz"))
    script = f"{plotly}{katex}{fonts}{applied}{modules}return attnvizModule;\n"
    digest = hashlib.sha256(script.encode()).hexdigest()[:12]
    # Each widget of a notebook runs the script; the views on a page share one set of modules and style sheets.
    return f"const attnvizModule = (globalThis.attnviz_{digest} ??= (() => {{\n{script}}})());\n"


_FONTS = f"--st-font: {FONT}; --st-heading-font: '{SERIF_FAMILY}', Georgia, serif; --st-button-radius: 4px;"


def _kinds(blocks: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the kinds of all blocks, also of those in boxes."""
    inner = [list(several) for block in blocks for several in (block.get("blocks", ()), *block.get("columns", ()))]
    return {block["kind"] for block in blocks}.union(*map(_kinds, inner))


_WIDTH_QUERY = re.compile(r"@media(?=(?: (?:and )?\((?:min|max)-width: [\w.]+\))+ \{)")
"""A media query for the width of the window; in a page of others it asks for the width of the view."""


def _colours(theme: ThemeName) -> str:
    """Return the CSS properties of the colours that Streamlit gives a page."""
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


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)
