"""Payloads as the browser fetches them, run in Deno: a server that does not know a request is sent it once."""

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY
from tests.deno_program import made_by

MODULE = REPOSITORY / "attnviz" / "ui" / "components" / "requests.js"

PROGRAM = f"""
import {{ fetchPayload, keepRequests, setVisitor }} from "{MODULE.as_uri()}";
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
    return made_by(PROGRAM, "JSON.stringify(await act(given))", given, folder)


def test_unknown_request_is_sent_once_for_all_its_payloads(tmp_path) -> None:
    addresses = [f"attnviz-payload/aa/{name}?steps=all" for name in ("energy", "softmax", "facts")]
    done = _acted(tmp_path, requests={"aa": '{"one":1}', "bb": "{}"}, fetched=addresses, visitor="me")
    assert done["texts"] == [f"payload of /app/{at.partition('?')[0]}" for at in addresses]
    posts = [entry for entry in done["log"] if entry[0] == "POST"]
    assert [(at.rpartition("/")[0], body) for _, at, _, body in posts] == [("/app/attnviz-payload/aa", '{"one":1}')]
    gets = [entry for entry in done["log"] if entry[0] == "GET"]
    assert [at for _, at, _, _ in gets] == [f"/app/{at}" for at in addresses * 2]
    assert {visitor for _, _, visitor, _ in gets} == {"me"}


@pytest.mark.parametrize(("requests", "posts"), [({}, 0), ({"aa": "forged"}, 1)], ids=["lost", "refused"])
def test_request_that_is_lost_or_refused_leaves_the_payload_unknown(requests, posts, tmp_path) -> None:
    done = _acted(tmp_path, requests=requests, fetched=["attnviz-payload/aa/energy"])
    assert done["codes"] == [428]
    assert [entry[0] for entry in done["log"]] == ["GET", *["POST"] * posts]


def test_newest_requests_are_kept(tmp_path) -> None:
    many = {f"{number:04x}": "{}" for number in range(600)}
    done = _acted(tmp_path, requests=many, fetched=["attnviz-payload/0000/a", "attnviz-payload/0257/a"])
    assert done["codes"] == [428, 200]
