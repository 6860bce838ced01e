"""The bundled browser programs (Plotly, KaTeX, fonts): versions, content and licences."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from plotly.offline import get_plotlyjs, get_plotlyjs_version
from streamlit import file_util

from attnviz import Translator
from attnviz.browser_programs import KATEX, PLOTLY, PLOTLY_TRACES
from attnviz.figures.heatmap import heatmap
from attnviz.figures.registry import step_figures
from attnviz.figures.subject import Subject
from attnviz.model_folder import read_weights
from tests.conftest import SENTENCES
from tests.figures import synthetic


def test_plotly_version_equals_installed_package() -> None:
    """Where this fails, follow attnviz/browser_programs/README.md."""
    assert get_plotlyjs_version() == PLOTLY.version
    assert f'.version="{PLOTLY.version}"' in PLOTLY.text
    assert PLOTLY.version in PLOTLY.file_name


def test_plotly_bundle_has_listed_trace_types() -> None:
    assert {*re.findall(r"moduleType:\"trace\",name:\"(\w+)\"", PLOTLY.text)} == PLOTLY_TRACES
    assert len(PLOTLY.text) < len(get_plotlyjs()) / 3


def test_plotly_bundle_covers_every_figure(translator: Translator, model_folder: Path) -> None:
    trace, weights = translator.translate(SENTENCES[0], beam=1), read_weights(model_folder)
    subject = Subject(trace, 1, weights=weights)
    drawn = [picture.draw(subject).figure() for picture in step_figures(subject).values()]
    for shown in (trace, synthetic.trace(attention="none")):
        drawn += [heatmap(shown, by=by, margins=True) for by in ("words", "steps")]
    types = {one["type"] for figure in drawn for one in figure.data}
    assert types == PLOTLY_TRACES


@pytest.mark.parametrize("markup", ["</script", "<!--"])
def test_plotly_bundle_contains_no_unsafe_markup(markup: str) -> None:
    assert markup not in PLOTLY.text


def test_katex_version_equals_that_of_streamlit() -> None:
    """Where this fails, follow attnviz/browser_programs/README.md."""
    programs = (Path(file_util.get_static_dir()) / "static" / "js").glob("*katex.*.js")
    assert f"`{KATEX.version}`" in "".join(program.read_text(encoding="utf-8") for program in programs)
    assert f'version:"{KATEX.version}"' in KATEX.text
