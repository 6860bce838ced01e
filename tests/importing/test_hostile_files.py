"""Hostile, damaged and generated files: none costs much, all are read or refused, and what is written is read again."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import random
import struct
import time
import tracemalloc
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pyarrow import parquet
from syrupy.assertion import SnapshotAssertion

from attnviz import AttnvizError, read_attention
from attnviz.importing.attention_reader import read_bytes, records_of
from attnviz.importing.formats import FORMATS
from attnviz.reading import content_of
from attnviz.text import SPACE
from tests.fuzzing.mutations import ANY, JSON, LINES
from tests.importing.attention_files import CONTENTS, FILES
from tests.importing.given import npy
from tests.snapshots import plain

MATRIX = np.full((2, 3), 1 / 3, dtype=np.float32)
MOST_MEMORY, MOST_SECONDS = 200 << 20, 5


def zipped(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return file.getvalue()


def zeros(megabytes: int) -> bytes:
    return npy(np.zeros((megabytes, 1 << 17)))


def with_claimed_size(content: bytes, size: int) -> bytes:
    """Return an archive of one member whose two headers claim a size of `size` bytes."""
    content = bytearray(content)
    central = content.index(b"PK\x01\x02")
    struct.pack_into("<I", content, 22, size)
    struct.pack_into("<I", content, central + 24, size)
    return bytes(content)


def expanded_tensor() -> bytes:
    file = io.BytesIO()
    torch.save(torch.zeros(1).expand(1 << 14, 1 << 14), file)
    return file.getvalue()


def parquet_file(**columns: object) -> bytes:
    """Return a table with tokens and attention, each column of which may be replaced."""
    rows = {"source_pieces": [["a"]], "target_pieces": [["b"]], "alignment": [[[1.0]]]} | columns
    file = io.BytesIO()
    parquet.write_table(pa.table(rows), file, compression="zstd")
    return file.getvalue()


def many_zeros() -> bytes:
    zeros = pa.array(np.zeros(20_000_000, np.float32))
    lists = pa.ListArray.from_arrays([0, len(zeros)], zeros)
    return parquet_file(alignment=pa.ListArray.from_arrays([0, 1], lists))


def repeated_text() -> bytes:
    texts = pa.DictionaryArray.from_arrays(np.zeros(1000, np.int32), pa.array(["a" * 10_000_000]))
    return parquet_file(source_pieces=pa.ListArray.from_arrays([0, 1000], texts))


def repeated_text_in_links() -> bytes:
    texts = pa.DictionaryArray.from_arrays(np.zeros(100_000, np.int32), pa.array(["a" * 1_000_000]))
    links = pa.StructArray.from_arrays([texts, texts], ["j", "i"])
    return parquet_file(links=pa.ListArray.from_arrays([0, 100_000], links))


def many_rows() -> bytes:
    count = 200_000
    empty = pa.array([[]] * count, pa.list_(pa.string()))
    return parquet_file(source_pieces=empty, target_pieces=empty, alignment=pa.nulls(count, pa.list_(pa.float32())))


EXPENSIVE: dict[str, tuple[str, Callable[[], bytes]]] = {
    "lies about its size": ("npz", lambda: with_claimed_size(zipped(matrix=zeros(300)), 1000)),
    "is as large as it says": ("npz", lambda: zipped(matrix=zeros(300))),
    "many large members": ("npz", lambda: zipped(**{f"arr_{k}": zeros(60) for k in range(5)})),
    "four million tokens": (
        "npz",
        lambda: zipped(matrix=npy(MATRIX), source=npy(np.full(4_000_000, "a")), target=npy(np.array(["x", "y"]))),
    ),
    "many small numbers": ("npy", lambda: npy(np.zeros((1 << 13, 1 << 12), dtype=np.int8))),
    "a number without end": ("pt", expanded_tensor),
    "twenty million equal weights": ("parquet", many_zeros),
    "a long text a thousand times": ("parquet", repeated_text),
    "links of a long text": ("parquet", repeated_text_in_links),
    "two hundred thousand rows": ("parquet", many_rows),
    "digits without end": ("txt", lambda: b"9" * 1_000_000 + b"-0\n"),
    "four million empty objects": ("jsonl.gz", lambda: gzip.compress(b"{}\n" * 4_000_000, 1)),
    "numbers of GIZA++ that end in a letter": (
        "A3",
        lambda: (
            b"# Sentence pair (1) source length 1 target length 1\nb\nNULL ({ }) a ({ "
            + b"1" * 60
            + b" 1" * 60
            + b" x })\n"
        ),
    ),
}


def test_expensive_files_are_refused_cheaply(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    refused = {}
    for name, (ending, make) in EXPENSIVE.items():
        path = tmp_path / f"file.{ending}"
        path.write_bytes(make())
        assert path.stat().st_size < 40 << 20
        tracemalloc.start()
        started = time.process_time()
        try:
            with pytest.raises(AttnvizError) as error:
                list(read_attention(path))
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert time.process_time() - started < MOST_SECONDS, name
        assert peak < MOST_MEMORY, name
        refused[name] = plain(error.value, tmp_path)
    assert refused == snapshot


def test_json_of_a_million_lists_is_refused() -> None:
    with pytest.raises(AttnvizError, match="damaged"):
        read_bytes(b"[" * 1_000_000)


def test_parquet_with_a_damaged_description_of_a_column_does_not_end_the_process() -> None:
    """In this file the histogram of a column has a length that C++ refuses with an exception nobody catches."""
    with pytest.raises(AttnvizError, match="damaged"):
        read_attention(Path(__file__).parent / "fixtures" / "damaged-column.parquet")


class Pair(NamedTuple):
    source: list[str]
    target: list[str]
    links: list[tuple[int, int]]
    counts: list[list[int]]
    """Of each row, numbers that are scaled to add up to 1."""

    @property
    def matrix(self) -> NDArray[np.float64]:
        counts = np.array(self.counts, dtype=np.float64)
        return counts / counts.sum(axis=1, keepdims=True)

    def joined(self, base: int = 0) -> str:
        return " ".join(f"{j + base}-{i + base}" for j, i in self.links)

    def groups(self) -> str:
        return " ".join(",".join(f"{x:.6f}" for x in row) for row in self.matrix)

    def rows(self) -> str:
        return "".join(" ".join(f"{x:.6f}" for x in row) + "\n" for row in self.matrix)


Pairs = Sequence[Pair]


def _lines(write: Callable[[int, Pair], str]) -> Callable[[Pairs], bytes]:
    return lambda pairs: "".join(write(n, pair) + "\n" for n, pair in enumerate(pairs)).encode()


def _s(pair: Pair) -> str:
    return " ".join(pair.source)


def _t(pair: Pair) -> str:
    return " ".join(pair.target)


def _giza(n: int, pair: Pair) -> str:
    places = [" ".join(str(i + 1) for j, i in pair.links if j == place) for place in range(len(pair.source))]
    words = "".join(f"{word} ({{ {at}{' ' * bool(at)}}}) " for word, at in zip(pair.source, places, strict=True))
    header = f"# Sentence pair ({n + 1}) source length {len(pair.source)} target length {len(pair.target)} score : 0.1"
    return f"{header}\n{_t(pair)} \nNULL ({{ }}) {words}"


def _naacl(n: int, pair: Pair) -> str:
    return "\n".join(f"{n + 1:04} {j + 1} {i + 1}" for j, i in pair.links)


def _csv(pairs: Pairs) -> bytes:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["", *pairs[0].source])
    writer.writerows([name, *row] for name, row in zip(pairs[0].target, pairs[0].matrix.tolist(), strict=True))
    return file.getvalue().encode()


SCORES = ("nan", "-inf", "-1.512345")
HARD = {
    "pharaoh": _lines(lambda _, pair: pair.joined()),
    "from 1": _lines(lambda _, pair: pair.joined(base=1)),
    "words": _lines(lambda _, pair: f"{_s(pair)}\t{_t(pair)}\t{pair.joined()}"),
    "sockeye": _lines(lambda _, pair: f"{_t(pair)}\t{pair.joined()}"),
    "simalign": _lines(lambda n, pair: f"{n}\t{pair.joined()}"),
    "fast_align": _lines(lambda n, pair: f"{_s(pair)} ||| {_t(pair)} ||| {pair.joined()} ||| {SCORES[n]}"),
    "marian": _lines(lambda _, pair: f"{_t(pair)} ||| {pair.joined()}"),
    "scorer": _lines(lambda n, pair: f"{SCORES[n]} ||| {pair.joined()}"),
    "moses": _lines(lambda n, pair: f"{n} ||| {_t(pair)} ||| LM= -1 ||| {SCORES[n]} ||| {pair.joined()}"),
    "fairseq": _lines(lambda n, pair: f"S-{n}\t{_s(pair)}\nH-{n}\t-0.1\t{_t(pair)}\nA-{n}\t{pair.joined()}"),
    "giza": _lines(_giza),
    "naacl": _lines(_naacl),
}
"""Writers of links."""
SOFT = {
    "marian": _lines(lambda _, pair: f"{_t(pair)} ||| {pair.groups()}"),
    "scorer": _lines(lambda n, pair: f"-{n}.512345 ||| {pair.groups()}"),
    "fairseq": _lines(lambda n, pair: f"S-{n}\t{_s(pair)}\nH-{n}\t-0.1\t{_t(pair)}\nA-{n}\t{pair.groups()}"),
    "nematus": _lines(
        lambda n, pair: (
            f"{n} ||| {_t(pair)} ||| 0.2 ||| {_s(pair)} ||| {len(pair.source)} {len(pair.target)}\n{pair.rows()}"
        )
    ),
    "json": _lines(
        lambda _, pair: json.dumps({"source": pair.source, "target": pair.target, "matrix": pair.matrix.tolist()})
    ),
    "ctranslate2": _lines(
        lambda _, pair: json.dumps({"hypotheses": [pair.target], "attention": [pair.matrix.tolist()]})
    ),
    "csv": _csv,
    "numpy": lambda pairs: npy(pairs[0].matrix),
}
"""Writers of weights."""
ALONE = ("csv", "numpy")
"""Formats that hold one pair."""

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
        links = sorted(draw(st.sets(places, max_size=5)))
        row = st.lists(st.integers(1, 9), min_size=len(source), max_size=len(source))
        counts = draw(st.lists(row, min_size=len(target), max_size=len(target)))
        found.append(Pair(source, target, links, counts))
    return found


def _plain(pieces: Sequence[str]) -> list[str]:
    return [piece.removeprefix(SPACE) for piece in pieces]


_ASSUMED = {"from 1": {"counted-from-0-assumed"}, "marian": {"target-first"}, "sockeye": {"best-only"}}
"""Remarks on files that may be read in two ways: amun writes as Marian does, but the target index first; "A-0" may be
the target, or begin the line of a hypothesis.
"""


@pytest.mark.parametrize("name", HARD)
@given(data=st.data())
def test_links_are_read_back_equal_or_refused(name: str, data: st.DataObject) -> None:
    pairs = data.draw(pairs_of())
    sides = [[_s(pair) for pair in pairs], [_t(pair) for pair in pairs]]
    with contextlib.suppress(AttnvizError):
        records = list(records_of([content_of(HARD[name](pairs))], sides))
        assumed = _ASSUMED.get(name, set()) & {remark for record in records for remark in record.remarks}
        assert len(records) <= len(pairs) if name == "naacl" or assumed else len(records) == len(pairs)
        for record, pair in zip(records, pairs, strict=False):
            assert [_plain(record.source_pieces), _plain(record.target_pieces)] == [pair.source, pair.target]
            if not assumed:
                assert record.links == tuple(pair.links)


@pytest.mark.parametrize("name", SOFT)
@given(data=st.data())
def test_weights_are_read_back_equal_or_refused(name: str, data: st.DataObject) -> None:
    pairs = data.draw(pairs_of(1 if name in ALONE else 3))
    sides = [[_s(pair) for pair in pairs], [_t(pair) for pair in pairs]]
    with contextlib.suppress(AttnvizError):
        records = list(records_of([content_of(SOFT[name](pairs))], sides))
        assert len(records) == len(pairs)
        for record, pair in zip(records, pairs, strict=True):
            assert [_plain(record.source_pieces), _plain(record.target_pieces)] == [pair.source, pair.target]
            assert record.links == ()
            assert np.allclose(record.alignment, pair.matrix, atol=1e-5)


def test_small_example_of_every_format_is_read() -> None:
    """Refusing everything would pass the tests above."""
    pair = Pair(["a", "b"], ["c", "d"], [(0, 1), (1, 0)], [[1, 3], [1, 1]])
    for name, write in (*HARD.items(), *SOFT.items()):
        several = [pair] * (1 if name in ALONE else 3)
        records = records_of([content_of(write(several))], [["a b"] * len(several), ["c d"] * len(several)])
        assert [_plain(record.target_pieces) for record in records] == [["c", "d"]] * len(several), name


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
        for index in range(min(len(records), 4)):
            with contextlib.suppress(AttnvizError):
                record = records[index]
                assert record.alignment.shape == (len(record.target_pieces), len(record.source_pieces))
                assert {one.name for one in FORMATS} >= {records.format}


@given(st.integers(0, 2**32))
@settings(max_examples=300)
def test_damaged_file_is_read_or_refused(seed: int) -> None:
    _open(*_mutated(random.Random(seed)))


@given(
    st.binary(max_size=200) | st.text(st.sampled_from("|0123-.,:?p \t\nSHAab{}[]\"'#()="), max_size=80).map(str.encode)
)
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    with contextlib.suppress(AttnvizError):
        for record in read_bytes(content)[:3]:
            assert record.alignment.size
