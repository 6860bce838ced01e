"""The position of a sentence among those that wait for their translation, in two tabs and a slow translator."""

import pytest
from playwright.sync_api import expect

from tests.browser.test_page import type_sentence

pytestmark = pytest.mark.nightly
NOTICE = ".st-key-queue_notice .stText"


@pytest.fixture(scope="module")
def script() -> str:
    return "tests/browser/slow_app.py"


def test_waiting_visitor_sees_the_position_and_may_ask_otherwise(open_page, tmp_path, snapshot) -> None:
    first, second = open_page(), open_page()
    type_sentence(first, f"It takes until {tmp_path / 'one'} is there.")
    expect(first.get_by_test_id("stSpinner")).to_be_visible()
    type_sentence(second, f"It takes until {tmp_path / 'another'} is there.")
    expect(second.locator(NOTICE)).to_be_in_viewport()
    assert second.locator(NOTICE).inner_text() == snapshot
    expect(first.locator(NOTICE)).to_have_count(0)  # its sentence does not wait
    type_sentence(second, "A quick dog.")  # and the sentence before is dropped, which would wait for ever
    second.wait_for_timeout(3000)  # nothing shows that it is dropped
    (tmp_path / "one").touch()
    expect(second.locator(".player .source")).to_contain_text("quick")
    expect(second.locator(NOTICE)).to_have_count(0)
    expect(first.locator(".player .source")).to_contain_text("until")
