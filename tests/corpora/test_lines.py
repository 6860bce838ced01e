"""Files of sentence pairs of every kind: lines read or skipped; files by path, folder, pattern and address."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from attnviz import AttnvizError
from attnviz.commands.main import main
from attnviz.corpora import Line, Skipped, read_lines
from attnviz.corpora.corpus_lines import check_lines, count_lines, local_files, source_files
from attnviz.file_kinds import KINDS_OF_FILES

PAIRS = [("Two dogs play.", "Deux chiens jouent."), ("It's here!", "C'est là !")]
TEXT = "".join(f"{a}\t{b}\n" for a, b in PAIRS)


def pairs(path: Path) -> list[tuple[str, str | None]]:
    return [(line.source, line.target) for line in read_lines(path) if isinstance(line, Line)]


def test_parquet_files_are_read(tmp_path, snapshot) -> None:
    path = tmp_path / "pairs.parquet"
    rows = [*PAIRS, ("No French.", None)]
    parquet.write_table(
        pa.table({"target": [b for _, b in rows], "x": [1, 2, 3], "source": [a for a, _ in rows]}), path
    )
    assert pairs(path) == PAIRS
    (skipped,) = (line for line in read_lines(path) if isinstance(line, Skipped))
    assert skipped.number == 3
    assert skipped.reason == snapshot
    assert count_lines(path) == 3


def test_gold_links_are_read_from_a_second_file_and_from_json_lines(tmp_path, snapshot) -> None:
    path, gold = tmp_path / "pairs.tsv", tmp_path / "links.txt"
    path.write_text(TEXT + TEXT, encoding="utf-8")
    gold.write_text("0-0 1-1 2?2\n\n9-0\nnonsense\n", encoding="utf-8")
    first, second, third, fourth = read_lines(path, gold)
    assert (first.gold.sure, first.gold.possible) == ({(0, 0), (1, 1)}, {(2, 2)})
    assert first.gold.source == ("Two", "dogs", "play.")
    assert second.gold is None
    assert [third.reason, fourth.reason] == snapshot
    path = tmp_path / "gold.jsonl"
    record = {"id": "7", "en": ["It", "'s", "here", "!"], "fr": ["C'", "est", "là", "!"], "S": [[0, 0]], "P": [[3, 3]]}
    outside, empty = record | {"S": [[4, 0]]}, record | {"fr": [], "P": []}
    path.write_text("\n".join(json.dumps(one) for one in (record, outside, empty)) + "\n[]\n{", encoding="utf-8")
    first, *others = read_lines(path)
    assert first.source == "It's here!"
    assert first.gold.possible == {(3, 3)}
    reasons = [one.reason for one in others if isinstance(one, Skipped)]
    assert len(reasons) == len(others) == 4
    assert reasons[:2] == snapshot(name="json lines")


@pytest.mark.parametrize("name", ["PAIRS.TSV", "pairs.Tsv.GZ", "pairs.Parquet"])
def test_extensions_are_read_in_any_case(tmp_path, name) -> None:
    path = tmp_path / name
    if name.endswith("Parquet"):
        parquet.write_table(pa.table({"source": [a for a, _ in PAIRS], "target": [b for _, b in PAIRS]}), path)
    else:
        path.write_bytes(gzip.compress(TEXT.encode()) if name.endswith("GZ") else TEXT.encode())
    check_lines(path)
    assert pairs(path) == PAIRS
    assert count_lines(path) == len(PAIRS)


@pytest.mark.parametrize("name", ["missing.tsv", "pairs.doc", "pairs.parquet.gz", "damaged.xz", "damaged.parquet"])
def test_unreadable_files_are_refused(tmp_path, name) -> None:
    path = tmp_path / name.replace(".xz", ".tsv.xz")
    if name != "missing.tsv":
        path.write_bytes(b"PAR1 no such thing")
    with pytest.raises(AttnvizError, match=path.name):
        list(read_lines(path))


@given(st.binary(max_size=200).filter(lambda content: b"\0" not in content))
def test_any_bytes_are_read_skipped_or_refused(tmp_path_factory, content) -> None:
    path = tmp_path_factory.getbasetemp() / "any.tsv"
    path.write_bytes(content)
    try:
        read = list(read_lines(path))
    except AttnvizError:  # another encoding, or no text
        lines = content.split(b"\n")
        assert not content.isascii() or any(lines[0].startswith(kind) for kind in KINDS_OF_FILES)
        return
    assert [line.number for line in read] == list(range(1, count_lines(path) + 1))
    assert all(line.source.strip() and "\t" not in line.source for line in read if isinstance(line, Line))


def test_repeated_text_of_a_dictionary_takes_memory_once(tmp_path) -> None:
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 500, pa.int32()), pa.array(["a" * 1_000_000]))
    table = pa.table({"source": texts})
    parquet.write_table(table, tmp_path / "a.parquet", compression="zstd", store_schema=False)
    assert (tmp_path / "a.parquet").stat().st_size < 10_000
    before, counting = pa.default_memory_pool(), pa.proxy_memory_pool(pa.default_memory_pool())
    pa.set_memory_pool(counting)
    try:
        assert all(isinstance(line, Skipped) for line in read_lines(tmp_path / "a.parquet"))
    finally:
        pa.set_memory_pool(before)
    assert counting.max_memory() < 50 << 20


PAIR = "A dog sleeps.\tUn chien dort.\n"


@pytest.fixture
def folder(tmp_path) -> Path:
    for name in ("b.tsv", "a.tsv", "notes.md"):
        (tmp_path / name).write_text(PAIR)
    return tmp_path


@pytest.fixture
def store() -> Iterator[fsspec.AbstractFileSystem]:
    system = fsspec.filesystem("memory")
    for part in (1, 2):
        with system.open(f"/corpus/part-{part}.tsv", "w") as file:
            file.write(PAIR)
    yield system
    system.rm("/corpus", recursive=True)


def test_paths_folders_patterns_and_addresses_are_expanded_in_order(folder, store, tmp_path) -> None:
    a, b = (str(folder / name) for name in ("a.tsv", "b.tsv"))
    assert source_files([b]) == [b]
    assert source_files([str(folder)]) == [a, b]
    assert source_files([f"{folder}/*.tsv", b]) == [a, b, b]
    assert source_files(["absent.tsv"]) == ["absent.tsv"], "the reader says that it is absent"
    for nothing in (f"{folder}/*.jsonl", str(folder / "empty")):
        (folder / "empty").mkdir(exist_ok=True)
        with pytest.raises(AttnvizError, match=r"jsonl|empty"):
            source_files([nothing])
    parts = [f"memory:///corpus/part-{part}.tsv" for part in (1, 2)]
    for name in ("memory://corpus/part-*.tsv", "memory://corpus"):
        files = source_files([name])
        assert [file.rpartition("/")[2] for file in files] == ["part-1.tsv", "part-2.tsv"]
        with local_files(files) as copies:
            assert [copy.read_text() for copy in copies] == [PAIR, PAIR]
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
