"""Replacing of files: atomic, also on a full disk, through symbolic links and into pipes."""

import contextlib
import functools
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from attnviz import AttnvizError, Trace
from attnviz.checkpoint import load_model
from attnviz.deadlines import with_deadline
from attnviz.export import save
from attnviz.files import check_regular, replace_text
from attnviz.model_folder import DETECTOR, FILES, WEIGHTS_FILE, count_parameters, model_folders, weights_digest
from tests.conftest import REPOSITORY
from tests.figures import synthetic
from tests.snapshots import refusal

OLD = "what was there before"


@contextlib.contextmanager
def full_disk(left: int = 2048) -> Iterator[None]:
    """Let writing fail, as on a full disk, once a file has so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (left, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture(scope="module")
def trace() -> Trace:
    return synthetic.trace()


@pytest.mark.parametrize("ending", ["html", "json", "csv", "tex"])
def test_export_to_full_disk_leaves_old_file(trace, tmp_path, ending, snapshot) -> None:
    path = tmp_path / f"out.{ending}"
    path.write_text(OLD, encoding="utf-8")
    with full_disk(256):
        message = refusal(lambda: save(trace, path), tmp_path)
    assert message == snapshot
    assert path.read_text(encoding="utf-8") == OLD
    assert list(tmp_path.iterdir()) == [path]


def test_symbolic_link_and_permissions_are_preserved(tmp_path) -> None:
    file, link = tmp_path / "folder" / "file", tmp_path / "link"
    file.parent.mkdir()
    file.write_text(OLD, encoding="utf-8")
    file.chmod(0o640)
    link.symlink_to(file)
    replace_text(link, "new")
    assert link.is_symlink()
    assert file.read_text(encoding="utf-8") == "new"
    assert file.stat().st_mode & 0o777 == 0o640
    assert [*file.parent.iterdir()] == [file]


def test_next_write_removes_what_a_killed_process_left(tmp_path) -> None:
    foreign = tmp_path / "out.txt.tmp"
    foreign.write_text(OLD, encoding="utf-8")
    writer = """
import os, sys, pathlib
from attnviz.files import replacing
with replacing(pathlib.Path(sys.argv[1])) as temporary:
    temporary.write_text("half")
    print(temporary.name, flush=True)
    sys.stdin.read()
"""
    how = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "cwd": REPOSITORY, "text": True}
    with subprocess.Popen([sys.executable, "-c", writer, tmp_path / "out.txt"], **how) as process:
        temporary = tmp_path / process.stdout.readline().strip()
        replace_text(tmp_path / "other.txt", "new")
        assert temporary.read_text(encoding="utf-8") == "half"  # its writer is alive
        process.kill()
    assert temporary.exists()
    replace_text(tmp_path / "other.txt", "new")
    assert sorted(tmp_path.iterdir()) == [tmp_path / "other.txt", foreign]
    assert foreign.read_text(encoding="utf-8") == OLD


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_only_regular_files_pass(tmp_path, make, snapshot) -> None:
    odd, regular = tmp_path / "odd", tmp_path / "regular"
    make(odd)
    regular.write_text(OLD, encoding="utf-8")
    for path in (regular, tmp_path, tmp_path / "missing"):
        check_regular(path)
    assert refusal(lambda: check_regular(odd), tmp_path) == snapshot


def _pipe_instead_of(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


@pytest.mark.parametrize("name", FILES)
def test_pipe_in_model_folder_is_refused(model_folder, tmp_path, name) -> None:
    folder = tmp_path / "models" / "tiny"
    shutil.copytree(model_folder, folder)
    _pipe_instead_of(folder / name)
    for read in (load_model, weights_digest, count_parameters) if name == WEIGHTS_FILE else (load_model,):
        with pytest.raises(AttnvizError, match=name):
            with_deadline(60, functools.partial(read, folder))
    assert with_deadline(60, lambda: model_folders(folder.parent, (DETECTOR,))) == []


def test_pipe_named_by_the_user_is_read() -> None:
    record = '{"source": ["a"], "target": ["b"], "matrix": [[1]]}'
    command = ["bash", "-c", f"'{sys.executable}' -m attnviz attention <(echo '{record}')"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout) == (0, "a\tb\t0-0\n")
