"""Sessions of visitors who are gone end although nobody comes after them."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from tests.benchmarks.visitor import Visitor
from tests.browser.server import running_server

VISITORS = 10


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are counted in /proc")
def test_expired_sessions_are_dropped_although_nobody_comes(tmp_path: Path) -> None:
    """Streamlit's sessions each have an event loop, which has three files open (a selector and a pair of sockets)."""
    log = tmp_path / "page.log"

    async def come_and_go(address: str) -> None:
        for _ in range(VISITORS):
            await (await Visitor.arrive(address)).leave()

    with running_server(tmp_path, log, STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL="2") as (address, process):
        asyncio.run(come_and_go(address))
        files = Path(f"/proc/{process}/fd")
        many, until = len(list(files.iterdir())), time.monotonic() + 60
        while len(list(files.iterdir())) > many - 2 * VISITORS:
            assert time.monotonic() < until, "the sessions are still there"
            time.sleep(0.2)
    assert "Traceback" not in log.read_text(encoding="utf-8")
