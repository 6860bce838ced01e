"""Resources of the server: models in memory, sessions that expire, and temporary folders."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from attnviz import Translator, installed_models
from attnviz.checkpoint import save_model
from attnviz.model_folder import model_folders, weights_digest
from attnviz.text import Tokenizer
from attnviz.ui import resources
from attnviz.ui.pages import PAGE_NAMES
from tests.benchmarks.visitor import Visitor
from tests.browser.server import running_server
from tests.conftest import SENTENCES
from tests.ui.opening import open_alone


def test_model_replaced_in_place_is_used_to_translate_and_verify(en_fr, make_network, tokenizer) -> None:
    def translated() -> Any:
        return resources.translate("en-fr", "cpu", SENTENCES[0], 1, None)

    before = translated()
    weights, cut = resources.weights_of(before), resources.tokenizer_of(before)
    network = make_network()
    network.decoder.output.bias.add_(torch.randn(len(tokenizer), generator=torch.Generator().manual_seed(1)))
    other = Tokenizer.train([*SENTENCES, "the " * 40], len(tokenizer))
    times = {path: path.stat().st_mtime_ns for path in en_fr.iterdir()}
    save_model(en_fr, network, other)  # of the same size, with the same modification times
    for path, modified in times.items():
        os.utime(path, ns=(modified, modified))
    after = translated()
    expected = Translator.load(en_fr, device="cpu").translate(SENTENCES[0], beam=1)
    assert after.fingerprint == expected.fingerprint != before.fingerprint
    assert after.weights_digest == weights_digest(en_fr) != before.weights_digest
    assert resources.weights_of(before) is None, "its model is no longer installed"
    now = resources.weights_of(after)
    assert (now["decoder.output.bias"] != weights["decoder.output.bias"]).any()
    assert cut.model != resources.tokenizer_of(after).model == other.model


@pytest.mark.parametrize("page", PAGE_NAMES)
def test_run_searches_the_folders_of_models_once(page: str, monkeypatch) -> None:
    searches = list[tuple[Any, ...]]()

    def counted(*arguments: Any) -> list[Path]:
        searches.append(arguments)
        return model_folders(*arguments)

    monkeypatch.setattr(installed_models, "model_folders", counted)
    open_alone(page)
    assert len(searches) == len({*searches})


VISITORS = 10


@pytest.mark.nightly
@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are counted in /proc")
def test_expired_sessions_are_dropped_although_nobody_comes(tmp_path) -> None:
    """Streamlit's sessions each have an event loop, which has three files open (a selector and a pair of sockets)."""
    log = tmp_path / "page.log"

    async def come_and_go(address: str) -> None:
        for _ in range(VISITORS):
            await (await Visitor.arrive(address)).leave()

    with running_server(tmp_path, log, STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL="2") as (address, process):
        asyncio.run(come_and_go(address))
        files = Path(f"/proc/{process}/fd")
        many, until = len(list(files.iterdir())), time.monotonic() + 60
        while len(list(files.iterdir())) > many - 2 * VISITORS:
            assert time.monotonic() < until, "the sessions are still there"
            time.sleep(0.2)
    assert "Traceback" not in log.read_text(encoding="utf-8")


SERVER = """
import os, select, signal, sys
from attnviz.ui.pages.corpus_jobs import temporary_folder
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts background processes with SIGINT ignored
children = []
for end in sys.argv[1:]:
    if child := os.fork():
        children.append(child)
        continue
    folder = temporary_folder("passing-")
    (folder / "pairs.tsv").write_text("I am hungry.")
    os.write(1, f"{os.getpid()} {folder}\\n".encode())  # at once: `print` may write a line in parts
    while end != "0" and not select.select([0], [], [], 0.05)[0]:  # until a signal, or the end of the test
        pass
    sys.exit()
print(*(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children))
"""


def test_folder_is_deleted_however_its_process_ends(tmp_path) -> None:
    ends = (0, signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
    command = [sys.executable, "-c", SERVER, *(str(int(end)) for end in ends)]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    how = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "env": environment}
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, **how) as one:
        begun = [one.stdout.readline().split() for _ in ends]
        children = sorted((int(process), Path(folder)) for process, folder in begun)  # in the order of their start
        for (process, folder), end in zip(children, ends, strict=True):
            assert folder.parent == tmp_path
            if end:
                assert (folder / "pairs.tsv").is_file()
                os.kill(process, end)
        assert [int(code) for code in one.stdout.readline().split()] == [-end for end in ends]
    until = time.monotonic() + 60
    while left := [folder for _, folder in children if folder.exists()]:
        assert time.monotonic() < until, f"{left} still exist"
        time.sleep(0.05)
