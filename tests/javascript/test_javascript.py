"""Quality of the JavaScript modules: formatting, lint, types, exports and import cycles.

Deno, installed as a wheel, does the first three without a network.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from deno import find_deno_bin

from attnviz.browser_modules import static_imports

REPOSITORY = Path(__file__).parents[2]
PACKAGE = REPOSITORY / "attnviz"
CONFIG = Path(__file__).with_name("deno.json")
WRITTEN = sorted(
    path
    for path in PACKAGE.rglob("*")
    if path.name.endswith((".js", ".d.ts")) and path.parent.name != "browser_programs"
)
MODULES = [path for path in WRITTEN if path.suffix == ".js"]
COMPONENTS = [path for path in (PACKAGE / "ui" / "components").glob("*/*.js") if path.stem == path.parent.name]
PAGES = [PACKAGE / "ui" / "components" / f"{name}.js" for name in ("offline", "guest")]
ENTRIES = [*COMPONENTS, PACKAGE / "ui" / "components" / "blocks.js", *PAGES]
"""Entry points: modules that no other module imports."""


def _deno(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run Deno in `folder`, which also has its cache."""
    environment = os.environ | {"NO_COLOR": "1", "DENO_NO_UPDATE_CHECK": "1", "DENO_DIR": str(folder / ".deno")}
    return subprocess.run(
        [find_deno_bin(), *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_every_module_passes_the_type_check(tmp_path: Path) -> None:
    """The check includes unused imports and definitions."""
    types = json.loads(CONFIG.read_text(encoding="utf-8"))["compilerOptions"]["types"]
    listed = {CONFIG.parent.joinpath(path).resolve() for path in types}
    assert listed == {path for path in WRITTEN if path.suffix == ".ts"}, "list them in deno.json"
    checked = _deno(tmp_path, "check", "--no-remote", "--no-npm", "--no-lock", "--config", CONFIG, *MODULES)
    assert checked.returncode == 0, checked.stderr


def test_every_module_is_imported_and_imports_have_no_cycle() -> None:
    """In an import cycle, one module runs before the module it imports, whose constants do not exist yet."""
    rest = {module: set(static_imports(module)) for module in MODULES}
    assert {one for needed in rest.values() for one in needed} | set(ENTRIES) == set(MODULES)
    assert [path.name for path in MODULES if 'import("' in path.read_text(encoding="utf-8")] == [], (
        "the app has one script"
    )
    while free := {module for module, needed in rest.items() if not needed & rest.keys()}:
        rest = {module: needed for module, needed in rest.items() if module not in free}
    assert not rest


def test_modules_pass_the_linter(tmp_path: Path) -> None:
    linted = _deno(tmp_path, "lint", "--config", CONFIG, *MODULES)
    assert linted.returncode == 0, linted.stderr


def test_modules_are_formatted(tmp_path: Path) -> None:
    checked = _deno(tmp_path, "fmt", "--check", "--config", CONFIG, *WRITTEN)
    assert checked.returncode == 0, f"deno fmt --config tests/javascript/deno.json FILE\n{checked.stderr}"
