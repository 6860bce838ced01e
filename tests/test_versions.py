"""The check of Streamlit's version before the app starts."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata

import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz import versions
from attnviz.errors import AttnvizError
from tests.conftest import REPOSITORY


@pytest.mark.parametrize("version", ["1.60.0", "1.65.9", "2.0.0", "0.99", ""])
def test_other_streamlit_version_is_refused_with_a_command(
    version: str, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    def found(name: str) -> str:
        if not version:
            raise metadata.PackageNotFoundError(name)
        return version

    monkeypatch.setattr(versions.metadata, "version", found)
    with pytest.raises(AttnvizError) as error:
        versions.check_streamlit()
    assert str(error.value) == snapshot


@pytest.mark.parametrize("version", ["1.66.0", "1.67.0", "1.100.2", "1.70.0rc1"])
def test_streamlit_version_within_bounds_is_accepted(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions.metadata, "version", lambda _: version)
    versions.check_streamlit()


def test_lowest_version_equals_package_requirement() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (needed,) = [one for one in project["optional-dependencies"]["app"] if one.startswith("streamlit")]
    assert tuple(map(int, re.findall(r"\d+", needed)[:2])) == versions.LOWEST
