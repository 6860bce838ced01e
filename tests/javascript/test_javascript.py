"""Quality of the JavaScript modules: formatting, lint and types by Deno, cycles, assets, and mounts."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from deno import find_deno_bin

from attnviz.browser_modules import _BUNDLE, _COMMENT, static_imports
from tests.deno_program import made_by

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
def test_every_module_passes_the_checks_of_deno(check: str, tmp_path) -> None:
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


def test_comments_that_the_bundle_leaves_out_are_in_no_template_literal() -> None:
    """Before each comment, the code has an even number of backticks, without those in strings."""
    for module in MODULES:
        text = module.read_text(encoding="utf-8")
        for comment in _COMMENT.finditer(text):
            code = _COMMENT.sub("", text[: comment.start()])
            ticks = re.sub(r'"[^"\n]*"|\\`', "", code).count("`")
            assert ticks % 2 == 0, f"{module.name}: {comment[0]}"


def test_module_that_throws_at_its_first_run_is_run_again(tmp_path) -> None:
    module = '"one": (exports) => { runs += 1; if (runs === 1) throw new Error(); exports.runs = runs; }'
    begin = f"let runs = 0, thrown = 0;\n{_BUNDLE.replace('FUNCTIONS', module)}"
    twice = 'try { attnvizModule("one"); } catch { thrown += 1; }\n' * 2
    assert made_by(begin + twice, 'JSON.stringify([thrown, attnvizModule("one").runs])', {}, tmp_path) == [1, 2]


def test_a_cleanup_ends_what_is_mounted_once_its_element_has_left_the_page(tmp_path) -> None:
    """On two quick changes Streamlit cleans up the first before or after the second is mounted: both stay mounted."""
    mounts = """(() => {
      globalThis.document = Object.assign(new EventTarget(), { adoptedStyleSheets: [] });
      const ended = [], places = ["here", "there"].map((name) => {
        const child = { querySelectorAll: () => (ended.push(name), []) };
        return { name, child, children: [], isConnected: true };
      });
      globalThis.attnvizModule = () => ({ default: {} });
      const mount = host(), [here, there] = places;
      const ends = [here, here, there].map((parentElement) => mount({ parentElement, data: [[]] }));
      for (const { children, child } of places) children.push(child);
      const after = ends.map((end) => (end(), [...ended]));
      here.isConnected = false;
      return JSON.stringify([...after, ...ends.map((end) => (end(), [...ended]))]);
    })()"""
    program = f'import {{ host }} from "{(PACKAGE / "ui" / "components" / "blocks.js").as_uri()}";'
    kept, gone = [[], [], []], [["here"], ["here", "here"], ["here", "here"]]
    assert made_by(program, mounts, None, tmp_path) == kept + gone


def test_no_asset_loads_from_another_server_or_parses_text_as_markup() -> None:
    for path in (path for path in (PACKAGE / "ui").rglob("*.*") if path.suffix in (".js", ".css", ".html", ".svg")):
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")
        unsafe = ("http", "//fonts", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(")
        assert [way for way in unsafe if way in text] == [], path.name
