"""Resolution of ES module imports, and bundling of modules into one script."""

from __future__ import annotations

from pathlib import Path

import pytest

from attnviz.browser_modules import bundle, static_imports, with_imports
from tests.deno_program import made_by

MODULES = {
    "page.js": """// A page.

import {
  doubled,
  half,
} from "./numbers/half.js";
import { ten } from "./numbers/ten.js";
import "./numbers/ten.js";

export async function page() {
  return [half(ten), doubled(ten), "import { ten } from './nowhere.js';"];
}
""",
    "numbers/half.js": """import { ten } from "./ten.js";
export const half = (value) => value / (ten / 5);
export function doubled(value) { return 2 * value; }
""",
    "numbers/ten.js": "export const ten = 10;\n",
}


@pytest.fixture
def page(tmp_path: Path) -> Path:
    (tmp_path / "numbers").mkdir()
    for name, text in MODULES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path / "page.js"


def test_module_comes_after_its_imports(page: Path) -> None:
    ten, half = (page.parent / "numbers" / name for name in ("ten.js", "half.js"))
    assert static_imports(page) == [half, ten, ten]
    assert with_imports([page, half]) == [ten, half, page]


def test_bundled_script_behaves_like_modules(page: Path, tmp_path: Path) -> None:
    answer = "JSON.stringify(await page())"
    as_modules = made_by(f'import {{ page }} from "{page.as_uri()}";', answer, None, tmp_path)
    assert (
        made_by(bundle([page]), answer.replace("page()", 'attnvizModule("page.js").page()'), None, tmp_path)
        == as_modules
    )
    assert as_modules[:2] == [5, 20]
