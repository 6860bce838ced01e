"""README and the guides do what they say: Python and commands run, and CI runs the very command that README shows."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from attnviz.commands.program import _parser
from tests.browser.server import find_chromium
from tests.conftest import REPOSITORY, SENTENCES
from tests.importing.attention_files import CONTENTS, SOURCES, TARGETS
from tests.importing.seq2seq import write_checkpoint

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
ROOMS = (REPOSITORY / "attnviz", REPOSITORY / "tests" / "benchmarks", REPOSITORY / ".deploy")
OF_OTHERS = REPOSITORY / "attnviz" / "browser_programs" / "README.md"
"""Says where programs and letters of others are from; what it tells to do has a test of its own."""
GUIDES = [
    REPOSITORY / "README.md",
    *sorted({found for room in ROOMS for found in room.rglob("README.md")} - {OF_OTHERS}),
]
"""README and the guides that it leads to."""
CARDS = sorted((REPOSITORY / "models").rglob("README.md"))
"""Their commands train for hours; what they lead to must be there as well."""


def _blocks(language: str) -> list[str]:
    """Return what stands in the guides' blocks of code, each once."""
    marked = re.compile(rf"^```{language}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    return list(dict.fromkeys(block for guide in GUIDES for block in marked.findall(guide.read_text("utf-8"))))


PYTHON = _blocks("python")
COMMANDS = list(dict.fromkeys(line for block in _blocks("sh") for line in block.splitlines()))
ELSEWHERE = ("runs/", "--ray")
"""What takes a trained model, or a cluster: tests of their own try these commands."""
QUICK = ("translate", "align", "figure", "attention", "score", "corpus", "evaluate")


@pytest.fixture
def folder(tmp_path: Path, shipped_model: Path) -> Path:
    """Return a folder with the files that README's examples speak of."""
    (tmp_path / "models").symlink_to(shipped_model.parent)
    (tmp_path / "sentences.txt").write_text("\n".join(SENTENCES[::2]) + "\n", encoding="utf-8")
    pairs = zip(SENTENCES[::2], SENTENCES[1::2], strict=True)
    (tmp_path / "pairs.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in pairs), encoding="utf-8")
    link = {"id": "1", "en": ["A", "dog"], "fr": ["Un", "chien"], "S": [[0, 0], [1, 1]], "P": []}
    for name in ("gold.jsonl", "other-gold.jsonl"):
        (tmp_path / name).write_text(json.dumps(link) + "\n", encoding="utf-8")
    _attention(tmp_path)
    return tmp_path


def _attention(folder: Path) -> None:
    """Put the attention of other programs in the folder, as they would write it."""
    soft = [
        "La maison verte . ||| 1,0,0,0,0 0,0,1,0,0 0,1,0,0,0 0,0,0,1,0 0,0,0,0,1",
        "Deux chiens jouent . ||| 1,0,0,0,0 0,1,0,0,0 0,0,1,0,0 0,0,0,1,0 0,0,0,0,1",
    ]
    (folder / "marian.txt").write_text("\n".join(soft) + "\n", encoding="utf-8")
    np.save(folder / "weights.npy", np.eye(4) + 0.1)
    for name, source in (("links.txt", "pharaoh.txt"), ("nematus.txt", "nematus.txt"), ("fairseq.log", "soft.log")):
        (folder / name).write_bytes(CONTENTS[source])
    (folder / "gold.wa").write_bytes(CONTENTS["gold.wa"])
    (folder / "attention.jsonl").write_bytes(CONTENTS["synonyms.jsonl"])
    (folder / "src.txt").write_text("\n".join(SOURCES), encoding="utf-8")
    (folder / "tgt.txt").write_text("\n".join(TARGETS), encoding="utf-8")
    np.save(folder / "heads.npy", np.full((2, 2, 3, 3, 3), 1 / 3))
    (folder / "tut3").mkdir()
    write_checkpoint(folder / "tut3")


def _environment() -> dict[str, str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    browser = {"BROWSER_PATH": found} if (found := find_chromium()) else {}
    return {**os.environ, "PATH": path, "PYTHONPATH": str(REPOSITORY), "OMP_WAIT_POLICY": "PASSIVE", **browser}


@pytest.mark.parametrize("block", PYTHON)
def test_a_python_block(folder: Path, block: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", block],
        cwd=folder,
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "looked most at" in done.stdout
    assert (folder / "trace.json").is_file()


@pytest.mark.nightly
@pytest.mark.parametrize(
    "command",
    [
        line
        for line in COMMANDS
        if any(f"attnviz {name} " in line for name in QUICK) and not any(other in line for other in ELSEWHERE)
    ],
)
def test_a_command(folder: Path, command: str) -> None:
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=_environment(), capture_output=True, text=True, check=False
    )
    written = re.search(r"(?:>|-o) (\S+)$", command)
    if written and written[1].endswith((".png", ".svg", ".pdf")) and find_chromium() is None:
        assert "Chromium" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    assert ((folder / written[1]).read_text(encoding="utf-8") if written else done.stdout).strip()


def test_the_options_of_every_command_exist() -> None:
    for command in COMMANDS:
        if "-m attnviz" in command:
            arguments = shlex.split(re.sub(r" [<>] \S+", "", command).split("-m attnviz ")[1])
            _parser(arguments).parse_args(arguments)


@pytest.mark.nightly
@pytest.mark.parametrize("command", [line for line in COMMANDS if "tests.benchmarks" in line])
def test_the_benchmarks_exist(command: str) -> None:
    module = shlex.split(command)[2]
    done = subprocess.run(
        [sys.executable, "-m", module, "--help"], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_ci_runs_the_test_command_that_readme_shows() -> None:
    shown = [line for line in COMMANDS if "tests/requirements.txt" in line]
    assert len(shown) == 1
    script = (REPOSITORY / ".ci" / "run").read_text(encoding="utf-8")
    pattern = re.search(r"grep -E '(.+)' README\.md", script)
    assert pattern
    assert [line for line in README.splitlines() if re.search(pattern[1], line)] == shown
    assert shown[0].endswith("&& .venv/bin/python -m tests")


def test_what_the_guides_link_to_exists() -> None:
    broken = []
    for guide in (*GUIDES, *CARDS):
        for name, anchor in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)", guide.read_text(encoding="utf-8")):
            target = guide.parent / name if name else guide
            if not target.is_file() or (anchor and anchor not in _anchors(target)):
                broken.append(f"{guide.relative_to(REPOSITORY)}: {name}#{anchor}")
    assert broken == []


def _anchors(page: Path) -> set[str]:
    """Return what a link may name of a Markdown page: its headings, as GitHub writes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_readme_leads_to_every_guide() -> None:
    linked = {(REPOSITORY / name).resolve() for name in re.findall(r"\]\(([^)#]+)", README)}
    assert {*GUIDES} - linked == {REPOSITORY / "README.md"}


def test_requirements_are_pinned() -> None:
    for name in ("requirements.txt", "tests/requirements.txt"):
        for line in (REPOSITORY / name).read_text(encoding="utf-8").splitlines():
            assert re.fullmatch(r"-r \.\./requirements\.txt|[\w-]+==[\w.]+", line), line
