"""Draw the button that copies the page's link and the downloads in *More*, and the downloads of other pages.

The downloads are figures as they are drawn now, files of the whole translation, and pages for lectures. The browser
makes PNG, SVG and CSV of a figure, the server its PDF. Where it has no browser for that, and for drawings of the page,
the visitor prints it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import plotly.graph_objects as go

from attnviz import lazy_pandas as pd
from attnviz.analysis.comparison import ComparedSide, Comparison, compare
from attnviz.analysis.diagram import has_diagram
from attnviz.analysis.gold import GoldLinks
from attnviz.analysis.labels import face_names, step_heading
from attnviz.analysis.stages import diagram_alt
from attnviz.architectures import narrate, step_texts
from attnviz.errors import AttnvizError, user_error
from attnviz.export.images import drawn, find_browser, for_print, shortened_to_fit, translation_sheet
from attnviz.export.saved_files import FigureOptions, contents, file_name, heading
from attnviz.figures.heatmap import heatmap
from attnviz.figures.registry import CONTRAST, ENERGY_DECOMPOSITION, LOGIT_ATTRIBUTION, StepFigure, step_figures
from attnviz.figures.spec import Spec, figure_json
from attnviz.figures.why_attention_figure import bleu_by_length
from attnviz.languages import gettext, gettexts
from attnviz.palette import palette
from attnviz.text import with_symbols, without_isolates
from attnviz.trace import Trace
from attnviz.trace.drawing import HeatmapChoices
from attnviz.ui.blocks import (
    Box,
    box,
    caption,
    columns,
    component,
    popover_box,
    tables_payload,
    view_blocks,
)
from attnviz.ui.controls import switch
from attnviz.ui.embedding import page_session
from attnviz.ui.payloads import Payload, PayloadRequest, Shown, UnknownPayloadError, makes_payload, shown_address
from attnviz.ui.resources import Rows, face_posterior, has_posterior
from attnviz.ui.selection import gold_entries, gold_of
from attnviz.ui.step.diagram_panel import diagram_table
from attnviz.ui.step.gold_panel import DRAW
from attnviz.ui.step.heatmap_panel import drawn_comparison, shown_choices
from attnviz.ui.step.logit_attribution_panel import subject_of
from attnviz.ui.view import View


@dataclass(frozen=True)
class PageDrawing:
    """A drawing in the browser's page that is saved as a file."""

    box: str
    """CSS selector of its container."""
    narrowest: int
    """Width that the title needs, in pixels."""
    colours: dict[str, str]
    """Light-theme colours, by the names of their CSS variables."""
    title: list[tuple[str, str, int, int]]
    """Lines of the title, each with colour, size in pixels and weight."""
    alt: str


@dataclass(frozen=True)
class PictureFile:
    """A figure that is saved as PNG, SVG and PDF, and its numbers as CSV."""

    title: str
    """Its name in the list."""
    file: str
    """Name of its files, without an ending."""
    draw: Callable[[], tuple[go.Figure | PageDrawing, pd.DataFrame]]
    """Returns the figure as printed, with its title, or a drawing that the browser copies from the page and prints,
    and the numbers."""


def followed_picture_files(view: View, at: str, key: str) -> None:
    """Offer figures as PNG and SVG, made in the visitor's browser, as PDF, and as CSV.

    They are those of the current selection in `view`; `picture_files` is at the address `at`.
    """
    payload = {"at": at, "container": view.key("room"), "words": _words()}
    component("picture_files", key, payload)


def picture_files(files: Iterable[PictureFile], parameters: Mapping[str, str], caption: str = "") -> Payload | bytes:
    """Return the payload of the files, or the PDF of the file that the parameter `pdf` of its address names.

    Args:
        files: The figures.
        parameters: The parameters of the address.
        caption: Says which figures they are of.

    Raises:
        AttnvizError: There is no such file, the server is drawing another PDF, or it cannot draw this one.
    """
    if "pdf" in parameters:
        return _pdf(next((item.draw()[0] for item in files if item.file == parameters["pdf"]), None))
    has_browser = False
    with suppress(AttnvizError):
        has_browser = bool(find_browser())
    return {"pictures": [_file_payload(item, has_browser) for item in files], "of": caption or _words()["of"]}


_DRAWING = threading.Lock()
"""Held while a PDF is drawn: each takes a browser of its own."""


