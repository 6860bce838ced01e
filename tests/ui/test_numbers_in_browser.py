"""Number formatting in the browser: it writes percentages as the server does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from attnviz import languages
from tests.conftest import REPOSITORY
from tests.deno_program import made_by

SHARED = REPOSITORY / "attnviz" / "ui" / "components" / "shared.js"


@pytest.mark.parametrize("code", ["en", "fr", "de", "tr"])
def test_browser_formats_percentages_as_the_server_does(code: str, tmp_path: Path) -> None:
    shares = (0.0, 1e-9, 0.0004, 0.0042, 0.53, 0.994, 0.996, 0.9996, 1 - 1e-9, 1.0)
    asked = [(share, places) for share in shares for places in (0, 1)]
    program = f"""import {{ percent, setLanguage }} from "{SHARED.as_uri()}";
setLanguage({json.dumps(code)});"""
    made = made_by(program, "JSON.stringify(given.map(([share, places]) => percent(share, places)))", asked, tmp_path)
    for (share, places), text in zip(asked, made, strict=True):
        is_rounded_off = share not in (0, 1) and round(100 * share, places) in (0, 100)
        assert text.startswith(("<", ">")) == is_rounded_off, (share, places, text)
    assert made == [languages.format_share_in(code, share, places) for share, places in asked]
