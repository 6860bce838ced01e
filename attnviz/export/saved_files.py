"""Save the heatmap or a figure of a step as image, table or page, or the whole translation; the extension decides."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any, Unpack, get_args

from attnviz import lazy_pandas as pd
from attnviz.analysis.gold import links_text, pharaoh, recorded_gold_links
from attnviz.analysis.grid import Bracket, grid
from attnviz.analysis.labels import decimal, heatmap_heading, shorten
from attnviz.analysis.posterior import posterior, posterior_words
from attnviz.analysis.recomputation import Weights
from attnviz.architectures import step_texts
from attnviz.arguments import check_choice
from attnviz.errors import AttnvizError
from attnviz.export.images import ImageFormat, for_print, image, translation_sheet
from attnviz.export.tikz import heatmap_tikz
from attnviz.figures.heatmap import heatmap
from attnviz.figures.registry import CONTRAST, LOGIT_ATTRIBUTION, step_figure
from attnviz.figures.spec import Spec
from attnviz.figures.subject import Subject
from attnviz.files import replace_bytes
from attnviz.languages import gettext
from attnviz.palette import ThemeName
from attnviz.text import isolated, without_isolates
from attnviz.trace import Aligned, By, WhatIfs
from attnviz.trace.drawing import DetailLevel, HeatmapChoices, HeatmapOptions, drawing, heatmap_choices, step_index

_HEATMAP = "heatmap"
_LOGIT_ATTRIBUTION = (LOGIT_ATTRIBUTION.name, CONTRAST.name)
"""Figures that need weights and are available without a maxout layer too."""
IMAGES: dict[str, ImageFormat] = {"png": "png", "svg": "svg", "pdf": "pdf"}
GOLD_ENDINGS = (*IMAGES, "html")
"""Extensions of the files that mark gold links."""
_ENDINGS = (*IMAGES, "html", "tex", "csv", "json", "pharaoh")


@dataclass(frozen=True, kw_only=True)
class FigureOptions(HeatmapChoices):
    """What to draw, and how.

    The `step` of another figure than the heatmap is the one that it shows. Without `gold`, the heatmap marks the gold
    links of the record.
    """

    picture: str = _HEATMAP
    """The heatmap, or the name of a figure of a step."""
    source: int | None = None
    """0-based source piece for energy decomposition and logit attribution; None for the strongest."""
    title: bool = True
    """Whether images have a title with the sentences."""
    theme: ThemeName = "light"
    """Theme of images; .html has both."""
    level: DetailLevel = "numbers"
    """Level of detail of .html: "idea", "numbers" or "everything"."""


def save(
    trace: Aligned,
    path: str | Path,
    options: FigureOptions | None = None,
    weights: Weights | None = None,
    what_ifs: WhatIfs | None = None,
) -> None:
    """Write a figure, a table, a page or the record itself; the extension of the file decides.

    .png, .svg and .pdf are the figure, .csv its numbers, .html the interactive step view, .tex the heatmap
    in TikZ, .json the trace, .pharaoh its word links.

    Args:
        trace: The record.
        path: The file.
        options: Which figure, and how it is drawn.
        weights: Weights of the model that made the trace (`load_weights`). Logit attributions and faces of the heatmap
            other than "before" need them. With them, .html has posterior attention and logit attributions, and .pharaoh
            links by posterior attention instead of attention.
        what_ifs: The what-ifs that `trace` is one of. With them, .html has a card for each, and .json all of them.

    Raises:
        AttnvizError: The extension is another, the step or figure does not exist, or the file cannot be written.
    """
    path = Path(path)
    replace_bytes(path, contents(trace, check_ending(path), options or FigureOptions(), weights, what_ifs))


def check_ending(path: Path) -> str:
    """Return a file's extension without the dot; raise AttnvizError where it is unknown."""
    ending = path.suffix.removeprefix(".").lower()
    if ending not in _ENDINGS:
        raise AttnvizError(
            f"The name of the file {path} must end in one of {', '.join('.' + known for known in _ENDINGS)}."
        )
    return ending


def uses_weights(trace: Any, picture: str) -> bool:
    """Return whether weights add to the content: posterior attention, or the logit attributions of `picture`."""
    return trace.has_maxout or (trace.recurrent and picture in _LOGIT_ATTRIBUTION)


