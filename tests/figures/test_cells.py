"""Cells of the heatmap: near square for any number of words, rectangles in files, with numbers by choice."""

import re

import numpy as np
import pytest

from attnviz import figures
from attnviz.export.images import find_browser, for_print, image, translation_sheet
from attnviz.figures.heatmap_parts import ASPECT
from attnviz.palette import SCALES, colour_at, letter_colour
from tests.figures import synthetic
from tests.figures.test_colours import TEXT, contrast, rgb

COLUMN = 650
"""Width in pixels of the page's left column, which holds heatmaps of up to 30 words."""


def cell(figure, width: float) -> tuple[float, float]:
    """Return the width and height of a cell of `figure`, drawn `width` pixels wide."""
    layout = figure.layout
    columns, rows = (abs(axis.range[1] - axis.range[0]) for axis in (layout.xaxis, layout.yaxis))
    across, down = (layout.xaxis.domain or (0, 1)), (layout.yaxis.domain or (0, 1))
    inner = layout.height - layout.margin.t - layout.margin.b, width - layout.margin.l - layout.margin.r
    return inner[1] * (across[1] - across[0]) / columns, inner[0] * (down[1] - down[0]) / rows


def text(words: int) -> str:
    return " ".join(f"mot{k}" for k in range(words))


@pytest.mark.parametrize("margins", [False, True])
@pytest.mark.parametrize("words", [3, 8, 15, 25])
def test_cells_are_near_square_on_the_page_and_in_files(words: int, margins: bool) -> None:
    trace = synthetic.trace(text(words), text(words))
    spec = figures.heatmap(trace, end=True, margins=margins)
    figure = spec.figure()
    meta = figure.layout.meta
    on_page = max(meta["narrowest"], min(COLUMN, meta["widest"]))
    sheet = translation_sheet(spec, trace, "Alignment")
    bare = for_print(spec)
    for drawn, width in ((figure, on_page), (bare, bare.layout.width), (sheet, sheet.layout.width)):
        wide, high = cell(drawn, width)
        assert 0.8 <= wide / high <= ASPECT + 0.1


@pytest.mark.parametrize("choices", [{}, {"by": "words", "margins": True}, {"root": True, "colours": "ink"}])
def test_cells_of_files_are_bars_in_place_of_the_numbers(choices: dict) -> None:
    trace = synthetic.trace("Extraordinary things happen .", "Des choses extraordinaires arrivent .")
    spec = figures.heatmap(trace, **choices)
    image_cells, printed = spec.data[0], for_print(spec)
    bars, (rows, columns) = printed.data[0], image_cells["z"].shape
    np.testing.assert_array_equal(bars.marker.color, image_cells["z"].ravel())
    assert (bars.marker.cmin, bars.marker.cmax) == (image_cells["zmin"], image_cells["zmax"])
    np.testing.assert_allclose(bars.x, np.tile(np.arange(columns), rows))
    np.testing.assert_allclose(np.array(bars.base) + 0.5, np.repeat(np.arange(rows), columns))
    assert set(bars.width) == set(bars.y) == {1}
    assert not [one for one in printed.data if one.type == "heatmap"]
    assert bars.marker.colorbar.ticktext == tuple(image_cells["colorbar"]["ticktext"])
    assert spec.figure().data[0].type == "heatmap", "changed in place"


@pytest.mark.browser
def test_svg_has_a_rectangle_for_each_number_and_no_bitmap() -> None:
    find_browser()
    spec = figures.heatmap(synthetic.trace(text(20), text(12)), values=True)
    drawn = image(for_print(spec), "svg").decode()
    assert "<image" not in drawn
    assert len(re.findall('<g class="point"><path', drawn)) == spec.data[0]["z"].size == 20 * 12


@pytest.mark.parametrize("face", ["before", "difference"])
def test_numbers_in_cells_are_those_of_the_table(face: str) -> None:
    trace = synthetic.trace()
    posterior = np.roll(trace.alignment.astype(np.float64), 1, axis=1)
    spec = figures.heatmap(trace, values=True, root=True, face=face, posterior=posterior)
    (values,) = [one for one in spec.data if one.get("name") == "values"]
    shown = np.array([float(one.replace("\u2212", "-")) for one in values["text"]]).reshape(spec.data[0]["z"].shape)
    np.testing.assert_allclose(shown, spec.frame().to_numpy(), atol=0.0051)
    assert spec.layout["meta"]["narrowest"] > figures.heatmap(trace).layout["meta"]["narrowest"]


@pytest.mark.parametrize("scale", [scale.stops for scale in SCALES.values()], ids=SCALES)
def test_numbers_have_enough_contrast_with_their_cells(scale: list) -> None:
    for share in np.linspace(0, 1, 101):
        cell = colour_at(scale, share)
        assert contrast(rgb(letter_colour(cell)), rgb(cell)) >= TEXT
    assert (colour_at(scale, 0), colour_at(scale, 1)) == (scale[0][1], scale[-1][1])
