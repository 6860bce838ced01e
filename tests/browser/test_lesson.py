"""A lesson's page, opened from disk without a network: questions, scores, the answer sheet, keys and languages."""

import csv
import io
import re

import pytest
from playwright.sync_api import Page, expect

from attnviz import Trace
from attnviz.lessons import LessonSentence, parse_lesson
from attnviz.ui.lesson_view import answered, lesson_html
from tests.browser.views import NARROW_DARK, WIDE, View, at_night, download, on_both

FILE = """
attnviz-lesson: 1
title: {en: Attention, fr: L’attention}
sentences:
  - sentence: The green house near the river is old.
    questions:
      - question: {en: Read this, fr: Lisez ceci}
        step: La
        note: {en: A note, fr: Une note}
      - question: {en: "Where, at verte?", fr: "Où, à verte ?"}
        predict: attends
        step: verte
      - question: {en: "=How sure?", fr: "=Avec quelle probabilité ?"}
        predict: probability
        tolerance: 1
        step: rivière
        reveal: [candidates]
      - question: {en: "Which word, please?", fr: "Quel mot ?"}
        predict: next
        step: vieille
        choices: [vieux, vieille]
      - question: {en: "One or two?", fr: "Un ou deux ?"}
        predict: choice
        choices: [{en: One, fr: Un}, {en: Two, fr: Deux}]
        answer: 2
"""


@pytest.fixture(scope="module")
def lesson(shipped_translator) -> str:
    def translate(sentence: LessonSentence) -> tuple[Trace, None]:
        return shipped_translator.translate(sentence.sentence, beam=1), None

    return lesson_html(answered(parse_lesson(FILE.encode()), translate)).decode()


def move_on(page: Page, place: int) -> None:
    """Press *Next* and wait for the question of this number."""
    page.locator(".next").click()
    expect(page.locator(".count")).to_have_text(f"{place} of 5")


def check(page: Page) -> None:
    """Check the answer, and wait for the verdict."""
    page.locator(".lesson form button").click()
    expect(page.locator(".verdict p").first).to_be_visible()


