"""What a click is for is done whole, however soon another one follows."""

from __future__ import annotations

import contextvars
from collections.abc import Callable

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.scriptrunner import RerunException, StopException
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.runtime.state.session_state import SessionState

from attnviz.ui.whole_callbacks import keep_callbacks_whole

BUTTON, SWITCH = "$$ID-1-button", "$$ID-2-switch"
Callback = Callable[[SafeSessionState], None]


def run_again() -> None:
    raise RerunException(RerunData())


def stop() -> None:
    raise StopException


def click(session: SafeSessionState, callback: Callback) -> None:
    """Click a button that has a callback, on a page with a switch that is on."""
    state, told = session._state, WidgetStates()
    button = WidgetMetadata(BUTTON, bool, bool, "trigger_value", callback=callback, callback_args=(session,))
    state._set_widget_metadata(button)
    state._set_widget_metadata(WidgetMetadata(SWITCH, bool, bool, "bool_value"))
    told.widgets.add(id=BUTTON, trigger_value=True)
    told.widgets.add(id=SWITCH, bool_value=True)

    def on_its_thread() -> None:
        ThreadState.initialize()
        session.on_script_will_rerun(told)

    contextvars.copy_context().run(on_its_thread)


def choose(session: SafeSessionState) -> None:
    session["step"] = 3
    session["word"] = 5


def fail(session: SafeSessionState) -> None:
    raise ValueError(type(session).__name__)


@pytest.fixture
def as_streamlit_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = SafeSessionState.on_script_will_rerun
    monkeypatch.setattr(SafeSessionState, "on_script_will_rerun", getattr(usual, "__wrapped__", usual))


@pytest.fixture
def kept_whole(as_streamlit_has_it: None) -> None:
    keep_callbacks_whole()


@pytest.mark.parametrize("ask", [run_again, stop])
def test_streamlit_itself_breaks_it_off(as_streamlit_has_it: None, ask: Callable[[], None]) -> None:
    session = SafeSessionState(SessionState(), ask)
    with pytest.raises((RerunException, StopException)):
        click(session, choose)
    assert session.filtered_state == {}


@pytest.mark.parametrize("ask", [run_again, stop])
def test_a_callback_ends_before_the_next_run(kept_whole: None, ask: Callable[[], None]) -> None:
    session = SafeSessionState(SessionState(), ask)
    with pytest.raises((RerunException, StopException)):
        click(session, choose)
    assert session.filtered_state == {"step": 3, "word": 5}
    with pytest.raises((RerunException, StopException)):  # at once afterwards
        session["step"] = 4


def test_a_run_that_another_has_followed_says_nothing_of_what_that_knows_better(kept_whole: None) -> None:
    """The two have a thread each, and nothing says which is the first."""
    stopped = SafeSessionState(SessionState(), stop)
    with pytest.raises(StopException):
        click(stopped, choose)
    assert SWITCH not in stopped._state._new_widget_state
    usual = SafeSessionState(SessionState(), lambda: None)
    click(usual, choose)
    assert usual._state._new_widget_state[SWITCH] is True
    assert usual.filtered_state == {"step": 3, "word": 5}


def test_one_that_fails_is_broken_off_like_others(kept_whole: None) -> None:
    for ask in (run_again, stop):
        session = SafeSessionState(SessionState(), ask)
        with pytest.raises(ValueError, match="SafeSessionState"):
            click(session, fail)
        with pytest.raises((RerunException, StopException)):
            session["step"] = 4


def test_it_is_done_once_however_often_it_is_asked_for(kept_whole: None) -> None:
    once = SafeSessionState.on_script_will_rerun
    keep_callbacks_whole()
    assert SafeSessionState.on_script_will_rerun is once
