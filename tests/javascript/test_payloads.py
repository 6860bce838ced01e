"""Payloads as a component fetches and draws them, run in Deno: none is asked for twice, nor its request sent twice."""

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


REQUESTS = f"""
import {{ fetchPayload, keepRequests, setVisitor }} from "{(COMPONENTS / "requests.js").as_uri()}";
globalThis.document = {{ baseURI: "http://localhost/app/?sentence=x" }};
const known = new Set(), log = [];
globalThis.fetch = async (url, {{ method = "GET", headers, body }}) => {{
  const {{ pathname, search }} = new URL(url), digest = pathname.split("/").at(-2);
  log.push([method, pathname + search, headers?.["attnviz-visitor"] ?? "", body ?? ""]);
  await new Promise((soon) => setTimeout(soon, 1));
  if (method === "POST") known.add(body.startsWith("forged") ? "" : digest);
  if (method === "POST") return new Response(null, {{ status: known.has(digest) ? 204 : 403 }});
  return known.has(digest) ? new Response(`payload of ${{pathname}}`) : new Response("", {{ status: 428 }});
}};
const act = async ({{ requests, fetched, visitor }}) => {{
  keepRequests(requests);
  setVisitor(visitor ?? "");
  const answers = await Promise.all(fetched.map((at) => fetchPayload(at)));
  return {{ log, texts: await Promise.all(answers.map((one) => one.text())), codes: answers.map((one) => one.status) }};
}};
"""


def _acted(folder: Path, **given: Any) -> dict[str, Any]:
    return made_by(REQUESTS, "JSON.stringify(await act(given))", given, folder)


def test_unknown_request_is_sent_once_for_all_its_payloads(tmp_path) -> None:
    addresses = [f"attnviz-payload/aa/{name}?steps=all" for name in ("energy", "softmax", "facts")]
    done = _acted(tmp_path, requests={"aa": '{"one":1}', "bb": "{}"}, fetched=addresses, visitor="me")
    assert done["texts"] == [f"payload of /app/{at.partition('?')[0]}" for at in addresses]
    posts = [entry for entry in done["log"] if entry[0] == "POST"]
    assert [(at.rpartition("/")[0], body) for _, at, _, body in posts] == [("/app/attnviz-payload/aa", '{"one":1}')]
    gets = [entry for entry in done["log"] if entry[0] == "GET"]
    assert [at for _, at, _, _ in gets] == [f"/app/{at}" for at in addresses * 2]
    assert {visitor for _, _, visitor, _ in gets} == {"me"}


MANY = {f"{number:04x}": "{}" for number in range(600)}


@pytest.mark.parametrize(
    ("requests", "digests", "codes", "log"),
    [
        ({}, ["aa"], [428], "GET"),
        ({"aa": "forged"}, ["aa"], [428], "GET POST"),
        (MANY, ["0000", "0257"], [428, 200], "GET GET POST GET"),
    ],
    ids=["lost", "refused", "older than others"],
)
def test_request_that_is_lost_or_refused_leaves_the_payload_unknown(requests, digests, codes, log, tmp_path) -> None:
    done = _acted(tmp_path, requests=requests, fetched=[f"attnviz-payload/{digest}/energy" for digest in digests])
    assert done["codes"] == codes
    assert " ".join(entry[0] for entry in done["log"]) == log


WEIGHTS = f"""
await import("{STAGE.as_uri()}");
const {{ writeWeights }} = await import("{(COMPONENTS / "diagram" / "pose.js").as_uri()}");
const weightNumbers = given.weights.map(() => ({{ classList: {{ toggle() {{}} }} }}));
const columns = given.weights.map((_, j) => ({{ middle: given.distance * j }}));
writeWeights({{ plan: {{ dense: true, vertical: false, columns }}, parts: {{ weightNumbers }} }}, given.weights);
"""


@pytest.mark.parametrize(("distance", "written"), [(18, ["0.43", "", "0.11", "", "0.20", ""]), (30, None)])
def test_weight_in_a_narrow_column_is_written_where_no_larger_one_is_beside(distance, written, tmp_path) -> None:
    weights = [0.43, 0.1, 0.11, 0.06, 0.2, 0.2]
    written = written or ["0.43", "0.10", "0.11", "", "0.20", "0.20"]
    given = {"weights": weights, "distance": distance}
    assert made_by(WEIGHTS, "JSON.stringify(weightNumbers.map((one) => one.textContent))", given, tmp_path) == written
