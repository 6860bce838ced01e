"""Payloads that a component draws, run in Deno: one that is refused or missing is asked for once."""

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY
from tests.deno_program import made_by

COMPONENTS = REPOSITORY / "attnviz" / "ui" / "components"
STAGE = Path(__file__).with_name("stage.js")
REASON = "No numbers today."

PROGRAM = f"""
const stage = await import("{STAGE.as_uri()}");
const {{ payloadOf }} = await import("{(COMPONENTS / "payloads.js").as_uri()}");
const {{ embedPayloads }} = await import("{(COMPONENTS / "requests.js").as_uri()}");
const {{ viewState }} = await import("{(COMPONENTS / "view.js").as_uri()}");
const marks = {{}};
const root = Object.assign(stage.root(), {{
  setAttribute: (name, text) => marks[name] = text,
  removeAttribute: (name) => delete marks[name],
  toggleAttribute: (name, on) => on ? marks[name] = "" : delete marks[name],
}});
const asked = [];
const ask = (step) => asked.push(step) < 20 ? step : Deno.exit(1);
globalThis.fetch = (url) => {{
  const step = ask(Number(new URL(url).searchParams.get("step")));
  return Promise.resolve(
    step === 1 ? new Response(given.reason, {{ status: given.status }}) : new Response(JSON.stringify({{ step }})),
  );
}};
if (!given.status) {{
  const sent = Object.fromEntries([0, 1].map((step) => [`payload?step=${{step}}`, {{ step }}]));
  sent["payload?step=1"] = {{ refused: given.reason }};
  embedPayloads(root, new Proxy(sent, {{ get: (all, at) => (ask(Number(at.slice(-1))), all[at]) }}));
}}
const drawn = [];
const draw = (state) => {{
  const payload = payloadOf(state, draw);
  if (payload) drawn.push(payload.step);
}};
const state = {{ root, data: {{ at: "payload?step={{step}}" }}, signal: new AbortController().signal, inSight: true }};
const seen = [];
for (const step of [0, 1, 1, 0, 1]) {{
  viewState(root).step = step;
  draw(state);
  await new Promise((soon) => setTimeout(soon, 50));
  seen.push({{ marks: {{ ...marks }}, busy: root.ariaBusy }});
}}
"""


@pytest.mark.parametrize(("status", "reason"), [(422, REASON), (404, ""), (0, REASON)], ids=["422", "404", "embedded"])
def test_payload_that_is_refused_or_missing_is_asked_for_once(status: int, reason: str, tmp_path) -> None:
    given = {"status": status, "reason": reason}
    done: dict[str, Any] = made_by(PROGRAM, "JSON.stringify({ asked, drawn, seen })", given, tmp_path)
    assert done["asked"] == [0, 1, 1], "drawn twice in turn, it is asked for once; after another step, again"
    assert done["drawn"] == [0, 0]
    shown = {"data-refused": reason} if reason else {}
    assert [one["marks"] for one in done["seen"]] == [{}, shown, shown, {}, shown]
    assert {one["busy"] for one in done["seen"]} == {None}
