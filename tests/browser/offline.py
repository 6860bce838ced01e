"""Open the app without a network: `unshare --net python -m tests.browser.offline FOLDER`."""

import fcntl
import socket
import struct
import sys
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

from tests.browser.server import CHROMIUM_FLAGS, READY, find_chromium, running_server
from tests.conftest import SHIPPED_MODEL

SET_FLAGS, UP_AND_RUNNING = 0x8914, 0x41


def main(folder: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:  # a new namespace's loopback is down
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sh", b"lo", UP_AND_RUNNING))
    with running_server(SHIPPED_MODEL.parent, folder / "page.log") as (address, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_FLAGS)
        page = browser.new_page()
        failed: list[str] = []
        page.on("requestfailed", lambda request: failed.append(request.url))
        page.goto(f"{address}/?depth=everything")
        page.wait_for_selector(READY, timeout=120_000)
        page.locator(".st-key-sentence textarea").fill("Two dogs play in the snow.")
        page.keyboard.press("Control+Enter")
        expect(page.locator(".player .source")).to_contain_text("dogs", timeout=30_000)
        page.wait_for_selector("[data-waiting]", state="detached")
        browser.close()
        if strays := [url for url in failed if not url.startswith(address)]:
            raise RuntimeError(f"asked for from elsewhere: {strays}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
