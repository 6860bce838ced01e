"""A folder that goes with the process, however that ends."""

from __future__ import annotations

import atexit
import subprocess
import sys
import tempfile
from pathlib import Path

_WATCH = """
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


def passing_folder(prefix: str) -> Path:
    """Make a temporary folder, which is deleted once this process has ended, by itself or by any signal.

    `tempfile.TemporaryDirectory` would stay behind where the server is told to stop: uvicorn ends by the signal that it
    was sent, and no process can clear up after a SIGKILL. So another one waits until the system closes its standard
    input, and deletes the folder then.
    """
    folder = tempfile.mkdtemp(prefix=prefix)
    watch = [sys.executable, "-I", "-S", "-c", _WATCH, folder]
    watcher = subprocess.Popen(watch, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    assert watcher.stdout
    watcher.stdout.readline()  # from now on it outlives a signal to all
    watcher.stdout.close()
    atexit.register(watcher.communicate)
    return Path(folder)
