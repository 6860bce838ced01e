"""What the garbage collector need not search again and again.

Streamlit has everything searched (`gc.collect(2)`) after each run of a page or of a fragment, while all other threads
wait: a sixth of a second for what torch, Plotly and pandas are made of alone, and more with each visitor. On a server
with many visitors that was more than half of its work.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Mapping
from typing import Any


class SparedCollector:
    """Has the collector search what is new since a search last took long, and everything once in a while.

    What a long search leaves is frozen: the next ones pass it by. Cycles among it are found once it is thawed, at most
    `seconds` later than they would have been; what is in no cycle goes at once, frozen or not.
    """

    def __init__(self, longest: float = 0.01, seconds: float = 60) -> None:
        """Let a search take up to `longest` seconds of processor time, but for one every `seconds`."""
        self._longest, self._seconds = longest, seconds
        self._began = 0.0
        self._thawed = time.monotonic()

    def start(self) -> None:
        """Search everything now, and freeze what is left; from now on mind each full search of this process."""
        gc.unfreeze()
        gc.collect()
        gc.freeze()
        if self not in gc.callbacks:
            gc.callbacks.append(self)

    def stop(self) -> None:
        """Leave the collector as Python has it."""
        if self in gc.callbacks:
            gc.callbacks.remove(self)
        gc.unfreeze()

    def __call__(self, phase: str, search: Mapping[str, Any]) -> None:
        """Take what the collector says of a `search` that begins or ends: see `gc.callbacks`."""
        if search["generation"] != 2:
            return
        if phase == "start":
            if time.monotonic() - self._thawed > self._seconds:
                gc.unfreeze()
                self._thawed = time.monotonic()
            self._began = time.thread_time()
        elif time.thread_time() - self._began > self._longest:
            gc.freeze()


COLLECTOR = SparedCollector()
"""That of the server: there is one collector in a process."""
