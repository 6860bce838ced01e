"""How a run is stopped by Ctrl-C or by SIGTERM: after the update in progress, or in the midst of a validation."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_REMARK = b"\nStopping after this update. Interrupt again to stop at once, without saving.\n"


class Stopped(KeyboardInterrupt):
    """A run was asked to stop and saved its state; the message says how to go on."""


class Interrupted(Exception):
    """A validation was cut short, since the run is asked to stop."""


class StopRequest:
    """Whether the run was asked to stop. The second request ends the process, or raises KeyboardInterrupt."""

    def __init__(self, *, several: bool = False, kill: bool = False) -> None:
        """Ignore a second request where `several` processes train: torchrun sends one after that of the terminal.

        `kill` lets the system end the process at the second request, even in the midst of a long product; else the
        handlers of the caller, such as a notebook's, are in force again.
        """
        self.requested = False
        self._several, self._kill, self._raises = several, kill, False

    @contextlib.contextmanager
    def listening(self, say: bool = True) -> Iterator[None]:
        """Take the signals until the block ends, where this is the main thread: only there does Python allow it."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.getsignal(number) for number in _SIGNALS}

        def stop(_number: int, _frame: FrameType | None) -> None:
            if not self.requested and not self._several:
                for number in _SIGNALS:
                    signal.signal(number, signal.SIG_DFL if self._kill else before[number])
                if say:
                    # Python's own streams refuse to be entered a second time by a signal.
                    with contextlib.suppress(OSError):
                        os.write(2, _REMARK)
            self.requested = True
            if self._raises:
                self._raises = False
                raise Interrupted

        try:
            for number in _SIGNALS:
                signal.signal(number, stop)
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextlib.contextmanager
    def cutting_short(self) -> Iterator[None]:
        """Raise Interrupted in the block as soon as a stop is requested, and at once where it was before."""
        if self.requested:
            raise Interrupted
        self._raises = True
        try:
            yield
        finally:
            self._raises = False
