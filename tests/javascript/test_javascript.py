"""Quality of the JavaScript modules: formatting, lint, types, exports and import cycles.

Deno, installed as a wheel, does the first three without a network.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

from deno import find_deno_bin

from attnviz.browser_modules import dynamic_imports, static_imports

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


def _type_check(folder: Path, *files: Path) -> subprocess.CompletedProcess[str]:
    """Type-check modules."""
    return _deno(folder, "check", "--no-remote", "--no-npm", "--no-lock", "--config", CONFIG, *files)


def test_every_module_passes_the_type_check(tmp_path: Path) -> None:
    """The check includes unused imports and definitions."""
    types = {CONFIG.parent.joinpath(path).resolve() for path in _settings()["types"]}
    assert types == {path for path in WRITTEN if path.suffix == ".ts"}, "list them in deno.json"
    checked = _type_check(tmp_path, *MODULES)
    assert checked.returncode == 0, checked.stderr


def _settings() -> dict[str, list[str]]:
    return dict(json.loads(CONFIG.read_text(encoding="utf-8"))["compilerOptions"])


WRONG = {
    "unknown": ("nowhere();", "TS2304"),  # no such name
    "mistaken": ("write(document.body, 1);", "TS2345"),  # an argument of another type
    "untyped": ("export function untyped(value) { return value; }", "TS7006"),  # a parameter without a type
    "misspelt": ("sendChoice(document.body, { stepp: 1 });", "TS2561"),  # a property that the type lacks
    "absent": ("window.Plotly.purge(document.body);", "TS18048"),  # may be undefined
    "unused": ("const unused = 1;", "TS6133"),
    "missing": ('import { missing } from "./view.js";\nmissing();', "TS2305"),  # no such export
}


def test_type_check_finds_each_kind_of_error(tmp_path: Path) -> None:
    shared = (PACKAGE / "ui" / "components").as_uri()
    names = {"write": "shared", "sendChoice": "view"}
    for name, (line, _) in WRONG.items():
        needed = [f'import {{ {one} }} from "{shared}/{module}.js";\n' for one, module in names.items() if one in line]
        text = "".join(needed) + line.replace("./view.js", f"{shared}/view.js")
        (tmp_path / f"{name}.js").write_text(f"{text}\n", encoding="utf-8")
    checked = _type_check(tmp_path, *(tmp_path / f"{name}.js" for name in WRONG))
    found = set()
    for block in checked.stderr.split("\n\n"):
        code, at = re.search(r"(TS\d+) \[ERROR\]", block), re.findall(r"/(\w+)\.js:\d+:\d+", block)
        found |= {(at[-1], code[1])} if code and at else set()
    assert found == {(name, code) for name, (_, code) in WRONG.items()}


def test_every_export_is_imported_somewhere() -> None:
    wanted: set[tuple[Path, str]] = set()
    for module in MODULES:
        text = module.read_text(encoding="utf-8")
        for names, target in re.findall(r'^import \{([^}]*)\} from "(.*)";$', text, re.MULTILINE):
            wanted |= {((module.parent / target).resolve(), name.strip()) for name in names.split(",") if name.strip()}
        wanted |= {(later, name) for later in dynamic_imports(module) for name in re.findall(r"\.(\w+)", text)}
    exported = {
        (module, name)
        for module in MODULES
        for name in re.findall(
            r"^export (?:async )?(?:function|const|let|class) (\w+)", module.read_text("utf-8"), re.MULTILINE
        )
    }
    assert exported - wanted == set()


def test_every_module_is_imported_and_imports_have_no_cycle() -> None:
    """In an import cycle, one module runs before the module it imports, whose constants do not exist yet."""
    rest = {module: set(static_imports(module)) for module in MODULES}
    later = {one for module in MODULES for one in dynamic_imports(module)}
    assert {one for needed in rest.values() for one in needed} | later | set(ENTRIES) == set(MODULES)
    while free := {module for module, needed in rest.items() if not needed & rest.keys()}:
        rest = {module: needed for module, needed in rest.items() if module not in free}
    assert not rest


def test_modules_pass_the_linter(tmp_path: Path) -> None:
    linted = _deno(tmp_path, "lint", "--config", CONFIG, *MODULES)
    assert linted.returncode == 0, linted.stderr


def test_modules_are_formatted(tmp_path: Path) -> None:
    checked = _deno(tmp_path, "fmt", "--check", "--config", CONFIG, *WRITTEN)
    assert checked.returncode == 0, f"deno fmt --config tests/javascript/deno.json FILE\n{checked.stderr}"
