"""A hosted app: lost connections, visitor limit, sign-in, base URL path, log privacy, no network, waiting sentences."""

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from attnviz.text import LONGEST_SENTENCE
from tests.browser.server import READY, REPOSITORY, free_port, running_server, serving
from tests.browser.test_page import type_sentence
from tests.browser.views import text_of
from tests.conftest import SHIPPED_MODEL

pytestmark = pytest.mark.nightly
SECRET = "Zanzibar keeps 4711 parrots."


def run_app(stack: ExitStack, folder: Path, **settings: str) -> str:
    return stack.enter_context(running_server(SHIPPED_MODEL.parent, folder / "page.log", **settings))[0]


def open_as_visitor(chromium: Browser, stack: ExitStack, address: str) -> Page:
    """Open the page as a new visitor, in a browser context of its own."""
    context = chromium.new_context()
    stack.callback(context.close)
    page = context.new_page()
    page.goto(address)
    return page


COUNT_DIALOGS = """() => {
  window.dialogs = 0;
  new MutationObserver((changes) => {
    const added = changes.flatMap(({ addedNodes }) => [...addedNodes]);
    dialogs += added.filter((node) => node.matches?.("[data-testid=stDialog]")).length;
  }).observe(document.body, { childList: true });
}"""
"""JavaScript that counts in `dialogs` how often Streamlit opens a dialog."""


def test_page_link_without_a_server_says_that_the_page_waits_and_opens_it_later(chromium, tmp_path, snapshot) -> None:
    port = str(free_port())
    with ExitStack() as stack:
        with ExitStack() as first:
            address = run_app(first, tmp_path, PORT=port)
            page = open_as_visitor(chromium, stack, f"{address}/#step=2")
            page.wait_for_selector(READY, timeout=120_000)
            page.evaluate(COUNT_DIALOGS)
        notice = page.locator(".offline")
        expect(notice).to_be_visible()
        page.wait_for_function("() => dialogs > 0")
        expect(page.get_by_test_id("stDialog")).to_have_count(0)
        page.locator(".st-key-room[data-step='1'] .player .transport .previous").click()
        expect(page.locator(".st-key-room")).to_have_attribute("data-step", "0")
        page.locator(".player .transport .next").click()
        expect(page.locator(".st-key-room")).to_have_attribute("data-step", "1")
        before = text_of(notice)
        page.get_by_role("link", name="Lab", exact=True).click()
        expect(notice).not_to_have_text(before)
        assert [before, text_of(notice)] == snapshot
        run_app(stack, tmp_path, PORT=port)
        expect(page.locator(".page-links [aria-current]")).to_have_text("Lab", timeout=60_000)
        expect(notice).to_be_hidden()
        expect(page.locator(".st-key-room")).to_have_attribute("data-step", "1")


def test_visitor_queues_while_all_seats_are_taken(chromium, tmp_path) -> None:
    with ExitStack() as stack:
        settings = {"ATTNVIZ_VISITORS": "1", "STREAMLIT_SERVER_BASE_URL_PATH": "lab"}  # the name of a page
        address = run_app(stack, tmp_path, **settings)
        first = open_as_visitor(chromium, stack, address)
        first.wait_for_selector(READY, timeout=120_000)
        second = open_as_visitor(chromium, stack, f"{address}/?sentence=Two+dogs+play.&lang=fr")
        expect(second.locator(".st-key-queue")).to_contain_text("C’est bientôt à vous")
        third = open_as_visitor(chromium, stack, address)
        expect(third.locator(".st-key-queue")).to_contain_text("You are number 2")
        first.locator(".st-key-sentence textarea").fill(SECRET)
        first.keyboard.press("Control+Enter")
        expect(first.locator(".player .source")).to_contain_text("Zanzibar")
        first.context.close()
        second.wait_for_selector(READY)
        expect(second.locator(".player .source")).to_contain_text("dogs")
        expect(third.locator(".st-key-queue")).to_contain_text("You are next")
        second.context.close()
        third.wait_for_selector(READY)
        third.goto(f"{address}/?sentence={'+'.join(['Quetzalcoatl'] * (LONGEST_SENTENCE + 1))}")
        expect(third.locator(".stApp")).to_contain_text(f"at most {LONGEST_SENTENCE}")  # a run that fails
        written = (tmp_path / "page.log").read_text(
            encoding="utf-8"
        )  # the log contains no sentence that a visitor typed or linked
        assert not [one for one in ("Zanzibar", "Two dogs", "Two+dogs", "Quetzalcoatl") if one in written]


