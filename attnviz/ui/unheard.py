"""What the browser tells is heard, also where it tells of more before the server has begun with that.

Streamlit begins with a run of the page in a thread of its own. Where the next message comes before that is there, it is
told to stop, and what was clicked, or chosen before a link was followed, would be heard of by nobody.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from streamlit import config
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner_utils.script_requests import (
    RerunData,
    ScriptRequests,
    ScriptRequestType,
    _coalesce_widget_states,
)


def hear_all() -> None:
    """Have Streamlit put the widgets of a message with which it has not begun into the one that takes its place."""
    usual = AppSession.request_rerun
    if not hasattr(usual, "__wrapped__"):
        AppSession.request_rerun = _hearing(usual)  # type: ignore[method-assign]


def _hearing(request_rerun: Callable[[AppSession, ClientState | None], None]) -> Callable[..., None]:
    @functools.wraps(request_rerun)
    def hearing(session: AppSession, client_state: ClientState | None) -> None:
        runner = session._scriptrunner
        # A message of a part of the page Streamlit itself puts together with the one before.
        if runner and client_state and not client_state.fragment_id and config.get_option("runner.fastReruns"):
            _tell_too(client_state, _take(runner._requests))
        request_rerun(session, client_state)

    return hearing


def _take(requests: ScriptRequests) -> RerunData | None:
    """Return what a runner has not begun with, which it then does no more; None where there is nothing."""
    with requests._lock:
        if requests._state is not ScriptRequestType.RERUN:
            return None
        requests._state = ScriptRequestType.STOP
        return requests._rerun_data


def _tell_too(told: ClientState, waiting: RerunData | None) -> None:
    """Put the widgets of a message that is `waiting`, if one is, into the one `told` after it: what was clicked, but no
    older values. Of those that are only in the one before, the page has none any more, unless that was another page."""
    if waiting is None or waiting.widget_states is None:
        return
    if waiting.page_script_hash != told.page_script_hash:
        newer = {widget.id for widget in told.widget_states.widgets}
        told.widget_states.widgets.extend(one for one in waiting.widget_states.widgets if one.id not in newer)
    elif both := _coalesce_widget_states(waiting.widget_states, told.widget_states):
        told.widget_states.CopyFrom(both)
