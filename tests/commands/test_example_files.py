"""`attnviz examples` copies the files that the pages of the documentation use, and keeps those that are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from attnviz.commands.main import main
from tests.conftest import REPOSITORY

EXAMPLES = REPOSITORY / "attnviz" / "examples"


def test_examples_are_copied_into_the_folder(tmp_path: Path) -> None:
    assert main(["examples", str(tmp_path / "new")]) == 0
    files = [path.relative_to(EXAMPLES) for path in EXAMPLES.rglob("*") if path.is_file()]
    assert len(files) > 10
    assert all((tmp_path / "new" / path).read_bytes() == (EXAMPLES / path).read_bytes() for path in files)


def test_files_of_the_working_directory_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pairs.tsv").write_text("mine")
    assert main(["examples"]) == 0
    assert Path("pairs.tsv").read_text() == "mine"
    assert Path("my-model/config.json").is_file()
    assert capsys.readouterr().out == ""
