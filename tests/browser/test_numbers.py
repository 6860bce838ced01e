"""Numbers in the browser (energy decomposition, logit attribution, verification) equal those of Python."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, Route, expect
from syrupy.assertion import SnapshotAssertion

from attnviz import Trace, Translator
from attnviz.analysis.energy_equations import energy_decomposition, saturated
from attnviz.analysis.numbers import signed
from attnviz.checkpoint import save_model
from attnviz.figures.energy_decomposition_figure import SHOWN_ENERGY_UNITS, draw_energy_decomposition
from attnviz.figures.subject import Subject
from attnviz.text import Tokenizer, piece_name
from attnviz.ui.components.energy_decomposition import energy_decomposition_payload
from attnviz.ui.step.subject_boxes import parse_piece
from tests.browser.server import READY, running_page
from tests.browser.settled import bring_into_sight, settled
from tests.browser.texts import text_of
from tests.browser.views import EXAMPLE, SHOWN, on_both, parameters_of
from tests.conftest import SHIPPED_MODEL, ModelFactory
from tests.snapshots import without_numbers

pytestmark = pytest.mark.browser

Opener = Callable[..., Page]


@pytest.fixture(scope="module")
def trace() -> Trace:
    if not SHIPPED_MODEL.is_dir():
        pytest.skip("models/en-fr is not there")
    return Translator.load(SHIPPED_MODEL, "cpu").translate(EXAMPLE, beam=5)


def chart(page: Page, key: str):
    found = page.locator(f".st-key-{key} .js-plotly-plot")
    expect(found.locator(".ytick").first).to_be_attached()
    bring_into_sight(found)
    return found


def bars(page: Page, key: str, name: str) -> list[float]:
    """Return the lengths of the bars that the chart in `key` draws under this name."""
    return chart(page, key).evaluate(
        "(chart, name) => Array.from(chart.data.find((trace) => trace.name === name).x)", name
    )


def query(page: Page) -> dict[str, str]:
    return parameters_of(page.url)


def expect_cell(page: Page, trace: Trace, step: int, source: int) -> None:
    """Wait until the energy decomposition is at a cell, and compare every bar with the figure as Python draws it."""
    name = piece_name(trace.source_pieces[source - 1])
    expect(page.locator(".st-key-energy-decomposition h3")).to_have_text(
        f"Energy decomposition: step {step} at “{name}”"
    )
    figure = draw_energy_decomposition(Subject(trace, step - 1, source=source - 1)).figure()
    drawn = page.locator(".st-key-energy-decomposition .ytick")
    expect(drawn).to_have_text([*figure.layout.yaxis.ticktext[:-1], "energy e"])
    shown = chart(page, "energy-decomposition").evaluate("(chart) => chart.data.map((trace) => trace.name)")
    for expected in figure.data:
        if expected.name in shown:
            assert bars(page, "energy-decomposition", expected.name) == pytest.approx(list(expected.x), abs=1e-5)
            for kind in ("customdata", "text"):  # what the pointer reads, and what stands at the bars
                if expected[kind] is not None:
                    expect_same_text(bar_texts(page, "energy-decomposition", expected.name, kind), list(expected[kind]))
    assert bars(page, "energy-decomposition", "sum")[-1] == pytest.approx(
        float(trace.energies[step - 1, source - 1]), abs=1e-5
    )
    expect_same_text(
        [page.locator(".st-key-energy-decomposition p").inner_text()], [sentence(trace, step - 1, source - 1)]
    )


def bar_texts(page: Page, key: str, name: str, kind: str) -> list[str]:
    """Return the texts that the chart in `key` has with the bars of this name."""
    return chart(page, key).evaluate(
        "(chart, [name, kind]) => Array.from(chart.data.find((trace) => trace.name === name)[kind])", [name, kind]
    )


def expect_same_text(shown: list[str], expected: list[str]) -> None:
    """Assert that texts of browser and Python have equal words, and numbers equal up to their last digit."""
    number = re.compile(r"[+\u2212]?\d+(?:\.\d+)?")
    assert [number.sub("#", text) for text in shown] == [number.sub("#", text) for text in expected]
    for one, other in zip(shown, expected, strict=True):
        for here, there in zip(number.findall(one), number.findall(other), strict=True):
            last = 10.0 ** -len(there.partition(".")[2]) if "." in there else 0
            values = [float(text.replace("\u2212", "-")) for text in (here, there)]
            assert values[0] == pytest.approx(values[1], abs=1.01 * last), (one, other)


def sentence(trace: Trace, step: int, source: int) -> str:
    """Return the sentence above the energy decomposition, with numbers computed in Python."""
    units = energy_decomposition(trace, None, step, source)
    adds, count = units.contributions, int(np.sum(units.contributions < 0))
    named, largest = min(SHOWN_ENERGY_UNITS, len(adds)), int(units.order[0])
    values = {
        "word": piece_name(trace.source_pieces[source]),
        "target": piece_name(trace.target_pieces[step]),
        "energy": f"{units.energy:.2f}".replace("-", "\u2212"),
        "n": len(adds),
        "for": len(adds) - count,
        "against": count,
        "named": named,
        "part": signed(float(adds[units.order[:named]].sum())),
        "flat": int(saturated(units).sum()),
        "largest": largest + 1,
        "c": signed(float(adds[largest])),
    }
    return str(energy_decomposition_payload(trace, None, "light")["words"]["sentence"]).format(**values)


@pytest.mark.nightly
@on_both
def test_energy_decomposition_follows_the_selected_cell(open_page: Opener, trace: Trace) -> None:
    page = open_page("?step=3")
    strongest = int(trace.alignment[2].argmax()) + 1
    expect_cell(page, trace, 3, strongest)
    page.locator(".st-key-energy-decomposition h3").click()  # away from any widget that keeps the arrows
    page.keyboard.press("ArrowRight")
    expect_cell(page, trace, 4, int(trace.alignment[3].argmax()) + 1)
    page.keyboard.press("ArrowDown")
    moved = page.evaluate(f"() => {SHOWN}.source + 1")
    assert moved != int(trace.alignment[3].argmax()) + 1
    expect_cell(page, trace, 4, moved)
    traces = chart(page, "energy-decomposition").evaluate("(chart) => chart.data.length")
    assert traces == (10 if page.viewport_size["width"] > 700 else 5)


@pytest.fixture(scope="module")
def other_models(
    tmp_path_factory: pytest.TempPathFactory, make_network: ModelFactory, tokenizer: Tokenizer
) -> Iterator[str]:
    """Run the page with tiny random models of dot-product and of no attention."""
    models = tmp_path_factory.mktemp("models")
    for kind in ("general", "none"):
        save_model(models / kind, make_network(kind, "current"), tokenizer)
    with running_page(models, models / "page.log") as running:
        yield running


@pytest.mark.nightly
def test_dot_product_and_no_attention_models_show_their_numbers(
    chromium: Browser, other_models: str, snapshot: SnapshotAssertion
) -> None:
    page = chromium.new_page(viewport={"width": 1440, "height": 900})
    page.goto(f"{other_models}/?model=general&depth=everything#step=2&source=3")
    page.wait_for_selector(READY, timeout=120_000)
    settled(page)
    assert without_numbers(text_of(page.locator(".st-key-energy-decomposition p").first)) == snapshot(
        name="dot product"
    )
    query, key, sums = (bars(page, "energy-decomposition", name) for name in ("query", "key", "sum"))
    assert np.multiply(query, key) == pytest.approx(sums[: len(query)], abs=1e-6)
    assert sum(sums[:-1]) == pytest.approx(sums[-1], abs=1e-5)
    expect(page.locator(".st-key-logit-attribution .ytick").nth(1)).to_have_text("through sᵢ")
    page.goto(f"{other_models}/?model=none&depth=everything")
    expect(page.locator(".words .summary")).not_to_be_empty()
    assert text_of(page.locator(".words .summary")) == snapshot(name="no attention")
    page.close()


@pytest.mark.nightly
def test_link_opens_the_energy_decomposition_of_a_cell(open_page: Opener, trace: Trace) -> None:
    expect_cell(open_page("?step=2&source=4"), trace, 2, 4)


@on_both
def test_logit_attribution_sums_to_the_logit_and_contrast_to_the_log_odds(
    open_page: Opener, trace: Trace, snapshot: SnapshotAssertion
) -> None:
    page = open_page("?step=4")
    settled(page)  # charts below the window are drawn later
    own = piece_name(trace.target_pieces[3])
    expect(page.locator(".st-key-logit-attribution h3")).to_contain_text(f"“{own}”")
    *entries, logit = bars(page, "logit-attribution", "sum")
    assert sum(entries) == pytest.approx(logit, abs=1e-6)
    *_, difference = bars(page, "contrast", "sum")
    other = next(k for k, index in enumerate(trace.top_ids[3]) if index != trace.target_ids[3])
    odds = np.log(trace.probabilities[3] / trace.top_probabilities[3][other])
    assert difference == pytest.approx(float(odds), abs=1e-4)
    expect(page.locator(".st-key-contrast h3")).to_contain_text(f"and not “{piece_name(trace.top_pieces[3][other])}”")
    check_typed_words(page, snapshot)


def test_typed_word_is_kept_while_the_words_of_the_step_arrive(open_page: Opener) -> None:
    page, held, is_held = open_page("?step=4"), list[Route](), True
    page.route(re.compile("/word-boxes"), lambda route: held.append(route) if is_held else route.continue_())
    page.reload()
    word, foil = (page.locator(f".word-choice [data-what={what}]") for what in ("word", "foil"))
    word.fill("chaton")
    expect(foil).to_have_value("")
    is_held = False
    for route in held:
        route.continue_()
    expect(foil).not_to_have_value("")
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-contrast h3")).to_contain_text("“chaton”")


@pytest.mark.nightly
def test_click_on_the_logit_attribution_selects_a_source_piece(open_page: Opener) -> None:
    page = open_page("?step=4&source=2")
    logit_attribution = chart(page, "logit-attribution")
    marked = "(chart) => chart.layout.shapes.filter((shape) => shape.fillcolor).map((shape) => shape.y0 + 0.5)"
    rows = logit_attribution.evaluate("(chart) => chart.layout.meta.entries")
    assert logit_attribution.evaluate(marked) == ([] if rows[1] is None else [rows[1]])
    other = max((j for j, row in enumerate(rows) if row is not None and j != 1), key=lambda j: rows[j])
    x, y = logit_attribution.evaluate(
        """(chart, row) => {
          const box = chart.getBoundingClientRect(), { xaxis, yaxis } = chart._fullLayout;
          const bars = chart.data.find((trace) => trace.name === "sum").x;
          const middle = bars.slice(0, row).reduce((sum, bar) => sum + bar, 0) + bars[row] / 2;
          return [box.x + xaxis._offset + xaxis.c2p(middle), box.y + yaxis._offset + yaxis.c2p(row)];
        }""",
        rows[other],
    )
    page.mouse.click(x, y)
    page.wait_for_function(f"(source) => {SHOWN}.source === source", arg=other)
    page.wait_for_function(
        f"""(row) => {{
          const marked = ({marked})(document.querySelector(".st-key-logit-attribution .js-plotly-plot"));
          return marked.length === 1 && marked[0] === row;
        }}""",
        arg=rows[other],
    )


def type_word(page: Page, what: str, text: str) -> None:
    box = page.locator(f".word-choice [data-what={what}]")
    box.click()
    box.fill(text)
    page.keyboard.press("Enter")


def check_typed_words(page: Page, snapshot: SnapshotAssertion) -> None:
    """Type words in both boxes of the logit attribution, the last in pieces and one that the model has never seen."""
    tokenizer = Tokenizer.load(SHIPPED_MODEL / "tokenizer.model")
    house, car = (piece_name(tokenizer.piece(parse_piece(word, tokenizer)[0] or 0)) for word in ("maison", "voiture"))
    type_word(page, "word", "maison")
    expect(page.locator(".st-key-logit-attribution h3")).to_contain_text(f"“{house}”")
    page.wait_for_url(re.compile(r"[?&#]word=\d+\b"))  # which is written after the picture
    type_word(page, "foil", "voiture")
    expect(page.locator(".st-key-contrast h3")).to_have_text(f"Why “{house}” and not “{car}”")
    page.wait_for_url(re.compile(r"[?&#]foil=\d+\b"))
    page.reload()
    expect(page.locator(".st-key-contrast h3")).to_have_text(f"Why “{house}” and not “{car}”")
    type_word(page, "word", "chaton")
    heading = page.locator(".st-key-contrast h3")
    expect(heading).to_contain_text("“chaton”")
    expect(heading).to_contain_text(f"“{car}”")
    assert text_of(heading) == snapshot(name="of two pieces")
    expect(page.locator(".word-choice [data-what=word]")).to_have_value("chaton")
    type_word(page, "word", "北京")
    expect(page.locator(".st-key-inside_word")).to_contain_text("“北京”")


@pytest.mark.nightly
@on_both
def test_logit_attribution_follows_the_step(open_page: Opener, trace: Trace) -> None:
    page = open_page("?step=2")
    chart(page, "logit-attribution")
    page.locator(".st-key-logit-attribution h3").click()
    for step in (3, 4, 5):
        page.keyboard.press("ArrowRight")
        expect(page.locator(".st-key-logit-attribution h3")).to_contain_text(
            f"“{piece_name(trace.target_pieces[step - 1])}”"
        )


@on_both
def test_every_step_is_verified_and_a_finding_selects_its_step(open_page: Opener, snapshot: SnapshotAssertion) -> None:
    page = open_page("?step=2")
    badge = page.locator(".st-key-verification button").first
    expect(badge).to_contain_text(re.compile(r"\bstep 2\b.* \d·10"))
    assert without_numbers(text_of(badge)) == snapshot(name="badge")
    page.keyboard.press("ArrowRight")
    expect(badge).to_contain_text(re.compile(r"\bstep 3\b.* \d·10"))
    badge.click()
    expect(page.locator(".receipt")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".receipt")).to_be_hidden()
    check_click_on_finding(page)


def check_click_on_finding(page: Page) -> None:
    """Click the first finding, and wait until its step is shown."""
    expect(page.locator(".words .summary")).not_to_be_empty()
    first = page.locator(".words li:visible button").first
    step = first.get_attribute("data-step")
    first.click()
    expect(page.locator(".player .target .current .chosen")).to_have_attribute("data-index", str(step))
    expect(first).to_have_attribute("aria-current", "step")
    expect(page.locator(".words .step")).to_contain_text(f"Step {int(step or 0) + 1}, ")


@pytest.mark.nightly
@on_both
def test_margins_are_drawn_when_switched_on(open_page: Opener) -> None:
    page = open_page()
    heatmap = page.locator(".st-key-heatmap .js-plotly-plot")
    assert heatmap.evaluate("(chart) => chart.data.length") == 1
    page.get_by_role("switch", name="Margins").locator("xpath=ancestor::label").click()
    expect(heatmap.locator(".barlayer .trace")).to_have_count(2)


@pytest.mark.nightly
@on_both
def test_growing_context_numbers_match_python(open_page: Opener, trace: Trace) -> None:
    """Strips, weights, running sums and the total weight, at every length of the sum."""
    page = open_page("?step=3")
    growth = chart(page, "growth")
    alpha, annotations = trace.alignment[2], trace.annotations[:, : trace.contexts.shape[1]]
    strips = alpha[:, None] * annotations
    drawn = growth.evaluate("(chart) => chart.data[0].z.map((row) => Array.from(row))")
    np.testing.assert_allclose(drawn, strips, atol=1e-6)
    labels = growth.evaluate("(chart) => chart.layout.yaxis.ticktext")
    assert [label.rsplit(None, 1)[-1] for label in labels] == [f"{weight:.2f}" for weight in alpha]
    output = page.locator(".growth output")
    for added in range(len(alpha) + 1):
        page.locator(".growth .added").evaluate(
            "(range, added) => { range.value = added; range.dispatchEvent(new Event('input', { bubbles: true })); }",
            added,
        )
        weight = "c₃$" if added == len(alpha) else f"Σα = {alpha[:added].sum():.2f}$"
        expect(output).to_have_text(re.compile(rf"^(all )?{added} .*{weight}"))
        running = growth.evaluate("(chart) => chart.runningSum()")
        np.testing.assert_allclose(running, strips[:added].sum(axis=0), atol=1e-5)
