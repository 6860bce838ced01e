"""Write many attention records to one file: JSON lines, lines of word links, or a Parquet table."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pyarrow as pa
from pyarrow import parquet

from attnviz.analysis.pharaoh import links_text
from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.trace import Attention

ENDINGS = ("json", "pharaoh", "parquet")
"""Extensions of files with more than one record."""
_LINKS = pa.list_(pa.struct([("j", pa.int16()), ("i", pa.int16())]))
SCHEMA = pa.schema(
    [
        ("number", pa.int32()),
        ("source", pa.string()),
        ("target", pa.string()),
        ("source_pieces", pa.list_(pa.string())),
        ("target_pieces", pa.list_(pa.string())),
        ("alignment", pa.list_(pa.list_(pa.float32()))),
        ("links", _LINKS),
        ("possible", _LINKS),
        ("remarks", pa.list_(pa.string())),
    ]
)
"""Schema of the table; links are between pieces, 0-based, `j` of the source and `i` of the target."""


def attention_file_content(records: Sequence[Attention], ending: str) -> bytes:
    """Return the content of a file with this `ending`, one of ENDINGS; raise AttnvizError for another."""
    if ending == "json":
        return "".join(record.to_json() + "\n" for record in records).encode("utf-8")
    if ending == "pharaoh":
        return "".join(links_text(record) + "\n" for record in records).encode("utf-8")
    if ending != "parquet":
        raise AttnvizError(
            gettext(
                "A .{ending} file holds one sentence pair. Choose the pair with --sentence, or write another "
                "format: {endings}.",
                ending=ending,
                endings=", ".join(f".{one}" for one in ENDINGS),
            )
        )
    rows = [_row(number, record) for number, record in enumerate(records, 1)]
    sink = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows, SCHEMA), sink)
    return sink.getvalue()


def _row(number: int, record: Attention) -> dict[str, object]:
    return {
        "number": number,
        "source": record.source_text,
        "target": record.translation,
        "source_pieces": record.source_pieces,
        "target_pieces": record.target_pieces,
        "alignment": record.alignment.tolist(),
        "links": [{"j": j, "i": i} for j, i in record.links],
        "possible": [{"j": j, "i": i} for j, i in record.possible],
        "remarks": record.remarks,
    }
