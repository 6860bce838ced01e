"""Analyse a corpus, on one machine or a Ray cluster: measures in a Parquet file, one row for each sentence pair."""

from __future__ import annotations

from attnviz.corpora.analyser import Analyser
from attnviz.corpora.cluster import Cluster, analyse_folder
from attnviz.corpora.columns import MEASURES, SCHEMA, Measure, Settings
from attnviz.corpora.corpus_lines import (
    Line,
    read_lines,
)
from attnviz.corpora.job import Progress, analyse_file
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
    "analyse_file",
    "analyse_folder",
    "read_lines",
]
