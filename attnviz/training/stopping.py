"""`StopRequest`: stop a training run on Ctrl-C or SIGTERM, after the current update or during a validation."""

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
    """Raised after a stop request, when the state is saved; the message says how to resume."""


class Interrupted(Exception):
    """Raised in a validation that a stop request interrupts."""


class StopRequest:
    """Whether the run was asked to stop; a second request ends the process, or raises KeyboardInterrupt."""

    def __init__(self, *, several: bool = False, kill: bool = False) -> None:
        """Ignore a second request where `several` processes train: torchrun sends one besides the terminal's.

        With `kill` the second request has the system's default effect, which ends the process even within a long
        operation. Otherwise it calls the handlers that were installed before, such as a notebook's.
        """
        self.requested = False
        self._several, self._kill, self._raises = several, kill, False

    @contextlib.contextmanager
    def listening(self, announce: bool = True) -> Iterator[None]:
        """Handle the signals until the block ends, if in the main thread: Python allows handlers only there."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        previous_handlers = {number: signal.getsignal(number) for number in _SIGNALS}

        def stop(_number: int, _frame: FrameType | None) -> None:
            if not self.requested and not self._several:
                for number in _SIGNALS:
                    signal.signal(number, signal.SIG_DFL if self._kill else previous_handlers[number])
                if announce:
                    # os.write, because Python's buffered streams are not reentrant in a signal handler.
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
            for number, handler in previous_handlers.items():
                signal.signal(number, handler)

    @contextlib.contextmanager
    def cutting_short(self) -> Iterator[None]:
        """Raise Interrupted in the block as soon as a stop is requested, or at once if it was requested before."""
        if self.requested:
            raise Interrupted
        self._raises = True
        try:
            yield
        finally:
            self._raises = False
