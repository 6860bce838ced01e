"""What a view shows has one owner, the browser: its store, the address and the history, run by Deno."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from deno import find_deno_bin

from attnviz.ui.components.view_state.view_state import view_payload
from attnviz.ui.page_state.address import set_page_address
from attnviz.ui.page_state.view import MAIN, View
from tests.conftest import REPOSITORY
from tests.figures import synthetic

COMPONENTS = REPOSITORY / "attnviz" / "ui" / "components"
STAGE = Path(__file__).with_name("stage.js")

BEGIN = f"""
const stage = await import("{STAGE.as_uri()}");
stage.open(QUERY);
const {{ change, closeView, openView }} = await import("{(COMPONENTS / "state.js").as_uri()}");
const address = await import("{(COMPONENTS / "address.js").as_uri()}");
const {{ acknowledge, default: mount }} = await import("{(COMPONENTS / "outbox" / "outbox.js").as_uri()}");
const shown = (view) => view.attnvizView.now;
const sent = [];
const show = (view, record) => {{
  address.givePage(record.page.entry, record.page.parameters);
  openView(view, record);
}};
const seen = [];
const note = (view) => seen.push({{ ...shown(view), ...stage.here() }});
const [one, other] = RECORDS;
const view = stage.root();
"""


def told(seed: int, sentence: str | None = "A dog.") -> dict[str, Any]:
    """Return what the server tells the browser of a translation."""
    session: dict[Any, Any] = {}
    view = View(MAIN, synthetic.trace(seed=seed))
    set_page_address(session, view.identity, {"sentence": sentence})
    return view_payload(session, view, tour=True) | {"family": f"sentence {seed // 10}"}


def played(folder: Path, acts: str, query: str = "", records: tuple[dict[str, Any], ...] = ()) -> list[dict[str, Any]]:
    """Return what was noted in a browser that does `acts`, after a link with this query."""
    begin = BEGIN.replace("QUERY", json.dumps(query)).replace("RECORDS", json.dumps(records or (told(0), told(10))))
    script = folder / "acts.js"
    script.write_text(f"{begin}\n{acts}\nconsole.log(JSON.stringify(seen));\nDeno.exit();", encoding="utf-8")
    command = [find_deno_bin(), "run", "--no-remote", "--no-npm", "--no-lock", "--allow-read", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_a_link_is_opened_and_what_it_names_that_is_not_there_is_not_chosen(tmp_path: Path) -> None:
    acts = "show(view, one); address.writeAddress(); note(view);"
    (seen,) = played(tmp_path, acts, "?step=3&source=2&word=7&typed_word=x&stage=4&order=strongest")
    assert (seen["step"], seen["chosen"], seen["word"], seen["typedWord"]) == (2, 1, 7, "x")
    assert (seen["stage"], seen["ordered"]) == (4, "strongest")
    assert seen["query"]["step"] == "3"
    (seen,) = played(tmp_path, acts, "?step=400&source=99&word=-1&stage=9&order=up&tour=9&foil=x")
    assert seen["step"] == one_less_than_steps()
    assert [seen[name] for name in ("chosen", "word", "foil", "stage", "ordered", "tour")] == [None] * 6


def one_less_than_steps() -> int:
    return int(told(0)["steps"]) - 1


def test_steps_replace_the_entry_another_translation_pushes_one_and_back_shows_what_was_left(tmp_path: Path) -> None:
    seen = played(
        tmp_path,
        """show(view, one); address.writeAddress(); note(view);
        change(view, { step: 3 }); change(view, { source: 2, word: 9 }); address.writeAddress(); note(view);
        show(view, other); address.writeAddress(); note(view);
        change(view, { step: 1 }); address.writeAddress();
        stage.go(-1); note(view);                      // the server has not followed yet
        address.writeAddress(); note(view);                   // and nothing is written over what was gone back to
        show(view, one); acknowledge({}); note(view);
        """,
    )
    begun, left, fresh, gone, held, back = seen
    assert begun["entries"] == left["entries"] == 1
    assert left["query"]["step"] == "4"
    assert (fresh["entries"], fresh["step"], fresh["chosen"], fresh["word"]) == (2, 0, None, None)
    assert gone["query"] == held["query"] == left["query"]
    assert (back["step"], back["chosen"], back["word"]) == (3, 2, 9)


def test_a_step_lets_go_of_the_words_and_a_what_if_keeps_the_step(tmp_path: Path) -> None:
    same = (told(0), told(1))  # two translations of one sentence
    words, step, tried = played(
        tmp_path,
        """show(view, one); change(view, { word: 9, foil: 8, typedFoil: "voiture", source: 3 }); note(view);
        change(view, { step: 2 }); note(view);
        show(view, other); address.writeAddress(); note(view);
        """,
        records=same,
    )
    assert (words["word"], words["foil"], words["typedFoil"], words["chosen"]) == (9, 8, "voiture", 3)
    assert (step["word"], step["foil"], step["typedFoil"], step["chosen"]) == (None, None, "", 3)
    assert (tried["step"], tried["chosen"]) == (2, 3)


@pytest.mark.parametrize("steps", [[], [1], [3, 0], [2, 2]])
def test_when_the_tour_ends_all_is_as_it_was(tmp_path: Path, steps: list[int]) -> None:
    between = "".join(f"change(view, {{ step: {step}, source: null }});" for step in steps)
    before, toured, after = played(
        tmp_path,
        f"""show(view, one); change(view, {{ step: 2, source: 1 }}); address.writeAddress(); note(view);
        change(view, {{ tour: 1 }}); {between} change(view, {{ tour: 4 }}); address.writeAddress(); note(view);
        change(view, {{ tour: null }}); address.writeAddress(); note(view);
        """,
    )
    assert toured["query"] == before["query"] | {"tour": "4"}, "the link has what was before"
    assert toured["entries"] > before["entries"], "Back leads out of it"
    for name in ("step", "chosen", "word", "tour"):
        assert after[name] == before[name]
    assert after["query"] == before["query"]


def test_a_page_that_is_left_takes_its_parameters_out_and_brings_them_back(tmp_path: Path) -> None:
    here, gone, back = played(
        tmp_path,
        """show(view, one); change(view, { step: 4 }); address.writeAddress(); note(view);
        closeView(view); address.givePage("elsewhere", { page: "elsewhere" }); address.writeAddress(); note(view);
        const again = stage.root(); show(again, one); address.writeAddress(); note(again);
        """,
    )
    assert gone["query"] == {"page": "elsewhere"}
    assert back["query"] == here["query"]
    assert back["step"] == 4


def test_the_sentence_is_in_the_link_as_soon_as_something_is_chosen(tmp_path: Path) -> None:
    bare, chosen = played(
        tmp_path,
        """show(view, one); address.writeAddress(); note(view);
        change(view, { step: 1 }); address.writeAddress(); note(view);
        """,
        records=(told(0, None), told(10)),
    )
    assert "sentence" not in bare["query"]
    assert chosen["query"]["sentence"] == synthetic.trace(seed=0).source_text


def test_a_step_just_before_back_is_there_again_after_forward(tmp_path: Path) -> None:
    back, forward = played(
        tmp_path,
        """show(view, one); address.writeAddress(); show(view, other); address.writeAddress();
        change(view, { step: 2 });                    // not written yet
        stage.go(-1); show(view, one); acknowledge({}); address.writeAddress(); note(view);
        stage.go(1); show(view, other); acknowledge({}); note(view);
        """,
    )
    assert "step" not in back["query"]
    assert (forward["step"], forward["query"]["step"]) == (2, "3")


def test_a_link_is_followed_also_where_the_page_writes_the_address_before_the_view_is_there(tmp_path: Path) -> None:
    (seen,) = played(
        tmp_path,
        """address.givePage(one.page.entry, one.page.parameters); address.writeAddress();
        show(view, one); address.writeAddress(); note(view);
        """,
        "?step=3&order=strongest",
    )
    assert (seen["step"], seen["ordered"], seen["query"]["step"]) == (2, "strongest", "3")


def test_what_is_written_while_a_page_is_being_left_takes_nothing_from_its_entry(tmp_path: Path) -> None:
    (back,) = played(
        tmp_path,
        """show(view, one); change(view, { step: 2 }); address.writeAddress();
        closeView(view);                              // its room is emptied first
        address.give("lecture", { lecture: "1" }); address.writeAddress();
        address.givePage("elsewhere", { page: "elsewhere" }); acknowledge({}); address.writeAddress();
        stage.go(-1);
        const again = stage.root(); show(again, one); note(again);
        """,
    )
    assert (back["step"], back["query"]["step"]) == (2, "3")


OUTBOX = """
let connection = null;
globalThis.MutationObserver = class {
  constructor(act) { connection = act; }
  observe() {}
};
const state = { now: "CONNECTED" };
document.app = Object.assign(new HTMLElement(), { getAttribute: () => state.now });
const notice = Object.assign(new HTMLElement(), { hidden: true });
mount({
  data: { offline: "" },
  parentElement: { querySelector: () => notice },
  setStateValue: (_, value) => sent.push(structuredClone(value)),
});
const connect = (now) => { state.now = now; connection(); };
const tick = () => new Promise((then) => setTimeout(then, 5));
const told = () => seen.push(structuredClone({ sent: sent.at(-1), search: location.search }));
"""


def test_a_server_that_has_begun_again_is_told_the_address_which_stays_until_it_is_followed(tmp_path: Path) -> None:
    told_first, resumed, unanswered, answered = played(
        tmp_path,
        OUTBOX
        + """show(view, one); acknowledge({}, "before"); change(view, { step: 2 }); await tick(); told();
        connect("LOST"); change(view, { step: 3 }); connect("CONNECTED"); await tick(); told();
        const { tab } = sent.at(-1), last = sent.at(-1).requests.at(-1).seq;
        address.givePage("other", { page: "other" }); acknowledge({}, "after"); await tick(); told();
        show(view, one); acknowledge({ [tab]: last }, "after"); await tick();
        const { ask } = await import(OUTBOX_MODULE); ask("page", "lab"); await tick(); told();
        """.replace("OUTBOX_MODULE", json.dumps((COMPONENTS / "outbox" / "outbox.js").as_uri())),
    )
    assert "step=3" in told_first["search"]
    (request,) = resumed["sent"]["requests"]
    assert (request["name"], request["value"]["memory"], resumed["sent"]["memory"]) == ("resume", "before", "")
    assert request["value"]["query"] == resumed["search"]
    assert "step=4" in resumed["search"], "what was chosen without a server is in it"
    assert unanswered["search"] == resumed["search"], "what a server that knows nothing shows is not written"
    assert answered["sent"]["memory"] == "after"
    assert [one["name"] for one in answered["sent"]["requests"]] == ["page"]


@pytest.mark.parametrize(("entry", "asked"), [("corpus", ["follow"]), ("first", [])])
def test_back_before_the_page_could_hear_of_it_is_followed(tmp_path: Path, entry: str, asked: list[str]) -> None:
    (seen,) = played(
        tmp_path,
        OUTBOX
        + f"""history.replaceState({{ attnvizEntry: "{entry}" }}, "", "http://page.test/?page={entry}");
        address.givePage("first", {{}}); acknowledge({{}}, "server"); await tick(); told();
        """,
    )
    assert [one["name"] for one in (seen.get("sent") or {"requests": []})["requests"]] == asked


def test_the_address_is_written_at_once_unless_often(tmp_path: Path) -> None:
    few, many, kept = played(
        tmp_path,
        """const begun = performance.now(), { replaceState } = history;
        let writings = 0;
        history.replaceState = (...given) => { writings += 1; replaceState.apply(history, given); };
        const tick = () => new Promise((then) => setTimeout(then, 3));
        const step = async (k) => { change(view, { step: k % one.steps }); await tick(); };
        const count = () => seen.push({ ...stage.here(), writings, most: 31 + (performance.now() - begun) / 160 });
        show(view, one);
        for (let k = 0; k < 10; k++) await step(k);
        count();
        for (let k = 0; k < 90; k++) await step(k);
        count();
        await new Promise((then) => setTimeout(then, 500));
        count();
        """,
    )
    steps = one_less_than_steps() + 1
    assert few["query"]["step"] == str(9 % steps + 1)
    assert many["writings"] <= many["most"], "a browser lets nobody write it so often"
    assert kept["query"].get("step", "1") == str(89 % steps + 1)
