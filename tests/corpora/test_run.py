"""Corpus analysis from file to table: ordered rows, and identical output after interruptions."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import pytest
from pyarrow import parquet
from syrupy.assertion import SnapshotAssertion

from attnviz.commands.main import main
from attnviz.corpora import Progress, Settings, analyse_file
from attnviz.corpora.analyser import Analyser
from attnviz.corpora.table_metadata import table_metadata
from attnviz.errors import AttnvizError
from tests.conftest import REPOSITORY
from tests.snapshots import plain

_SMALL_WINDOWS = """
import signal
import sys

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background
from attnviz import corpora
from attnviz.corpora import job
from attnviz.commands.main import main

if __name__ == "__main__":
    whole = job.analyse_files
    corpora.analyse_files = lambda *given, **named: whole(*given, **(named | {"window": 4, "skip_malformed": True}))
    sys.exit(main(sys.argv[1:]))
"""


analyse = functools.partial(analyse_file, window=4, skip_malformed=True)


def test_tables_have_one_row_per_valid_line_in_order(pairs_file: Path, model_folder: Path, tmp_path: Path) -> None:
    reports: list[Progress] = []
    made = analyse(
        pairs_file, tmp_path / "out.parquet", model_folder, Settings(beam=1), device="cpu", advance=reports.append
    )
    table = parquet.read_table(tmp_path / "out.parquet")
    assert table["number"].to_pylist() == [number for number in range(1, 47) if number not in (31, 32, 33)]
    assert (made.lines, made.rows, made.skipped) == (46, 43, 3)
    assert [number for number, _ in made.named] == [31, 32, 33]
    assert table_metadata(tmp_path / "out.parquet") == made
    assert [one.done for one in reports] == sorted(one.done for one in reports)
    assert reports[-1] == Progress(46, 46, 3, 0)
    assert parquet.ParquetFile(tmp_path / "out.parquet").num_row_groups > 9
    assert not (tmp_path / "out.parquet.parts").exists()


def test_all_skipped_lines_are_counted_and_the_first_thousand_named(model_folder: Path, tmp_path: Path) -> None:
    lines = [f"{k}\t\n" if k % 5 else "A dog.\tUn chien.\n" for k in range(1, 1631)]
    (tmp_path / "bad.tsv").write_text("".join(lines))
    made = analyse_file(
        tmp_path / "bad.tsv",
        tmp_path / "out.parquet",
        model_folder,
        Settings(kind=None),
        window=300,
        skip_malformed=True,
        device="cpu",
    )
    bad = [number for number in range(1, 1631) if number % 5]
    assert (made.rows, made.skipped) == (326, len(bad))
    assert [number for number, _ in made.named] == bad[:1000]
    assert table_metadata(tmp_path / "out.parquet") == made


def test_an_existing_table_is_reused_unless_settings_differ(
    pairs_file: Path, model_folder: Path, tmp_path: Path
) -> None:
    output, settings = tmp_path / "out.parquet", Settings(beam=1, kind=None)
    analyse(pairs_file, output, model_folder, settings, device="cpu", limit=6)
    first = output.stat()
    analyse(pairs_file, output, model_folder, settings, device="cpu", limit=6)
    assert (output.stat().st_ino, output.stat().st_mtime_ns) == (first.st_ino, first.st_mtime_ns)
    made = analyse(
        pairs_file, output, model_folder, dataclasses.replace(settings, threshold=0.5), device="cpu", limit=5
    )
    assert made.rows == 5
    assert parquet.read_metadata(output).num_rows == 5


def test_an_exception_in_advance_stops_the_run_and_it_can_resume(
    pairs_file: Path, model_folder: Path, tmp_path: Path
) -> None:
    class Interrupted(Exception):
        pass

    def stop(progress: Progress) -> None:
        if progress.done >= 12:
            raise Interrupted

    output, analyser = tmp_path / "out.parquet", Analyser.load(model_folder, Settings(beam=1), "cpu")
    with pytest.raises(Interrupted):
        analyse(pairs_file, output, analyser, advance=stop)
    assert not output.exists()
    reports: list[Progress] = []
    analyse(pairs_file, output, analyser, advance=reports.append)
    assert reports[0].before == 12
    whole = tmp_path / "whole.parquet"
    analyse(pairs_file, whole, analyser)
    assert output.read_bytes() == whole.read_bytes()


def test_all_processes_of_a_run_use_the_precision_that_it_chose(
    pairs_file: Path, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen, named = tmp_path / "chosen.parquet", tmp_path / "named.parquet"
    with monkeypatch.context() as patch:
        patch.setattr("attnviz.network.products.choose_precision", lambda *_: "bf16")
        patch.setattr(
            "attnviz.network.output.choose_precision", lambda wanted, _: "fp32" if wanted == "auto" else wanted
        )
        analyse(pairs_file, chosen, model_folder, Settings(beam=1), device="cpu", limit=4)
    analyse(pairs_file, named, model_folder, Settings(beam=1, precision="bf16"), device="cpu", limit=4)
    assert chosen.read_bytes() == named.read_bytes()
    analyse(pairs_file, named, model_folder, Settings(beam=1, precision="fp32"), device="cpu", limit=4)
    assert chosen.read_bytes() != named.read_bytes()


def test_parts_of_another_run_are_discarded(pairs_file: Path, model_folder: Path, tmp_path: Path) -> None:
    output, other = tmp_path / "out.parquet", tmp_path / "other.parquet"
    parts = tmp_path / "out.parquet.parts"
    parts.mkdir()
    analyse(pairs_file, other, model_folder, Settings(beam=1, threshold=0.5), device="cpu", limit=4)
    for number in range(3):
        (parts / f"00000{number}.parquet").write_bytes(other.read_bytes())
    assert analyse(pairs_file, output, model_folder, Settings(beam=1), device="cpu", limit=4).rows == 4
    assert not parts.exists()


def test_files_of_others_among_the_parts_stay(
    pairs_file: Path, model_folder: Path, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    output, parts = tmp_path / "out.parquet", tmp_path / "out.parquet.parts"
    parts.mkdir()
    for name in ("notes.txt", "mine.parquet"):
        (parts / name).write_text("mine")
    assert analyse(pairs_file, output, model_folder, Settings(beam=1), device="cpu", limit=4).rows == 4
    analyse(pairs_file, output, model_folder, Settings(beam=1), device="cpu", limit=4)
    assert sorted(path.name for path in parts.iterdir()) == ["mine.parquet", "notes.txt"]
    output.unlink()
    (parts / "000000.parquet").write_text("mine")
    with pytest.raises(AttnvizError) as error:
        analyse(pairs_file, output, model_folder, Settings(beam=1), device="cpu", limit=4)
    assert plain(error.value, tmp_path) == snapshot
    assert (parts / "000000.parquet").read_text() == "mine"


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the workers in /proc")
def test_interrupt_while_workers_start_ends_the_command(pairs_file: Path, model_folder: Path, tmp_path: Path) -> None:
    script, errors = tmp_path / "small_windows.py", tmp_path / "errors.txt"
    script.write_text(_SMALL_WINDOWS)
    with errors.open("wb") as file:
        process = _start_command(script, pairs_file, tmp_path / "out.parquet", model_folder, file)
        while process.poll() is None and not _has_worker(process.pid):
            time.sleep(0.005)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(120) in (130, -signal.SIGINT)
    assert "Traceback" not in errors.read_text()


def _has_worker(parent: int) -> bool:
    """Return whether a process has started a worker, which has begun to import torch."""
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            is_child = status.read_text().rpartition(")")[2].split()[1] == str(parent)
            if is_child and "libtorch" in (status.parent / "maps").read_text():
                return True
    return False


def test_gold_links_are_refused_with_translate(
    pairs_file: Path, model_folder: Path, snapshot: SnapshotAssertion
) -> None:
    with pytest.raises(AttnvizError) as error:
        analyse(pairs_file, "out.parquet", model_folder, Settings(translate=True), gold=pairs_file)
    assert plain(error.value, model_folder) == snapshot


@pytest.mark.parametrize(
    "content",
    [b"", b"\n\n", b"a\tb\tc\n"],
    ids=["empty", "blank lines", "three cells"],
)
def test_command_fails_when_no_line_is_usable(
    model_folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    content: bytes,
    snapshot: SnapshotAssertion,
) -> None:
    pairs, output = tmp_path / "pairs.tsv", tmp_path / "out.parquet"
    pairs.write_bytes(content)
    for _ in range(2):  # the second finds the table of the first
        arguments = ["--model", str(model_folder), "--device", "cpu", "--skip-malformed"]
        made = main(["corpus", str(pairs), "-o", str(output), *arguments])
        output_text = capsys.readouterr()
        assert made == 2
        assert plain(output_text.err.splitlines()[-1], tmp_path) == snapshot(name="nothing used")
        assert output_text.err.count("was skipped") == len(content.splitlines())


@pytest.mark.parametrize(("options", "alone"), [([], 2), (["--translate"], 0)], ids=["given", "translated"])
def test_command_reports_the_number_of_lines_without_french(
    model_folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    alone: int,
    snapshot: SnapshotAssertion,
) -> None:
    pairs, output = tmp_path / "pairs.tsv", tmp_path / "out.parquet"
    pairs.write_text("A dog.\tUn chien.\nTwo dogs.\nThe snow.\n")
    assert not main(
        [
            "corpus",
            str(pairs),
            "-o",
            str(output),
            "--model",
            str(model_folder),
            "--device",
            "cpu",
            "--workers",
            "1",
            "--beam",
            "1",
            "--kind",
            "none",
            *options,
        ]
    )
    output_text = plain(capsys.readouterr().out, tmp_path)
    assert output_text == snapshot
    assert re.findall(r"\d+", output_text) == ["3", "3", "0", *([str(alone)] if alone else [])]


def _start_command(
    script: Path, pairs: Path, output: Path, model: Path, errors: IO[bytes] | int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [
            sys.executable,
            script,
            "corpus",
            pairs,
            "-o",
            output,
            "--model",
            model,
            "--device",
            "cpu",
            "--workers",
            "2",
            "--beam",
            "1",
        ],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1", "STARTED_BY": str(script)},
        stdout=subprocess.DEVNULL,
        stderr=errors,
        start_new_session=True,
    )


def _is_running(script: Path) -> bool:
    """Return whether the script or a process that it started is running; all have its environment."""
    for entry in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if f"STARTED_BY={script}" in entry.read_text(errors="replace"):
                return True
    return False


@pytest.mark.nightly
@pytest.mark.usefixtures("one_thread")
def test_output_is_identical_after_the_process_is_killed(pairs_file: Path, model_folder: Path, tmp_path: Path) -> None:
    script, output, parts = tmp_path / "small_windows.py", tmp_path / "out.parquet", tmp_path / "out.parquet.parts"
    script.write_text(_SMALL_WINDOWS)
    analyse(pairs_file, tmp_path / "whole.parquet", model_folder, Settings(beam=1), device="cpu")
    chance = random.Random(7)  # noqa: S311
    for _ in range(2):
        process = _start_command(script, pairs_file, output, model_folder)
        there = len(list(parts.glob("*.parquet")))
        # Kill the process after it wrote another part, mostly while it writes the next one.
        while len(list(parts.glob("*.parquet"))) == there and process.poll() is None:
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 0.02))
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not output.exists()
    assert len(list(parts.glob("*.parquet"))) >= 2
    assert _start_command(script, pairs_file, output, model_folder).wait(300) == 0
    assert output.read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    for _ in range(100):
        if not _is_running(script):
            break
        time.sleep(0.1)
    assert not _is_running(script)


@pytest.mark.parametrize(
    "content",
    [
        "Un été.\tA summer.\n".encode("iso-8859-1"),
        b"A dog.\tUn chien.\t0.7\n" * 4,
        b"A dog ||| Un chien\n" * 4,
        b"A dog.\tUn chien.\n" * 4 + b"A dog.\t \n",
        b"source,target\nA dog.,Un chien.\n" + b'"A dog, asleep.",Un chien qui dort.\n' * 4,
        b"A dog.;Un chien.\n" * 4,
    ],
    ids=["another encoding", "three columns", "bars", "a blank side", "commas", "semicolons"],
)
def test_malformed_files_are_refused_before_the_model_is_loaded(
    tmp_path: Path, content: bytes, snapshot: SnapshotAssertion
) -> None:
    (tmp_path / "pairs.tsv").write_bytes(content)
    model = tmp_path / "model"
    model.mkdir()
    (model / "model.safetensors").write_bytes(b"never read")
    with pytest.raises(AttnvizError) as error:
        analyse_file(tmp_path / "pairs.tsv", tmp_path / "out.parquet", model, device="cpu")
    assert plain(error.value, tmp_path) == snapshot
    assert not list(tmp_path.glob("out*"))
