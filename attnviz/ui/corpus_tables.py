"""Paths of the corpora that visitors can open: the bundled sample, and the tables of the server's owner."""

from __future__ import annotations

import os
from pathlib import Path

from attnviz.environment import ATTNVIZ_CORPORA

SAMPLE = Path(__file__).parent / "corpus" / "sample.tsv"
SAMPLE_LINKS = SAMPLE.with_name("sample-links.txt")


def offered_tables() -> dict[str, Path]:
    """Return the non-empty tables that the server's owner offers, by file name without the ending."""
    from attnviz.corpora.table_metadata import table_metadata

    folder = os.environ.get(ATTNVIZ_CORPORA)
    paths = sorted(Path(folder).glob("*.parquet")) if folder else []
    return {path.stem: path for path in paths if (metadata := table_metadata(path)) and metadata.rows}
