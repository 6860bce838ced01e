"""The heatmap: its faces, marks of gold links, cells in files, and the figure of a model without attention."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from attnviz import AttnvizError, Trace, analysis, export, figures
from attnviz.analysis.gold import GoldLinks, link_errors
from attnviz.analysis.grid import FACES, grid
from attnviz.analysis.labels import decimal, signed
from attnviz.analysis.measures import coverage, entropy
from attnviz.analysis.stages import softmax_texts
from attnviz.export.images import for_print, translation_sheet
from attnviz.export.saved_files import FigureOptions, save, table
from attnviz.figures.attention_figure import row_names
from attnviz.figures.heatmap import ASPECT, heatmap
from attnviz.languages import language
from attnviz.palette import MARKER, MARKER_EDGE, SCALES, colour_at, letter_colour, palette
from attnviz.trace.drawing import Face
from tests.conftest import SENTENCES
from tests.figures import synthetic
from tests.figures.test_colours import MARK, TEXT, contrast, rgb
from tests.snapshots import refusal, without_numbers


@pytest.fixture(scope="module")
def trace(translator) -> Trace:
    return translator.translate(SENTENCES[4], target=SENTENCES[5])


@pytest.fixture(scope="module")
def weights(model_folder) -> dict[str, np.ndarray]:
    return dict(analysis.load_weights(model_folder))


def test_bars_name_an_unknown_word_as_the_heatmap_does() -> None:
    trace = synthetic.trace()
    pieces = ("<unk>",) * (len(trace.source_pieces) - 1)
    unknown = replace(trace, source_pieces=(*pieces, "</s>"))  # `source_surfaces` has what was typed
    assert row_names(unknown) == row_names(trace)
    assert grid(unknown).source == grid(trace).source
    for step in range(len(trace.target_pieces)):
        assert softmax_texts(unknown, step) == softmax_texts(trace, step)


@pytest.mark.parametrize("face", ["after", "difference"])
def test_a_face_and_its_hover_text_are_drawn_from_the_posterior(trace, weights, face) -> None:
    posterior = analysis.posterior(trace, weights)
    figure = figures.heatmap(trace, end=True, face=face, weights=weights, margins=True).figure()
    image = figure.data[0]
    expected = posterior if face == "after" else posterior - trace.alignment
    np.testing.assert_allclose(image.z, expected)
    if face == "difference":
        ink = palette("light")
        assert image.zmin == -image.zmax
        assert np.abs(image.z).max() <= image.zmax
        assert [colour for _, colour in image.colorscale] == [ink.minus, ink.paper, ink.plus]
    else:
        assert (image.zmin, image.zmax) == (0, 1)
    sums, bits = (np.array(figure.data[k][axis]) for k, axis in ((1, "y"), (2, "x")))
    np.testing.assert_allclose(sums, expected.sum(axis=0))
    for bars, axis in ((sums, figure.layout.yaxis2), (bits, figure.layout.xaxis2)):
        assert min(axis.range) <= bars.min()
        assert bars.max() <= max(axis.range)
    text = figures.heatmap(trace, end=True, face=face, weights=weights).figure().data[0].text
    for i, j in ((0, 0), (2, 3), (-1, -1)):
        assert (
            f"Before the word: α = {trace.alignment[i, j]:.4f}<br>After the word: α′ = {posterior[i, j]:.4f}"
            in (text[i][j])
        )


def test_table_and_alt_text_describe_the_face(each_language, trace, weights, snapshot) -> None:
    tables = {one: heatmap(trace, by="words", face=one, weights=weights, margins=True).frame() for one in FACES}
    body = {face: table.to_numpy()[:-1, :-1] for face, table in tables.items()}
    np.testing.assert_allclose(body["after"] - body["before"], body["difference"], atol=1e-6)
    assert [table.index[-1] for table in tables.values()] == ["Σ α", "Σ α′", "Σ (α′ − α)"]
    alts = [figures.heatmap(trace, by="words", face=face, weights=weights).alt for face in FACES]
    assert [without_numbers(alt) for alt in alts] == snapshot
    colon = ":" if language() == "en" else "\u00a0:"
    strongest = trace.words().source[int(body["after"][0].argmax())]
    assert f"{strongest}{colon} {decimal(body['after'][0].max())}" in alts[1]
    assert signed(body["difference"].max()) in alts[2]


def test_faces_are_refused_without_weights_or_attention(trace, weights, snapshot) -> None:
    unattending = synthetic.trace(attention="none")
    draws = (partial(figures.heatmap, trace), partial(figures.heatmap, unattending, weights=weights))
    assert [refusal(partial(draw, face=face)) for face in ("after", "difference") for draw in draws] == snapshot


@pytest.mark.parametrize("end", [True, False])
def test_margins_are_coverage_and_entropy_of_pieces_and_of_words(end: bool) -> None:
    trace = synthetic.trace("Extraordinary things happen .", "Des choses extraordinaires arrivent .")
    words = trace.words()
    of_words = [entropy(trace.alignment)[list(group)].mean() for group in words.target_groups]
    shown = slice(None) if end else slice(-1)
    for by, weights, bits in (
        ("steps", trace.alignment, entropy(trace.alignment)),
        ("words", words.alignment, np.array(of_words)),
    ):
        figure = figures.heatmap(trace, by=by, end=end, margins=True, step=1).figure()
        found = {one.name: one for one in figure.data if one.type == "bar"}
        np.testing.assert_allclose(found["coverage"].y, coverage(weights)[shown], atol=1e-6)
        np.testing.assert_allclose(found["entropy"].x, bits[shown], atol=1e-6)
        assert figure.layout.yaxis2.range[0] >= max(found["coverage"].y)
        assert figure.layout.xaxis2.range[1] == pytest.approx(np.log2(len(trace.source_pieces)))
    several = next(i for i, group in enumerate(words.target_groups) if len(group) > 1)
    count = len(words.target_groups[several])
    assert f"mean of its {count} pieces" in found["entropy"].customdata[several]


def marked_cells(figure: go.Figure, name: str) -> set[tuple[int, int]]:
    found = [one for one in figure.data if one.name == name]
    return {(row, column) for one in found for row, column in zip(one.y, one.x, strict=True)}


def test_gold_links_of_every_form_are_marked_and_false_links_crossed(trace) -> None:
    gold = GoldLinks(frozenset({(0, 1), (2, 3)}), frozenset({(1, 1)}))
    figure = heatmap(trace, gold=gold).figure()
    assert marked_cells(figure, "sure") == marked_cells(figure, "sure core") == {(1, 0), (3, 2)}
    assert marked_cells(figure, "possible") == {(1, 1)}
    assert marked_cells(figure, "false") == {(i, j) for j, i in link_errors(trace.words(), gold).false}
    (legend,) = figure.layout.annotations
    missed = len(link_errors(trace.words(), gold).missed)
    assert missed
    assert f"sure link ({missed} missed)" in legend.text
    assert all(name in legend.text for name in ("◉\u00a0sure link", "○\u00a0possible link", "×\u00a0false link"))
    assert "2 sure links and 1 possible link" in figure.layout.meta["alt"]
    assert figure.data[0].text[1][0].endswith("sure link")
    assert all(one.hoverinfo == "skip" for one in figure.data[1:])  # a click reaches the cell below
    expected = trace.heatmap(gold=gold)
    assert trace.heatmap(gold="0-1 2-3 1?1") == expected
    pairs = [(0, 1), (2, 3)]
    assert marked_cells(trace.heatmap(gold=pairs), "sure") == {(1, 0), (3, 2)}
    assert marked_cells(trace.heatmap(gold=np.array(pairs).tolist()), "sure") == {(1, 0), (3, 2)}
    assert not marked_cells(trace.heatmap(gold=""), "sure")
    faulty: list[Any] = ["0-99", "a-b", [(0, -1)], [(0, 99)], [0, 1], 3, GoldLinks(frozenset({(0, 99)}))]
    for given in faulty:
        with pytest.raises(AttnvizError):
            trace.heatmap(gold=given)


@pytest.mark.parametrize("face", FACES)
def test_false_links_are_those_of_the_shown_face(trace, face: Face) -> None:
    posterior = np.roll(trace.alignment.astype(np.float64), 1, axis=1)
    words = trace.words()
    shares = words.alignment if face == "before" else words.merged(posterior)
    gold = GoldLinks(frozenset({(0, 0)}))
    figure = heatmap(trace, face=face, posterior=posterior, margins=True, gold=gold).figure()
    assert marked_cells(figure, "false") == {(i, j) for j, i in link_errors(words, gold, shares).false}
    plain = heatmap(trace, by="words", face=face, posterior=posterior, margins=True).figure()
    assert len(plain.data) < len(figure.data)
    assert figure.layout.height > plain.layout.height
    assert not plain.layout.annotations


def test_marks_have_enough_contrast_on_any_cell() -> None:
    """On every brightness between black and white."""
    for cell in np.linspace(0, 1, 500):
        assert max(contrast(rgb(mark), np.full(3, cell)) for mark in (MARKER, MARKER_EDGE)) >= MARK


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


LONG = " ".join(f"mot{k}" for k in range(80))


@pytest.fixture(params=["The agreement was signed .", LONG])
def fixed(request) -> Trace:
    return synthetic.trace(request.param, "L' environnement marin .", attention="none")


def test_figure_and_exports_without_attention_have_the_fixed_context(fixed, tmp_path, snapshot) -> None:
    figure = figures.heatmap(fixed).figure()
    strip = next(one for one in figure.data if one.name == "context")
    for step in range(len(fixed.target_pieces)):
        np.testing.assert_array_equal(np.ravel(strip.z), fixed.contexts[step])
    np.testing.assert_array_equal(table(fixed, FigureOptions()).to_numpy().ravel(), fixed.contexts[0])
    for ending in ("csv", "html", "json"):
        save(fixed, tmp_path / f"x.{ending}")
    of_attention = {"picture": "energy-decomposition", "step": 0}
    refused = (("tex", {}), ("pharaoh", {}), ("csv", {"margins": True}), ("csv", of_attention))
    saves = [partial(save, fixed, tmp_path / f"x.{ending}", FigureOptions(**options)) for ending, options in refused]
    assert [*map(refusal, saves)] == snapshot
    assert export.heatmap_html(fixed).split("<p>")[-1] == snapshot(name="in HTML")
    assert fixed.heatmap() == figures.heatmap(fixed).figure()
