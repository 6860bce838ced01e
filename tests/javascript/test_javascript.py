"""Quality of the JavaScript modules: formatting, lint and types by Deno (without a network), exports and cycles."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from deno import find_deno_bin

from attnviz.browser_modules import static_imports

REPOSITORY = Path(__file__).parents[2]
PACKAGE = REPOSITORY / "attnviz"
CONFIG = Path(__file__).with_name("deno.json")
_FOUND = [path for ending in ("*.js", "*.d.ts") for path in PACKAGE.rglob(ending)]
WRITTEN = sorted(path for path in _FOUND if path.parent.name != "browser_programs")
MODULES = [path for path in WRITTEN if path.suffix == ".js"]
COMPONENTS = [path for path in (PACKAGE / "ui" / "components").glob("*/*.js") if path.stem == path.parent.name]
PAGES = [PACKAGE / "ui" / "components" / f"{name}.js" for name in ("offline", "guest")]
ENTRIES = [*COMPONENTS, PACKAGE / "ui" / "components" / "blocks.js", *PAGES]
"""Entry points: modules that no other module imports."""


CHECKS = {
    "types": ("check --no-remote --no-npm --no-lock", MODULES),  # and unused imports and definitions
    "lint": ("lint", MODULES),
    "format": ("fmt --check", WRITTEN),
}
"""The arguments of Deno and the files of each check; `deno fmt --config tests/javascript/deno.json FILE` formats."""


@pytest.mark.parametrize("check", CHECKS)
def test_every_module_passes_the_checks_of_deno(check: str, tmp_path: Path) -> None:
    cache = {"NO_COLOR": "1", "DENO_NO_UPDATE_CHECK": "1", "DENO_DIR": str(tmp_path / ".deno")}
    arguments, files = CHECKS[check]
    command = [find_deno_bin(), *arguments.split(), "--config", CONFIG, *files]
    how = {"cwd": tmp_path, "env": os.environ | cache, "capture_output": True, "text": True}
    checked = subprocess.run(command, check=False, **how)
    assert checked.returncode == 0, checked.stderr


def test_configuration_of_deno_lists_every_file_of_types() -> None:
    types = json.loads(CONFIG.read_text(encoding="utf-8"))["compilerOptions"]["types"]
    listed = {CONFIG.parent.joinpath(path).resolve() for path in types}
    assert listed == {path for path in WRITTEN if path.suffix == ".ts"}


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
