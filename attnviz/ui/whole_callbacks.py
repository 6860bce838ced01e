"""What a click is for is done whole, however soon another one follows.

Where the next run of a page is asked for, Streamlit begins with it in another thread, and breaks off the one before as
soon as that wants anything of the session. A callback does at once, and what the click was for would be lost.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.scriptrunner import RerunException, StopException
from streamlit.runtime.state.safe_session_state import SafeSessionState

_LOCKS = [threading.Lock() for _ in range(64)]
"""Two visitors may share one: they seldom meet, and callbacks are short."""


def keep_callbacks_whole() -> None:
    """Have Streamlit break off no run before its callbacks have ended; it does at once afterwards, and they of the next
    run wait for them."""
    usual = SafeSessionState.on_script_will_rerun
    if not hasattr(usual, "__wrapped__"):
        SafeSessionState.on_script_will_rerun = _whole(usual)  # type: ignore[method-assign]


def _whole(run_callbacks: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(run_callbacks)
    def whole(session: SafeSessionState, told: WidgetStates | None, **more: Any) -> None:
        break_off = session._yield_callback
        pending: StopException | RerunException | None = None
        with _LOCKS[id(session._state) // 16 % len(_LOCKS)]:
            try:
                break_off()
            except StopException as stop:  # the next run is told of the same widgets, but not of what was clicked here
                told, pending = session._state._filter_active_trigger_widget_states(told), stop
            except RerunException as rerun:
                pending = rerun
            # Past the session's own way of setting: that keeps what the app sets, for the visitor.
            object.__setattr__(session, "_yield_callback", lambda: None)
            try:
                run_callbacks(session, told, **more)
            finally:
                object.__setattr__(session, "_yield_callback", break_off)
        if pending:
            raise pending

    return whole
