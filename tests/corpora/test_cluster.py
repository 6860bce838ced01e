"""Corpus analysis on a Ray cluster: identical output after a killed actor and an interrupted run."""

import contextlib
import gzip
import os
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from attnviz.commands.main import main
from attnviz.corpora import Cluster, Progress, Settings, TableMetadata, analyse_file, analyse_files
from attnviz.corpora.corpus_lines import source_files, table_files
from tests.snapshots import plain

ray = pytest.importorskip("ray", reason="Ray is not installed")

pytestmark = [pytest.mark.nightly, pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")]


def analyse_on_cluster(
    folder: Path, output: Path, model: Path, advance: Callable[[Progress], object] | None = None
) -> dict[Path, TableMetadata]:
    tables = {Path(file): table for file, table in table_files(source_files([str(folder)]), output).items()}
    settings, cluster = Settings(beam=1), Cluster(actors=2)
    return analyse_files(tables, model, settings, cluster=cluster, window=4, skip_malformed=True, advance=advance)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[str]:
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
def folder(tmp_path, pairs_file) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    shutil.copy(pairs_file, folder / "many.2014.tsv")
    (folder / "few.txt.gz").write_bytes(gzip.compress(b"A dog.\tUn chien.\na\tb\tc\nTwo dogs.\tDeux chiens."))
    (folder / "README.md").write_text("Pairs.")
    return folder


def actor_ids(word: str) -> list[int]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            titled = (process / "cmdline").read_bytes().startswith(b"ray::_Actor")
            if titled and f"STARTED_BY={word}" in (process / "environ").read_text(errors="replace"):
                found.append(int(process.name))
    return found


@pytest.mark.usefixtures("one_thread")
def test_output_is_complete_after_an_interruption_and_a_killed_actor(cluster, folder, model_folder, tmp_path) -> None:
    class Interrupted(Exception):
        pass

    def stop(progress: Progress) -> None:
        if progress.done >= 12:
            raise Interrupted

    killed: list[int] = []
    reports: list[Progress] = []

    def kill(progress: Progress) -> None:
        reports.append(progress)
        if not killed and progress.done > progress.before:
            killed.extend(actor_ids(cluster)[:1])
            os.kill(killed[0], signal.SIGKILL)

    output = tmp_path / "out"
    with pytest.raises(Interrupted):
        analyse_on_cluster(folder, output, model_folder, advance=stop)
    made = analyse_on_cluster(folder, output, model_folder, advance=kill)
    assert killed
    assert reports[0].before >= 12
    assert reports[-1].done == reports[-1].total
    assert [one.done for one in reports] == sorted({one.done for one in reports})
    assert {table.name: (about.lines, about.rows) for table, about in made.items()} == {
        "few.parquet": (3, 2),
        "many.2014.parquet": (46, 43),
    }
    for file, table in zip(("few.txt.gz", "many.2014.tsv"), made, strict=True):
        alone = tmp_path / "alone.parquet"
        analyse_file(folder / file, alone, model_folder, Settings(beam=1), device="cpu", window=4, skip_malformed=True)
        assert table.read_bytes() == alone.read_bytes()
    assert sorted(path.name for path in output.iterdir()) == ["few.parquet", "many.2014.parquet"]
    before = [table.stat().st_mtime_ns for table in made]
    assert analyse_on_cluster(folder, output, model_folder) == made
    assert [table.stat().st_mtime_ns for table in made] == before


def test_command_reports_the_error_of_an_actor(cluster, folder, model_folder, tmp_path, capsys, snapshot) -> None:
    arguments = ["corpus", "--skip-malformed", "--ray", str(folder), "--kind", "none", "-o", str(tmp_path / "out")]
    arguments += ["--actors", "1", "--model", str(model_folder)]
    damaged = folder / "damaged.parquet"
    parquet.write_table(pa.table({"source": ["Two dogs play in the snow."] * 9}), damaged, use_dictionary=False)
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:4] + bytes(40) + whole[44:])
    assert main(arguments) == 2
    lines = capsys.readouterr().err.splitlines()
    program, file, message, cause = lines[-1].split(": ", 3)
    assert program == "attnviz"
    assert plain(f"{file}: {message}", tmp_path) == snapshot(name="damaged")
    assert cause
    assert not any("Traceback" in line for line in lines)
    damaged.unlink()
    assert main(arguments) == 0
    printed = capsys.readouterr()
    assert plain(printed.out, tmp_path) == snapshot(name="printed")
    assert re.findall(r"\d+", plain(printed.out, tmp_path)) == ["45", "49", "4", "6"]
    assert re.findall(r"\S+\.parquet: .*", printed.err) == snapshot(name="skipped")
    assert "ray" not in printed.err.lower()