def _pdf(figure: go.Figure | PageDrawing | None) -> bytes:
    """Return a figure as PDF; raise AttnvizError where there is no figure, or the server cannot draw it now."""
    if not isinstance(figure, go.Figure):
        raise user_error("There is no picture to save.")
    if not _DRAWING.acquire(blocking=False):
        raise user_error("The server is drawing another PDF. Try again in a few seconds.")
    try:
        content, missing = drawn(figure, "pdf")
    finally:
        _DRAWING.release()
    if missing:
        raise user_error(
            "The server has no font with these characters: {characters}. Save SVG instead.", characters=missing
        )
    return content


def _file_payload(item: PictureFile, has_browser: bool) -> Payload:
    figure, numbers = item.draw()
    payload = {"title": item.title, "file": item.file, "table": without_isolates(numbers.to_csv())}
    if isinstance(figure, PageDrawing):
        return payload | {"figure": "", "drawing": asdict(figure), "pdf": False}
    return payload | {"figure": figure_json(figure), "pdf": has_browser}


def _words() -> dict[str, str]:
    return gettexts(
        {
            "of": "These are the pictures that the page shows.",
            "none": "There is no picture to save.",
            "drawing": "Drawing…",
            "failed": "Your browser could not make this file. Try again; if it fails again, reload the page.",
            "boxes": "Your computer has no font with these characters: {characters}. In the picture, boxes replace "
            "these characters.",
        }
    )


POSTERIOR_LINKS, PRIOR_LINKS = "links.pharaoh", "links-by-attention.pharaoh"
"""Endings of the names of files with word links, by posterior attention and by attention."""

_NARROWEST, _HEADING, _SENTENCE = 760, 17, 13
"""Smallest width of the diagram and font sizes of the title, in pixels."""


def diagram_file(view: View, step: int, file: str) -> PictureFile:
    """Return the diagram of `view`, of a recurrent translator, at 0-based `step`, as a figure named `file`."""
    trace, ink = view.trace, palette("light")
    heading = step_heading(trace, step, gettext("Architecture diagram"))
    credit = gettext("attnviz, {made_by}", made_by=step_texts(trace).made_by(trace))
    lines = [(f"{heading} ({credit})", ink.ink, _HEADING, 600)]
    for sentence, colour in ((trace.source_text, ink.encoder), (trace.translation, ink.decoder)):
        lines.append((with_symbols(" ".join(sentence.split())), colour, _SENTENCE, 400))
    colours = {name: value for name, value in asdict(ink).items() if isinstance(value, str)} | {"paper": ink.sheet}
    drawing = PageDrawing(
        f".st-key-{view.key('diagram_box')}",
        _NARROWEST,
        colours,
        [(shortened_to_fit(text, _NARROWEST, size), colour, size, weight) for text, colour, size, weight in lines],
        diagram_alt(trace, step, narrate(trace, step)),
    )
    return PictureFile(gettext("Architecture diagram"), file, lambda: (drawing, diagram_table(trace, step)))


def file_link(view: View | None, label: str, at: str, file: str, key: str) -> None:
    """Draw the link to the file at the address `at`, for the current selection in `view`; it is saved as `file`."""
    payload = {"label": label, "at": at, "file": file, "container": view.key("room") if view else ""}
    component("file_link", key, payload, width="stretch" if view else "content")


def download_box(key: str) -> Box:
    """Return a box to draw downloads in; the browser draws an open box only, and fetches what is in it then."""
    return popover_box(gettext("Download"), key)


def offer_pictures(view: View, name: str, shown: Shown, key: str = "export", **parameters: str) -> None:
    """Offer the pictures of the payload `name` for the current selection in `view`, and what else is `shown`."""
    at = shown_address(name, {"view": view, **shown}, "{selection}", **parameters)
    followed_picture_files(view, at, key)


def page_downloads(view: View, page: str, shown: Shown, part: str = "", lecture: str = "") -> None:
    """Offer what a part of a page `offers` for the current selection in `view`, and the part as the file `lecture`."""
    with download_box("downloads"):
        offer_pictures(view, f"{page}-pictures", shown, part=part)
        if lecture:
            at = shown_address(f"{page}-lecture", {"view": view, **shown}, "{selection}", part=part)
            lecture_link(view, at, lecture)


def lecture_link(view: View, at: str, file: str) -> None:
    """Offer the page for a lecture at the address `at` as `file`."""
    file_link(view, gettext("Web page for a lecture, HTML"), at, file, view.key("lecture_page"))


@dataclass(frozen=True)
class OfferedFigure:
    """A figure as it is saved."""

    title: str
    """Name in the list."""
    name: str
    """Part of the file's name that distinguishes it from the others."""
    draw: Callable[[], Spec]
    heading: str = ""
    """Title in its file, if different."""
    trace: Trace | None = None
    """The translation that its numbers are of; None for that of the view."""

    @property
    def table(self) -> tuple[str, pd.DataFrame]:
        """Its title in the file, and its numbers."""
        return self.heading or self.title, self.draw().frame()


