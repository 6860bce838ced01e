"""Cells of the heatmap: near square for any number of words, on the page and in exported files."""

from __future__ import annotations

import pytest

from attnviz import figures
from attnviz.export import FigureOptions
from attnviz.export.images import translation_sheet
from attnviz.export.saved_files import heading
from attnviz.figures.heatmap_parts import ASPECT
from attnviz.figures.spec import for_print
from tests.figures import synthetic

COLUMN = 650
"""Width in pixels of the page's left column, which holds heatmaps of up to 30 words."""


def cell(figure, width: float) -> tuple[float, float]:
    """Return the width and height of a cell of `figure`, drawn `width` pixels wide."""
    layout, (rows, columns) = figure.layout, figure.data[0].z.shape
    across, down = (layout.xaxis.domain or (0, 1)), (layout.yaxis.domain or (0, 1))
    inner = layout.height - layout.margin.t - layout.margin.b, width - layout.margin.l - layout.margin.r
    return inner[1] * (across[1] - across[0]) / columns, inner[0] * (down[1] - down[0]) / rows


def text(words: int) -> str:
    return " ".join(f"mot{k}" for k in range(words))


@pytest.mark.parametrize("margins", [False, True])
@pytest.mark.parametrize("words", [3, 8, 15, 25])
def test_cells_are_near_square_on_the_page_and_in_files(words: int, margins: bool) -> None:
    trace = synthetic.trace(text(words), text(words))
    figure = figures.heatmap(trace, end=True, margins=margins).figure()
    meta = figure.layout.meta
    on_page = max(meta["narrowest"], min(COLUMN, meta["widest"]))
    sheet = translation_sheet(figure, trace, "Alignment")
    bare = for_print(figure)
    for drawn, width in ((figure, on_page), (bare, bare.layout.width), (sheet, sheet.layout.width)):
        wide, high = cell(drawn, width)
        assert 0.8 <= wide / high <= ASPECT + 0.1


def test_cells_of_short_sentences_have_a_maximum_size() -> None:
    figure = figures.heatmap(synthetic.trace("We eat .", "Nous mangeons ."), end=True).figure()
    wide, high = cell(figure, figure.layout.meta["widest"])
    assert wide <= ASPECT * high + 1
    assert high <= 44


def test_a_title_fits_above_a_narrow_figure() -> None:
    trace = synthetic.trace("We eat .", "Nous mangeons .")
    sheet = translation_sheet(figures.heatmap(trace).figure(), trace, heading(trace, FigureOptions()))
    assert sheet.layout.width >= 520
    assert "…" not in sheet.layout.title.text


@pytest.mark.parametrize("words", [3, 40, 62, 150])
def test_the_colour_bar_starts_at_the_left_of_the_columns(words: int) -> None:
    """At its right end, a wide figure that scrolls would hide the colour bar."""
    bar = figures.heatmap(synthetic.trace(text(words), text(words))).figure().data[0].colorbar
    assert (bar.x, bar.xanchor, bar.len) == (0, "left", 190)


def test_horizontal_labels_do_not_overlap() -> None:
    figure = figures.heatmap(
        synthetic.trace("several different words", "plusieurs mots"), by="words", end=True
    ).figure()
    assert figure.layout.xaxis.tickangle == 0 or figure.layout.meta["widest"] < 420
    if figure.layout.xaxis.tickangle == 0:
        wide, _ = cell(figure, figure.layout.meta["narrowest"])
        assert wide >= max(map(len, figure.layout.xaxis.ticktext)) * 14 * 0.54
