"""`attnviz models`: models are listed, copied, and fetched from a server with a check of their digests."""

from __future__ import annotations

import contextlib
import functools
import gzip
import http.server
import json
import resource
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz import Translator, installed_models
from attnviz.commands import models
from attnviz.commands.program import main
from attnviz.installed_models import MODELS_VARIABLE
from tests.conftest import REPOSITORY
from tests.published_models import published_models

NAME = "small-fixed"


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work where no model is installed and no address is set."""
    monkeypatch.delenv(models.ADDRESS_VARIABLE, raising=False)
    monkeypatch.setenv(MODELS_VARIABLE, str(tmp_path / "models"))
    monkeypatch.setattr(models, "user_models", lambda: tmp_path / "models")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Serve a copy of the shipped models; yield the address and the folder."""
    root = tmp_path_factory.mktemp("served")
    shutil.copytree(REPOSITORY / "models" / NAME, root / NAME)

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(root))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", root
        server.shutdown()
        thread.join()


def test_list_of_published_models_is_up_to_date() -> None:
    assert json.loads(models.PUBLISHED.read_text(encoding="utf-8")) == published_models()


def test_models_are_listed_with_size_and_place(
    empty: Path, model_folder: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    shutil.copytree(model_folder, empty / "models" / "mine")
    assert main(["models"]) == 0
    first, *others = capsys.readouterr().out.splitlines()
    assert first.split()[0] == "mine"
    assert first.endswith(str(empty / "models" / "mine"))
    assert others == snapshot


def test_fetched_model_translates(empty: Path, served: tuple[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    address, _ = served
    assert main(["models", NAME, "--from", address]) == 0
    assert str(empty / "models" / NAME) in capsys.readouterr().out
    assert Translator.load(installed_models.installed_models()[NAME]).translate("A house.").translation
    assert main(["models", NAME, "--to", "copies"]) == 0  # an installed model is copied
    copied, original = (sorted(path.rglob("*")) for path in (empty / "copies" / NAME, empty / "models" / NAME))
    assert [path.name for path in copied] == [path.name for path in original]


def test_address_may_be_in_the_environment(
    empty: Path, served: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(models.ADDRESS_VARIABLE, f"{served[0]}/")
    assert main(["models", NAME, "--to", "elsewhere"]) == 0
    assert (empty / "elsewhere" / NAME / "config.json").is_file()


Answer = Callable[[http.server.BaseHTTPRequestHandler], None]


@contextlib.contextmanager
def answering(answer: Answer) -> Iterator[str]:
    """Answer every request by `answer`; yield the address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            with contextlib.suppress(OSError):  # the client has hung up
                answer(self)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.stopped = threading.Event()  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.stopped.set()  # type: ignore[attr-defined]
        server.shutdown()
        thread.join()


def _endless(handler: http.server.BaseHTTPRequestHandler) -> None:
    handler.end_headers()
    for _ in range(1000):  # a gigabyte
        handler.wfile.write(bytes(1 << 20))


def _packed(handler: http.server.BaseHTTPRequestHandler) -> None:
    handler.send_header("Content-Encoding", "gzip")
    handler.end_headers()
    handler.wfile.write(gzip.compress(bytes(1 << 26)))


def _boasting(handler: http.server.BaseHTTPRequestHandler) -> None:
    handler.send_header("Content-Length", str(1 << 40))
    handler.end_headers()
    handler.wfile.write(b"{}")


def _dripping(handler: http.server.BaseHTTPRequestHandler) -> None:
    handler.end_headers()
    while not handler.server.stopped.wait(0.1):  # type: ignore[attr-defined]
        handler.wfile.write(b" ")
        handler.wfile.flush()


@pytest.mark.parametrize("answer", [_endless, _packed, _boasting, _dripping])
def test_length_that_a_server_claims_is_not_trusted(
    empty: Path, answer: Answer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "_PATIENCE", 4.0)
    monkeypatch.setattr(models, "_SLOWEST", 10**9)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with answering(answer) as address:
        sentence = refused(capsys, NAME, "--from", address)
    assert NAME in sentence
    assert ("too slowly" in sentence) is (answer is _dripping)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000, "kB"
    assert installed_models.installed_models() == {}


def test_a_begun_model_is_fetched_to_the_end(
    empty: Path, served: tuple[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    address, root = served
    weights = (root / NAME / "model.safetensors").rename(root / "aside")
    refused(capsys, NAME, "--from", address)
    there = {path.name for path in (empty / "models" / NAME).iterdir()}
    assert there < {path.name for path in (REPOSITORY / "models" / NAME).iterdir()}
    assert "config.json" not in there
    weights.rename(root / NAME / "model.safetensors")
    assert main(["models", NAME, "--from", address]) == 0
    assert NAME in installed_models.installed_models()


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the sentence that a refused command prints."""
    assert main(["models", *arguments]) == 2
    return capsys.readouterr().err


def test_changed_file_is_refused_and_no_model_installed(
    empty: Path, served: tuple[str, Path], capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    address, root = served
    weights = bytearray((root / NAME / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (root / NAME / "model.safetensors").write_bytes(weights)
    sentence = refused(capsys, NAME, "--from", address)
    assert "model.safetensors" in sentence
    assert installed_models.installed_models() == {}
    assert not (empty / "models" / NAME / "model.safetensors").exists()


def test_what_cannot_be_fetched_is_said(
    empty: Path, served: tuple[str, Path], capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    address, _ = served
    assert refused(capsys, "nothing") == snapshot(name="unknown name")
    assert refused(capsys, NAME).replace(str(empty), "") == snapshot(name="no address")
    assert NAME in refused(capsys, NAME, "--from", f"{address}/nowhere")
    assert NAME in refused(capsys, NAME, "--from", "http://127.0.0.1:9")
    assert "no web address" in refused(capsys, NAME, "--from", "file:///etc")
    (empty / "full" / NAME).mkdir(parents=True)
    (empty / "full" / NAME / "notes.txt").write_text("mine")
    assert refused(capsys, NAME, "--from", address, "--to", "full") == snapshot(name="folder exists")
    assert (empty / "full" / NAME / "notes.txt").read_text() == "mine"
