"""The metadata of a table of a corpus: what it was made of, and the lines that were skipped."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from attnviz.errors import AttnvizError
from attnviz.files import check_regular

MOST_NAMED = 1000
"""Number of skipped lines that a table lists; further ones are only counted."""
_KEY = b"attnviz"
"""Key of our metadata in a part or table."""


@dataclass(frozen=True)
class TableMetadata:
    """Metadata of a table, or of a part of it."""

    fingerprint: str
    """SHA-256 of file, model and settings, the same for equal tables."""
    model: str
    settings: dict[str, Any]
    lines: int = 0
    rows: int = 0
    skipped: int = 0
    named: list[tuple[int, str]] = field(default_factory=list)
    """Number and reason of the first thousand skipped lines."""

    def extended_by(self, part: TableMetadata) -> TableMetadata:
        """Return the metadata of these lines and of those of the part after them.

        Args:
            part: The metadata of that part.
        """
        return dataclasses.replace(
            self,
            lines=self.lines + part.lines,
            rows=self.rows + part.rows,
            skipped=self.skipped + part.skipped,
            named=[*self.named, *part.named][:MOST_NAMED],
        )

    def encoded(self) -> dict[bytes, str]:
        """Return this as the metadata of a Parquet schema."""
        return {_KEY: json.dumps(dataclasses.asdict(self))}


def table_metadata(table: Path) -> TableMetadata | None:
    """Return the metadata of a table or part; None where it is not one of `analyse_files`."""
    try:
        check_regular(table)
        metadata = parquet.read_schema(table).metadata or {}
        fields = json.loads(metadata[_KEY])
        return TableMetadata(**{**fields, "named": [(number, reason) for number, reason in fields["named"]]})
    except (OSError, pa.ArrowException, ValueError, KeyError, TypeError, AttnvizError):
        return None
