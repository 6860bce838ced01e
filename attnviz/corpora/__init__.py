"""Analyse a corpus, on one machine or a Ray cluster: measures in a Parquet file, one row for each sentence pair."""

from __future__ import annotations

from attnviz.corpora.analyser import Analyser
from attnviz.corpora.columns import MEASURES, SCHEMA, Measure, Settings
from attnviz.corpora.corpus_lines import Line, read_lines
from attnviz.corpora.executors import Cluster
from attnviz.corpora.job import Progress, TableMetadata, analyse_file, analyse_files
from attnviz.text_files import Skipped

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