NamedTables = Iterator[tuple[str, "pd.DataFrame"]]
"""Tables, each with its name."""


@dataclass(frozen=True)
class OfferedPart:
    """What a part of a page offers to save: figures, and numbers that are in no figure."""

    pictures: Callable[[PayloadRequest], Iterator[OfferedFigure]]
    """Yields the figures as currently shown; none where it has none."""
    tables: Callable[[PayloadRequest], NamedTables] = lambda _: iter(())
    missing: Callable[[Any], str] = lambda _: ""
    """Returns why a translation has no such part, as a sentence; empty where it has."""


@dataclass(frozen=True, kw_only=True)
class LabSection(OfferedPart):
    """A section of the page *Lab*: a question and its analyses."""

    title: Callable[[], str]
    """Title in the current language."""
    draw: Callable[[View], Shown]
    """Draws the section, where it is not missing, and returns what of the visitor's choices it shows."""


def offers(page: str, parts: Mapping[str, OfferedPart]) -> None:
    """Make the payloads of the figures (`offer_pictures`) and of all tables (`table_box`) of the `parts` of a page."""

    def part_of(request: PayloadRequest) -> OfferedPart:
        if request.part not in parts:
            raise UnknownPayloadError(request.part)
        part = parts[request.part]
        return OfferedPart(lambda _: iter(())) if part.missing(request.trace) else part

    @makes_payload(f"{page}-tables")
    def tables(request: PayloadRequest) -> Payload:
        part = part_of(request)
        return tables_payload([*(one.table for one in part.pictures(request)), *part.tables(request)])

    @makes_payload(f"{page}-pictures", needs_server=True)
    def files(request: PayloadRequest) -> Payload | bytes:
        offered = part_of(request).pictures(request)
        return picture_files((picture_file(request.trace, one) for one in offered), request.parameters)


@makes_payload("translation-pictures", needs_server=True)
def translation_pictures(request: PayloadRequest) -> Payload | bytes:
    """Return the payload of the figures as currently drawn, as files."""
    step = request.selection.step
    caption = gettext(
        "The files contain the pictures as they are shown now. Each picture of a single step shows step {step}.",
        step=step + 1,
    )
    files = [picture_file(request.trace, one, titled=request.part == "titled") for one in pictures(request)]
    if has_diagram(request.trace):
        files.append(diagram_file(request.view, step, file_name(request.trace, f"step-{step + 1}-diagram")))
    return picture_files(files, request.parameters, caption)


def _translation_files(trace: Any) -> dict[str, str]:
    """Return the files of a whole translation: ending of the name, and label of the link."""
    files = gettexts(
        {
            "lecture.html": "Web page for a lecture, HTML",
            "heatmap.tex": "Heatmap for LaTeX, TikZ",
            POSTERIOR_LINKS: "Word links by posterior attention, Pharaoh format",
            PRIOR_LINKS: "Word links by attention, Pharaoh format",
            "trace.json": "Whole trace, JSON",
        }
    )
    if not has_posterior(trace):
        del files[POSTERIOR_LINKS]
    return {name: label for name, label in files.items() if trace.attends or name.endswith((".html", ".json"))}


@makes_payload("translation-file", needs_server=True)
def translation_file(request: PayloadRequest) -> bytes:
    """Return a file of the whole translation; the page for a lecture opens at the current step."""
    trace, ending = request.trace, request.part.rpartition(".")[2]
    if request.part not in _translation_files(trace):
        raise UnknownPayloadError(request.part)
    uses_weights = request.part != PRIOR_LINKS and (has_posterior(trace) or not trace.attends)
    options = _heatmap_options(request)
    if ending == "html":
        options = replace(options, step=request.selection.step, level=request.view.detail_level)
    else:  # printed figures have no margins
        options = replace(options, margins=False, gold=GoldLinks())
    return contents(trace, ending, options, request.weights if uses_weights else None, request.view.what_ifs)


