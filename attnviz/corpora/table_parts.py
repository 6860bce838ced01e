"""Write the parts of the table of a corpus atomically, merge them into the table, and read the metadata of both."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from attnviz.corpora.analyser import Analyser
from attnviz.corpora.columns import SCHEMA
from attnviz.corpora.lines import Line
from attnviz.files import replacing
from attnviz.text_files import Skipped

_MOST_NAMED = 1000
"""Number of skipped lines that a table lists; further ones are only counted."""
_KEY = b"attnviz"
"""Key of our metadata in a part or table."""


@dataclass(frozen=True)
class TableMetadata:
    """Metadata of a table."""

    fingerprint: str
    """SHA-256 of file, model and settings, the same for equal tables."""
    model: str
    settings: dict[str, Any]
    lines: int
    rows: int
    skipped: int
    named: list[tuple[int, str]]
    """Number and reason of the first thousand skipped lines."""


def table_metadata(table: Path) -> TableMetadata | None:
    """Return the metadata of a table; None where it is not one of `analyse_file`."""
    try:
        metadata = parquet.read_schema(table).metadata or {}
        fields = json.loads(metadata[_KEY])
        return TableMetadata(**{**fields, "named": [(number, reason) for number, reason in fields["named"]]})
    except (OSError, pa.ArrowException, ValueError, KeyError, TypeError):
        return None


def with_metadata(table: Any, metadata: TableMetadata) -> Any:
    """Return a table (pyarrow.Table) with `metadata`, which names at most the first thousand skipped lines."""
    metadata = dataclasses.replace(metadata, named=metadata.named[:_MOST_NAMED])
    return table.replace_schema_metadata(_encoded(metadata))


def _encoded(metadata: TableMetadata) -> dict[bytes, str]:
    return {_KEY: json.dumps(dataclasses.asdict(metadata))}


def write_part(analyser: Analyser, part: Path, window: list[Line | Skipped]) -> tuple[int, int]:
    """Compute a window and write its part; return its number of lines, and how many were skipped."""
    table, skipped_by_tokenizer = analyser([line for line in window if isinstance(line, Line)])
    skipped = sorted(
        [line for line in window if isinstance(line, Skipped)] + skipped_by_tokenizer, key=lambda line: line.number
    )
    named = json.dumps([[line.number, line.reason] for line in skipped])
    with replacing(part) as temporary:
        parquet.write_table(table.replace_schema_metadata({_KEY: named}), temporary, compression="zstd")
    return len(window), len(skipped)


def skipped_lines_of(part: Path) -> list[tuple[int, str]]:
    """Return number and reason of the skipped lines of a part."""
    return [(number, reason) for number, reason in json.loads(parquet.read_schema(part).metadata[_KEY])]


def line_count_of(part: Path) -> int:
    """Return the number of lines of a part, skipped ones included."""
    return int(parquet.read_metadata(part).num_rows) + len(skipped_lines_of(part))


def merge_parts(parts: Path, output: Path, metadata: TableMetadata) -> TableMetadata:
    """Merge the parts, in order, into one table with `metadata`, to which the skipped lines are added."""
    files = sorted(parts.glob("*.parquet"))
    count, named = 0, list[tuple[int, str]]()
    for part in files:
        skipped = skipped_lines_of(part)
        count += len(skipped)
        named += skipped[: _MOST_NAMED - len(named)]
    rows = sum(parquet.read_metadata(part).num_rows for part in files)
    metadata = dataclasses.replace(metadata, rows=rows, skipped=count, named=named)
    schema = SCHEMA.with_metadata(_encoded(metadata))
    with replacing(output) as temporary, parquet.ParquetWriter(temporary, schema, compression="zstd") as writer:
        for part in files:
            table = parquet.read_table(part).replace_schema_metadata(schema.metadata)
            if len(table):
                writer.write_table(table.cast(schema))
    return metadata
