"""Hostile, damaged and generated files: none costs much, all are read or refused, and what is written is read again."""

import contextlib
import gzip
import lzma
import random
import struct
import threading
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from attnviz import AttnvizError, alignment_error, read_attention
from attnviz.importing.attention_reader import read_bytes, records_of
from attnviz.importing.formats import FORMATS
from attnviz.reading import content_of
from tests.fuzzing.mutations import ANY, JSON, LINES
from tests.importing.attention_files import CONTENTS, FILES, Pair, npy, saved, stored, tokens_of
from tests.snapshots import plain

FIXTURES = Path(__file__).parent / "fixtures"
MATRIX = np.full((2, 3), 1 / 3, dtype=np.float32)
MOST_MEMORY, MOST_SECONDS = 200 << 20, 5


def zipped(**members: bytes) -> bytes:
    def write(file: Any) -> None:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for name, content in members.items():
                archive.writestr(f"{name}.npy", content)

    return stored(write)


def zeros(megabytes: int) -> bytes:
    return npy(np.zeros((megabytes, 1 << 17)))


def with_claimed_size(content: bytes, size: int) -> bytes:
    """Return an archive of one member whose two headers claim a size of `size` bytes."""
    content = bytearray(content)
    central = content.index(b"PK\x01\x02")
    struct.pack_into("<I", content, 22, size)
    struct.pack_into("<I", content, central + 24, size)
    return bytes(content)


def parquet_file(**columns: object) -> bytes:
    """Return a table with tokens and attention, each column of which may be replaced."""
    rows = {"source_pieces": [["a"]], "target_pieces": [["b"]], "alignment": [[[1.0]]]} | columns
    return stored(lambda file: parquet.write_table(pa.table(rows), file, compression="zstd"))


def many_zeros() -> bytes:
    lists = pa.ListArray.from_arrays([0, 20_000_000], pa.array(np.zeros(20_000_000, np.float32)))
    return parquet_file(alignment=pa.ListArray.from_arrays([0, 1], lists))


def repeated(count: int, size: int) -> Any:
    """Return a column of `count` equal texts that takes the memory of one."""
    return pa.DictionaryArray.from_arrays(np.zeros(count, np.int32), pa.array(["a" * size]))


def repeated_text_in_links() -> bytes:
    links = pa.StructArray.from_arrays([repeated(100_000, 1_000_000)] * 2, ["j", "i"])
    return parquet_file(links=pa.ListArray.from_arrays([0, 100_000], links))


def many_rows() -> bytes:
    count = 200_000
    empty = pa.array([[]] * count, pa.list_(pa.string()))
    return parquet_file(source_pieces=empty, target_pieces=empty, alignment=pa.nulls(count, pa.list_(pa.float32())))


