"""By actors of a cluster: the same bytes as alone, with one of them killed and the run ended in its midst."""

from __future__ import annotations

import contextlib
import functools
import gzip
import os
import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from syrupy.assertion import SnapshotAssertion

from attnviz.commands.program import main
from attnviz.corpora import Cluster, Progress, Settings, analyse_file, analyse_folder
from attnviz.errors import AttnvizError
from tests.snapshots import plain

ray = pytest.importorskip("ray", reason="Ray is not installed")

pytestmark = [pytest.mark.nightly, pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")]

by_actors = functools.partial(analyse_folder, settings=Settings(beam=1), cluster=Cluster(actors=2), window=4)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a cluster on this machine; return a word that is in the environment of all its processes."""
    word = str(tmp_path_factory.mktemp("cluster"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STARTED_BY", word)
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_BACKEND_LOG_LEVEL", "fatal")
        ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        yield word
        ray.shutdown()


@pytest.fixture
def folder(tmp_path: Path, pairs_file: Path) -> Path:
    """Return a folder with two files of pairs, and others."""
    folder = tmp_path / "in"
    folder.mkdir()
    shutil.copy(pairs_file, folder / "many.2014.tsv")
    (folder / "few.txt.gz").write_bytes(gzip.compress(b"A dog.\tUn chien.\na\tb\tc\nTwo dogs.\tDeux chiens."))
    (folder / "README.md").write_text("Pairs.")
    return folder


def actors(word: str) -> list[int]:
    """Return the numbers of the processes that are actors with a model."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            titled = (process / "cmdline").read_bytes().startswith(b"ray::MapWorker")
            if titled and f"STARTED_BY={word}" in (process / "environ").read_text(errors="replace"):
                found.append(int(process.name))
    return found


def test_ended_and_bereft_of_an_actor_nothing_is_lost_or_doubled(
    cluster: str, folder: Path, model_folder: Path, tmp_path: Path
) -> None:
    class Enough(Exception):
        pass

    def stop(told: Progress) -> None:
        if told.done >= 12:
            raise Enough

    killed: list[int] = []
    heard: list[Progress] = []

    def kill(told: Progress) -> None:
        heard.append(told)
        if not killed and told.done > told.before:
            killed.extend(actors(cluster)[:1])
            os.kill(killed[0], signal.SIGKILL)

    output = tmp_path / "out"
    with pytest.raises(Enough):
        by_actors(folder, output, model_folder, advance=stop)
    made = by_actors(folder, output, model_folder, advance=kill)
    assert killed
    assert heard[0].before >= 12
    assert heard[-1].done == heard[-1].total
    assert [one.done for one in heard] == sorted({one.done for one in heard})
    assert {table.name: (about.lines, about.rows) for table, about in made.items()} == {
        "few.parquet": (3, 2),
        "many.2014.parquet": (46, 43),
    }
    for file, table in zip(("few.txt.gz", "many.2014.tsv"), made, strict=True):
        alone = tmp_path / "alone.parquet"
        analyse_file(folder / file, alone, model_folder, Settings(beam=1), device="cpu", window=4)
        assert table.read_bytes() == alone.read_bytes()
    assert sorted(path.name for path in output.iterdir()) == ["few.parquet", "many.2014.parquet"]
    before = [table.stat().st_mtime_ns for table in made]
    assert by_actors(folder, output, model_folder) == made
    assert [table.stat().st_mtime_ns for table in made] == before


def test_the_command_and_what_an_actor_fails_with(
    cluster: str,
    folder: Path,
    model_folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    snapshot: SnapshotAssertion,
) -> None:
    arguments = [
        "corpus",
        "--skip-malformed",
        "--ray",
        str(folder),
        "--kind",
        "none",
        "-o",
        str(tmp_path / "out"),
        "--actors",
        "1",
        "--model",
        str(model_folder),
    ]
    damaged = folder / "damaged.parquet"
    parquet.write_table(pa.table({"source": ["Two dogs play in the snow."] * 9}), damaged, use_dictionary=False)
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:4] + bytes(40) + whole[44:])
    assert main(arguments) == 2
    said = capsys.readouterr().err.splitlines()
    program, message, cause = said[-1].split(": ", 2)
    assert program == "attnviz"
    assert plain(message, tmp_path) == snapshot(name="damaged")
    assert cause
    assert not any("Traceback" in line for line in said)
    damaged.unlink()
    assert main(arguments) == 0
    printed = capsys.readouterr()
    assert plain(printed.out, tmp_path) == snapshot(name="printed")
    assert re.findall(r"\d+", plain(printed.out, tmp_path)) == ["45", "49", "4"]
    assert re.findall(r"\S+\.parquet: .*", printed.err) == snapshot(name="skipped")
    assert "ray" not in printed.err.lower()


def test_what_cannot_be_is_a_sentence(
    folder: Path, model_folder: Path, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    with pytest.raises(AttnvizError) as error:
        by_actors(model_folder, tmp_path / "out", model_folder)
    assert plain(error.value, tmp_path) == snapshot
    with pytest.raises(AttnvizError) as error:
        by_actors(folder, tmp_path / "out", model_folder, cluster=Cluster(gpus_per_actor=1.5))
    assert plain(error.value, tmp_path) == snapshot
    with pytest.raises(AttnvizError) as error:
        by_actors(folder, folder / "README.md", model_folder)
    assert plain(error.value, tmp_path) == snapshot
    (folder / "few.parquet").write_bytes(b"PAR1")
    with pytest.raises(AttnvizError) as error:
        by_actors(folder, folder, model_folder)
    assert plain(error.value, tmp_path) == snapshot
    with pytest.raises(AttnvizError) as error:
        by_actors(folder, tmp_path / "out", model_folder)
    assert plain(error.value, tmp_path) == snapshot


@pytest.mark.parametrize(
    "wrong",
    [
        ["--actors", "2"],
        ["--address", "auto"],
        ["--ray", "--gold", "x"],
        ["--ray", "--workers", "2"],
        ["--ray", "--device", "cpu"],
        [],
    ],
)
def test_options_that_do_not_go_together_are_refused(
    folder: Path, model_folder: Path, wrong: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["corpus", str(folder), "-o", "out.parquet", "--model", str(model_folder), *wrong]) == 2
    assert "--ray" in capsys.readouterr().err
