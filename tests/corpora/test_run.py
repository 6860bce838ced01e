"""Corpus analysis from file to table: ordered rows, and identical output after interruptions."""

import dataclasses
import functools

import pytest
from pyarrow import parquet

from attnviz.commands.main import main
from attnviz.corpora import Analyser, Progress, Settings, analyse_file
from attnviz.corpora.table_metadata import table_metadata
from tests.snapshots import plain, refusal

analyse = functools.partial(analyse_file, window=4, skip_malformed=True)


def test_tables_have_one_row_per_valid_line_in_order(pairs_file, model_folder, tmp_path) -> None:
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


def test_all_skipped_lines_are_counted_and_the_first_thousand_named(model_folder, tmp_path) -> None:
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


def test_an_existing_table_is_reused_unless_settings_differ(pairs_file, model_folder, tmp_path) -> None:
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


def test_an_exception_in_advance_stops_the_run_and_it_can_resume(pairs_file, model_folder, tmp_path) -> None:
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
    pairs_file, model_folder, tmp_path, monkeypatch
) -> None:
    chosen, named = tmp_path / "chosen.parquet", tmp_path / "named.parquet"
    with monkeypatch.context() as patch:
        patch.setattr("attnviz.network.products.choose_coarse_precision", lambda *_: "int8")
        patch.setattr(
            "attnviz.network.output.choose_coarse_precision", lambda wanted, _: "fp32" if wanted == "auto" else wanted
        )
        analyse(pairs_file, chosen, model_folder, Settings(beam=1), device="cpu", limit=4)
    analyse(pairs_file, named, model_folder, Settings(beam=1, precision="int8"), device="cpu", limit=4)
    assert chosen.read_bytes() == named.read_bytes()
    analyse(pairs_file, named, model_folder, Settings(beam=1, precision="fp32"), device="cpu", limit=4)
    assert chosen.read_bytes() != named.read_bytes()


def test_files_of_others_among_the_parts_stay(pairs_file, model_folder, tmp_path, snapshot) -> None:
    output, parts = tmp_path / "out.parquet", tmp_path / "out.parquet.parts"
    parts.mkdir()
    for name in ("notes.txt", "mine.parquet"):
        (parts / name).write_text("mine")
    assert analyse(pairs_file, output, model_folder, Settings(beam=1), device="cpu", limit=4).rows == 4
    analyse(pairs_file, output, model_folder, Settings(beam=1), device="cpu", limit=4)
    assert sorted(path.name for path in parts.iterdir()) == ["mine.parquet", "notes.txt"]
    output.unlink()
    (parts / "000000.parquet").write_text("mine")
    again = functools.partial(analyse, pairs_file, output, model_folder, Settings(beam=1), device="cpu", limit=4)
    assert refusal(again, tmp_path) == snapshot
    assert (parts / "000000.parquet").read_text() == "mine"


@pytest.mark.parametrize("content", [b"", b"\n\n", b"a\tb\tc\n"], ids=["empty", "blank lines", "three cells"])
def test_command_fails_when_no_line_is_usable(model_folder, tmp_path, capsys, content, snapshot) -> None:
    pairs, output = tmp_path / "pairs.tsv", tmp_path / "out.parquet"
    pairs.write_bytes(content)
    for _ in range(2):  # the second finds the table of the first
        arguments = ["--model", str(model_folder), "--device", "cpu", "--skip-malformed"]
        made = main(["corpus", str(pairs), "-o", str(output), *arguments])
        output_text = capsys.readouterr()
        assert made == 2
        assert plain(output_text.err.splitlines()[-1], tmp_path) == snapshot(name="nothing used")
        assert output_text.err.count("was skipped") == len(content.splitlines())
