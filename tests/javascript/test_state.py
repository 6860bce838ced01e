"""The JavaScript state of a view, its URL and its history, run in Deno."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from attnviz.ui.embedding import in_session
from attnviz.ui.inputs import set_page_address
from attnviz.ui.step.step_controls import view_payload
from attnviz.ui.view import MAIN, View
from tests.conftest import REPOSITORY
from tests.deno_program import made_by
from tests.figures import synthetic

Run = Callable[..., list[dict[str, Any]]]
COMPONENTS = REPOSITORY / "attnviz" / "ui" / "components"
STAGE = Path(__file__).with_name("stage.js")

BEGIN = f"""
const stage = await import("{STAGE.as_uri()}");
stage.open(given.place);
const {{ change, closeView, filledAddress, openView }} = await import("{(COMPONENTS / "state.js").as_uri()}");
const address = await import("{(COMPONENTS / "address.js").as_uri()}");
const {{ acknowledge, default: mount, sendRequest }} = await import("{(COMPONENTS / "outbox" / "outbox.js").as_uri()}");
const shown = (view) => view.attnvizView.now;
const sent = [];
const openPage = (path) => {{
  stage.goToPage(path);
  address.pageDrawn(path);
  address.setPage({{ path, entry: path, parameters: {{}} }});
}};
const show = (view, payload) => {{
  address.setPage(payload.page);
  openView(view, payload);
}};
const seen = [];
const note = (view) => seen.push({{ ...shown(view), ...stage.here() }});
const [one, other] = given.payloads;
const view = stage.root();
"""


def server_payload(seed: int, sentence: str | None = "A dog.", forms: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the payload of a translation that the server sends to the browser."""
    view = View(MAIN, synthetic.trace(seed=seed), forms=forms)
    with in_session({}):
        set_page_address(view.identity, {"sentence": sentence})
        return view_payload(view, tour=True) | {"family": f"sentence {seed // 10}"}


@pytest.fixture
def run(tmp_path) -> Run:
    """Return a function that runs acts after opening an address with this end, and returns the states they noted."""

    def run_in_deno(acts: str, place: str = "", payloads: Sequence[Any] = (), begin: str = BEGIN) -> Any:
        given = {"place": place, "payloads": payloads or (server_payload(0), server_payload(10))}
        return made_by(f"{begin}\n{acts}", "JSON.stringify(seen)", given, tmp_path)

    return run_in_deno


def test_link_parameters_are_applied_and_invalid_ones_ignored(run) -> None:
    acts = "show(view, one); address.writeAddress(); note(view);"
    (seen,) = run(acts, "#step=3&source=2&word=7&typed_word=x&stage=4&order=strongest")
    assert (seen["step"], seen["source"], seen["word"], seen["typedWord"]) == (2, 1, 7, "x")
    assert (seen["stage"], seen["order"]) == (4, "strongest")
    assert seen["fragment"]["step"] == "3"
    (seen,) = run(acts, "#step=400&source=99&word=-1&stage=9&order=up&tour=9&foil=x")
    assert seen["step"] == server_payload(0)["steps"] - 1
    assert [seen[name] for name in ("source", "word", "foil", "stage", "order", "tour")] == [None] * 6


def test_steps_replace_and_translations_push_history_entries(run) -> None:
    seen = run("""show(view, one); address.writeAddress(); note(view);
        change(view, { step: 3 }); change(view, { source: 2, word: 9 }); address.writeAddress(); note(view);
        show(view, other); address.writeAddress(); note(view);
        change(view, { step: 1 }); address.writeAddress();
        stage.go(-1); note(view);                      // the server has not followed yet
        show(view, other);                            // a run that began before ends
        address.writeAddress(); note(view);                   // and nothing is written over what was gone back to
        show(view, one); acknowledge({}); note(view);
        """)
    begun, left, fresh, gone, held, back = seen
    assert begun["entries"] == left["entries"] == 1
    assert left["fragment"]["step"] == "4"
    assert (fresh["entries"], fresh["step"], fresh["source"], fresh["word"]) == (2, 0, None, None)
    assert gone["fragment"] == held["fragment"] == left["fragment"]
    assert (back["step"], back["source"], back["word"]) == (3, 2, 9)


def test_step_clears_chosen_words_and_what_if_keeps_the_step(run) -> None:
    same = (server_payload(0), server_payload(1))  # two translations of one sentence
    words, step, tried = run(
        """show(view, one); change(view, { word: 9, foil: 8, typedFoil: "voiture", source: 3 }); note(view);
        change(view, { step: 2 }); note(view);
        show(view, other); address.writeAddress(); note(view);
        """,
        payloads=same,
    )
    assert (words["word"], words["foil"], words["typedFoil"], words["source"]) == (9, 8, "voiture", 3)
    assert (step["word"], step["foil"], step["typedFoil"], step["source"]) == (None, None, "", 3)
    assert (tried["step"], tried["source"]) == (2, 3)


def test_choice_on_the_next_page_waits_for_the_entry_of_that_page(run) -> None:
    before, early, there, back = run("""show(view, one); address.writeAddress(); note(view);
        sendRequest("page", "learns"); change(view, { step: 2 });
        const timeline = {}; address.setParameters(timeline, { fragment: { update: "1400" } });
        address.writeAddress(); note(view);
        closeView(view); openPage("learns"); address.writeAddress(); note(view);
        address.removeOwner(timeline); stage.go(-1); note(view);
        """)
    assert early["fragment"] == before["fragment"] | {"step": "3"}
    assert early["entries"] == before["entries"]
    assert (there["path"], there["query"], there["fragment"]) == ("/learns", {}, {"update": "1400"})
    assert there["entries"] == before["entries"] + 1
    assert back["fragment"] == early["fragment"]