def contents(
    trace: Any, ending: str, options: FigureOptions, weights: Weights | None = None, what_ifs: WhatIfs | None = None
) -> bytes:
    """Return the content of a file with this `ending`, one of ENDINGS; raise AttnvizError as `save` does."""
    if ending != "html" and not uses_weights(trace, options.picture):
        weights = None
    if ending == "csv":
        return csv(table(trace, options, weights))
    _check_available(trace, ending, options, weights)
    if ending in IMAGES:
        spec = picture(trace, options, weights)
        if not options.title:
            return image(for_print(spec, options.theme), IMAGES[ending])
        sheet = translation_sheet(spec, trace, heading(trace, options, weights), theme=options.theme)
        return image(sheet, IMAGES[ending])
    if ending == "json":
        text = trace.to_json() if what_ifs is None else what_ifs.to_json()
    elif ending == "pharaoh":
        text = (links_text(trace) if weights is None else pharaoh(posterior_words(trace, weights))) + "\n"
    elif ending == "html":
        text = page_html(trace, options, level=options.level, weights=weights, what_ifs=what_ifs)
    else:
        posterior_weights = None if weights is None or options.face == "before" else posterior(trace, weights)
        text = heatmap_tikz(trace, options, posterior=posterior_weights)
    return text.encode("utf-8", "replace")


def heading(trace: Aligned, options: FigureOptions, weights: Weights | None = None) -> str:
    """Return the title of the figure."""
    if options.picture != _HEATMAP:
        subject = _subject(trace, options, weights)
        return step_figure(subject, options.picture).headline(subject)
    if not trace.attends:
        return gettext("A single vector for all steps")
    unit = _with_gold(trace, options).unit
    return ", ".join(
        filter(None, (heatmap_heading(unit, options.root, options.face), step_texts(trace).heads_text(trace)))
    )


def _subject(trace: Aligned, options: FigureOptions, weights: Weights | None) -> Subject:
    """Return the input of a figure of a step."""
    return Subject(trace, options.step or 0, weights, options.source, longest=options.longest)


def picture(trace: Aligned, options: FigureOptions, weights: Weights | None = None) -> Spec:
    """Return the heatmap, or the figure of the step."""
    if options.picture != _HEATMAP:
        subject = _subject(trace, options, weights)
        return step_figure(subject, options.picture).draw(subject)
    return heatmap(trace, _with_gold(trace, options), weights=weights)


def _with_gold(trace: Aligned, options: FigureOptions) -> FigureOptions:
    """Return `options` with the gold links to mark."""
    return replace(options, gold=recorded_gold_links(trace)) if options.gold is None else options


def table(trace: Aligned, options: FigureOptions | None = None, weights: Weights | None = None) -> pd.DataFrame:
    """Return the numbers of a figure.

    Args:
        trace: The record.
        options: The figure of a step; by default the heatmap.
        weights: Weights of the model that made the trace (`load_weights`), where the figure needs them.

    Returns:
        The table.

    Raises:
        AttnvizError: There is no such figure or step, or it lacks the weights.
    """
    options = options or FigureOptions()
    _check_available(trace, "csv", options, weights)
    return picture(trace, options, weights).frame()


def file_name(trace: Aligned, ending: str) -> str:
    """Return a name for a file of `trace`: the first words of the sentence, then `ending`."""
    words = "-".join(re.findall(r"\w+", trace.source_text.lower())[:4])[:40]
    return "-".join(filter(None, ("attnviz", words, ending)))


def csv(numbers: pd.DataFrame) -> bytes:
    """Return a table as CSV in UTF-8 with a byte-order mark, which spreadsheets need."""
    return without_isolates(numbers.to_csv()).encode("utf-8-sig")


def _check_available(trace: Any, ending: str, options: FigureOptions, weights: Weights | None) -> None:
    """Raise AttnvizError unless the requested content exists."""
    steps = len(trace.target_pieces)
    if options.step is not None and not 0 <= options.step < steps:
        raise AttnvizError(f"There is no step {options.step + 1}: this translation has steps 1 to {steps}.")
    pieces = len(trace.source_pieces)
    if options.source is not None and not 0 <= options.source < pieces:
        raise AttnvizError(f"There is no source piece {options.source + 1}: this sentence has pieces 1 to {pieces}.")
    if not trace.attends and (options.margins or ending in ("tex", "pharaoh")):
        what = "margins" if options.margins else f"a .{ending} file"
        raise AttnvizError(f"The model {trace.model} has no attention, so there is no alignment for {what}.")
    if options.margins and ending in ("tex", "json", "pharaoh"):
        raise AttnvizError(
            f"A .{ending} file has no margins. Leave out the margins, or save .svg, .pdf, .png, .html or .csv."
        )
    if options.gold and (options.picture != _HEATMAP or ending not in GOLD_ENDINGS):
        raise AttnvizError(
            "Links marked by hand can be drawn only on the heatmap, in .png, .svg, .pdf and .html files."
        )
    if options.picture == _HEATMAP:
        return
    step_figure(_subject(trace, options, weights), options.picture)
    if options.face != "before":
        raise AttnvizError(
            "Only the heatmap can show attention after the word or the difference; the picture "
            f"{options.picture!r} cannot."
        )
    if options.margins:
        raise AttnvizError(
            f"Only the heatmap has margins (coverage and entropy); the picture {options.picture!r} has none."
        )
    if options.step is None:
        raise AttnvizError(f"The picture {options.picture!r} shows one step. Give the number of the step.")
    if ending in ("html", "tex", "json", "pharaoh"):
        raise AttnvizError(
            f"A .{ending} file always shows the whole translation, but the picture {options.picture!r} shows a part "
            "of it."
        )


