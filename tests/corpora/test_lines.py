"""Reading of sentence pairs from text, gzip, xz, Parquet and JSON Lines files; bad lines are skipped."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from attnviz.corpora.corpus_lines import Line, Skipped, check_lines, count_lines, read_lines
from attnviz.errors import AttnvizError
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


def test_gold_links_are_read_from_a_second_file(tmp_path, snapshot) -> None:
    path, gold = tmp_path / "pairs.tsv", tmp_path / "links.txt"
    path.write_text(TEXT + TEXT, encoding="utf-8")
    gold.write_text("0-0 1-1 2?2\n\n9-0\nnonsense\n", encoding="utf-8")
    first, second, third, fourth = read_lines(path, gold)
    assert isinstance(first, Line)
    assert first.gold is not None
    assert (first.gold.sure, first.gold.possible) == ({(0, 0), (1, 1)}, {(2, 2)})
    assert first.gold.source == ("Two", "dogs", "play.")
    assert isinstance(second, Line)
    assert second.gold is None
    assert isinstance(third, Skipped)
    assert isinstance(fourth, Skipped)
    assert [third.reason, fourth.reason] == snapshot


def test_json_lines_with_gold_links_are_read(tmp_path) -> None:
    path = tmp_path / "gold.jsonl"
    record = {"id": "7", "en": ["It", "'s", "here", "!"], "fr": ["C'", "est", "là", "!"], "S": [[0, 0]], "P": [[3, 3]]}
    outside = record | {"S": [[4, 0]]}
    path.write_text("\n".join(json.dumps(one) for one in (record, outside)) + "\n[]\n{", encoding="utf-8")
    first, *others = read_lines(path)
    assert isinstance(first, Line)
    assert first.source == "It's here!"
    assert first.gold is not None
    assert first.gold.possible == {(3, 3)}
    assert all(isinstance(one, Skipped) for one in others)
    assert len(others) == 3


@pytest.mark.parametrize("name", ["PAIRS.TSV", "pairs.Tsv.GZ", "pairs.Parquet"])
def test_extensions_are_read_in_any_case(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith("Parquet"):
        parquet.write_table(pa.table({"source": [a for a, _ in PAIRS], "target": [b for _, b in PAIRS]}), path)
    else:
        path.write_bytes(gzip.compress(TEXT.encode()) if name.endswith("GZ") else TEXT.encode())
    check_lines(path)
    assert pairs(path) == PAIRS
    assert count_lines(path) == len(PAIRS)


@pytest.mark.parametrize("name", ["missing.tsv", "pairs.doc", "pairs.parquet.gz", "damaged.xz", "damaged.parquet"])
def test_unreadable_files_are_refused(tmp_path, name: str) -> None:
    path = tmp_path / name.replace(".xz", ".tsv.xz")
    if name != "missing.tsv":
        path.write_bytes(b"PAR1 no such thing")
    with pytest.raises(AttnvizError, match=path.name):
        list(read_lines(path))


@given(st.binary(max_size=200).filter(lambda content: b"\0" not in content))
def test_any_bytes_are_read_skipped_or_refused(tmp_path_factory, content: bytes) -> None:
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
