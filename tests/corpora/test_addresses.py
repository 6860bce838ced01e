"""Files of a corpus by path, folder, pattern and address: found in order, copied, and missing ones named."""

from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest
from pyarrow import parquet

from attnviz import AttnvizError
from attnviz.commands.main import main
from attnviz.corpora.corpus_lines import local_files, source_files

PAIRS = "A dog sleeps.\tUn chien dort.\n"


@pytest.fixture
def folder(tmp_path) -> Path:
    for name in ("b.tsv", "a.tsv", "notes.md"):
        (tmp_path / name).write_text(PAIRS)
    return tmp_path


@pytest.fixture
def store() -> Iterator[fsspec.AbstractFileSystem]:
    """Return a file system in memory with the files of two parts."""
    system = fsspec.filesystem("memory")
    for part in (1, 2):
        with system.open(f"/corpus/part-{part}.tsv", "w") as file:
            file.write(PAIRS)
    yield system
    system.rm("/corpus", recursive=True)


def test_paths_folders_and_patterns_are_expanded_in_order(folder) -> None:
    a, b = (str(folder / name) for name in ("a.tsv", "b.tsv"))
    assert source_files([b]) == [b]
    assert source_files([str(folder)]) == [a, b]
    assert source_files([f"{folder}/*.tsv", b]) == [a, b, b]
    assert source_files(["absent.tsv"]) == ["absent.tsv"], "the reader says that it is absent"
    for nothing in (f"{folder}/*.jsonl", str(folder / "empty")):
        (folder / "empty").mkdir(exist_ok=True)
        with pytest.raises(AttnvizError, match=r"jsonl|empty"):
            source_files([nothing])


def test_addresses_are_expanded_and_copied(store, tmp_path) -> None:
    parts = [f"memory:///corpus/part-{part}.tsv" for part in (1, 2)]
    for name in ("memory://corpus/part-*.tsv", "memory://corpus"):
        files = source_files([name])
        assert [file.rpartition("/")[2] for file in files] == ["part-1.tsv", "part-2.tsv"]
        with local_files(files) as copies:
            assert [copy.read_text() for copy in copies] == [PAIRS, PAIRS]
    assert source_files(parts) == parts


def test_command_writes_a_table_of_each_file(folder, store, model_folder, capsys) -> None:
    options = ["--model", str(model_folder), "--workers", "1", "--kind", "none"]
    assert (
        main(["corpus", f"{folder}/*.tsv", "memory://corpus/part-1.tsv", "-o", str(folder / "tables"), *options]) == 0
    )
    tables = sorted((folder / "tables").glob("*.parquet"))
    assert [table.name for table in tables] == ["a.parquet", "b.parquet", "part-1.parquet"]
    assert [parquet.read_table(table).num_rows for table in tables] == [1, 1, 1]
    assert "3 rows" in capsys.readouterr().out
    assert main(["corpus", "memory://corpus/part-1.tsv", "-o", str(folder / "one.parquet"), *options]) == 0
    assert parquet.read_table(folder / "one.parquet").num_rows == 1
    for refused in ([str(folder), "-o", "one.parquet"], [str(folder), "-o", "tables", "--gold", "gold.txt"]):
        assert main(["corpus", *refused, *options]) == 2