def test_user_can_sign_in_and_out(chromium, tmp_path, snapshot) -> None:
    port, provider, secrets = free_port(), free_port(), tmp_path / "secrets.toml"
    command = [sys.executable, str(Path(__file__).with_name("provider.py")), str(provider)]
    keys, log = f"http://127.0.0.1:{provider}/keys", tmp_path / "provider.log"
    secrets.write_text(
        f'[auth]\nredirect_uri = "http://127.0.0.1:{port}/oauth2callback"\ncookie_secret = "a secret of a test"\n'
        'client_id = "attnviz"\nclient_secret = "another"\n'
        f'server_metadata_url = "http://127.0.0.1:{provider}/.well-known/openid-configuration"\n'
    )
    with ExitStack() as stack:
        stack.enter_context(serving(command, keys, log, folder=REPOSITORY, environment=dict(os.environ)))
        address = run_app(stack, tmp_path, STREAMLIT_SECRETS_FILES=str(secrets), PORT=str(port))
        page = open_as_visitor(chromium, stack, address)
        for _ in range(2):  # and once more
            page.get_by_role("button", name="Sign in").click(timeout=120_000)
            page.wait_for_selector(READY, timeout=60_000)
            page.get_by_role("button", name="Sign out").click()
            expect(page.get_by_role("button", name="Sign in")).to_be_visible()
            expect(page.locator(".st-key-sentence")).to_have_count(0)
            assert text_of(page.locator(".st-key-sign_in")) == snapshot(name="signed out")


WITHOUT_NETWORK = """
import fcntl, socket, struct, sys, pytest
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:  # a new namespace's loopback is down: SIOCSIFFLAGS
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh", b"lo", 0x41))
sys.exit(pytest.main(["-n0", "-p", "no:cacheprovider", *sys.argv[1:]]))
"""
JOURNEYS = "tests/browser/test_page.py", "-k", "first_visit or by_keys"


def test_app_works_without_a_network() -> None:
    """In a network namespace that has nothing but its own loopback, a visitor translates."""
    if subprocess.run(["unshare", "--net", "true"], check=False, capture_output=True).returncode:
        pytest.skip("this machine lets nobody make a network namespace")
    command = ["unshare", "--net", sys.executable, "-c", WITHOUT_NETWORK, *JOURNEYS]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.fixture(scope="module")
def script() -> str:
    return "tests/browser/slow_app.py"


def test_waiting_visitor_sees_the_position_and_may_ask_otherwise(open_page, tmp_path, snapshot) -> None:
    """In two tabs, with a slow translator."""
    first, second = open_page(), open_page()
    notice = ".st-key-queue_notice .stText"
    type_sentence(first, f"It takes until {tmp_path / 'one'} is there.")
    expect(first.get_by_test_id("stSpinner")).to_be_visible()
    type_sentence(second, f"It takes until {tmp_path / 'another'} is there.")
    expect(second.locator(notice)).to_be_in_viewport()
    assert second.locator(notice).inner_text() == snapshot
    expect(first.locator(notice)).to_have_count(0)  # its sentence does not wait
    type_sentence(second, "A quick dog.")  # and the sentence before is dropped, which would wait for ever
    second.wait_for_timeout(3000)  # nothing shows that it is dropped
    (tmp_path / "one").touch()
    expect(second.locator(".player .source")).to_contain_text("quick")
    expect(second.locator(notice)).to_have_count(0)
    expect(first.locator(".player .source")).to_contain_text("until")
