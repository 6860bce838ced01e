"""Versions of other programs: Streamlit's before the app starts, and those of the bundled Plotly and KaTeX."""

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from plotly.offline import get_plotlyjs, get_plotlyjs_version
from streamlit import file_util

from attnviz import versions
from attnviz.browser_programs import KATEX, PLOTLY, PLOTLY_TRACES, katex_style
from tests.conftest import REPOSITORY
from tests.snapshots import refusal


@pytest.mark.parametrize("version", ["1.60.0", "1.65.9", "2.0.0", "0.99", ""])
def test_other_streamlit_version_is_refused_with_a_command(version, monkeypatch, snapshot) -> None:
    def found(name: str) -> str:
        if not version:
            raise metadata.PackageNotFoundError(name)
        return version

    monkeypatch.setattr(versions.metadata, "version", found)
    assert refusal(versions.check_streamlit) == snapshot


@pytest.mark.parametrize("version", ["1.66.0", "1.67.0", "1.100.2", "1.70.0rc1"])
def test_streamlit_version_within_bounds_is_accepted(version, monkeypatch) -> None:
    monkeypatch.setattr(versions.metadata, "version", lambda _: version)
    versions.check_streamlit()


def test_lowest_version_equals_package_requirement() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (needed,) = [one for one in project["optional-dependencies"]["app"] if one.startswith("streamlit")]
    assert tuple(map(int, re.findall(r"\d+", needed)[:2])) == versions.LOWEST


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
    faces, formulas = katex_style()
    assert f'content:"{KATEX.version}"' in formulas
    assert len(re.findall(r'src:url\("data:font/woff2;base64,[^"]{4000,}"\)', faces)) == faces.count("@font-face") == 6
    assert "url(" not in formulas
