"""Analyse a corpus, on one machine or a Ray cluster: measures in a Parquet file, one row for each sentence pair."""

from typing import TYPE_CHECKING

from attnviz.corpora.columns import MEASURES, SCHEMA, Measure, Settings
from attnviz.corpora.corpus_lines import Line, read_lines
from attnviz.corpora.executors import Cluster
from attnviz.corpora.table_metadata import TableMetadata
from attnviz.extras import import_on_use
from attnviz.pair_files import Skipped

if TYPE_CHECKING:
    from attnviz.corpora.analyser import Analyser
    from attnviz.corpora.job import Progress, analyse_file, analyse_files

__all__ = [
    "MEASURES",
    "SCHEMA",
    "Analyser",
    "Cluster",
    "Line",
    "Measure",
    "Progress",
    "Settings",
    "Skipped",
    "TableMetadata",
    "analyse_file",
    "analyse_files",
    "read_lines",
]

__getattr__ = import_on_use(
    __name__, {"Analyser": "analyser", "Progress": "job", "analyse_file": "job", "analyse_files": "job"}
)
"""The table of attention from another program needs no torch."""
