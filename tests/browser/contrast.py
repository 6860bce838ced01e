"""Whether what is written on a page can be read."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

_CONTRAST = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")


def faint(page: Page, *, more_than: int, within: str = "") -> list[str]:
    """Return what does not stand out from what lies behind it, of more than that many stretches of text; only of those
    boxes whose name holds `within`.

    What comes and what Streamlit is about to take away fades: only what stays so for five seconds is told.
    """
    for _ in range(20):
        found = page.evaluate(_CONTRAST)
        offenders = [text for text in found["offenders"] if within in text]
        if found["count"] > more_than and not offenders:
            break
        page.wait_for_timeout(250)
    assert found["count"] > more_than
    return offenders
