"""plotly.js as we hand it out: that of the plotly which makes the figures, with all that they need."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from plotly.offline import get_plotlyjs, get_plotlyjs_version

from attnviz import Translator, plotlyjs
from attnviz.figures.registry import step_figures
from attnviz.figures.subject import Subject
from attnviz.figures.translation import translation_figure
from attnviz.model_folder import load_weights
from tests.conftest import SENTENCES
from tests.figures import synthetic


def test_it_is_the_version_of_the_plotly_that_is_installed() -> None:
    """Where this fails, follow attnviz/plotlyjs/README.md."""
    assert get_plotlyjs_version() == plotlyjs.VERSION
    assert f'.version="{plotlyjs.VERSION}"' in plotlyjs.program()
    assert plotlyjs.VERSION in plotlyjs.file_name()


def test_it_has_the_traces_that_it_says() -> None:
    assert {*re.findall(r"moduleType:\"trace\",name:\"(\w+)\"", plotlyjs.program())} == plotlyjs.TRACES
    assert len(plotlyjs.program()) < len(get_plotlyjs()) / 3


def test_all_that_we_draw_is_in_it(translator: Translator, model_folder: Path) -> None:
    trace, weights = translator.translate(SENTENCES[0]), load_weights(model_folder)
    subject = Subject(trace, 1, weights=weights)
    drawn = [picture.draw(subject) for picture in step_figures(subject).values()]
    for shown in (trace, synthetic.trace(attention="none")):
        drawn += [translation_figure(shown, by=by, margins=True) for by in ("words", "pieces")]
    types = {one.type for figure in drawn for one in figure.data}
    assert types == plotlyjs.TRACES


@pytest.mark.parametrize("markup", ["</script", "<!--"])
def test_it_can_stand_in_a_page(markup: str) -> None:
    assert markup not in plotlyjs.program()


def test_its_licences_are_beside_it() -> None:
    licences = Path(plotlyjs.__file__).with_name("LICENSE.txt").read_text(encoding="utf-8")
    assert f"plotly.js {plotlyjs.VERSION}, MIT" in licences
    assert "Permission is hereby granted, free of charge" in licences
