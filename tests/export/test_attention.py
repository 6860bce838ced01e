"""Exports of imported attention in every format, for any weights, and from the command line."""

import numpy as np
import pytest

from attnviz import Attention, attention, figures
from attnviz.analysis.gold import GoldLinks
from attnviz.analysis.imported_file_texts import missing_values_reason
from attnviz.analysis.labels import LONGEST
from attnviz.export.saved_files import FigureOptions, contents, picture
from attnviz.figures.registry import step_figure
from attnviz.figures.subject import Subject
from tests.figures.payloads import close, plain
from tests.importing.given import SOURCE, TARGET, matrix
from tests.saved_pages import saved_view


@pytest.fixture
def record() -> Attention:
    return attention(SOURCE, TARGET, matrix(), energies=np.log(matrix()))


@pytest.mark.parametrize("ending", ["tex", "csv", "json", "pharaoh"])
def test_every_text_format_is_written(record, ending: str) -> None:
    content = contents(record, ending, FigureOptions(by="words", margins=ending == "csv")).decode("utf-8-sig")
    expected = {
        "tex": "économique",
        "csv": "économique",
        "json": "attnviz-attention",
        "pharaoh": "0-0 1-2 2-1 3-3 3-4 4-5 5-6",
    }[ending]
    assert expected in content


def test_page_of_attention_has_its_weights_and_what_is_missing(record) -> None:
    page = saved_view(contents(record, "html", FigureOptions(margins=True)).decode("utf-8"))
    assert missing_values_reason() in page.texts()
    drawn = figures.heatmap(record, margins=True, longest=LONGEST)
    assert close(plain(page.heatmap()), plain(drawn.plotly()))
    for step in range(len(record.target_pieces)):
        drawn = step_figure(subject := Subject(record, step), "look").draw(subject)
        assert close(plain(page.figure("look", step)), plain(drawn.plotly()))


def test_stored_links_are_marked_unless_others_are_given() -> None:
    record = attention("a b", "c d", np.eye(2), sure=[(0, 1)])
    for options, marked in ((FigureOptions(), True), (FigureOptions(gold=GoldLinks()), False)):
        assert ("sure" in [one.name for one in picture(record, options).figure().data]) == marked