def page_html(
    trace: Aligned,
    choices: HeatmapChoices | None = None,
    *,
    level: DetailLevel = "numbers",
    weights: Weights | None = None,
    what_ifs: WhatIfs | None = None,
    **named: Unpack[HeatmapOptions],
) -> str:
    """Return an HTML page with the step view of a trace, which needs no network.

    It is the view of the app, in every language; its theme is that of the browser.

    Args:
        trace: The record.
        choices: How the heatmap is drawn. The page opens at its `step`, 0-based, and its `face`.
        level: Level of detail: "idea", "numbers" or "everything".
        weights: Weights of the model that made the trace (`load_weights`). With them, posterior attention and logit
            attributions are shown, and numbers are verified. None uses those of the installed model of that name, if
            they made the trace.
        what_ifs: The what-ifs that `trace` belongs to; each gets a card that displays it. Their heatmaps have no `gold`
            links, since their words may differ.
        **named: As in `figures.heatmap`.

    Returns:
        The page.

    Raises:
        AttnvizError: There is no such step or level, or the heatmap cannot be drawn with these choices.
    """
    check_choice("level", level, get_args(DetailLevel))
    chosen = heatmap_choices(choices, **named)
    step = None if chosen.step is None else step_index(trace, chosen.step)
    heatmap(trace, chosen, weights=weights)  # raises where a choice is invalid
    chosen = replace(chosen, step=step)
    return str(drawing().draw_page(trace, chosen, level=level, weights=weights, what_ifs=what_ifs))


_CELL_STYLE = "width:1.4em;min-width:1.4em;height:1.4em;padding:0;border:1px solid #3b3935"
_COLUMN_LABEL_STYLE = (
    "writing-mode:vertical-rl;transform:rotate(180deg);text-align:left;padding:0.3em 0;font-weight:normal"
)
_ROW_LABEL_STYLE = "text-align:right;padding:0 0.4em;font-weight:normal;white-space:nowrap"
_TABLE_STYLE = "border-collapse:collapse;width:auto;font:13px/1.2 sans-serif"


def heatmap_html(trace: Aligned, *, by: By = "steps", end: bool = False) -> str:
    """Return the heatmap as a table element, black 0 and white 1, with each weight as a tooltip.

    All styles are inline, and labels inherit their colours, so that it fits light and dark pages.

    Args:
        trace: The record.
        by: As in `figures.heatmap`. By steps, the name of a word spans the rows of its steps, or columns of its pieces.
        end: Whether to draw `</s>`.

    Returns:
        HTML; without attention, a sentence that says so.
    """
    if not trace.attends:
        sentence = gettext("This model has no attention and no alignment: every step gets the same context vector.")
        return f"<p>{escape(trace.translation)}</p><p>{escape(sentence)}</p>"
    cells = grid(trace, by, end)
    header = "".join(_headings(cells.source, cells.source_brackets, "col", _COLUMN_LABEL_STYLE))
    row_headings = _headings(cells.target, cells.target_brackets, "row", _ROW_LABEL_STYLE)
    rows = "".join(
        f"<tr>{heading}"
        + "".join(_cell(word, name, alpha) for name, alpha in zip(cells.source, row, strict=True))
        + "</tr>"
        for heading, word, row in zip(row_headings, cells.target, cells.alpha.tolist(), strict=True)
    )
    return (
        f'<table style="{_TABLE_STYLE}"><caption style="text-align:left">{escape(trace.translation)}</caption>'
        f'<thead><tr style="vertical-align:bottom"><td></td>{header}</tr></thead><tbody>{rows}</tbody></table>'
    )


def _headings(names: Sequence[str], brackets: Sequence[Bracket], scope: str, style: str) -> list[str]:
    """Return the heading of each row or column; one of several has its text at the first, and the others have none."""
    spans = {first: (last - first + 1, word) for first, last, word in brackets}
    inner = {place for first, last, _ in brackets for place in range(first + 1, last + 1)}
    headings = []
    for place, name in enumerate(names):
        count, label = spans.get(place, (1, name))
        group = f'scope="{scope}group" {scope}span="{count}"' if count > 1 else f'scope="{scope}"'
        headings.append("" if place in inner else f'<th {group} style="{style}">{escape(shorten(label))}</th>')
    return headings


def _cell(word: str, name: str, alpha: float) -> str:
    grey = f"{round(255 * min(max(alpha, 0), 1)):02x}" * 3
    tip = escape(f"{isolated(word)} ← {isolated(name)}: {decimal(alpha, 4)}")
    return f'<td title="{tip}" style="background:#{grey};{_CELL_STYLE}"></td>'