def pictures(request: PayloadRequest, left_out: Collection[StepFigure] = ()) -> Iterator[OfferedFigure]:
    """Yield the current figures: the heatmap, and those of the step, with the chosen energy and logit."""
    options, view, trace = _heatmap_options(request), request.view, request.trace
    subject = replace(subject_of(request), longest=options.longest)
    title, file = gettext("Heatmap"), "heatmap"
    if not trace.attends:
        title, file = gettext("A single vector for all steps"), "one-vector"
    elif options.face != "before":
        title, file = f"{title}, {face_names()[options.face]}", f"{file}-{options.face}"
    posterior = face_posterior(trace, options.face)
    yield OfferedFigure(title, file, partial(heatmap, trace, options, posterior=posterior), heading(trace, options))
    for name, figure in step_figures(subject).items():
        if figure.on_page and figure not in left_out:
            file = f"step-{subject.step + 1}-{name}"
            yield OfferedFigure(figure.title(subject), file, partial(figure.draw, subject), figure.headline(subject))
    if view.compared:
        yield offered_comparison(compare(trace, view.compared.other), view.compared.names, options)


def offered_comparison(
    compared: Comparison, names: tuple[str, str], choices: HeatmapChoices, leads: ComparedSide = "first"
) -> OfferedFigure:
    """Return the figure of two attention matrices side by side as it is saved."""
    heading = gettext("{first} and {other} side by side", first=names[0], other=names[1])
    drawn = drawn_comparison(compared, names, choices, leads)
    return OfferedFigure(gettext("Side by side"), "comparison", drawn, heading)


def offered_bleu(rows: Rows, sentence: str) -> OfferedFigure:
    """Return the figure of the BLEU of models by length, which marks the length of a sentence, as it is saved."""
    draw = partial(bleu_by_length, rows, marked_length=len(sentence.split()))
    return OfferedFigure(gettext("BLEU by the length of the sentence"), "bleu-by-length", draw)


@makes_payload("chart-tables")
def chart_tables_payload(request: PayloadRequest) -> Payload:
    """Return the payload of the figures as tables, but for those that have a box of tables of their own."""
    view, step = request.view, request.selection.step
    tables = [one.table for one in pictures(request, (ENERGY_DECOMPOSITION, LOGIT_ATTRIBUTION, CONTRAST))]
    if has_diagram(view.trace):
        name = gettext("Architecture diagram at step {step}", step=step + 1)
        tables.insert(1, (name, diagram_table(view.trace, step)))
    return tables_payload(tables)


def _heatmap_options(request: PayloadRequest) -> FigureOptions:
    """Return the display options of the heatmap in the view, on white, with no step framed."""
    view, chosen = request.view, shown_choices(request)
    # Empty where those in the trace were removed.
    gold, margins = gold_of(view) or GoldLinks(), chosen.margins and view.trace.attends
    return FigureOptions(**vars(replace(chosen, gold=gold, margins=margins)))


def picture_file(trace: Trace, offered: OfferedFigure, *, titled: bool = True) -> PictureFile:
    """Return a figure of `trace`, if it is of no other, as a file, `titled` with heading and sentences."""
    trace = trace if offered.trace is None else offered.trace

    def draw() -> tuple[go.Figure, pd.DataFrame]:
        spec = offered.draw()
        drawn = translation_sheet(spec, trace, offered.heading or offered.title) if titled else for_print(spec)
        return drawn, spec.frame()

    return PictureFile(offered.title, file_name(trace, offered.name), draw)


def share_and_save(view: View) -> None:
    """Draw the link and the files of `view`.

    The browser mounts the contents of an open box only, and fetches them then, so that opening it asks nothing of the
    server.
    """
    with view_blocks("share_view"), box("share_blocks", gap="xsmall"):
        with box("share", row=True):
            caption(gettext("The link opens the page as it is shown now."))
            copy_link(view.key("copy_link"))
        titled = switch(gettext("Title and sentences above the pictures"), key=view.key("titled"), default=True)
        shown = {"session": gold_entries(view) | {view.key(DRAW): page_session().get(view.key(DRAW))}}
        offer_pictures(view, "translation-pictures", shown, part="titled" if titled else "")
        caption(gettext("The whole translation"))
        files = list(_translation_files(view.trace).items())
        for start in range(0, len(files), 2):
            for column, (ending, label) in zip(columns((1, 1), gap="medium"), files[start : start + 2], strict=False):
                key = "whole_before" if ending == PRIOR_LINKS else f"whole_{ending.split('.')[1]}"
                at = shown_address("translation-file", {"view": view, **shown}, "{selection}", part=ending)
                with column:
                    file_link(view, label, at, file_name(view.trace, ending), key)


def copy_link(key: str, address: str = "") -> None:
    """Draw the button; it copies this `address`, relative to the app, or that of the page as it is shown now."""
    words = gettexts(
        {
            "copy": "Copy link",
            "copied": "Link copied",
            "failed": "Copy the link from the address bar",
        }
    )
    component("copy_link", key, {"words": words, "address": address}, width="content")
