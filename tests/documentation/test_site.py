"""The documentation site: MkDocs builds it without warnings, which it gives about links that lead nowhere."""

import inspect
import json
import re
import subprocess
import sys

import pytest

import attnviz
import attnviz.analysis
import attnviz.corpora
import attnviz.export
import attnviz.figures
from tests.conftest import REPOSITORY
from tests.documentation.links import web_links
from tests.documentation.pages import DOCUMENTATION

BUILD = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--config-file", DOCUMENTATION / "mkdocs.yml"]

LOADED = re.compile(r'<(?:script|img|iframe)[^>]*\ssrc="([^"]+)"')


@pytest.mark.nightly
def test_documentation_builds_without_warnings(tmp_path) -> None:
    done = subprocess.run([*BUILD, "--site-dir", tmp_path], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "https://arxiv.org/abs/1409.0473" in web_links(tmp_path)
    reference = "".join(page.read_text(encoding="utf-8") for page in (tmp_path / "reference").glob("*.html"))
    found = set(re.findall(r'id="(attnviz[\w.]+)"', reference))
    for module in (attnviz, attnviz.analysis, attnviz.corpora, attnviz.export, attnviz.figures):
        names = {name for name in module.__all__ if not inspect.ismodule(getattr(module, name))}
        assert sorted(names - {name.rpartition(".")[2] for name in found}) == []
    index = json.loads((tmp_path / "search" / "search_index.json").read_text(encoding="utf-8"))
    assert not [page["location"] for page in index["docs"] if "changelog" in page["location"]]
    loaded = {link for page in tmp_path.rglob("*.html") for link in LOADED.findall(page.read_text(encoding="utf-8"))}
    assert [link for link in loaded if "//" in link] == [], "nothing is loaded from other machines"
    assert "<math" in (tmp_path / "how-it-works.html").read_text(encoding="utf-8")
