"""The bundled browser programs (Plotly, KaTeX, fonts): versions, content and licences."""

from __future__ import annotations

import re
from pathlib import Path

from plotly.offline import get_plotlyjs, get_plotlyjs_version
from streamlit import file_util

from attnviz.browser_programs import KATEX, PLOTLY, PLOTLY_TRACES


def test_plotly_version_equals_installed_package() -> None:
    """Where this fails, follow attnviz/browser_programs/README.md."""
    assert get_plotlyjs_version() == PLOTLY.version
    assert f'.version="{PLOTLY.version}"' in PLOTLY.text
    assert PLOTLY.version in PLOTLY.file_name


def test_plotly_bundle_has_listed_trace_types() -> None:
    assert not re.search("</script|<!--", PLOTLY.text), "it is written into pages"
    assert {*re.findall(r"moduleType:\"trace\",name:\"(\w+)\"", PLOTLY.text)} == PLOTLY_TRACES
    assert len(PLOTLY.text) < len(get_plotlyjs()) / 3


def test_katex_version_equals_that_of_streamlit() -> None:
    """Where this fails, follow attnviz/browser_programs/README.md."""
    programs = (Path(file_util.get_static_dir()) / "static" / "js").glob("*katex.*.js")
    assert f"`{KATEX.version}`" in "".join(program.read_text(encoding="utf-8") for program in programs)
    assert f'version:"{KATEX.version}"' in KATEX.text
