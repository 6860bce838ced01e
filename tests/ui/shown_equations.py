"""The equations of a page that AppTest ran."""

from __future__ import annotations

import json
from typing import Any

from streamlit.testing.v1 import AppTest

from attnviz.wording.equations import Equation


def records_of(app: AppTest, component: str) -> list[dict[str, Any]]:
    """Return what the browser is given for each of our components of that name, in the order of the page."""
    mounted = (element.proto for element in app.get("bidi_component"))
    return [json.loads(proto.json) for proto in mounted if proto.component_name == f"attnviz_{component}"]


def shown_equations(app: AppTest) -> list[str]:
    """Return the LaTeX of each stage, of the step and the source piece on show."""
    (player,) = records_of(app, "player")
    step, source = player["step"], player["chosen"]
    source = player["orders"][step][0] if source is None else source
    shown = []
    for stage, record in enumerate(records_of(app, "equation"), 1):
        row = record["steps"].index(step)
        texts = {name: several[row] for name, several in record["ofStep"].items()}
        texts |= {name: several[source] for name, several in record["ofSource"].items()}
        texts |= {name: several[row][source] for name, several in record["ofCell"].items()}
        shown.append(Equation(stage, record["latex"], record["note"]).filled(texts).latex)
    return shown
