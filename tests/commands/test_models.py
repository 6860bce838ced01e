"""`attnviz models`: models are listed, copied, and fetched from a server with a check of their digests."""

import contextlib
import functools
import gzip
import http.server
import json
import resource
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from attnviz import Translator, installed_models
from attnviz.commands import models
from attnviz.commands.main import main
from attnviz.deadlines import with_deadline
from attnviz.environment import ATTNVIZ_MODELS, ATTNVIZ_MODELS_URL
from tests.conftest import REPOSITORY
from tests.published_models import published_models

NAME = "small-fixed"


@pytest.fixture
def empty(tmp_path, monkeypatch) -> Path:
    """Work where no model is installed and no address is set."""
    monkeypatch.delenv(ATTNVIZ_MODELS_URL, raising=False)
    monkeypatch.setenv(ATTNVIZ_MODELS, str(tmp_path / "models"))
    monkeypatch.setattr(models, "user_models", lambda: tmp_path / "models")
    monkeypatch.chdir(tmp_path)
    return tmp_path


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Serves all files, the weights well or as a hostile server does."""

    how = "well"
    asked: ClassVar[list[str]] = []

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self.asked.append(self.path)
        if self.how == "well" or not self.path.endswith("model.safetensors"):
            super().do_GET()
            return
        with contextlib.suppress(OSError):  # the client hangs up
            if self.how == "slow head":
                self.wfile.write(b"HTTP/1.0 200 OK\r\n")
                self._send(b"X-Header: x\r\n", pause=0.05)
            self.send_response(200)
            if self.how == "packed":
                self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            if self.how == "packed":
                self.wfile.write(gzip.compress(bytes(10**9 // 8), 1) * 8)
            elif self.how == "cut":
                self.wfile.write(b"half")
            else:
                self._send(bytes(1 << 16) if self.how == "endless" else b"x", pause=self.how == "dripping" and 0.05)

    def _send(self, part: bytes, pause: float) -> None:
        while True:
            self.wfile.write(part)
            time.sleep(pause)


@contextlib.contextmanager
def serving(root: Path, how: str = "well") -> Iterator[tuple[str, type[_Handler]]]:
    """Serve the model folders in `root`; yield the address and the class that answers."""
    handler = type("Handler", (_Handler,), {"how": how, "asked": []})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=str(root))) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", handler
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def served(tmp_path_factory) -> Iterator[tuple[str, Path]]:
    root = tmp_path_factory.mktemp("served")
    shutil.copytree(REPOSITORY / "models" / NAME, root / NAME)
    with serving(root) as (address, _):
        yield address, root


def test_models_are_listed_with_size_and_place(empty, model_folder, capsys, snapshot) -> None:
    shutil.copytree(model_folder, empty / "models" / "mine")
    assert main(["models"]) == 0
    first, *others = capsys.readouterr().out.splitlines()
    assert first.split()[0] == "mine"
    assert first.endswith(str(empty / "models" / "mine"))
    assert others == snapshot
    assert json.loads(models.PUBLISHED.read_text(encoding="utf-8")) == published_models()


def test_fetched_model_translates(empty, served, capsys) -> None:
    address, _ = served
    assert main(["models", NAME, "--from", address]) == 0
    assert str(empty / "models" / NAME) in capsys.readouterr().out
    assert Translator.load(installed_models.installed_models()[NAME]).translate("A house.", beam=1).translation
    assert main(["models", NAME, "--to", "copies"]) == 0  # an installed model is copied
    copied, original = (sorted(path.rglob("*")) for path in (empty / "copies" / NAME, empty / "models" / NAME))
    assert [path.name for path in copied] == [path.name for path in original]


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["models", *arguments]) == 2
    return capsys.readouterr().err


def test_changed_and_absent_files_are_refused(empty, served, capsys, snapshot) -> None:
    address, root = served
    assert refused(capsys, "nothing") == snapshot(name="unknown name")
    assert refused(capsys, NAME).replace(str(empty), "") == snapshot(name="no address")
    assert NAME in refused(capsys, NAME, "--from", f"{address}/nowhere")
    assert NAME in refused(capsys, NAME, "--from", "http://127.0.0.1:9")
    (empty / "full" / NAME).mkdir(parents=True)
    (empty / "full" / NAME / "notes.txt").write_text("mine")
    assert refused(capsys, NAME, "--from", address, "--to", "full") == snapshot(name="folder exists")
    assert (empty / "full" / NAME / "notes.txt").read_text() == "mine"
    weights = bytearray((root / NAME / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (root / NAME / "model.safetensors").write_bytes(weights)
    assert "model.safetensors" in refused(capsys, NAME, "--from", address)
    assert installed_models.installed_models() == {}
    assert not (empty / "models" / NAME / "model.safetensors").exists()


@pytest.mark.parametrize("how", ["endless", "packed", "dripping", "slow head", "cut"])
def test_hostile_server_is_refused_and_fetching_goes_on_later(how, empty, tmp_path, monkeypatch, capsys) -> None:
    with serving(REPOSITORY / "models", how) as (address, handler):

        def deadline(_: float, call: functools.partial[bytes]) -> bytes:
            """Wait long for all files but those that are sent badly."""
            if handler.how == "well" or not call.args[0].endswith("model.safetensors"):
                return with_deadline(600.0, call)
            return with_deadline(1.0 if handler.how in ("dripping", "slow head") else 10.0, call)

        monkeypatch.setattr(models, "with_deadline", deadline)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert NAME in refused(capsys, NAME, "--from", address)
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000  # KiB
        assert installed_models.installed_models() == {}
        handler.how = "well"
        handler.asked.clear()
        assert main(["models", NAME, "--from", address]) == 0
    assert NAME in installed_models.installed_models()
    assert [path.rpartition("/")[2] for path in handler.asked][-1] == "config.json"
    assert not any(path.endswith("README.md") for path in handler.asked)  # it was fetched before the weights
