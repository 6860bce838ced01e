"""The documentation site: MkDocs builds it without warnings, and its links are valid."""

from __future__ import annotations

import http.server
import inspect
import json
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import attnviz
import attnviz.analysis
import attnviz.corpora
import attnviz.export
import attnviz.figures
from tests.conftest import REPOSITORY
from tests.documentation.links import broken_links, failure, web_links
from tests.documentation.pages import DOCUMENTATION

BUILD = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--config-file", DOCUMENTATION / "mkdocs.yml"]

LOADED = re.compile(r'<(?:script|img|iframe)[^>]*\ssrc="([^"]+)"')


@pytest.mark.nightly
def test_documentation_builds_without_warnings_or_broken_links(tmp_path: Path) -> None:
    done = subprocess.run(
        [*BUILD, "--site-dir", tmp_path],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert broken_links(tmp_path) == []
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


def test_broken_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="top"></h1><a href="b.html#there">b</a><img src="no.png"><a href="#top">a</a>'
    )
    (tmp_path / "b.html").write_text('<a id="here" href="https://example.org/x#y">x</a><a href="mailto:a@b">m</a>')
    assert broken_links(tmp_path) == ["a.html: b.html#there", "a.html: no.png"]
    assert web_links(tmp_path) == ["https://example.org/x"]


class _Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_error(int(self.path[1:])) if self.path != "/200" else self._answer()

    def _answer(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


def test_failure_reports_unreachable_addresses() -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        start = f"http://127.0.0.1:{server.server_port}"
        assert failure(f"{start}/200") is None
        assert failure(f"{start}/403") is None
        assert (failure(f"{start}/404") or "").startswith("404")
    finally:
        server.shutdown()
        server.server_close()
    assert failure(start, timeout=2)
