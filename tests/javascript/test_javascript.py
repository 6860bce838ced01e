"""The page's JavaScript is kept as its Python is: formatted, linted, and type-checked as the browser gets it.

Deno, which comes as a wheel, does all three; it asks no network.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from deno import find_deno_bin

from attnviz.figures.browser import constants_script
from attnviz.ui.components.loader import program_files

REPOSITORY = Path(__file__).parents[2]
PACKAGE = REPOSITORY / "attnviz"
CONFIG = Path(__file__).with_name("deno.json")
COMPONENTS = sorted(path.parent.name for path in (PACKAGE / "ui" / "components").glob("*/__init__.py"))
ASSETS = PACKAGE / "export" / "assets"
LECTURES = {
    "lecture": [ASSETS / name for name in ("drawn.js", "cards.js", "lecture.js")],
    "story": [ASSETS / name for name in ("drawn.js", "story.js")],
}
WRITTEN = sorted(
    path
    for path in PACKAGE.rglob("*")
    if path.name.endswith((".js", ".d.ts")) and path.parent.name != "browser_programs"
)


@dataclass(frozen=True)
class Fault:
    """What the type checker found, and where that is written."""

    code: str
    sentence: str
    place: str


def _deno(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run Deno in `folder`, which also has its cache."""
    environment = os.environ | {"NO_COLOR": "1", "DENO_NO_UPDATE_CHECK": "1", "DENO_DIR": str(folder / ".deno")}
    return subprocess.run(
        [find_deno_bin(), *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def _programs() -> dict[str, list[Path]]:
    """Return the files of each program, in their order; the constants come before them."""
    return {name: program_files(name) for name in COMPONENTS} | LECTURES


def _faults(folder: Path, programs: dict[str, list[Path]]) -> list[Fault]:
    """Type-check each program as one module, as the browser gets it."""
    types = [shutil.copy(path, folder) for path in PACKAGE.rglob("*.d.ts")]
    head = "".join(f'/// <reference path="./{Path(path).name}" />\n' for path in types) + constants_script()
    origin: dict[str, list[str]] = {}
    for name, files in programs.items():
        texts = {path: path.read_text(encoding="utf-8") for path in files}
        (folder / f"{name}.js").write_text(head + "\n".join(texts.values()), encoding="utf-8")
        origin[name] = [f"{name}: constants"] * head.count("\n")
        for path, text in texts.items():
            # Joined by a line break, a text that ends in one is followed by an empty line.
            lines = range(1, len(text.split("\n")) + 1)
            origin[name] += [f"{path}:{line}" for line in lines]
    shutil.copy(CONFIG, folder)
    checked = _deno(folder, "check", "--no-remote", "--no-npm", "--no-lock", *(f"{name}.js" for name in programs))
    found = []
    for block in checked.stderr.split("\n\n"):
        told, at = re.search(r"(TS\d+) \[ERROR\]: (.*)", block), re.findall(r"/(\w+)\.js:(\d+):\d+", block)
        if told and at:
            name, line = at[-1]
            found.append(Fault(told[1], told[2], origin[name][int(line) - 1]))
    assert checked.returncode == 0 or found, checked.stderr
    return found


UNUSED = "TS6133"


def test_every_program_is_well_typed(tmp_path: Path) -> None:
    programs = _programs()
    faults = _faults(tmp_path, programs)
    assert [fault for fault in faults if fault.code != UNUSED] == []
    # What all programs share is used by some of them; all else by its own.
    shared = {str(path) for path in program_files(COMPONENTS[0]) if path.parent.name == "components"}
    unused: dict[Fault, int] = {}
    for fault in faults:
        if not fault.place.endswith("constants"):
            unused[fault] = unused.get(fault, 0) + 1
    by_nobody = [
        fault
        for fault, times in unused.items()
        if fault.place.rpartition(":")[0] not in shared or times == len(COMPONENTS)
    ]
    assert by_nobody == []


WRONG = {
    "unknown": ("nowhere();", "TS2304"),  # no such name
    "mistaken": ("write(document.body, 1);", "TS2345"),  # an argument of another type
    "untyped": ("function untyped(value) { return value; }", "TS7006"),  # a parameter without a type
    "misspelt": ("chooseIn(document.body, { stepp: 1 });", "TS2561"),  # a property that the type lacks
    "absent": ("window.Plotly.purge(document.body);", "TS18048"),  # may be undefined
}


def test_the_check_finds_what_is_wrong(tmp_path: Path) -> None:
    shared, programs = program_files(COMPONENTS[0])[:3], {}
    for name, (line, _) in WRONG.items():
        path = tmp_path / f"only-{name}.js"
        path.write_text(f"{line}\n", encoding="utf-8")
        programs[name] = [*shared, path]
    faults = _faults(tmp_path, programs)
    for name, (_, code) in WRONG.items():
        place = f"{tmp_path / f'only-{name}.js'}:1"
        assert any(fault.place == place and fault.code == code for fault in faults), name


def test_the_linter_finds_nothing(tmp_path: Path) -> None:
    linted = _deno(tmp_path, "lint", "--config", CONFIG, *(path for path in WRITTEN if path.suffix == ".js"))
    assert linted.returncode == 0, linted.stderr


def test_it_is_formatted(tmp_path: Path) -> None:
    checked = _deno(tmp_path, "fmt", "--check", "--config", CONFIG, *WRITTEN)
    assert checked.returncode == 0, f"deno fmt --config tests/javascript/deno.json FILE\n{checked.stderr}"
