"""Small files that would need much memory or time are refused quickly and cheaply."""

from __future__ import annotations

import io
import struct
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
from pyarrow import parquet
from syrupy.assertion import SnapshotAssertion

from attnviz.errors import AttnvizError
from attnviz.importing.attention_reader import read_attention
from tests.snapshots import plain

MATRIX = np.full((2, 3), 1 / 3, dtype=np.float32)
MOST_MEMORY, MOST_SECONDS = 200 << 20, 5


def npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def npz(**members: bytes) -> bytes:
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


def recompressed(content: bytes) -> bytes:
    file = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            new.writestr(name, old.read(name))
    return file.getvalue()


def compressed_tensor() -> bytes:
    file = io.BytesIO()
    torch.save(torch.zeros(1 << 20), file)
    return recompressed(file.getvalue())


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


FILES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "lies about its size": ("npz", lambda: with_claimed_size(npz(matrix=zeros(300)), 1000)),
    "is as large as it says": ("npz", lambda: npz(matrix=zeros(300))),
    "many large members": ("npz", lambda: npz(**{f"arr_{k}": zeros(60) for k in range(5)})),
    "four million tokens": (
        "npz",
        lambda: npz(matrix=npy(MATRIX), source=npy(np.full(4_000_000, "a")), target=npy(np.array(["x", "y"]))),
    ),
    "many small numbers": ("npy", lambda: npy(np.zeros((1 << 13, 1 << 12), dtype=np.int8))),
    "a number without end": ("pt", expanded_tensor),
    "a compressed tensor": ("pt", compressed_tensor),
    "twenty million equal weights": ("parquet", many_zeros),
    "a long text a thousand times": ("parquet", repeated_text),
    "links of a long text": ("parquet", repeated_text_in_links),
    "two hundred thousand rows": ("parquet", many_rows),
}


@pytest.mark.parametrize("name", FILES)
def test_expensive_files_are_refused_cheaply(tmp_path: Path, name: str, snapshot: SnapshotAssertion) -> None:
    ending, make = FILES[name]
    path = tmp_path / f"file.{ending}"
    path.write_bytes(make())
    assert path.stat().st_size < 40 << 20
    tracemalloc.start()
    started = time.process_time()
    try:
        with pytest.raises(AttnvizError) as error:
            read_attention(path)[0]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert time.process_time() - started < MOST_SECONDS
    assert peak < MOST_MEMORY
    assert plain(error.value, tmp_path) == snapshot


def test_archive_within_bounds_is_read(tmp_path: Path) -> None:
    path = tmp_path / "file.npz"
    np.savez_compressed(path, matrix=MATRIX, source=np.array(["a", "b", "c"]), target=np.array(["x", "y"]))
    record = read_attention(path)[0]
    np.testing.assert_allclose(record.alignment, MATRIX)


def test_parquet_with_a_damaged_description_of_a_column_does_not_end_the_process() -> None:
    """In this file the histogram of a column has a length that C++ refuses with an exception nobody catches."""
    with pytest.raises(AttnvizError, match="damaged"):
        read_attention(Path(__file__).parent / "fixtures" / "damaged-column.parquet")
