"""What the browser tells is heard, however soon it tells of more."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequests

from attnviz.ui.unheard import hear_all


class Session:
    """A session of which the runners are on show, none of which ever begins by itself."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun: list[ScriptRequests] = []
        self.streamlits = object.__new__(AppSession)
        self.streamlits._scriptrunner = None
        self.streamlits._state = AppSessionState.APP_NOT_RUNNING
        self.streamlits._client_state = ClientState()
        monkeypatch.setattr(AppSession, "has_fragment", lambda *_: True)
        monkeypatch.setattr(AppSession, "_create_scriptrunner", lambda _, data: self._create(data))

    def _create(self, data: RerunData) -> None:
        requests = ScriptRequests()
        requests.request_rerun(data)
        self.begun.append(requests)
        runner = SimpleNamespace(
            _requests=requests, request_stop=requests.request_stop, request_rerun=requests.request_rerun
        )
        self.streamlits._scriptrunner = runner  # type: ignore[assignment]

    def tell(self, page: str, fragment: str = "", **values: str | bool) -> None:
        told = ClientState(page_script_hash=page, fragment_id=fragment)
        for name, value in values.items():
            if isinstance(value, bool):
                told.widget_states.widgets.add(id=name, trigger_value=value)
            else:
                told.widget_states.widgets.add(id=name, string_value=value)
        self.streamlits.request_rerun(told)


def begin(requests: ScriptRequests) -> RerunData | None:
    """Return what a runner does as its thread begins, None where it was stopped before."""
    request = requests.on_scriptrunner_ready()
    return request.rerun_data if request.type.name == "RERUN" else None


def values(widgets: WidgetStates | None) -> dict[str, str | bool]:
    return {one.id: getattr(one, str(one.WhichOneof("value"))) for one in widgets.widgets} if widgets else {}


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    usual = AppSession.request_rerun
    monkeypatch.setattr(AppSession, "request_rerun", getattr(usual, "__wrapped__", usual))
    opened = Session(monkeypatch)
    yield opened
    opened.streamlits._state = AppSessionState.SHUTDOWN_REQUESTED  # it has nothing that could be shut down


def heard(session: Session) -> dict[str, str | bool]:
    """Return what the session's runners are told, once they begin: one of them alone."""
    (data,) = filter(None, map(begin, session.begun))
    return values(data.widget_states)


def test_streamlit_itself_does_not_hear_of_a_click_before_another(session: Session) -> None:
    session.tell("translate", button=True)
    session.tell("translate", unit="words")
    assert heard(session) == {"unit": "words"}


def test_a_click_and_the_newer_values_of_the_same_page_are_heard(session: Session) -> None:
    hear_all()
    session.tell("translate", button=True, unit="words", gone="1")
    session.tell("translate", unit="pieces")
    assert heard(session) == {"button": True, "unit": "pieces"}


def test_what_was_chosen_is_heard_on_the_page_that_a_link_leads_to(session: Session) -> None:
    hear_all()
    session.tell("translate", unit="words", language="fr")
    session.tell("lab", language="en")
    assert heard(session) == {"unit": "words", "language": "en"}
    assert len(session.begun) == 2, "each message has a runner"


def test_a_click_in_a_part_is_heard_where_more_than_the_part_runs(session: Session) -> None:
    hear_all()
    session.tell("translate", unit="words")
    assert begin(session.begun[0])
    session.tell("translate", fragment="room", button=True, unit="words")
    session.tell("translate", unit="pieces")
    assert heard(session) == {"button": True, "unit": "pieces"}


def test_what_was_begun_with_is_not_told_again(session: Session) -> None:
    hear_all()
    session.tell("translate", button=True, unit="words")
    assert begin(session.begun[0])
    session.tell("translate", unit="words")
    assert heard(session) == {"unit": "words"}
    session.tell("lab")
    assert heard(session) == {}


def test_each_message_is_one_alone_however_often_it_is_asked_for(session: Session) -> None:
    hear_all()
    once = AppSession.request_rerun
    hear_all()
    assert AppSession.request_rerun is once
    for _ in range(3):
        session.tell("translate", button=True)
    assert heard(session) == {"button": True}
