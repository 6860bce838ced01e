"""Make a temporary folder that is deleted when the process ends, however it ends."""

from __future__ import annotations

import atexit
import subprocess
import sys
import tempfile
from pathlib import Path

_WATCHER_PROGRAM = """
import pathlib, shutil, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(flush=True)
sys.stdin.read()
for _ in range(10):  # a thread may write to its last moment
    shutil.rmtree(sys.argv[1], ignore_errors=True)
    if not pathlib.Path(sys.argv[1]).exists():
        break
    time.sleep(0.2)
"""


def temporary_folder(prefix: str) -> Path:
    """Make a temporary folder that is deleted once this process has ended, by itself or by any signal.

    `tempfile.TemporaryDirectory` is left behind when the server is stopped: uvicorn re-raises the signal that it
    received, and no process can clean up after a SIGKILL. So another process waits until the system closes its standard
    input, and then deletes the folder.
    """
    folder = tempfile.mkdtemp(prefix=prefix)
    command = [sys.executable, "-I", "-S", "-c", _WATCHER_PROGRAM, folder]
    watcher = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    assert watcher.stdout
    watcher.stdout.readline()  # from now on it ignores signals to the process group
    watcher.stdout.close()
    atexit.register(watcher.communicate)
    return Path(folder)
