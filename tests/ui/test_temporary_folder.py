"""Temporary folder of the server: it is deleted when the process ends, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SERVER = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts background processes with SIGINT ignored
from attnviz.ui.corpus.jobs import temporary_folder
folder = temporary_folder("passing-")
(folder / "job").mkdir()
(folder / "job" / "pairs.tsv").write_text("I am hungry.")
print(folder, flush=True)
if "stays" in sys.argv:
    sys.stdin.read()
"""


@pytest.mark.parametrize("end", [None, signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=str)
def test_folder_is_deleted_when_its_process_ends(end: signal.Signals | None, tmp_path: Path) -> None:
    command = [sys.executable, "-c", SERVER, *(["stays"] if end else [])]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=_env(tmp_path)) as server:
        assert server.stdout
        folder = Path(server.stdout.readline().strip())
        assert folder.parent == tmp_path
        if end:
            assert (folder / "job" / "pairs.tsv").is_file()
            server.send_signal(end)
        server.communicate()
    assert server.returncode == (-end if end else 0)
    for _ in range(200):
        if not folder.exists():
            return
        time.sleep(0.05)
    pytest.fail(f"{folder} still exists")


def test_watcher_outlives_sigterm_until_its_server_ends(tmp_path: Path) -> None:
    """A signal of systemd stops all processes of a service: the folder must stay until the server has ended."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", SERVER, "stays"]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=_env(tmp_path)) as server:
        assert server.stdout
        folder = Path(server.stdout.readline().strip())
        children = Path(f"/proc/{server.pid}/task/{server.pid}/children")
        if not children.is_file():
            pytest.skip("the system does not list child processes")
        watcher = int(children.read_text())
        subprocess.run(["kill", "-TERM", str(watcher)], check=True)
        time.sleep(0.5)
        assert folder.is_dir()
        assert int(children.read_text()) == watcher
        server.communicate("")
    assert not folder.exists()
    assert server.returncode == 0


def _env(folder: Path) -> dict[str, str]:
    return os.environ | {"TMPDIR": str(folder)}
