"""URL and browser history: the URL stores every choice, steps replace history entries, translations push them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect
from syrupy.assertion import SnapshotAssertion

from tests.browser.settled import settled
from tests.browser.test_page import NEW, expect_step, query, type_sentence
from tests.browser.texts import text_of
from tests.browser.views import EXAMPLE, open_share

pytestmark = pytest.mark.browser

Opener = Callable[..., Page]


def entries(page: Page) -> int:
    return int(page.evaluate("() => history.length"))


def test_steps_replace_the_history_entry_and_back_restores_the_sentence(open_page: Opener) -> None:
    page = open_page(f"?step=2&sentence={quote(EXAMPLE)}")
    expect_step(page, 2)
    page.wait_for_function("() => history.state?.attnvizEntry")
    before = entries(page)
    for step in (3, 4):
        page.keyboard.press("ArrowRight")
        expect_step(page, step)
    page.keyboard.press("ArrowDown")
    page.wait_for_url(re.compile("source="))
    assert entries(page) == before, "a step or a source piece adds no history entry"
    left = query(page)
    type_sentence(page, NEW)
    expect(page.locator(".player .source")).to_contain_text("snow")
    page.wait_for_url(re.compile("sentence=Two"))
    assert entries(page) == before + 1
    expect_step(page, 1)
    page.keyboard.press("ArrowRight")
    expect_step(page, 2)
    page.go_back()
    expect(page.locator(".st-key-sentence textarea")).to_have_value(EXAMPLE)
    expect_step(page, 4)
    expect(page.locator(".player .source .held")).to_have_count(1)
    assert query(page) == left
    page.go_forward()
    expect(page.locator(".st-key-sentence textarea")).to_have_value(NEW)
    expect_step(page, 2)
    assert entries(page) == before + 1


CHOSEN = {"by": "words", "colours": "cividis", "root": "1", "end": "0", "margins": "1", "order": "strongest"}


def drawn_choices(page: Page) -> dict[str, Any]:
    """Return the parts of the heatmap and the stages that the choices change."""
    found: dict[str, Any] = page.evaluate(
        """() => {
          const chart = (key) => document.querySelector(`.st-key-${key} .js-plotly-plot`);
          const { data, layout } = chart("heatmap");
          return { columns: layout.xaxis.ticktext, rows: layout.yaxis.ticktext, scale: data[0].colorscale,
            pictures: data.length, order: Array.from(chart("softmax").data[0].y) };
        }"""
    )
    return found


def test_url_stores_every_display_option(open_page: Opener) -> None:
    page = open_page()
    settled(page)
    page.get_by_role("radio", name="words").click()
    page.wait_for_url(re.compile("by=words"))
    for name, parameter in (("√α", "root=1"), ("End mark", "end=0"), ("Margins", "margins=1")):
        page.get_by_role("switch", name=name).locator("xpath=ancestor::label").click()
        page.wait_for_url(re.compile(parameter))
    page.get_by_text("strongest first").click()
    page.wait_for_url(re.compile("order=strongest"))
    settled(page)
    page.locator(".st-key-colours select").select_option(label="Cividis, safe for colour blindness")
    page.wait_for_url(re.compile("colours=cividis"))
    assert query(page) == CHOSEN | {
        "sentence": EXAMPLE,
        "depth": "everything",
    }
    page.wait_for_function("() => document.querySelector('.st-key-heatmap .js-plotly-plot').data.length === 3")
    page.wait_for_function("() => document.querySelector('.st-key-heatmap .js-plotly-plot').data[0].colorscale[2]")
    before = drawn_choices(page)
    page.reload()
    page.wait_for_function("() => document.querySelector('.st-key-heatmap .js-plotly-plot')?.data?.length === 3")
    page.wait_for_function("() => document.querySelector('.st-key-softmax .js-plotly-plot')?.data")
    assert drawn_choices(page) == before
    assert query(page) == CHOSEN | {
        "sentence": EXAMPLE,
        "depth": "everything",
    }


def test_invalid_link_values_are_reported_until_another_is_chosen(
    open_page: Opener, snapshot: SnapshotAssertion
) -> None:
    page = open_page(
        f"?sentence={quote(EXAMPLE)}&section=beans&by=letters&step=x", path="lab", ready=".st-key-link_problem p"
    )
    problems = page.locator(".st-key-link_problem p")
    expect(problems).to_have_count(3)
    assert problems.all_inner_texts() == snapshot
    page.locator(".st-key-section").get_by_role("radio").nth(1).click()
    expect(problems).to_have_count(2)
    page.locator(".st-key-section").get_by_role("radio").first.click()
    page.wait_for_function("() => !new URL(location.href).searchParams.has('section')")
    page.get_by_role("radio", name="fr", exact=True).click()
    expect(problems).to_have_count(2)
    expect(problems.filter(has_text="letters")).to_have_count(1)
    page.locator(".page-links a").first.click()
    expect(problems).to_have_count(0)


@pytest.mark.nightly
def test_url_stores_a_foil_of_several_pieces(open_page: Opener, snapshot: SnapshotAssertion) -> None:
    page = open_page("?step=4")
    settled(page)
    box = page.locator(".word-choice [data-what=foil]")
    box.click()
    box.fill("chaton")
    page.keyboard.press("Enter")
    heading = page.locator(".st-key-contrast h3")
    expect(heading).to_contain_text("“chaton”")
    text = text_of(heading)
    assert text == snapshot
    page.wait_for_url(re.compile("typed_foil=chaton"))
    page.reload()
    settled(page)
    expect(heading).to_have_text(text)
    expect(page.locator(".word-choice [data-what=foil]")).to_have_value("chaton")


@pytest.mark.nightly
def test_invalid_url_parameters_are_ignored(open_page: Opener) -> None:
    page = open_page(
        "?step=x&source=-1&word=99999999&foil=%3Cb%3E&stage=9&by=letters&colours=red&root=2&end=&order=up"
        "&model=nobody&search=beam+999&lang=xx&typed_foil=%24x%24"
    )
    expect_step(page, 1)
    assert page.locator(".stException").count() == 0
    page.wait_for_url(lambda url: "letters" not in url and "=xx" not in url and "nobody" not in url)
    assert set(query(page)) == {"sentence", "depth"}


def test_copy_link_copies_the_url(open_page: Opener) -> None:
    page = open_page("?step=3")
    expect_step(page, 3)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_share(page)
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Link copied")).to_be_visible()
    assert page.evaluate("() => navigator.clipboard.readText()") == page.url
