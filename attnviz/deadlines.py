"""`with_deadline`: wait for work that cannot be cancelled, such as a foreign program or server, for a limited time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

_Result = TypeVar("_Result")


def with_deadline(seconds: float, work: Callable[[], _Result]) -> _Result:
    """Return the result of `work`; raise TimeoutError after so many `seconds`.

    It runs in a thread of its own that nothing waits for, also not the end of the process.
    """
    result: Future[_Result] = Future()

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:  # noqa: BLE001  raised again in the waiting thread
            result.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return result.result(timeout=seconds)