GIZA = b"# Sentence pair (1) source length 1 target length 1\nb\nNULL ({ }) a ({ "
EXPENSIVE: dict[str, tuple[str, Callable[[], bytes]]] = {
    "lies about its size": ("npz", lambda: with_claimed_size(zipped(matrix=zeros(220)), 1000)),
    "is as large as it says": ("npz", lambda: zipped(matrix=zeros(220))),
    "many large members": ("npz", lambda: zipped(**{f"arr_{k}": zeros(60) for k in range(4)})),
    "four million tokens": (
        "npz",
        lambda: zipped(matrix=npy(MATRIX), source=npy(np.full(4_000_000, "a")), target=npy(np.array(["x", "y"]))),
    ),
    "many small numbers": ("npy", lambda: npy(np.zeros((1 << 13, 1 << 12), dtype=np.int8))),
    "a number without end": ("pt", lambda: saved(torch.zeros(1).expand(1 << 14, 1 << 14))),
    "twenty million equal weights": ("parquet", many_zeros),
    "a long text a thousand times": (
        "parquet",
        lambda: parquet_file(source_pieces=pa.ListArray.from_arrays([0, 1000], repeated(1000, 10_000_000))),
    ),
    "links of a long text": ("parquet", repeated_text_in_links),
    "two hundred thousand rows": ("parquet", many_rows),
    "digits without end": ("txt", lambda: b"9" * 1_000_000 + b"-0\n"),
    "four million empty objects": ("jsonl.gz", lambda: gzip.compress(b"{}\n" * 4_000_000, 1)),
    "objects of a list": ("json.gz", lambda: gzip.compress(b"[" + b"{}," * 20_000_000 + b"{}]", 1)),
    "lists of a list": ("json.gz", lambda: gzip.compress(b"[" + b"[]," * 20_000_000 + b"[]]", 1)),
    "numbers of a list": ("json", lambda: b"[" + b"0," * 20_000_000 + b"0]"),
    "values without separators": ("json.gz", lambda: gzip.compress(b"[]" + b" 1" * 20_000_000, 1)),
    "links": ("txt.gz", lambda: gzip.compress(b"0-0\n" * 12_000_000, 1)),
    "links, xz": ("txt.xz", lambda: lzma.compress(b"0-0\n" * 12_000_000, preset=0)),
    "links of one line": ("txt.gz", lambda: gzip.compress(b"0-0 " * 12_000_000, 1)),
    "blanks": ("txt.gz", lambda: gzip.compress(b" " * 60_000_000, 1)),
    "old line ends": ("txt.gz", lambda: gzip.compress(b"0-0\r" * 12_000_000, 1)),
    "zeros": ("gz", lambda: gzip.compress(bytes(220_000_000), 1)),
    "zeros, xz": ("xz", lambda: lzma.compress(bytes(220_000_000), preset=0)),
    "gzip members": ("gz", lambda: gzip.compress(b"0-0\n" * 1000) * 10_000),
    "deep lists": ("json", lambda: b"[" * 1_000_000),
    "deep objects": ("json", lambda: b'{"a":' * 10_000),
    # The histogram of a column has a length that C++ refuses with an exception which would end the process.
    "a damaged description of a column": ("parquet", (FIXTURES / "damaged-column.parquet").read_bytes),
    "numbers of GIZA++ that end in a letter": ("A3", lambda: GIZA + b"1" * 60 + b" 1" * 60 + b" x })\n"),
}


@pytest.mark.parametrize("name", EXPENSIVE)
def test_expensive_files_are_refused_cheaply(name, tmp_path, snapshot) -> None:
    """Also while another thread works: no call holds the interpreter's lock for long."""
    ending, make = EXPENSIVE[name]
    path, counted, done = tmp_path / f"file.{ending}", [0], threading.Event()
    path.write_bytes(make())
    assert path.stat().st_size < 41 << 20

    def count() -> None:
        while not done.wait(0.0005):
            counted[0] += 1

    other = threading.Thread(target=count)
    other.start()
    tracemalloc.start()
    started = time.process_time()
    try:
        with pytest.raises(AttnvizError) as error:
            list(read_attention(path))
        peak, spent = tracemalloc.get_traced_memory()[1], time.process_time() - started
    finally:
        tracemalloc.stop()
        done.set()
        other.join()
    assert spent < MOST_SECONDS
    assert peak < MOST_MEMORY
    assert counted[0] > 2 or spent < 0.2
    assert plain(error.value, tmp_path) == snapshot


_ODD = "a la été 5 0 1 -1.5 0.5 0-0 1,0 , \" ' | # ({ A-0 NULL न 猫 سلام { [ x\u0301 0001 S = 1-1:0.5"
_TOKEN = st.sampled_from(_ODD.split()) | st.text(
    st.characters(exclude_categories=["Z", "C"], exclude_characters="▁Ġ￭@#<>["), min_size=1, max_size=4
)


