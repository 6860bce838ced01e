"""Printed figures: no letter of a label is cut, labels are text, and cells and bars are rectangles."""

import asyncio
import html
import io
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any
from unicodedata import normalize

import kaleido
import numpy as np
import plotly.graph_objects as go
import pytest
from pdfminer.high_level import extract_pages
from pdfminer.layout import LTChar, LTImage, LTPage, LTRect

from attnviz import Attention, attention
from attnviz.export import FigureOptions
from attnviz.export.images import close, find_browser, for_print, translation_sheet
from attnviz.export.saved_files import heading, picture
from attnviz.figures import Spec, Subject, step_figures
from attnviz.figures.spec import _WIDTHS, width
from attnviz.palette import FONT
from attnviz.text import without_isolates
from attnviz.trace.drawing import LONGEST_LABEL
from tests.figures import synthetic

pytestmark = pytest.mark.browser

TEXTS = {
    "capitals": (
        "COMMISSION RECOMMENDATION ON DEVELOPMENT OF COMMUNICATIONS",
        "RECOMMANDATION DE LA COMMISSION SUR LE DÉVELOPPEMENT DES COMMUNICATIONS",
    ),
    "compounds": (
        "Die Geschwindigkeitsbegrenzung der Donaudampfschifffahrtsgesellschaft gilt",
        "The speed limit of the Danube-steamship-company applies",
    ),
    "French": ("Les élèves œuvrent à l' Élysée naïvement …", "Œuvre d' élève : « ça » où l' été s' achève"),
    "Arabic": ("the translator writes the agreement quickly", "المترجم يكتب الاتفاقية بسرعة ."),
    "60 tokens": (
        " ".join(f"word{k}" if k % 3 else "the" for k in range(60)),
        " ".join(f"mot{k}" if k % 4 else "les" for k in range(60)),
    ),
}
TITLE_HEIGHT = 76
"""Pixels of the three lines of the title."""


def words_only(source: str, target: str) -> Attention:
    rows, columns = target.split(), source.split()
    return attention(columns, rows, np.random.default_rng(0).dirichlet(np.ones(len(columns)), len(rows)))


def heatmap_sheets(source: str, target: str) -> Iterator[go.Figure]:
    """Yield the heatmap of words, that of steps with margins, and the figure without attention, as printed."""
    for record, options in (
        (words_only(source, target), FigureOptions()),
        (synthetic.trace(source, target), FigureOptions(margins=True)),
        (synthetic.trace(source, target, attention="none"), FigureOptions()),
    ):
        yield translation_sheet(picture(record, options), record, heading(record, options))


def step_sheets(source: str, target: str) -> Iterator[go.Figure]:
    subject = Subject(synthetic.trace(source, target), 1, longest=LONGEST_LABEL)
    for figure in step_figures(subject).values():
        yield translation_sheet(figure.draw(subject), subject.trace, figure.headline(subject))


def printed(figures: list[go.Figure]) -> list[LTPage]:
    """Return each figure as a page of PDF, drawn by one browser."""

    async def draw() -> list[bytes]:
        renderer = kaleido.Kaleido(path=find_browser(), mathjax=False)
        await renderer.open()
        try:
            sizes = [{"width": one.layout.width, "height": one.layout.height, "scale": 1} for one in figures]
            return [
                bytes(await renderer.calc_fig(one, opts={"format": "pdf"} | size))
                for one, size in zip(figures, sizes, strict=True)
            ]
        finally:
            await close(renderer)

    return [page for content in asyncio.run(draw()) for page in extract_pages(io.BytesIO(content), laparams=None)]


def parts(page: Any, kind: type) -> Iterator[Any]:
    """Yield the parts of a page of a kind, also those of its groups."""
    for part in page:
        if isinstance(part, kind):
            yield part
        elif hasattr(part, "__iter__"):
            yield from parts(part, kind)


def labels(figure: go.Figure) -> list[str]:
    """Return the labels of the axes, without markup."""
    axes = [*figure.select_xaxes(), *figure.select_yaxes()]
    texts = [text for axis in axes if axis.showticklabels is not False for text in axis.ticktext or ()]
    return [without_isolates(html.unescape(re.sub("<[^>]*>", "", text))) for text in texts]


def letters(texts: list[str]) -> Counter[str]:
    return Counter(normalize("NFKC", "".join(texts)).replace(" ", ""))


def check_labels(figure: go.Figure, page: LTPage) -> None:
    """Check that the page has every letter of every label, below the title and inside its box."""
    top = page.height * (1 - TITLE_HEIGHT / figure.layout.height)
    characters = [one for one in parts(page, LTChar) if one.y1 <= top]
    assert letters(labels(figure)) <= letters([one.get_text() for one in characters])
    for one in characters:
        assert -0.5 <= one.x0 <= one.x1 <= page.width + 0.5, one
        assert one.y0 >= -0.5, one


@pytest.mark.parametrize(
    "kind", [kind if kind == "capitals" else pytest.param(kind, marks=pytest.mark.nightly) for kind in TEXTS]
)
@pytest.mark.parametrize("sheets", [heatmap_sheets, step_sheets])
def test_printed_figures_have_all_letters_of_labels_and_cells_as_rectangles(kind, sheets) -> None:
    figures = list(sheets(*TEXTS[kind]))
    pages = printed(figures)
    assert len(pages) == len(figures)
    for figure, page in zip(figures, pages, strict=True):
        check_labels(figure, page)
    if sheets is heatmap_sheets and kind == "capitals":
        source, target = TEXTS[kind]
        assert not list(parts(pages[0], LTImage))
        cells = [one for one in parts(pages[0], LTRect) if one.fill and 10 < one.width < 60 and 10 < one.height < 60]
        count = len(target.split()) * len(source.split())
        assert len({(round(one.x0), round(one.y0)) for one in cells}) == count
        assert len({(round(one.width), round(one.height)) for one in cells}) <= 4, "equal but for rounding"


def test_estimated_widths_are_those_of_the_widest_font() -> None:
    """Each letter is on a line of its own, so that Arabic letters are not joined."""
    text = "<br>".join(letter for letter in _WIDTHS if letter not in " <>&")
    layout = {
        "font": {"family": FONT},
        "width": 300,
        "height": 8000,
        "margin": {"l": 9, "b": 9},
        "meta": {"narrowest": 300},
    }
    spec = Spec([], layout | {"annotations": [{"text": text, "showarrow": False}]}, "")
    (page,) = printed([for_print(spec)])
    drawn = [one for one in parts(page, LTChar) if not one.get_text().isspace()]
    assert len(drawn) > 200
    for one in drawn:
        letter = normalize("NFKC", one.get_text())
        if len(letter) == 1:
            assert one.width <= width(letter, one.size) + 0.01, letter
            if "DejaVu" in one.fontname:
                assert one.width >= 0.9 * width(letter, one.size) - 0.05 * one.size, letter
