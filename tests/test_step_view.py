"""The widget of notebooks, without a browser: its traits, theme, what-ifs and messages."""

import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from attnviz import Trace, attention

pytest.importorskip("anywidget")
from attnviz.view.notebook import StepView
from tests.saved_pages import unpacked_view

SENTENCE = "A green house."


@pytest.fixture(scope="module", autouse=True)
def _few_steps() -> Iterator[None]:
    """End translations after eight steps: a random network never ends one, and each step takes time to draw."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("attnviz.translator.longest_target", lambda _: 8)
        yield


@pytest.fixture(scope="module")
def trace(translator) -> Trace:
    return translator.translate(SENTENCE, beam=1)


@pytest.fixture
def widget(trace, translator) -> StepView:
    return StepView(trace, translator=translator)


def blocks_of(widget: StepView, kind: str) -> list[Any]:
    return unpacked_view(widget.view).mounted(kind)


def identity(widget: StepView) -> str:
    (state,) = blocks_of(widget, "view_state")
    return str(state["identity"])


def ask(widget: StepView, **what_if: Any) -> None:
    """Request a what-if as the browser does."""
    number = json.loads(widget.request)["number"] + 1 if widget.request else 1
    request = {"view": "", "identity": identity(widget), "what_if": what_if, "number": number}
    widget.request = json.dumps(request)


def only_first(trace: Trace, step: int) -> dict[str, Any]:
    """Return the intervention that gives the first source piece all attention at 0-based `step`."""
    return {"kind": "weights", "weights": [1, *[0] * (len(trace.source_pieces) - 1)], "step": step}


def test_module_needs_no_other_and_defines_a_front_end_module() -> None:
    script = StepView._esm
    assert not re.search(r"^\s*(?:import|export) .*\bfrom\b|^\s*import\s", script, re.MULTILINE)
    (exported,) = re.findall(r"^export (.*)", script, re.MULTILINE)
    assert exported == 'default attnvizModule("ui/components/guest.js").default;'
    assert re.findall(r"\bimport\((?!new URL\(address)[^)]*\)", script) == []  # KaTeX's, of a page with a server


def test_requested_what_if_changes_the_view_and_undo_restores_it(widget, trace) -> None:
    ask(widget, intervention=only_first(trace, 1), held=True)
    assert identity(widget) != trace.fingerprint
    (cards,) = blocks_of(widget, "what_ifs")
    assert len(cards["cards"]) == 2
    ask(widget, kind="undo")
    assert identity(widget) == trace.fingerprint
    widget = StepView(trace)
    ask(widget, intervention=only_first(trace, 0))
    assert identity(widget) == trace.fingerprint
    assert not blocks_of(widget, "intervention_controls")


def test_each_what_if_is_translated_once(trace, translator, monkeypatch) -> None:
    calls, translate = [], translator.translate

    def counted(*arguments: Any, **named: Any) -> Trace:
        calls.append(arguments)
        return translate(*arguments, **named)

    monkeypatch.setattr(translator, "translate", counted)
    widget = StepView(trace, translator=translator)
    assert not calls
    ask(widget, intervention=only_first(trace, 0))
    widget.theme = "dark"
    ask(widget, kind="what_if", index=0)
    assert len(calls) == 1


@pytest.mark.parametrize(("end", "shown"), [({}, True), ({"end": None}, True), ({"end": False}, False)])
def test_end_mark_has_a_column_unless_it_is_left_out(trace, end, shown) -> None:
    heatmap = unpacked_view(StepView(trace, **end).view).heatmap()
    columns = heatmap["layout"]["meta"]["columns"]  # of each source piece, `</s>` last
    assert (columns[-1] is None) == (not shown)


def test_impossible_what_ifs_are_explained(widget, snapshot) -> None:
    problems = []
    for wrong in ({"kind": "weights"}, {"kind": "typed", "step": 0, "text": " "}, {"kind": "borrowed"}, "nonsense"):
        ask(widget, intervention=wrong)
        (controls,) = blocks_of(widget, "intervention_controls")
        problems.append(controls["problem"])
    assert problems == snapshot


def test_trace_displays_itself_with_its_table(trace) -> None:
    record = attention(["a", "b"], ["x", "y"], np.eye(2))
    for one in (trace, record, StepView(trace)):
        data, _ = one._repr_mimebundle_()
        assert data["application/vnd.jupyter.widget-view+json"]["model_id"]
        assert "<table" in data["text/html"]