@pytest.mark.parametrize("view", [WIDE, at_night(NARROW_DARK)], ids=str)
def test_lesson_from_the_start_to_the_answer_sheet(open_from_disk, lesson, shipped_translator, view: View) -> None:
    trace = shipped_translator.translate("The green house near the river is old.", beam=1)
    page = open_from_disk(lesson, "", view)
    assert "Where, at verte?" not in page.content(), "the questions and their answers are packed"
    move_on(page, 1)
    expect(page.locator(".question")).to_be_focused()
    expect(page.locator(".verdict")).to_have_text("A note")
    expect(page.locator(".lesson form")).to_be_hidden()
    move_on(page, 2)
    expect(page.locator(".lesson .target")).to_have_text("La maison verte …")
    expect(page.locator(".next")).to_be_disabled()
    expect(page.locator(".st-key-lesson_pictures .chart-box")).to_have_count(0)
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.get_by_role("button", name="Français").click()
    expect(page.locator(".question")).to_contain_text("Où")
    page.get_by_role("button", name="English").click()
    page.locator("fieldset label", has_text="green").click()
    page.keyboard.press("Enter")
    expect(page.locator(".verdict .hit")).to_contain_text("green")
    expect(page.locator(".next")).to_be_focused()
    expect(page.locator(".st-key-lesson_pictures .ytick")).to_have_count(3)
    expect(page.locator("fieldset input").first).to_be_disabled()
    page.reload()  # the answers outlast it
    expect(page.locator(".verdict .hit")).to_be_visible()
    expect(page.locator(".st-key-lesson_pictures .ytick")).to_have_count(3)
    move_on(page, 3)
    page.locator(".number input").fill("much")
    page.locator(".lesson form button").click()
    expect(page.locator(".lesson .problem")).not_to_be_empty()
    expect(page.locator(".next")).to_be_disabled()
    probability = 100 * float(trace.probabilities[trace.words().target.index("rivière")])
    page.locator(".number input").fill(f"{probability - 5:.1f}".replace(".", ","))
    check(page)
    expect(page.locator(".verdict .miss")).to_contain_text(f"{probability:.0f}")
    expect(page.locator(".score")).to_contain_text("1 of 2")
    page.locator(".previous").click()
    expect(page.locator(".verdict .hit")).to_be_visible()
    page.locator(".next").click()
    move_on(page, 4)
    page.locator("fieldset label").nth(1).click()
    check(page)
    move_on(page, 5)
    page.locator("fieldset label").nth(0).click()
    check(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= view.width
    page.locator(".next").click()
    expect(page.locator(".total")).to_contain_text("2 of 4")
    page.locator(".name input").fill("=Zoé")
    saved = download(page, page.get_by_role("button", name=re.compile("CSV")))
    assert saved.suggested_filename.endswith(".csv")
    head, *rows = csv.reader(io.StringIO(saved.path().read_bytes().decode("utf-8-sig")))
    assert len(head) == 5
    assert [row[0] for row in rows] == ["'=Zoé"] * 4
    assert rows[1][1] == "'=How sure?"
    assert [row[2] for row in rows][::2] == ["green", "vieille"]
    assert [row[3] for row in rows] == ["green", rows[1][3], "vieille", "Two"]
    assert rows[1][3].startswith(f"{probability:.0f}")
    assert [row[4] for row in rows] == ["1", "0", "1", "0"]
    page.get_by_role("button", name="Start again").click()
    expect(page.locator(".next")).to_have_text("Start")
    move_on(page, 1)
    move_on(page, 2)
    expect(page.locator(".next")).to_be_disabled()


@on_both
def test_teacher_makes_a_lesson_from_the_template(open_page, tmp_path) -> None:
    """Template, a mistake, its repair, a reload, and the page for students."""
    page = open_page("?depth=idea")
    menu = page.get_by_role("button", name="Lessons")
    for opened in (True, False, True):  # a telephone has no room for all of the menu beside its button
        menu.click()
        expect(page.locator(".st-key-lesson_list")).to_be_visible(visible=opened)
    text = download(page, page.get_by_role("button", name="Template")).path().read_text(encoding="utf-8")
    faulty, good = tmp_path / "faulty.yaml", tmp_path / "good.yaml"
    faulty.write_text(text.replace("step: noir", "step: blanc"), encoding="utf-8")
    good.write_text(text, encoding="utf-8")
    page.locator(".st-key-lesson_list input[type=file]").set_input_files(faulty)
    expect(page.locator(".st-key-problem")).to_contain_text("blanc")
    page.locator(".st-key-lesson_page input[type=file]").set_input_files(good)
    page.locator(".lesson .next").click()
    page.locator("fieldset label", has_text="black").click()
    page.locator(".lesson form button").click()
    expect(page.locator(".verdict .hit")).to_be_visible()
    expect(page.locator(".st-key-sentence")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.reload()
    expect(page.locator(".verdict .hit")).to_be_visible()
    saved = download(page, page.get_by_role("button", name="Save as a page for students"))
    assert saved.suggested_filename == "lesson.html"
    page.locator(".st-key-leave_lesson button").click()
    page.wait_for_selector(".st-key-heatmap .ytick")
    page.goto(f"{page.url.partition('?')[0]}?lesson=attention")  # one that comes with the program, in two languages
    page.locator(".lesson .next").click()
    expect(page.locator(".lesson .next")).to_be_disabled()
    page.locator("fieldset label").nth(1).click()
    page.locator(".lesson form button").click()
    expect(page.locator(".verdict .hit")).to_be_visible()
    page.locator(".st-key-lang button", has_text="FR").click()
    expect(page.locator(".lesson .next")).to_have_text("Suivant")
    expect(page.locator(".verdict .hit")).to_be_visible()