def test_step_just_before_back_is_restored_by_forward(run) -> None:
    back, forward = run("""show(view, one); address.writeAddress(); show(view, other); address.writeAddress();
        change(view, { step: 2 });
        await Promise.resolve();                      // written at the end of the event
        stage.go(-1); show(view, one); acknowledge({}); address.writeAddress(); note(view);
        stage.go(1); show(view, other); acknowledge({}); note(view);
        """)
    assert "step" not in back["fragment"]
    assert (forward["step"], forward["fragment"]["step"]) == (2, "3")


def test_url_writes_while_leaving_a_page_keep_its_history_entry(run) -> None:
    (back,) = run("""show(view, one); change(view, { step: 2 }); address.writeAddress();
        closeView(view);                              // its room is emptied first
        address.setParameters("lecture", { fragment: { lecture: "1" } }); address.writeAddress();
        openPage("elsewhere"); acknowledge({}); address.writeAddress();
        stage.go(-1); address.pageDrawn("");
        const again = stage.root(); show(again, one); note(again);
        """)
    assert (back["step"], back["fragment"]["step"]) == (2, "3")


def test_back_to_another_page_writes_nothing_until_that_is_drawn(run) -> None:
    left, early, drawn = run("""show(view, one); change(view, { step: 2 }); address.writeAddress(); note(view);
        openPage("why"); address.setParameters("own", { fragment: { x: "1" } }); address.writeAddress();
        stage.go(-1); address.setParameters("own", { fragment: { x: "2" } }); address.writeAddress(); note(view);
        address.removeOwner("own"); show(view, one); address.pageDrawn(""); address.writeAddress(); note(view);
        """)
    for seen in (early, drawn):
        assert (seen["path"], seen["fragment"], seen["entries"]) == ("/", left["fragment"], 2)


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
const noteSent = () => seen.push(structuredClone({ sent: sent.at(-1), search: location.search, hash: location.hash }));
"""


def test_restarted_server_receives_the_url_and_the_url_stays(run) -> None:
    acts = """show(view, one); acknowledge({}, "before"); change(view, { step: 2 }); await tick(); noteSent();
        connect("LOST"); change(view, { step: 3 }); connect("CONNECTED"); await tick(); noteSent();
        const { tab } = sent.at(-1), last = sent.at(-1).requests.at(-1).seq;
        address.setPage({ path: "", entry: "other", parameters: { x: "1" } }); acknowledge({}, "after"); await tick();
        noteSent();
        show(view, one); acknowledge({ [tab]: last }, "after"); await tick();
        sendRequest("page", "lab"); await tick(); noteSent();
        """
    before_restart, resumed, unanswered, answered = run(acts, begin=BEGIN + OUTBOX)
    assert "step=3" in before_restart["hash"]
    (request,) = resumed["sent"]["requests"]
    assert (request["key"], request["value"]["memory"], resumed["sent"]["memory"]) == ("resume", "before", "")
    assert request["value"]["address"] == "/" + resumed["search"]
    assert "step=4" in resumed["hash"], "the URL has the choice made while disconnected"
    # The state of a restarted server is not written to the URL.
    assert (unanswered["search"], unanswered["hash"]) == (resumed["search"], resumed["hash"])
    assert answered["sent"]["memory"] == "after"
    assert [one["key"] for one in answered["sent"]["requests"]] == ["page"]


@pytest.mark.parametrize(("entry", "asked"), [("first b", ["follow"]), ("first a", [])])
def test_back_before_the_page_listens_is_followed(run, entry: str, asked: list[str]) -> None:
    acts = f"""history.replaceState({{ attnvizEntry: "{entry}" }}, "", "http://page.test/?sentence={entry}");
        address.setPage({{ path: "", entry: "first a", parameters: {{}} }});
        acknowledge({{}}, "server"); await tick(); noteSent();
        """
    (seen,) = run(acts, begin=BEGIN + OUTBOX)
    assert [one["key"] for one in (seen.get("sent") or {"requests": []})["requests"]] == asked


def test_url_is_written_immediately_and_frequent_writes_are_throttled(run) -> None:
    few, many, last = run("""const begun = performance.now(), { replaceState } = history;
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
        """)
    steps = server_payload(0)["steps"]
    assert few["fragment"]["step"] == str(9 % steps + 1)
    assert many["writings"] <= many["most"], "browsers limit how often the URL may change"
    assert last["fragment"].get("step", "1") == str(89 % steps + 1)


def test_written_fragment_is_followed_without_the_server(run) -> None:
    before, written, stepped = run("""show(view, one); change(view, { step: 1 }); address.writeAddress(); note(view);
        stage.edit("#step=3&source=2"); await Promise.resolve(); note(view);
        change(view, { step: 3 }); address.writeAddress(); note(view);
        """)
    assert (written["step"], written["source"]) == (2, 1)
    assert stepped["fragment"] == {"step": "4", "source": "2"}
    assert stepped["query"] == before["query"]


def test_address_of_a_payload_has_only_what_the_payload_depends_on(run: Run) -> None:
    (seen,) = run("""show(view, one);
        change(view, { step: 2, source: 1, stage: 4, order: "strongest", options: { root: "1", after_word: "1" } });
        seen.push([filledAddress(view, "{selection}"), filledAddress(view, "{options}")]);
        """)
    assert [dict(parse_qsl(text)) for text in seen] == [{"step": "3", "source": "2", "root": "1"}, {"root": "1"}]
