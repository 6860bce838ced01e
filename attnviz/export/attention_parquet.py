"""Encode attention records as the bytes of a Parquet file, one row for each record; `RECORD_SCHEMA` has its columns."""

from __future__ import annotations

import io
from collections.abc import Iterable

import pyarrow as pa
from pyarrow import parquet

from attnviz.trace import Attention
from attnviz.trace.attention_record import FURTHER

_LINKS = pa.list_(pa.struct([("j", pa.int16()), ("i", pa.int16())]))
_MATRIX = pa.list_(pa.list_(pa.float32()))
RECORD_SCHEMA = pa.schema(
    [
        ("number", pa.int32()),
        ("source", pa.string()),
        ("target", pa.string()),
        ("source_pieces", pa.list_(pa.string())),
        ("target_pieces", pa.list_(pa.string())),
        ("source_word_of", pa.list_(pa.int16())),
        ("target_word_of", pa.list_(pa.int16())),
        ("alignment", _MATRIX),
        ("head_weights", pa.list_(pa.list_(_MATRIX))),
        ("layer", pa.int16()),
        ("head", pa.int16()),
        *((name, _MATRIX) for name in FURTHER),
        ("links", _LINKS),
        ("sure", _LINKS),
        ("possible", _LINKS),
        ("kind", pa.string()),
        ("origin", pa.string()),
        ("remarks", pa.list_(pa.string())),
    ]
)
"""Schema of the table, which has all fields of a record.

Links are 0-based, `j` of the source and `i` of the target: `links` between pieces, `sure` and `possible` between words.
"""


def table_content(numbered: Iterable[tuple[int, Attention]]) -> bytes:
    """Return the content of a Parquet file of records with their numbers."""
    rows, sink = [_row(number, record) for number, record in numbered], io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows, RECORD_SCHEMA), sink, write_page_checksum=True)
    return sink.getvalue()


def _row(number: int, record: Attention) -> dict[str, object]:
    arrays = {name: getattr(record, name) for name in ("head_weights", *FURTHER)}
    links = {name: getattr(record, name) for name in ("links", "sure", "possible")}
    return {
        "number": number,
        "source": record.source_text,
        "target": record.translation,
        "source_pieces": record.source_pieces,
        "target_pieces": record.target_pieces,
        "source_word_of": record.source_word_of.tolist(),
        "target_word_of": record.target_word_of.tolist(),
        "alignment": record.alignment.tolist(),
        "layer": record.heads.layer,
        "head": record.heads.head,
        **{name: array.tolist() if array.size else None for name, array in arrays.items()},
        **{name: [{"j": j, "i": i} for j, i in pairs] for name, pairs in links.items()},
        "kind": record.kind,
        "origin": record.origin,
        "remarks": record.remarks,
    }
