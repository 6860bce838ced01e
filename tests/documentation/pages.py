"""Extract the code blocks of the documentation, run them in a folder of examples, and compare their output.

A block of Python or shell code runs. A `text` block right after it is its expected output. The comment
`<!-- not run: REASON -->` before a block excludes it.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from attnviz.importing.formats import FORMATS
from attnviz.importing.formats.json_formats import FIELD_NAMES
from tests.browser.server import find_chromium
from tests.conftest import REPOSITORY

DOCUMENTATION = REPOSITORY / ".docs"
PAGES = sorted((DOCUMENTATION / "pages").rglob("*.md"))
GUIDES = [REPOSITORY / "README.md", *PAGES]
"""The pages whose code runs."""
RECIPES = [*sorted((DOCUMENTATION / "pages" / "recipes").glob("*.md")), DOCUMENTATION / "pages" / "other-tools.md"]
"""The pages whose code also runs in an empty folder outside the repository, with the installed package alone."""
PYTHON = Path(sys.executable)
EXAMPLES = REPOSITORY / "attnviz" / "examples"
_BLOCK = re.compile(
    r"(?:^<!-- not run: (?P<reason>.+?) -->\n)?"
    r"^```(?P<language>python|sh)\n(?P<code>.*?)^```\n"
    r"(?:\n```text\n(?P<output>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
_RUNNER = """
import contextlib, io, json, subprocess, sys
namespace, outputs = {"__name__": "__main__"}, []
for number, (language, code) in enumerate(json.load(sys.stdin)):
    if language == "python":
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(code, f"block {number}", "exec"), namespace)
        outputs.append(printed.getvalue())
    else:
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", code], stdout=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f"exit code {done.returncode} of:\\n{code}")
        outputs.append(done.stdout)
json.dump(outputs, sys.stdout)
"""
"""Runs the blocks of a page, its Python in one namespace, and prints their outputs as JSON."""


@dataclass(frozen=True)
class Block:
    language: str
    code: str
    output: str | None
    """What the page says that it prints; None if it does not say."""
    reason: str | None
    """Why it does not run; None if it does."""
    span: tuple[int, int]
    """Where it is in the text of the page, its output included."""

    @property
    def commands(self) -> list[str]:
        """Return the lines of shell code, those joined that a backslash continues."""
        return self.code.replace("\\\n", " ").splitlines() if self.language == "sh" else []


def blocks(text: str) -> list[Block]:
    return [
        Block(found["language"], found["code"], found["output"], found["reason"], found.span())
        for found in _BLOCK.finditer(text)
    ]


def prepare(folder: Path) -> Path:
    """Make `folder` a clone of the repository to those who run code in it, with the example files; return it."""
    for name in ("attnviz", "models"):
        (folder / name).symlink_to(REPOSITORY / name)
    shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True)
    return folder


def log_plainly(folder: Path) -> None:
    """Have Streamlit log the errors of apps that run in `folder`: with rich, where it is installed, it prints them."""
    (folder / ".streamlit").mkdir(exist_ok=True)
    (folder / ".streamlit" / "config.toml").write_text("[logger]\nenableRich = false\n", encoding="utf-8")


def environment(python: Path) -> dict[str, str]:
    """Return the environment of the programs: `python` is found first, and Chromium where there is one."""
    path = os.pathsep.join([str(python.parent), os.environ["PATH"]])
    browser = {"BROWSER_PATH": found} if (found := find_chromium()) else {}
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    return {**kept, "PATH": path, "OMP_WAIT_POLICY": "PASSIVE", "COLUMNS": "120", **browser}


def run_blocks(folder: Path, runnable: list[Block], python: Path = PYTHON) -> list[str]:
    """Run the blocks in `folder`, one after the other; return what each prints. A failure fails the test."""
    log_plainly(folder)
    done = subprocess.run(
        [python, "-W", "error", "-c", _RUNNER],
        cwd=folder,
        env=environment(python),
        input=json.dumps([(block.language, block.code) for block in runnable]),
        capture_output=True,
        text=True,
        timeout=590,
        check=False,
    )
    if done.returncode:
        pytest.fail(f"{done.stderr[-4000:]}", pytrace=False)
    printed: list[str] = json.loads(done.stdout)
    return printed


def outputs_match(expected: str, found: str) -> bool:
    """Return whether two outputs are alike: the same text, and numbers that differ by less than 2 % or 0.02.

    The last digits of a model's numbers depend on the processor.
    """
    if _NUMBER.sub("#", expected).split() != _NUMBER.sub("#", found).split():
        return False
    pairs = zip(map(float, _NUMBER.findall(expected)), map(float, _NUMBER.findall(found)), strict=True)
    return all(abs(a - b) <= max(0.02, 0.02 * abs(a)) for a, b in pairs)


FORMATS_PAGE = DOCUMENTATION / "pages" / "data.md"
_FORMATS = "| `--format` | file | the command that makes it |\n|---|---|---|\n"
_FIELDS = "| field | names, the preferred first |\n|---|---|\n"


def tables() -> dict[str, str]:
    """Return the rows of both tables as Markdown by their heads; a bar would end a cell, so ⎮ stands for it."""
    formats = [f"| `{one.name}` | {_cell(one.example)} | {_cell(one.written_by)} |\n" for one in FORMATS]
    fields = [f"| {field} | {', '.join(f'`{name}`' for name in names)} |\n" for field, names in FIELD_NAMES.items()]
    return {_FORMATS: "".join(sorted(formats)), _FIELDS: "".join(fields)}


def _cell(text: str) -> str:
    return text.replace("|", "⎮")


def with_tables(page: str) -> str:
    """Return the text of the page with the tables as they must be."""
    for head, rows in tables().items():
        before, _, rest = page.partition(head)
        page = before + head + rows + "\n" + rest.partition("\n\n")[2]
    return page
