"""Find texts on a page whose contrast with their background is too low."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

_CONTRAST = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")
_STAYS_FAINT = """async ([moreThan, within]) => {
  const inspect = () => {
    const { count, offenders } = (CONTRAST)();
    return { count, offenders: offenders.filter((text) => text.includes(within)) };
  };
  let found = inspect();
  for (const began = performance.now(); performance.now() - began < 5000; found = inspect()) {
    if (found.count > moreThan && !found.offenders.length) break;
    await new Promise((then) => setTimeout(then, 250));
  }
  return found;
}""".replace("CONTRAST", _CONTRAST)


def faint(page: Page, *, more_than: int, within: str = "") -> list[str]:
    """Return the texts whose contrast with their background is too low; assert that it examined more than `more_than`.

    Only texts whose description contains `within` are returned. Elements fade in and out as Streamlit adds and removes
    them, so that a text counts only if it stays faint for five seconds.
    """
    result: dict[str, Any] = page.evaluate(_STAYS_FAINT, [more_than, within])
    assert result["count"] > more_than
    return list(result["offenders"])