@st.composite
def pairs_of(draw: st.DrawFn, most: int = 3) -> list[Pair]:
    found = []
    for _ in range(draw(st.integers(1, most))):
        source, target = (draw(st.lists(_TOKEN, min_size=1, max_size=4)) for _ in range(2))
        places = st.tuples(st.integers(0, len(source) - 1), st.integers(0, len(target) - 1))
        row = st.lists(st.integers(1, 9), min_size=len(source) + 1, max_size=len(source) + 1)
        counts = draw(st.lists(row, min_size=len(target) + 1, max_size=len(target) + 1))
        found.append(Pair(source, target, sorted(draw(st.sets(places, max_size=5))), np.array(counts)))
    return found


_ASSUMED = {"from-1.txt": "counted-from-0-assumed", "marian-hard.txt": "target-first", "sockeye.txt": "best-only"}
"""Remarks on files that may be read in two ways: amun writes as Marian does, but the target index first; "A-0" may be
the target, or begin the line of a hypothesis.
"""


@pytest.mark.parametrize("file", [file for file in FILES if file.general], ids=lambda file: file.name)
@given(data=st.data())
def test_file_of_any_pairs_is_read_back_equal_or_refused(file, data) -> None:
    """The example pairs are read back from each, in `test_attention_reader.py`."""
    pairs = data.draw(pairs_of(3 if file.count > 1 else 1))
    # Where no pair has a link, "a ||| 0-0 |||  ||| -1.5" of fast_align may as well be Marian's.
    assume(file.links is None or any(pair.links for pair in pairs))
    sides = [[" ".join(one[side]) for one in pairs] for side in (0, 1)]
    with contextlib.suppress(AttnvizError):
        records = list(records_of([content_of(file.content(pairs))], sides))
        assumed = any(_ASSUMED.get(file.name) in record.remarks for record in records)
        assert len(records) <= len(pairs) if file.format == "naacl" or assumed else len(records) == len(pairs)
        for record, pair in zip(records, pairs, strict=False):
            assert tokens_of(record) == [list(pair.source), list(pair.target)]
            if file.links is None:
                assert record.links == ()
                assert np.allclose(record.alignment, pair.weights(file.ends), atol=1e-5)
            elif not assumed:
                assert record.links == tuple(pair.links)


def _mutated(chance: random.Random) -> tuple[Any, bytes]:
    """Return one of the files, and its bytes with one to four changes."""
    file = chance.choice(FILES)
    content, kinds = CONTENTS[file.name], (*ANY, *LINES, *JSON) if file.name.endswith("json") else (*ANY, *LINES)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        if content:
            # A value cannot be replaced in JSON that an earlier change has damaged.
            with contextlib.suppress(ValueError, LookupError, TypeError):
                content = bytes(chance.choice(kinds)(bytearray(content), chance))
    return file, content


def _open(file: Any, content: bytes) -> None:
    with contextlib.suppress(AttnvizError):
        sides = [file.given.get(side) for side in ("source", "target")]
        records = records_of([content_of(content, file.name)], sides)
        for pair in permutations((records, [[(0, 0), (1, 1)]] * len(file.pairs))):
            with contextlib.suppress(AttnvizError):
                alignment_error(*pair, samples=0)
        for index in range(min(len(records), 4)):
            with contextlib.suppress(AttnvizError):
                record = records[index]
                assert record.alignment.shape == (len(record.target_pieces), len(record.source_pieces))
                assert {one.name for one in FORMATS} >= {records.format}


@given(st.integers(0, 2**32))
@settings(max_examples=300)
def test_damaged_file_is_read_or_refused(seed) -> None:
    _open(*_mutated(random.Random(seed)))


@given(
    st.binary(max_size=200) | st.text(st.sampled_from("|0123-.,:?p \t\nSHAab{}[]\"'#()="), max_size=80).map(str.encode)
)
def test_any_bytes_are_read_or_refused(content) -> None:
    with contextlib.suppress(AttnvizError):
        for record in read_bytes(content)[:3]:
            assert record.alignment.size
